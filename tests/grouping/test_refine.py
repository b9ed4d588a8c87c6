import numpy as np
import pytest

from conjoin.grouping.refine import refine

K = 6
NEAR = np.arange(K, dtype=float)[:, None]
ROWS = np.array([60.0, 50, 40, 30, 20, 10])
TREE = (((0,), (1,)), ((2,), (3,)), ((4,), (5,)), ((0, 1), (2, 3)), ((0, 1, 2, 3), (4, 5)))


def never(pairs):
    return np.zeros(len(pairs), dtype=bool)


def by_blocks(blocks):
    """Return changes that are below zero inside blocks, and high across them."""

    def changes(pairs):
        same = [len({blocks[k] for k in (*a, *b)}) == 1 for a, b in pairs]
        return np.where(same, -2.0, 2.0), np.ones(len(pairs))

    return changes


def together(labels):
    return {tuple(np.flatnonzero(labels == c).tolist()) for c in np.unique(labels)}


def sound(refined, changes, apart):
    change, error = changes(refined.joins)
    return bool((change <= error).all()) and not apart(refined.joins).any()


def made(refined):
    """Return the clusters that the joins make, starting from single datasets."""
    groups = {(k,) for k in range(len(refined.labels))}
    for left, right in refined.joins:
        groups -= {left, right}
        groups.add(tuple(sorted(left + right)))
    return groups


@pytest.mark.parametrize("start", [[0] * K, [0, 0, 1, 1, 2, 2], list(range(K))])
@pytest.mark.parametrize("blocks", [[0] * K, [0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1]])
def test_only_sound_joins_remain(start, blocks):
    changes = by_blocks(blocks)
    found = refine(np.array(start), ROWS, TREE, NEAR, changes, never)
    assert sound(found, changes, never)
    assert made(found) == together(found.labels)


def test_single_datasets_join_where_the_error_falls():
    found = refine(np.arange(K), ROWS, TREE, NEAR, by_blocks([0, 0, 0, 1, 1, 1]), never)
    assert together(found.labels) == {(0, 1, 2), (3, 4, 5)}


def test_no_join_has_the_verdict_apart():
    def apart(pairs):
        return np.array([(0 in a + b) and (1 in a + b) for a, b in pairs], dtype=bool)

    changes = by_blocks([0] * K)
    found = refine(np.zeros(K, dtype=int), ROWS, TREE, NEAR, changes, apart)
    assert found.labels[0] != found.labels[1]
    assert sound(found, changes, apart)


def test_a_sound_partition_stays():
    start = np.array([0, 0, 0, 0, 1, 1])
    found = refine(start, ROWS, TREE, NEAR, by_blocks([0] * 4 + [1] * 2), never)
    assert np.array_equal(found.labels, start)
    assert found.joins == (((0,), (1,)), ((2,), (3,)), ((0, 1), (2, 3)), ((4,), (5,)))
