"""The paper's Algorithm 3: grow one cluster at a time from the first free dataset.

The cluster takes in the free dataset with the largest score as long as that score is above the
criterion's threshold; then the next cluster opens. The first dataset of the order decides where
clusters start, so the caller passes units in a fixed order (by name). Ties go to the earlier unit.
"""

from collections.abc import Sequence

from conjoin._typing import Progress
from conjoin.criterion.base import Criterion, Unit
from conjoin.grouping.merge import Grouping, Merge, in_order


def greedy(
    criterion: Criterion,
    units: Sequence[Unit],
    seed: int,
    progress: Progress | None = None,
) -> Grouping:
    """Cluster units by Algorithm 3 with any criterion.

    `history` keeps each best candidate of a growing cluster with its score: joined, or refused,
    which closed the cluster. `progress` is called with the number of datasets placed and in all.
    """
    prepared = [criterion.prepare(unit, seed) for unit in units]
    free = list(range(len(units)))
    clusters: list[tuple[str, ...]] = []
    history: list[Merge] = []
    while free:
        first = free.pop(0)
        unit, ready = units[first], prepared[first]
        while free:
            scores = [criterion.compare(ready, prepared[j]) for j in free]
            best = max(range(len(free)), key=lambda i: (scores[i].score, -i))
            history.append(Merge(unit.names, units[free[best]].names, scores[best]))
            if not scores[best].join:
                break
            unit = unit.union(units[free.pop(best)])
            ready = criterion.prepare(unit, seed)
            if progress:
                progress(len(units) - len(free), len(units))
        clusters.append(unit.names)
        if progress:
            progress(len(units) - len(free), len(units))
    names = [name for unit in units for name in unit.names]
    return Grouping(in_order(clusters, names), tuple(history))
