"""The merge tree: put together from merges, cut into groups, walked leaf by leaf."""

import numpy as np
import pytest

from conjoin.result.details import cut, leaves, whole_tree
from conjoin.result.values import Merge

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
