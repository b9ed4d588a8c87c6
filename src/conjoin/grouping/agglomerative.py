"""Agglomerative clustering that does not depend on the order of the datasets.

A cost of clusters (`grouping.objective`) enters; a merge tree and a partition leave, the partition
as labels (K,) that say in which cluster each dataset is.

1. `grow`: join the two clusters whose union raises the cost least, until one cluster is left. With
   very many datasets only pairs of neighbours are tried.
2. `prune`: of all partitions that cut this tree, take the one with the lowest total cost. Costs add
   up over clusters, so one pass from leaves to root finds it.
3. `improve`: move single datasets, split clusters and join clusters as long as the cost falls.

Datasets come sorted by name and ties go to the earlier one, so shuffled data give the same result.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from conjoin._typing import FloatArray, IntArray
from conjoin.grouping.neighbours import neighbour_pairs
from conjoin.grouping.objective import Objective, Sums, add, subtract, sum_by, take
from conjoin.grouping.rounds import PAIRS, cost_of, join_in_rounds

# The limits below bound the time. What they cost was tried with minus the log evidence of 200 and
# 400 datasets, in 4 to 10 clear clusters and without clusters.

# Most datasets for which all pairs are tried: 120 have 7,140 pairs.
MOST_FULL = 120
# Most datasets, or clusters, that are joined one pair at a time. Beyond, many pairs are joined in
# one round: a table of all pairs takes 32 MB at 2,000, and 80 GB at 100,000.
MOST_ONE_BY_ONE = 2_000
# Neighbours of each dataset that are tried beyond `MOST_FULL`. With 12 the clear clusters are those
# of all pairs. Without clusters the cost before `improve` is higher by 1.6, with 6 neighbours by 7;
# after it no higher.
NEIGHBOURS = 12
# Most pairs of a dataset and a cluster for which all moves are tried; beyond it each dataset is
# tried in the nearest clusters. Between 500 and all pairs the partitions were the same.
MOST_MOVES = 5_000
# Members up to which `improve` tries to split a cluster, since that takes a tree of its own.
# Between 20 and 200 the partitions were the same.
MOST_SPLIT = 60
# Rounds of `improve`. Without clusters the cost fell by 4 in one round, by 11 in five, and no
# further in ten.
ROUNDS = 5
# Datasets beyond which `improve` only moves datasets, once. Without clusters the cost is then
# higher by 7; clear clusters were the same.
MANY = 300
# Changes of the cost below this share of it are rounding errors, not improvement: a cost is the sum
# of thousands of numbers, each exact to about 1e-16 of its terms.
TOLERANCE = 1e-9
# Takes the rise of the cost and the sums of both sides; the pair with the lowest value is joined.
Score = Callable[[FloatArray, Sums, Sums], FloatArray]


@dataclass(frozen=True, eq=False)
class Tree:
    """A merge tree: nodes 0..K-1 are datasets, the rest are unions in the order of joining.

    Parameters
    ----------
    leaves : int
        The number of datasets, K.
    children : array (K-1, 2)
        The two nodes that each union joined.
    links : array (K-1,)
        The rise of the cost at each union, or its score.
    costs : array (2K-1,)
        The cost of every node.
    """

    leaves: int
    children: IntArray
    links: FloatArray
    costs: FloatArray

    def members(self, node: int) -> list[int]:
        """Return the leaves under a node, sorted."""
        stack, found = [node], []
        while stack:
            top = stack.pop()
            if top < self.leaves:
                found.append(top)
            else:
                stack.extend(self.children[top - self.leaves].tolist())
        return sorted(found)


def grow(objective: Objective, near: FloatArray | None = None, score: Score | None = None) -> Tree:
    """Join the best pair until one cluster is left.

    `near` (K, d) are coordinates: with many datasets, only pairs that are close in them are tried.
    `score` replaces the rise of the cost as what is minimised.
    """
    if len(objective.sums[0]) > MOST_ONE_BY_ONE and near is not None and score is None:
        return _grow_large(objective, near)
    state = _State(objective, score)
    K = state.K
    D = state.first_links(near)
    active = np.ones(K, dtype=bool)
    best, at = D.min(axis=1), D.argmin(axis=1)  # best is infinite for slots already joined
    children, links = np.empty((K - 1, 2), dtype=int), np.empty(K - 1)
    for step in range(K - 1):
        i = int(best.argmin())
        if not np.isfinite(best[i]):  # no candidate pair is left: try all remaining pairs
            slots = np.flatnonzero(active)
            state.fill(D, *(slots[side] for side in np.triu_indices(len(slots), 1)))
            best, at = D.min(axis=1), D.argmin(axis=1)
            i = int(best.argmin())
        i, j = sorted((i, int(at[i])))
        children[step] = sorted((state.node_of[i], state.node_of[j]))
        links[step] = D[i, j]
        partners = np.flatnonzero(np.minimum(D[i], D[j]) < np.inf)
        partners = partners[(partners != i) & (partners != j)]
        active[j], best[j] = False, np.inf
        D[i], D[j], D[partners, j] = np.inf, np.inf, np.inf
        state.join(i, j, K + step, links[step])
        state.fill(D, np.array([i]), partners)
        stale = ((at == i) | (at == j)) & active
        stale[i] = True
        rows = np.flatnonzero(stale)
        at[rows] = D[rows].argmin(axis=1)
        best[rows] = D[rows, at[rows]]
        nearer = partners[D[partners, i] < best[partners]]
        best[nearer], at[nearer] = D[nearer, i], i
    return Tree(K, children, links, state.costs)


def _grow_large(objective: Objective, near: FloatArray) -> Tree:
    """Join pairs in rounds until few clusters are left, and those one pair at a time."""
    below = join_in_rounds(objective, near, MOST_ONE_BY_ONE, NEIGHBOURS)
    top = grow(Restricted(objective, below.sums), below.near)
    made, left = len(below.costs), len(below.nodes)
    number = np.concatenate([below.nodes, made + np.arange(left - 1)])
    return Tree(
        len(near),
        np.concatenate([below.children, np.sort(number[top.children], axis=1)]),
        np.concatenate([below.links, top.links]),
        np.concatenate([below.costs, top.costs[left:]]),
    )


class _State:
    """Sums and costs of all nodes made so far, and which node each slot 0..K-1 holds."""

    def __init__(self, objective: Objective, score: Score | None) -> None:
        self.objective, self.score = objective, score
        self.K = K = len(objective.sums[0])
        self.nodes = tuple(
            np.concatenate([a, np.zeros((K - 1, *a.shape[1:]))]) for a in objective.sums
        )
        self.costs = np.concatenate([objective.cost(objective.sums), np.zeros(K - 1)])
        self.node_of = np.arange(K)

    def join(self, i: int, j: int, new: int, link: float) -> None:
        """Put the union of two slots into the first of them."""
        a, b = self.node_of[i], self.node_of[j]
        for array in self.nodes:
            array[new] = array[a] + array[b]
        if self.score is None:  # the link is the rise of the cost
            self.costs[new] = self.costs[a] + self.costs[b] + link
        else:
            self.costs[new] = self.objective.cost(take(self.nodes, slice(new, new + 1)))[0]
        self.node_of[i] = new

    def fill(self, D: FloatArray, left: IntArray, right: IntArray) -> None:
        """Compute the links of pairs of slots; `left` may be one slot for all."""
        for start in range(0, len(right), PAIRS):
            j = right[start : start + PAIRS]
            i = left if len(left) == 1 else left[start : start + PAIRS]
            a, b = self.node_of[i], self.node_of[j]
            one, two = take(self.nodes, a), take(self.nodes, b)
            rise = self.objective.cost(add(one, two)) - self.costs[a] - self.costs[b]
            D[i, j] = D[j, i] = rise if self.score is None else self.score(rise, one, two)

    def first_links(self, near: FloatArray | None) -> FloatArray:
        """Return the links (K, K) of all pairs, with many datasets of neighbours; else infinite."""
        K = self.K
        D = np.full((K, K), np.inf)
        if K <= MOST_FULL or near is None:
            left, right = np.triu_indices(K, 1)
        else:
            left, right = neighbour_pairs(near, NEIGHBOURS).T
        self.fill(D, left, right)
        return D


def prune(tree: Tree, costs: FloatArray | None = None) -> IntArray:
    """Return labels (K,) of the cut with the lowest total cost; ties are joined.

    `costs` (2K-1,) replace the costs of the tree's nodes.
    """
    K, costs = tree.leaves, tree.costs if costs is None else costs
    best = costs[:K].tolist()
    cut: list[bool] = [True] * K
    for step, (a, b) in enumerate(tree.children):
        apart = best[a] + best[b]
        joined = float(costs[K + step])
        cut.append(joined <= apart + TOLERANCE * abs(apart))
        best.append(min(joined, apart))
    return _labels(tree, cut)


def cut_into(tree: Tree, clusters: int) -> IntArray:
    """Return labels (K,) of the tree without its last joins, cut into a number of clusters."""
    joins = tree.leaves - clusters
    cut = [True] * tree.leaves + [step < joins for step in range(tree.leaves - 1)]
    return _labels(tree, cut)


def _labels(tree: Tree, whole: list[bool]) -> IntArray:
    """Return labels (K,) of the topmost nodes that are kept whole."""
    labels = np.empty(tree.leaves, dtype=int)
    stack, label = [2 * tree.leaves - 2], 0
    while stack:
        node = stack.pop()
        if whole[node]:
            labels[tree.members(node)] = label
            label += 1
        else:
            stack.extend(tree.children[node - tree.leaves].tolist())
    return relabel(labels)


def relabel(labels: IntArray) -> IntArray:
    """Return labels (K,) that number clusters in the order of their first dataset."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    order = np.empty(len(first), dtype=int)
    order[np.argsort(first)] = np.arange(len(first))
    renumbered: IntArray = order[inverse]
    return renumbered


def total_cost(objective: Objective, labels: IntArray) -> float:
    """Return the cost of a partition."""
    sums = sum_by(objective.sums, labels, int(labels.max()) + 1)
    return float(np.sum(objective.cost(sums)))


def improve(objective: Objective, labels: IntArray, near: FloatArray | None = None) -> IntArray:
    """Return better labels (K,): move, split and join as long as the total cost falls.

    With very many datasets, datasets are moved once and nothing else is tried.
    """
    cost = total_cost(objective, labels)
    many = len(labels) > MANY
    for _ in range(1 if many else ROUNDS):
        before = cost
        for change in (_move,) if many else (_move, _split, _join):
            proposal = change(objective, labels, near)
            new = total_cost(objective, proposal)
            if new < cost - TOLERANCE * abs(cost):
                labels, cost = proposal, new
        if cost >= before - TOLERANCE * abs(before):
            break
    return relabel(labels)


def _move(objective: Objective, labels: IntArray, near: FloatArray | None) -> IntArray:
    """Move datasets to the cluster, or to a new cluster, where the cost falls most.

    Each cluster takes part in at most one move, so that the gains of a round add up.
    """
    K, C = len(labels), int(labels.max()) + 1
    sums = objective.sums
    clusters = sum_by(sums, labels, C)
    costs = objective.cost(clusters)
    sizes = np.bincount(labels, minlength=C)
    movable = np.nonzero(sizes[labels] > 1)[0]
    if not len(movable):
        return labels
    own, count = labels[movable], len(movable)

    def without(some: slice) -> Sums:
        return subtract(take(clusters, own[some]), take(sums, movable[some]))

    leaving = cost_of(objective, without, count) - costs[own]
    alone = cost_of(objective, lambda some: take(sums, movable[some]), count)
    best_gain, best_to = leaving + alone, np.full(len(movable), C)
    candidates = _move_candidates(labels, movable, C, K, near)
    for column in candidates.T:

        def with_column(some: slice, column: IntArray = column) -> Sums:
            return add(take(clusters, column[some]), take(sums, movable[some]))

        joined = cost_of(objective, with_column, count)
        change = np.where(column != own, leaving + joined - costs[column], np.inf)
        better = change < best_gain
        best_gain, best_to = np.where(better, change, best_gain), np.where(better, column, best_to)
    result, used = labels.copy(), set()
    threshold = -TOLERANCE * float(np.abs(costs).sum())
    fresh = C
    for index in np.argsort(best_gain, kind="stable"):
        if best_gain[index] >= threshold:
            break
        source, to = int(labels[movable[index]]), int(best_to[index])
        if source in used or to in used:
            continue
        used.add(source)
        if to == C:
            result[movable[index]] = fresh
            fresh += 1
        else:
            used.add(to)
            result[movable[index]] = to
    return relabel(result)


def _move_candidates(
    labels: IntArray, movable: IntArray, C: int, K: int, near: FloatArray | None
) -> IntArray:
    """Return the clusters to try for each movable dataset, (movable, tries)."""
    if len(movable) * C <= MOST_MOVES or near is None:
        return np.broadcast_to(np.arange(C), (len(movable), C))
    tries = min(NEIGHBOURS, C)
    found: IntArray = cKDTree(_centres(near, labels, C)).query(near[movable], k=tries)[1]
    return found.reshape(len(movable), tries)


def _centres(near: FloatArray, labels: IntArray, C: int) -> FloatArray:
    """Return the mean coordinates (C, d) of clusters."""
    sizes = np.bincount(labels, minlength=C)
    sums = np.stack([np.bincount(labels, x, minlength=C) for x in near.T], axis=1)
    centres: FloatArray = sums / sizes[:, None]
    return centres


def _split(objective: Objective, labels: IntArray, near: FloatArray | None) -> IntArray:
    """Split each cluster in two where the top of its own tree lowers the cost."""
    result, fresh = labels.copy(), int(labels.max()) + 1
    for cluster in range(fresh):
        members = np.nonzero(labels == cluster)[0]
        if not 3 <= len(members) <= MOST_SPLIT:  # a pair is split by a move
            continue
        tree = grow(Restricted(objective, take(objective.sums, members)))
        if tree.costs[tree.children[-1]].sum() < tree.costs[-1] - TOLERANCE * abs(tree.costs[-1]):
            result[members[cut_into(tree, 2) == 1]] = fresh
            fresh += 1
    return relabel(result)


def _join(objective: Objective, labels: IntArray, near: FloatArray | None) -> IntArray:
    """Join clusters: agglomerate with the clusters as leaves."""
    C = int(labels.max()) + 1
    if C < 2:
        return labels
    sums = sum_by(objective.sums, labels, C)
    centres = None if near is None else _centres(near, labels, C)
    return relabel(prune(grow(Restricted(objective, sums), centres))[labels])


@dataclass(frozen=True, eq=False)
class Restricted:
    """An objective whose leaves are some of its datasets, or clusters of them."""

    whole: Objective
    sums: Sums

    def cost(self, sums: Sums) -> FloatArray:
        """Return the cost (B,) of each cluster of a batch."""
        return self.whole.cost(sums)
