"""Clusters change only where the gain exceeds its standard error."""

import numpy as np
import pytest

from conjoin.engine.settled import (
    _differing_blocks,
    _gain,
    _in_order,
    _is_split,
    _with_newcomers,
)


def test_new_datasets_go_where_most_rows_of_their_mates_were():
    names, before = ["a", "b", "c", "d", "e"], {"a": 0, "b": 1, "c": 1}
    new, rows = np.array([0, 0, 1, 0, 2]), np.array([10.0, 20.0, 5.0, 1.0, 1.0])
    assert _with_newcomers(new, names, before, rows).tolist() == [0, 1, 1, 1, 2]


@pytest.mark.parametrize(
    ("old", "new", "blocks"),
    [
        ([0, 0, 1], [1, 1, 0], []),  # the same under other numbers
        ([0, 0, 1, 1], [0, 1, 2, 2], [[0, 1]]),
        ([0, 0, 1, 1, 2], [0, 1, 1, 2, 3], [[0, 1, 2, 3]]),
        ([0, 1, 2, 3], [0, 0, 1, 1], [[0, 1], [2, 3]]),
    ],
)
def test_blocks_are_what_differs(old, new, blocks):
    found = _differing_blocks(np.array(old), np.array(new))
    assert [block.tolist() for block in found] == blocks


def test_the_gain_is_a_share_of_the_error():
    rng = np.random.default_rng(0)
    before = 10 + rng.normal(0, 0.1, (10, 2))
    losses = np.stack([before, 0.9 * before])
    gain, error = _gain(losses, np.full(2, 50.0), np.full(2, 0.5))
    assert gain == pytest.approx(0.1) and error < 0.01


def test_clusters_with_an_unsound_join_are_split():
    assert not _is_split(np.array([0, 0, 1]), np.array([5, 5, 5]))
    assert _is_split(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 2]))


def test_labels_are_in_order_of_the_first_dataset():
    assert _in_order(np.array([7, 2, 7, 0])).tolist() == [0, 1, 0, 2]
