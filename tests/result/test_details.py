"""The merge tree: put together from merges, cut into groups, walked leaf by leaf."""

import numpy as np
import pytest

from conjoin.result.details import Details, Map, by_ledger, cut, leaves, whole_tree
from conjoin.result.values import NOT_JUDGED, THEORY, Merge, unjudged

UNKNOWN = (float("nan"), float("nan"))


def merge(left, right, gain=1.0, joined=True):
    return Merge(tuple(left), tuple(right), joined, "join" if joined else "apart", gain, UNKNOWN)


def members(nodes):
    return [node.members for node in nodes]


def test_merges_make_one_tree():
    root = whole_tree("abcd", [merge("a", "c", 3.0), merge("b", "d", 2.0), merge("ac", "bd", -1.0)])
    assert root.members == (0, 2, 1, 3)
    assert members(root.children) == [(0, 2), (1, 3)]
    assert members(leaves(root)) == [(0,), (2,), (1,), (3,)]
    assert root.height == -1.0


@pytest.mark.parametrize(
    "merges",
    [
        [merge("a", "b")],  # c is left over
        [merge("a", "b"), merge("a", "c")],  # a is no group of its own any more
        [],
    ],
)
def test_merges_that_make_no_tree(merges):
    assert whole_tree("abc", merges) is None


def test_a_parent_is_never_higher_than_its_children():
    root = whole_tree("abc", [merge("a", "b", 1.0), merge("ab", "c", 5.0)])
    assert (root.children[0].height, root.height) == (1.0, 1.0)
    unknown = whole_tree("ab", [merge("a", "b", np.nan)])
    assert unknown.height == np.inf


def test_one_dataset_is_a_tree():
    assert whole_tree("a", []).members == (0,)


def test_a_cut_undoes_the_costliest_refused_merges_first():
    merges = [
        merge("a", "b", 2.0),
        merge("c", "d", 1.0),
        merge("ab", "e", -1.0, joined=False),
        merge("abe", "cd", -3.0, joined=False),
    ]
    root = whole_tree("abcde", merges)
    assert members(cut(root, 1)) == [(0, 1, 4, 2, 3)]
    assert members(cut(root, 2)) == [(0, 1, 4), (2, 3)]
    assert members(cut(root, 3)) == [(0, 1), (4,), (2, 3)]
    assert members(cut(root, 5)) == [(0,), (1,), (4,), (2,), (3,)]


def test_a_cut_keeps_joins_of_a_large_group_with_a_single_dataset():
    names = [f"d{k}" for k in range(6)]
    chain = [merge(names[:k], names[k : k + 1]) for k in range(1, 6)]
    root = whole_tree(names, chain)
    assert members(cut(root, 3)) == [(0, 1, 2, 3, 4, 5)]
    pairs = [merge(["d0"], ["d1"]), merge(["d2"], ["d3"]), merge(names[:2], names[2:4])]
    root = whole_tree(names[:4], pairs)
    assert members(cut(root, 3)) == [(0, 1), (2, 3)]


def _line(left, right, *, joined, judged_by, gain=1.0):
    return Merge(left, right, joined, "apart", gain, (0.0, 2.0), p_value=0.01, judged_by=judged_by)


def test_merges_say_what_the_ledger_says():
    """Where a learner chose the clusters, theory says nothing of merges, on no face."""
    names, M = ("a", "b", "c"), np.ones((3, 3))
    ledger = [
        _line(("a",), ("b",), joined=True, judged_by=NOT_JUDGED, gain=np.nan),
        unjudged(_line(("c",), ("a", "b"), joined=False, judged_by=THEORY)),
    ]
    upper = (_line(("a", "b"), ("c",), joined=False, judged_by=THEORY),)
    shown = Map(((0,), (1,), (2,)), M, 0 * M, 2 * M, np.full((3, 3), 2))
    empty = np.zeros(3)
    given = Details({}, M, M, empty, M, empty, 0, {}, upper, shown, empty)
    for lines in (ledger, ledger[:1]):
        found = by_ledger(given, lines, names, learners=True)
        (merge,) = found.upper
        assert (merge.judged_by, merge.verdict) == (NOT_JUDGED, "undecided")
        assert np.isnan(merge.p_value)
        assert np.isnan(merge.gain) and not merge.joined
        assert found.map.verdict.tolist() == [[2, 0, 2], [0, 2, 2], [2, 2, 2]]
        assert np.isnan(found.map.gain[0, 1]) and found.map.gain[0, 2] == 1
    kept = by_ledger(given, ledger[:1], names, learners=False).upper[0]
    assert (kept.judged_by, kept.gain) == (THEORY, 1.0)
