"""Parts of one progress bar: what reports the whole enters, what reports each part leaves.

Parts report steps of their own. The whole hears of hundredths, which never go back.
"""

from collections.abc import Sequence

from conjoin._typing import Progress

WHOLE = 100  # steps of the whole, so that they read as percent


def split_progress(progress: Progress | None, *shares: float) -> list[Progress | None]:
    """Return what reports each part of some work; the last has what the others leave.

    >>> seen = []
    >>> first, last = split_progress(lambda done, total: seen.append((done, total)), 0.4)
    >>> first(1, 2), last(1, 3), last(3, 3)
    (None, None, None)
    >>> seen
    [(20, 100), (60, 100), (100, 100)]
    """
    if progress is None:
        return [None] * (len(shares) + 1)
    whole = progress
    starts = [0.0]
    for share in shares:
        starts.append(starts[-1] + share)
    ends = [*starts[1:], 1.0]

    def part(start: float, end: float) -> Progress:
        def update(done: int, total: int) -> None:
            share = min(done / total, 1.0) if total else 1.0
            # A small part of a step is added, so that a third of three is not cut to less.
            whole(int(WHOLE * (start + (end - start) * share) + 1e-9), WHOLE)

        return update

    return [part(start, end) for start, end in zip(starts, ends)]


def by_costs(progress: Progress | None, costs: Sequence[float]) -> list[Progress | None]:
    """Return what reports each part, by how long the parts take in proportion."""
    total = sum(costs)
    return split_progress(progress, *(cost / total for cost in costs[:-1]))


def report(progress: Progress | None, done: int, total: int) -> None:
    """Report steps done and in all, if somebody listens."""
    if progress is not None:
        progress(done, total)
