"""The paper's Algorithm 3: grow one cluster at a time from the first free dataset.

Units and a criterion enter; clusters and the steps that led to them leave. The growing cluster
takes the free dataset with the largest score while that score is above the criterion's threshold.
Then the next cluster starts from the first free dataset. So the result depends on the order of the
units; the caller passes them in a fixed order, by name. Of equal scores the earlier unit wins.
"""

from collections.abc import Sequence

from conjoin._typing import Progress
from conjoin.criterion.base import Criterion, Unit
from conjoin.grouping.merge import Grouping, Step, in_order


def greedy(
    criterion: Criterion,
    units: Sequence[Unit],
    seed: int,
    progress: Progress | None = None,
) -> Grouping:
    """Return the clusters that Algorithm 3 finds with any criterion.

    Parameters
    ----------
    criterion : Criterion
        Scores pairs of units, such as `Tuned()` or `Bound()`.
    units : sequence of Unit
        The datasets, in the order in which clusters may start.
    seed : int
        Random seed of the criterion.
    progress : callable, optional
        Called with the number of datasets placed so far, and the number of all.

    Returns
    -------
    Grouping
        `clusters`, and `steps`: the best candidate of the growing cluster in every step, with its
        score. A candidate that is not joined closes the cluster.

    Examples
    --------
    >>> from conjoin import partition
    >>> from conjoin.datasets import make_clusters
    >>> tables = make_clusters(sizes=(2, 1), n=200, p=2, distance=3.0).tables()
    >>> partition(tables, target="y", method="tuned", grouping="greedy", resamples=200).clusters
    [['d1', 'd2'], ['d3']]
    """
    prepared = [criterion.prepare(unit, seed) for unit in units]
    free = list(range(len(units)))
    clusters: list[tuple[str, ...]] = []
    steps: list[Step[str]] = []
    while free:
        first = free.pop(0)
        unit, ready = units[first], prepared[first]
        while free:
            scores = [criterion.compare(ready, prepared[j]) for j in free]
            best = max(range(len(free)), key=lambda i: (scores[i].score, -i))
            steps.append(Step(unit.names, units[free[best]].names, scores[best]))
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
    return Grouping(in_order(clusters, names), tuple(steps))
