"""The steps behind a partition: who joined whom, and which joins were refused."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.grouping.agglomerative import Restricted, grow
from conjoin.grouping.objective import Objective, add, sum_by, take


@dataclass(frozen=True)
class Step:
    """Two groups of datasets (by number), what joining them saved, and whether they joined."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    saved: float
    joined: bool


def ledger(objective: Objective, labels: IntArray, near: FloatArray | None = None) -> list[Step]:
    """Return the joins inside every cluster, best first, then each cluster's best refused join."""
    steps: list[Step] = []
    C = int(labels.max()) + 1
    clusters = [np.nonzero(labels == cluster)[0] for cluster in range(C)]
    for members in clusters:
        if len(members) < 2:
            continue
        part = Restricted(objective, take(objective.sums, members))
        tree = grow(part, None if near is None else near[members])
        for children, link in zip(tree.children, tree.links):
            left, right = (tuple(members[tree.members(int(c))].tolist()) for c in children)
            steps.append(Step(left, right, -float(link), True))
    return steps + _refused(objective, labels, clusters)


def _refused(objective: Objective, labels: IntArray, clusters: Sequence[IntArray]) -> list[Step]:
    """Return for each cluster the join with another one that would have cost least."""
    C = len(clusters)
    if C < 2:
        return []
    sums = sum_by(objective.sums, labels, C)
    costs = objective.cost(sums)
    found: dict[tuple[int, int], float] = {}
    for cluster in range(C):
        others = np.delete(np.arange(C), cluster)
        union = objective.cost(add(take(sums, np.full(len(others), cluster)), take(sums, others)))
        rise = union - costs[cluster] - costs[others]
        best = int(np.argmin(rise))
        pair = tuple(sorted((cluster, int(others[best]))))
        found[pair[0], pair[1]] = float(rise[best])
    order = sorted(found, key=lambda pair: (found[pair], pair))
    return [
        Step(tuple(clusters[a].tolist()), tuple(clusters[b].tolist()), -found[a, b], False)
        for a, b in order
    ]
