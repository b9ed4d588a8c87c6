"""Joins that hold on held-out rows: which of a partition's joins stay, and which are missing.

Labels of a search, what joining changes on held-out rows and verdicts enter. `refine` returns the
final labels together with the joins that made each cluster (`Refined`).

1. Inside each cluster every join of its merge tree is checked. A join is unsound if the validated
   error rises by more than its standard error, or if the verdict is "apart". A cluster with such a
   join is put together again from its datasets, in another order, by sound joins only. What cannot
   be joined remains a cluster of its own.
2. A dataset that is alone joins the cluster with which the validated error falls most, unless the
   verdict is "apart".

So no cluster contains an unsound join. `make_sound` does the first step alone.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.grouping.agglomerative import NEIGHBOURS, Tree, relabel
from conjoin.grouping.neighbours import MOST_EXACT, neighbours

# Decimals of changes and standard errors, in units of the target's variance. Where a join changes
# nothing, their last digits are rounding, which must not decide.
DECIMALS = 9
# Rounds in which clusters join others: each takes part in one join of a round.
JOIN_ROUNDS = 50
# When a cluster is put together again, how far apart in the order of sizes two groups may be that
# are tried. It bounds the time; with eight, a group that fits with none of its partners is rare.
FARTHEST_PARTNER = 8
# Orders that are tried: one join in six fails by chance, so a cluster of equal datasets may need a
# second or third order. More would cost time where datasets do differ.
ORDERS = 6

Group = tuple[int, ...]
Join = tuple[Group, Group]
Changes = Callable[[Sequence[Join]], tuple[FloatArray, FloatArray]]
Apart = Callable[[Sequence[Join]], BoolArray]


@dataclass(frozen=True)
class Refined:
    """A partition and how it came about.

    Parameters
    ----------
    labels : array (K,)
        The cluster of each dataset.
    joins : tuple of (group, group)
        The joins inside all clusters; the sides of a join were joined before it.
    """

    labels: IntArray
    joins: tuple[Join, ...]


@dataclass(frozen=True)
class _Cluster:
    """Datasets and the joins that made one cluster of them."""

    members: Group
    joins: tuple[Join, ...] = ()


@dataclass(frozen=True)
class _Checks:
    """What is known of joins, each asked for once."""

    changes: Changes
    apart: Apart
    _changes: dict[Join, tuple[float, float]] = field(default_factory=dict)
    _apart: dict[Join, bool] = field(default_factory=dict)

    def change(self, joins: Sequence[Join]) -> list[tuple[float, float]]:
        """Return the change of the validated error by each join, and its standard error."""
        new = list(dict.fromkeys(join for join in joins if join not in self._changes))
        if new:
            change, error = (np.round(values, DECIMALS) for values in self.changes(new))
            self._changes.update(zip(new, zip(change.tolist(), error.tolist())))
        return [self._changes[join] for join in joins]

    def once(self, join: Join) -> bool:
        """Say whether one join may not stay, of which nothing is kept.

        A large cluster grows by one dataset at a time, and lists of its datasets fill the memory.
        """
        return _Checks(self.changes, self.apart).unsound([join])[0]

    def unsound(self, joins: Sequence[Join]) -> list[bool]:
        """Say for each join whether it may not stay."""
        known = self.change(joins)
        rises = [change > error for change, error in known]
        asked = [j for j, rise in zip(joins, rises) if not rise and j not in self._apart]
        new = list(dict.fromkeys(asked))
        if new:
            self._apart.update(zip(new, self.apart(new).tolist()))
        return [rise or self._apart[join] for join, rise in zip(joins, rises)]


def refine(
    labels: IntArray,
    rows: FloatArray,
    tree: Sequence[Join],
    near: FloatArray,
    changes: Changes,
    apart: Apart,
) -> Refined:
    """Return the partition with sound joins only, and with no dataset alone without need.

    `rows` (K,) are those of each dataset. `tree` has the joins of a merge tree over all datasets.
    `near` (K, d) are coordinates: a dataset that is alone is compared with the clusters nearest in
    them.
    """
    checks = _Checks(changes, apart)
    clusters = _sound(labels, rows, tree, checks)
    return _refined(_join_lone(clusters, near, checks), len(labels))


def make_sound(
    labels: IntArray, rows: FloatArray, tree: Sequence[Join], changes: Changes, apart: Apart
) -> Refined:
    """Return the partition with sound joins only; datasets that are alone stay alone."""
    return _refined(_sound(labels, rows, tree, _Checks(changes, apart)), len(labels))


def _sound(
    labels: IntArray, rows: FloatArray, tree: Sequence[Join], checks: _Checks
) -> list[_Cluster]:
    """Return clusters of sound joins: those of the tree, or in another order."""
    trees = _trees(labels, tree)
    answers = iter(checks.unsound([join for one in trees for join in one.joins]))
    clusters: list[_Cluster] = []
    for one in trees:
        if any([next(answers) for _ in one.joins]):
            clusters += _pair_by_size(one.members, rows, checks)
        else:
            clusters.append(one)
    return clusters


def _refined(clusters: list[_Cluster], datasets: int) -> Refined:
    """Return clusters as labels, with their joins."""
    found = np.empty(datasets, dtype=int)
    for number, cluster in enumerate(clusters):
        found[list(cluster.members)] = number
    ordered = sorted(clusters, key=lambda cluster: cluster.members)
    return Refined(relabel(found), tuple(join for one in ordered for join in one.joins))


def tree_joins(tree: Tree) -> tuple[Join, ...]:
    """Return the joins of a merge tree, in the order of joining."""
    groups: list[Group] = [(k,) for k in range(tree.leaves)]
    joins = []
    for one, two in tree.children:
        joins.append(_in_order(groups[one], groups[two]))
        groups.append(tuple(sorted(groups[one] + groups[two])))
    return tuple(joins)


def smaller_sides(labels: IntArray, tree: Sequence[Join]) -> list[Group]:
    """Return the smaller side of every join inside clusters, where it has several datasets.

    >>> smaller_sides(np.zeros(4, dtype=int), [((0,), (1,)), ((2,), (3,)), ((0, 1), (2, 3))])
    [(0, 1)]
    """
    joins = (join for one in _trees(labels, tree) for join in one.joins)
    sides = (min(join, key=len) for join in joins)
    return [side for side in sides if len(side) > 1]


def _trees(labels: IntArray, tree: Sequence[Join]) -> list[_Cluster]:
    """Return each cluster with the joins of a tree among its datasets.

    Other datasets are left out of the joins, and joins with an empty side vanish.
    """
    label_of = labels.tolist()
    members = _by_label(range(len(labels)), label_of)
    joins: dict[int, list[Join]] = {label: [] for label in members}
    for sides in tree:
        one, two = (_by_label(side, label_of) for side in sides)
        for label in one.keys() & two.keys():
            joins[label].append(_in_order(tuple(one[label]), tuple(two[label])))
    return [_Cluster(tuple(members[label]), tuple(joins[label])) for label in sorted(members)]


def _by_label(datasets: Iterable[int], labels: Sequence[int]) -> dict[int, list[int]]:
    """Return datasets by their label."""
    found: dict[int, list[int]] = {}
    for k in datasets:
        found.setdefault(labels[k], []).append(k)
    return found


def _pair_by_size(members: Group, rows: FloatArray, checks: _Checks) -> list[_Cluster]:
    """Join datasets of similar size, then the pairs, and so on, as long as joins are sound.

    The order must not depend on how alike datasets look. Groups that look alike by chance would
    seem to predict worse together with the rest, since the rows that made them alike are the rows
    on which they are validated.
    """
    order = sorted(members, key=lambda k: (-rows[k], k))
    best: list[_Cluster] = []
    for turn in range(min(ORDERS, len(order))):
        found = _pair_up([*order[turn:], *order[:turn]], rows, checks)
        if not best or len(found) < len(best):
            best = found
        if len(best) == 1:
            break
    return best


def _pair_up(order: list[int], rows: FloatArray, checks: _Checks) -> list[_Cluster]:
    """Join neighbours in an order of datasets, then the pairs, and so on."""
    pieces = [_Cluster((k,)) for k in order]
    step = 1
    while step < min(len(pieces), FARTHEST_PARTNER + 1):
        used, pairs = set(), []
        for first in range(len(pieces) - step):
            if first not in used and first + step not in used:
                used |= {first, first + step}
                pairs.append((first, first + step))
        joins = [_in_order(pieces[i].members, pieces[j].members) for i, j in pairs]
        sound = [join for join, unsound in zip(joins, checks.unsound(joins)) if not unsound]
        pieces = _joined(pieces, sound)
        pieces.sort(key=lambda one: (-sum(rows[k] for k in one.members), one.members))
        step = 1 if sound else step + 1
    return _add_singly(pieces, checks)


def _add_singly(pieces: list[_Cluster], checks: _Checks) -> list[_Cluster]:
    """Add the datasets of smaller pieces to the largest one by one, where that is sound."""
    members, joins, rest = pieces[0].members, list(pieces[0].joins), []
    for k in (k for piece in pieces[1:] for k in piece.members):
        join = _in_order(members, (k,))
        if checks.once(join):
            rest.append(_Cluster((k,)))
        else:
            members = tuple(sorted(join[0] + join[1]))
            joins.append(join)
    return [_Cluster(members, tuple(joins)), *rest]


def _in_order(one: Group, two: Group) -> Join:
    """Return two groups as a join: the group with the first dataset comes first."""
    return (one, two) if one < two else (two, one)


# --- joins of clusters ---------------------------------------------------------------------------


def _join_lone(clusters: list[_Cluster], near: FloatArray, checks: _Checks) -> list[_Cluster]:
    """Join datasets that are alone, the largest fall of the error first.

    A join is made if the validated error falls. Each cluster takes part in one join of a round.
    """
    for _ in range(JOIN_ROUNDS):
        if len(clusters) < 2:
            break
        asked = _lone_pairs(clusters, near)
        found = sorted(
            (change, join) for join, (change, _) in zip(asked, checks.change(asked)) if change < 0
        )
        chosen: list[Join] = []
        used: set[int] = set()
        for _, (left, right) in found:
            if used.isdisjoint((left[0], right[0])) and not checks.unsound([(left, right)])[0]:
                chosen.append((left, right))
                used |= {left[0], right[0]}
        if not chosen:
            break
        clusters = _joined(clusters, chosen)
    return clusters


def _lone_pairs(clusters: list[_Cluster], near: FloatArray) -> list[Join]:
    """Return pairs of every dataset that is alone with the clusters nearest to it."""
    centres = np.stack([near[list(one.members)].mean(axis=0) for one in clusters])
    lone = np.array([c for c, one in enumerate(clusters) if len(one.members) == 1], dtype=int)
    joins: dict[Join, None] = {}
    for c, others in zip(lone.tolist(), _nearest(centres, lone)):
        for other in others.tolist():
            if other != c:
                joins[_in_order(clusters[c].members, clusters[other].members)] = None
    return list(joins)


def _nearest(centres: FloatArray, some: IntArray) -> Iterable[IntArray]:
    """Give the numbers of the centres nearest to some of them, which are among them."""
    if len(centres) > MOST_EXACT:
        return neighbours(centres, NEIGHBOURS + 1)[some]
    distances = (np.sum((centres - centres[c]) ** 2, axis=1) for c in some)
    return (np.argsort(distance, kind="stable")[: NEIGHBOURS + 1] for distance in distances)


def _joined(clusters: list[_Cluster], joins: list[Join]) -> list[_Cluster]:
    """Return clusters with some pairs of them joined."""
    by_members = {one.members: one for one in clusters}
    for left, right in joins:
        below = (*by_members.pop(left).joins, *by_members.pop(right).joins)
        both = tuple(sorted(left + right))
        by_members[both] = _Cluster(both, (*below, (left, right)))
    return list(by_members.values())
