"""Steps of a search for clusters: which groups joined, and which joins were refused.

A `Step` records two groups of datasets and what a criterion said of joining them. Groups hold
names, or numbers of datasets where a search works on arrays. `find_steps` takes an objective and a
partition and returns the steps that lead to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.criterion.base import PairScore
from conjoin.grouping.agglomerative import Restricted, grow
from conjoin.grouping.objective import Objective, add, sum_by, take

Member = TypeVar("Member", str, int)


@dataclass(frozen=True)
class Step(Generic[Member]):
    """Two groups of datasets, and what the criterion said of joining them."""

    left: tuple[Member, ...]
    right: tuple[Member, ...]
    score: PairScore

    @property
    def joined(self) -> bool:
        """Whether the two groups were put together."""
        return self.score.join


@dataclass(frozen=True)
class Grouping:
    """Clusters of dataset names, in the order of their first dataset, and the steps taken."""

    clusters: tuple[tuple[str, ...], ...]
    steps: tuple[Step[str], ...]


def in_order(
    clusters: Sequence[Sequence[str]], names: Sequence[str]
) -> tuple[tuple[str, ...], ...]:
    """Sort members by the order of the datasets, and clusters by their first member."""
    position = {name: i for i, name in enumerate(names)}
    sorted_members = [tuple(sorted(cluster, key=position.__getitem__)) for cluster in clusters]
    return tuple(sorted(sorted_members, key=lambda cluster: position[cluster[0]]))


def find_steps(
    objective: Objective,
    labels: IntArray,
    near: FloatArray | None = None,
    joins: Sequence[tuple[tuple[int, ...], tuple[int, ...]]] | None = None,
) -> list[Step[int]]:
    """Return the joins inside every cluster, best first, then each cluster's best refused join.

    `joins` are those that made the clusters, if they are known; else each cluster's merge tree is.
    """
    C = int(labels.max()) + 1
    order = np.argsort(labels, kind="stable")
    clusters = np.split(order, np.searchsorted(labels[order], np.arange(1, C)))
    made = _tree_steps(objective, clusters, near) if joins is None else _scored(objective, joins)
    return made + _refused(objective, labels, clusters)


def rehung(steps: Sequence[Step[str]], side: tuple[str, ...]) -> tuple[Step[str], ...]:
    """Return steps in which one side of a join comes to its cluster last, after all others.

    The clusters stay the same. Joins that the side was part of go on without it.

    >>> made = PairScore(0.0, True)
    >>> steps = [Step(("a",), ("b",), made), Step(("a", "b"), ("c",), made)]
    >>> [(step.left, step.right) for step in rehung(steps, ("b",))]
    [(('a',), ('c',)), (('a', 'c'), ('b',))]
    """
    place = next(i for i, one in enumerate(steps) if one.joined and side in (one.left, one.right))
    moved, unknown = set(side), PairScore(float("nan"), True)
    found, last = list(steps[:place]), place
    rest: tuple[str, ...] = ()
    for step in steps[place + 1 :]:
        kept = step
        if step.joined and moved & {*step.left, *step.right}:
            left, right = (
                tuple(name for name in part if name not in moved)
                for part in (step.left, step.right)
            )
            kept, last, rest = Step(left, right, unknown), len(found), left + right
        found.append(kept)
    if not rest:  # it comes last already
        return tuple(steps)
    found.insert(last + 1, Step(rest, side, unknown))
    return tuple(found)


def _scored(
    objective: Objective, joins: Sequence[tuple[tuple[int, ...], tuple[int, ...]]]
) -> list[Step[int]]:
    """Return known joins with the fall of the cost by each."""
    if not joins:
        return []
    sides = [
        tuple(np.stack([a[list(join[side])].sum(axis=0) for join in joins]) for a in objective.sums)
        for side in (0, 1)
    ]
    rise = objective.cost(add(*sides)) - objective.cost(sides[0]) - objective.cost(sides[1])
    return [Step(*join, PairScore(-float(link), True)) for join, link in zip(joins, rise)]


def _tree_steps(
    objective: Objective, clusters: Sequence[IntArray], near: FloatArray | None
) -> list[Step[int]]:
    """Return the joins of the merge tree of every cluster."""
    steps: list[Step[int]] = []
    for members in clusters:
        if len(members) < 2:
            continue
        part = Restricted(objective, take(objective.sums, members))
        tree = grow(part, None if near is None else near[members])
        for children, link in zip(tree.children, tree.links):
            left, right = (tuple(members[tree.members(int(c))].tolist()) for c in children)
            steps.append(Step(left, right, PairScore(-float(link), True)))
    return steps


def _refused(
    objective: Objective, labels: IntArray, clusters: Sequence[IntArray]
) -> list[Step[int]]:
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
        Step(
            tuple(clusters[a].tolist()), tuple(clusters[b].tolist()), PairScore(-found[a, b], False)
        )
        for a, b in order
    ]
