"""Agglomeration of very many datasets, many joins at a time.

A cost of clusters and coordinates of datasets enter; the lower part of a merge tree leaves, with
the few clusters that are left (`Joined`). Memory grows in proportion to the number of datasets.

In each round every cluster is compared with those nearest to it, by the exact cost. Pairs in which
each is the other's best partner are joined. So the best pair of all is always among them, as it is
where one pair is joined at a time. A round costs as much as clusters are left: ten rounds brought
30,000 datasets in 40 clusters down to 2,000.

1. As long as some join lowers the cost, only such joins are made.
2. If none does and too many clusters are left, the mutual best pairs are joined all the same: the
   tree has to be complete. `prune` cuts these joins again.

Where a few large clusters are the best partners of very many others, hardly any pair is mutual.
Then clusters with the same best partner are joined with each other first.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.grouping.neighbours import neighbour_pairs
from conjoin.grouping.objective import Objective, Sums, add, take

# Mutual pairs over clusters with a partner, below which a round would not be worth its time. About
# an eighth is usual.
FEW_MUTUAL = 0.05
# Unions whose cost is computed together. It bounds the memory for stacks of matrices: at 50 columns
# one stack takes 80 MB. The result does not depend on it.
PAIRS = 4096


@dataclass(frozen=True, eq=False)
class Joined:
    """The joins that were made, and the clusters that are left.

    Parameters
    ----------
    children : array (joins, 2)
        The two nodes of each join; datasets are nodes 0..K-1, join number s is node K + s.
    links : array (joins,)
        The rise of the cost by each join.
    costs : array (K + joins,)
        The cost of every node.
    nodes : array (M,)
        The nodes that are left.
    sums, near : arrays (M, ...)
        Their sums and mean coordinates.
    """

    children: IntArray
    links: FloatArray
    costs: FloatArray
    nodes: IntArray
    sums: Sums
    near: FloatArray


def cost_of(objective: Objective, sums: Callable[[slice], Sums], count: int) -> FloatArray:
    """Return the costs (count,) of clusters whose sums are formed a block at a time."""
    found = np.empty(count)
    for start in range(0, count, PAIRS):
        some = slice(start, min(start + PAIRS, count))
        found[some] = objective.cost(sums(some))
    return found


def join_in_rounds(objective: Objective, near: FloatArray, most: int, neighbours: int) -> Joined:
    """Join clusters until at most `most` are left; `near` (K, d) are coordinates of datasets.

    Each cluster is compared with so many `neighbours`.
    """
    state = _State.of(objective, near)
    falling = True
    while len(state.nodes) > most:
        pairs = neighbour_pairs(state.near, neighbours)
        rise = state.rises(pairs)
        if falling and not (rise < 0).any():
            falling = False
        if falling:
            pairs, rise = pairs[rise < 0], rise[rise < 0]
        state.join(*state.choose(pairs, rise, falling=falling))
    return Joined(
        np.concatenate(state.children) if state.children else np.empty((0, 2), dtype=int),
        np.concatenate(state.links) if state.links else np.empty(0),
        np.concatenate(state.made),
        state.nodes,
        state.sums,
        state.near,
    )


@dataclass(eq=False)
class _State:
    """The clusters that are left (M,), and what was joined before."""

    objective: Objective
    nodes: IntArray
    sums: Sums
    costs: FloatArray
    near: FloatArray
    sizes: FloatArray
    children: list[IntArray]
    links: list[FloatArray]
    made: list[FloatArray]
    fresh: int

    @classmethod
    def of(cls, objective: Objective, near: FloatArray) -> "_State":
        """Every dataset is a cluster."""
        K, sums = len(near), objective.sums
        costs = cost_of(objective, lambda some: take(sums, some), K)
        return cls(objective, np.arange(K), sums, costs, near, np.ones(K), [], [], [costs], fresh=K)

    def rises(self, pairs: IntArray) -> FloatArray:
        """Return by how much each join of a pair (B, 2) of clusters would raise the cost."""
        i, j = pairs.T
        joint = cost_of(
            self.objective,
            lambda some: add(take(self.sums, i[some]), take(self.sums, j[some])),
            len(pairs),
        )
        return joint - self.costs[i] - self.costs[j]

    def choose(
        self, pairs: IntArray, rise: FloatArray, *, falling: bool
    ) -> tuple[IntArray, FloatArray]:
        """Return the joins of a round (B, 2), none of which share a cluster, with their rises."""
        best = _best_edges(pairs, rise, len(self.nodes))
        edge = np.arange(len(pairs))
        mutual = (best[pairs[:, 0]] == edge) & (best[pairs[:, 1]] == edge)
        partnered = best >= 0
        if mutual.sum() >= FEW_MUTUAL * partnered.sum():
            return pairs[mutual], rise[mutual]
        free = partnered.copy()
        free[pairs[mutual].ravel()] = False
        siblings = _siblings(pairs, best, free)
        cost = self.rises(siblings)
        kept = cost < 0 if falling else np.ones(len(cost), dtype=bool)
        return (
            np.concatenate([pairs[mutual], siblings[kept]]),
            np.concatenate([rise[mutual], cost[kept]]),
        )

    def join(self, pairs: IntArray, rise: FloatArray) -> None:
        """Join pairs (B, 2) of clusters that share none; the best pair comes first."""
        order = np.lexsort((pairs[:, 1], pairs[:, 0], rise))
        pairs, rise = pairs[order], rise[order]
        i, j = pairs.T
        costs = self.costs[i] + self.costs[j] + rise
        self.children.append(np.sort(self.nodes[pairs], axis=1))
        self.links.append(rise)
        self.made.append(costs)
        kept = np.ones(len(self.nodes), dtype=bool)
        kept[j] = False
        size = self.sizes[i] + self.sizes[j]
        centres = self.sizes[i, None] * self.near[i] + self.sizes[j, None] * self.near[j]
        place = np.cumsum(kept)[i] - 1
        changed = tuple(_joined(array, i, j, kept, place) for array in self.sums)
        self.nodes = self.nodes[kept]
        self.costs, self.near, self.sizes = (
            array[kept] for array in (self.costs, self.near, self.sizes)
        )
        self.nodes[place] = self.fresh + np.arange(len(pairs))
        self.costs[place], self.sizes[place] = costs, size
        self.near[place] = centres / size[:, None]
        self.sums, self.fresh = changed, self.fresh + len(pairs)


def _joined(
    array: FloatArray, i: IntArray, j: IntArray, kept: BoolArray, place: IntArray
) -> FloatArray:
    """Return sums of the clusters that are kept, with those of `j` added to those of `i`."""
    found = array[kept]
    found[place] += array[j]
    return found


def _best_edges(pairs: IntArray, rise: FloatArray, clusters: int) -> IntArray:
    """Return the number (M,) of the pair with the least rise of each cluster, -1 for none.

    Ties go to the pair that comes first.
    """
    best = np.full(clusters, -1)
    # The last assignment stays: that of the least rise, and of equal ones the first.
    order = np.argsort(rise, kind="stable")[::-1]
    best[pairs[order].ravel()] = np.repeat(order, 2)
    return best


def _siblings(pairs: IntArray, best: IntArray, free: BoolArray) -> IntArray:
    """Return pairs (B, 2) of free clusters that have the same best partner."""
    some = np.flatnonzero(free)
    edge = pairs[best[some]]
    partner = np.where(edge[:, 0] == some, edge[:, 1], edge[:, 0])
    order = np.lexsort((some, partner))
    some, partner = some[order], partner[order]
    begins = np.flatnonzero(np.diff(partner, prepend=-1))
    rank = np.arange(len(some)) - np.repeat(begins, np.diff(np.append(begins, len(some))))
    first = np.flatnonzero((rank % 2 == 0) & np.append(partner[1:] == partner[:-1], False))
    return np.stack([some[first], some[first + 1]], axis=1)
