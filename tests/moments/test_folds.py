"""Random folds from a hash of values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from conjoin.moments import Moments
from conjoin.moments.folds import (
    PRIME,
    ColumnCells,
    Mixing,
    deal,
    deal_rows,
    fold_moments,
    sort_by_cell,
)


def rows(sizes, p=3, seed=0):
    rng = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return rng.standard_normal((starts[-1], p)), rng.standard_normal(starts[-1]), starts


def test_folds_are_balanced_inside_each_dataset():
    X, y, starts = rows([1, 3, 10, 57, 1000])
    fold = deal(X, y, starts, 10, 0)
    for i, j in zip(starts[:-1], starts[1:]):
        counts = np.bincount(fold[i:j], minlength=10)
        assert counts.max() - counts.min() <= 1


def test_small_datasets_do_not_crowd_into_the_first_folds():
    X, y, starts = rows([1] * 2000)
    counts = np.bincount(deal(X, y, starts, 10, 0), minlength=10)
    assert counts.min() > 150 and counts.max() < 250  # 200 +- 4 standard deviations


def test_folds_are_independent_of_the_values():
    X, y, starts = rows([20_000])
    fold = deal(X, y, starts, 10, 0)
    for values in (*X.T, y, X[:, 0] * y, y**2):
        z = (values - values.mean()) / values.std()
        means = np.array([z[fold == f].mean() for f in range(10)])
        assert np.abs(means).max() * np.sqrt(2000) < 4


def test_regular_values_get_random_folds_too():
    y = np.arange(5000.0)
    X = np.stack([y % 7, y // 7], axis=1)
    fold = deal(X, y, np.array([0, 5000]), 10, 0)
    neighbours = np.mean(fold[1:] == fold[:-1])
    assert 0.07 < neighbours < 0.13
    weekdays = np.array(
        [[np.sum((fold == f) & (X[:, 0] == d)) for f in range(10)] for d in range(7)]
    )
    assert np.sum((weekdays - 5000 / 70) ** 2 / (5000 / 70)) < 90  # chi-squared, 54 degrees


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 1000), scale=st.sampled_from([1e-12, 1.0, 1e9]))
def test_the_order_of_rows_and_columns_does_not_matter(seed, scale):
    X, y, starts = rows([40], seed=seed)
    X = X * scale
    fold = deal(X, y, starts, 5, 1)
    rng = np.random.default_rng(seed)
    shuffled, columns = rng.permutation(40), rng.permutation(3)
    again = deal(X[shuffled][:, columns], y[shuffled], starts, 5, 1)
    assert np.array_equal(again, fold[shuffled])


def test_another_seed_gives_other_folds():
    X, y, starts = rows([200])
    same = np.mean(deal(X, y, starts, 10, 0) == deal(X, y, starts, 10, 1))
    assert same < 0.25


@pytest.mark.parametrize("largest", [0.0, 5e-324, 1e-300, 1.0, 1e300, 1.7e308])
def test_hashes_stay_in_range_at_any_scale(largest):
    values = np.array([-largest, 0.0, largest / 3, largest])
    v = Mixing.of(0, 0).mix(ColumnCells.of(-largest, largest).place(values))
    assert (v >= 0).all() and (v < PRIME).all()


def test_cells_are_folds_of_datasets_in_their_order():
    fold = np.array([1, 0, 1, 2, 2])
    cell, order, bounds = sort_by_cell(np.array([0, 3, 5]), fold, 3)
    assert cell.tolist() == [1, 0, 1, 5, 5]
    assert order.tolist() == [1, 0, 2, 3, 4]
    assert bounds.tolist() == [0, 1, 3, 3, 3, 3, 5]


def test_moments_of_folds_are_those_of_their_rows():
    X, y, starts = rows([30, 12, 50])
    w = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    fold = deal(X, y, starts, 4, 0)
    found = fold_moments(X, y, w, starts, fold, 4)
    assert found.shape == (3, 4)
    for k in range(3):
        for f in range(4):
            own = np.arange(starts[k], starts[k + 1])
            own = own[fold[own] == f]
            alone = Moments.from_rows(X[own], y[own], w[own])
            for name in ("G", "h", "q", "n", "w"):
                assert_allclose(getattr(found, name)[k, f], getattr(alone, name), atol=1e-12)


# --- units, names and order ----------------------------------------------------------------------


@pytest.mark.parametrize("shift", [1.0, -7.3, 2.0**20])
@pytest.mark.parametrize("p", [1, 4])
def test_adding_a_constant_or_changing_the_unit_keeps_the_folds(shift, p):
    X, y, starts = rows([300, 700], p=p)
    X[:, 0] = np.round(X[:, 0], 1)  # many values lie where a round number of cells would end
    fold = deal(X, y, starts, 10, 0)
    assert np.array_equal(deal(X + shift, y, starts, 10, 0), fold)
    assert np.array_equal(deal(X, y + shift, starts, 10, 0), fold)
    assert np.array_equal(deal(X * 3.7, y * 1e-9, starts, 10, 0), fold)


def test_flags_that_trade_places_keep_their_folds():
    rng = np.random.default_rng(0)
    X = (rng.random((1000, 4)) < [0.5, 0.4, 0.2, 0.05]).astype(float)
    y, starts = rng.standard_normal(1000), np.array([0, 400, 1000])
    fold = deal(X, y, starts, 10, 0)
    assert np.array_equal(deal(X[:, [3, 0, 2, 1]], y, starts, 10, 0), fold)


# --- copies --------------------------------------------------------------------------------------


def copied(sizes, times, seed=0):
    X, y, starts = rows(sizes, seed=seed)
    order = np.random.default_rng(seed).permutation(starts[-1] * times)
    dataset = np.repeat(np.arange(len(sizes)), np.diff(starts))
    source = np.repeat(np.arange(starts[-1]), times)[order]
    source = source[np.argsort(dataset[source], kind="stable")]
    return X[source], y[source], starts * times, source


def test_copies_share_a_fold_and_are_counted():
    X, y, starts, source = copied([40, 25, 3], 5)
    dealt = deal_rows(X, y, starts, 10, 0)
    assert dealt.copies.tolist() == [160, 100, 12]
    for row in np.unique(source):
        assert len(np.unique(dealt.fold[source == row])) == 1
    for i, j in zip(starts[:-1], starts[1:]):
        counts = np.bincount(dealt.fold[i:j], minlength=10)
        assert counts.max() - counts.min() <= 5


def test_a_single_copy_among_many_rows_is_found():
    X, y, starts = rows([500])
    X[417], y[417] = X[3], y[3]
    dealt = deal_rows(X, y, starts, 10, 0)
    assert dealt.copies.tolist() == [1] and dealt.fold[417] == dealt.fold[3]
    y[417] += 1e-9
    assert deal_rows(X, y, starts, 10, 0).copies.tolist() == [0]


def test_rows_of_few_values_are_equal_by_chance():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 3)).astype(float)
    y, starts = rng.integers(0, 5, 400).astype(float), np.array([0, 150, 400])
    dealt = deal_rows(X, y, starts, 10, 0)
    assert dealt.copies.tolist() == [0, 0]
    for i, j in zip(starts[:-1], starts[1:]):
        counts = np.bincount(dealt.fold[i:j], minlength=10)
        assert counts.max() - counts.min() <= 1


def test_copies_of_classes_are_known_by_their_columns():
    X, y, starts, _ = copied([40, 30], 3)
    dealt = deal_rows(X, (y > 0).astype(float), starts, 10, 0)
    assert dealt.copies.tolist() == [80, 60]
