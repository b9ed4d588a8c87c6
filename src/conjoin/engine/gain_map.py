"""Step 7, on demand: the merges above the clusters, and the map of gains between datasets.

Verdicts and a search enter; judged merges and a `Map` leave, in the units of the data.
"""

from collections.abc import Sequence

import numpy as np

from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.criterion.base import PairScore
from conjoin.criterion.judge import Judge
from conjoin.engine.verdicts import MOST_INTERVALS, Verdicts, around
from conjoin.grouping import Step
from conjoin.grouping.agglomerative import Restricted, grow
from conjoin.grouping.objective import Objective, sum_by
from conjoin.grouping.search import Search
from conjoin.result.details import VERDICTS, Map, cut, whole_tree
from conjoin.result.values import Merge

# Datasets up to which the map shows each of them, and groups that it shows beyond: more cells than
# 200 x 200 are too small to see.
MOST_ON_MAP, GROUPS_ON_MAP = 200, 40
# Groups on the map up to which every pair gets a verdict, and up to which every pair gets an
# interval; 60 groups have 1,770 pairs.
MOST_VERDICTS, MOST_MAP_INTERVALS = 60, 30
# Pairs that get both where there are more groups: those that the partition decided most narrowly.
MOST_CONTESTED = 200


def judged_upper(verdicts: Verdicts, search: Search | None) -> tuple[Merge, ...]:
    """Return the merges above the clusters, none of which was made, with their verdicts."""
    if search is None:
        return ()
    names, refused = verdicts.names, PairScore(float("nan"), False)
    steps = [
        Step(tuple(names[k] for k in left), tuple(names[k] for k in right), refused)
        for left, right in upper_merges(search.objective, verdicts.labels, search.near)
    ]
    return verdicts.judge_steps(steps, interval=len(steps) <= MOST_INTERVALS)


def make_map(verdicts: Verdicts, merges: Sequence[Merge]) -> Map:
    """Return the map of gains between datasets, or between groups where datasets are many."""
    names, labels = verdicts.names, verdicts.labels
    root = whole_tree(names, merges)
    groups: list[tuple[int, ...]]
    groups = [(int(k),) for k in np.argsort(labels, kind="stable")]
    if root is not None:
        most = len(names) if len(names) <= MOST_ON_MAP else GROUPS_ON_MAP
        groups = [node.members for node in cut(root, most)]
    elif len(names) > MOST_ON_MAP:
        clusters = range(int(labels.max()) + 1)
        groups = [tuple(np.nonzero(labels == c)[0].tolist()) for c in clusters]
    return map_of(verdicts.judge, groups, labels, verdicts.delta, verdicts.scale)


def upper_merges(
    objective: Objective, labels: IntArray, near: FloatArray | None
) -> list[tuple[list[int], list[int]]]:
    """Return the merges of clusters, as lists of datasets, that lead to a single one."""
    C = int(labels.max()) + 1
    if C < 2:
        return []
    sums = sum_by(objective.sums, labels, C)
    centres = None
    if near is not None:
        sizes = np.bincount(labels, minlength=C)
        centres = np.stack([np.bincount(labels, x) for x in near.T], axis=1) / sizes[:, None]
    tree = grow(Restricted(objective, sums), centres)
    members = [np.flatnonzero(labels == c).tolist() for c in range(C)]

    def under(node: int) -> list[int]:
        return sorted(k for c in tree.members(node) for k in members[c])

    return [(under(int(a)), under(int(b))) for a, b in tree.children]


def map_of(
    judge: Judge, groups: Sequence[tuple[int, ...]], labels: IntArray, delta: float, scale: float
) -> Map:
    """Return gains of joining every two groups, with verdicts on all pairs or the contested."""
    M = len(groups)
    left, right = np.triu_indices(M, 1)
    gains = judge.gains([(groups[int(i)], groups[int(j)]) for i, j in zip(left, right)])
    cluster = labels[[group[0] for group in groups]]
    chosen: IntArray = np.arange(len(left))
    if M > MOST_VERDICTS:
        chosen = _contested(gains, cluster[left] == cluster[right])
    pairs = [(groups[int(left[i])], groups[int(right[i])]) for i in chosen]
    interval = M <= MOST_MAP_INTERVALS or len(pairs) <= MOST_CONTESTED
    answers, ends = judge.verdicts(pairs, delta=delta, interval=interval)
    tables = np.full((3, M, M), np.nan)
    code = np.zeros((M, M), dtype=int)
    tables[0, left, right] = gains * scale
    a, b = left[chosen], right[chosen]
    if interval:
        tables[1, a, b], tables[2, a, b] = around(gains[chosen], ends).T * scale
    code[a, b] = [VERDICTS.index(answer) for answer in answers]
    gain, low, high = (np.where(np.isnan(table), table.T, table) for table in tables)
    return Map(tuple(tuple(group) for group in groups), gain, low, high, code + code.T)


def _contested(gains: FloatArray, together: BoolArray) -> IntArray:
    """Return pairs in one cluster that gain least, and pairs across clusters that gain most."""
    doubt = np.where(together, -gains, gains)
    doubt = np.where(np.isfinite(doubt), doubt, -np.inf)
    half = MOST_CONTESTED // 2
    found = []
    for kind in (together, ~together):
        index = np.flatnonzero(kind)
        found.append(index[np.argsort(-doubt[index], kind="stable")[:half]])
    return np.sort(np.concatenate(found))
