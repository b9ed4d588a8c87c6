"""Padded stacks of rows: what goes in comes out, and derivatives by finite differences."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from conjoin.models.padded_rows import PaddedRows, SortedRows, padded_blocks
from tests.models.glm_draws import draw, every_family, padded


@every_family
def test_score_and_information_by_finite_differences(family):
    data = padded(*draw(family))
    P = 4 * family.m
    b = np.random.default_rng(1).standard_normal((3, P)) * 0.3
    at = data.derivatives(b, family)
    score, information = data.score(at), data.information(at)
    for j in range(P):
        h = np.zeros(P)
        h[j] = 1e-5
        slope = (data.loss(b + h, family) - data.loss(b - h, family)) / 2e-5
        assert_allclose(-score[:, j], slope, rtol=1e-5, atol=1e-5)
        change = data.score(data.derivatives(b + h, family)) - data.score(
            data.derivatives(b - h, family)
        )
        assert_allclose(-information[:, j], change / 2e-5, rtol=1e-5, atol=1e-4)


def test_blocks_hold_every_dataset_once_with_little_padding():
    sizes = np.array([3, 0, 1000, 5, 700, 4, 90, 1, 2, 5])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    n = starts[-1]
    X, y = np.arange(2.0 * n).reshape(n, 2), np.arange(n) + 1.0
    seen = []
    for index, rows in padded_blocks(SortedRows(X, y, np.full(n, 2.0), starts)):
        seen += index.tolist()
        assert rows.y.size <= 2 * max(sizes[index].sum(), len(index))
        for k, dataset in enumerate(index):
            own = slice(starts[dataset], starts[dataset + 1])
            assert_array_equal(rows.X[k, : sizes[dataset]], X[own])
            assert_array_equal(rows.y[k, : sizes[dataset]], y[own])
            assert_allclose(rows.w[k].sum(), 2 * sizes[dataset])
    assert sorted(seen) == list(range(10))


@every_family
def test_row_scores_sum_to_the_score(family):
    rows = padded(*draw(family))
    at = rows.derivatives(0.1 * np.ones((3, 4 * family.m)), family)
    scores = rows.row_scores(at)
    assert scores.shape == (*rows.w.shape, 4 * family.m)
    assert_allclose(-scores.sum(axis=1), rows.score(at), atol=1e-10)


def test_selected_datasets_keep_their_rows_and_order():
    starts = np.array([0, 2, 2, 5, 6])
    X, y = np.arange(12.0).reshape(6, 2), np.arange(6.0)
    rows = SortedRows(X, y, y + 1, starts)
    some = rows.take([3, 0])
    assert_array_equal(some.y, [5, 0, 1])
    assert_array_equal(some.w, [6, 1, 2])
    assert_array_equal(some.X, X[[5, 0, 1]])
    assert_array_equal(some.starts, [0, 1, 3])
    assert (len(rows), len(some)) == (4, 2)


def test_datasets_of_one_size_are_stacked_without_copies():
    rows = SortedRows(np.ones((6, 2)), np.arange(6.0), np.ones(6), np.array([0, 3, 6]))
    stack = PaddedRows.of(rows)
    assert_array_equal(stack.y, [[0, 1, 2], [3, 4, 5]])
    assert np.shares_memory(stack.X, rows.X)
