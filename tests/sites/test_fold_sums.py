"""Sums of folds from one pass are those of the rows."""

import numpy as np
import pytest

from conjoin.sites import fold_sums
from conjoin.sites.alone import Sums
from conjoin.sites.fold_sums import FoldSums


@pytest.fixture
def rows(monkeypatch):
    monkeypatch.setattr(fold_sums, "BLOCK", 64)  # several blocks
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 3)) * [1.0, 1e-3, 1e6] + [5.0, 0.0, 1e9]
    return X[np.argsort(X[:, 0])], rng.standard_normal(500), rng.integers(0, 10, 500)


def test_sums_of_folds_around_their_means(rows):
    X, y, fold = rows
    sums = FoldSums.of(X, y, fold, 10).joined(5)
    for f in range(5):
        own = fold % 5 == f
        found, expected = sums.around_means(f), Sums.of(np.column_stack([X, y])[own])
        assert found is not None and found.rows == own.sum()
        np.testing.assert_allclose(found.correlations(), expected.correlations(), atol=1e-12)
        np.testing.assert_array_equal([found.low, found.high], [expected.low, expected.high])
        np.testing.assert_allclose(found.far, expected.far, rtol=1e-8)


def test_standardised_products(rows):
    X, y, fold = rows
    center, scale, products = FoldSums.of(X, y, fold, 10).standardised()
    values = np.column_stack([X, y])
    np.testing.assert_allclose(center, values.mean(axis=0), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(scale, values.std(axis=0), rtol=1e-10)
    Z = np.column_stack([np.ones(len(y)), (values - center) / scale])
    for f in range(10):
        np.testing.assert_allclose(products[f], Z[fold == f].T @ Z[fold == f], atol=1e-9)


def test_a_fold_far_from_the_first_rows_is_not_precise():
    X = np.repeat([0.0, 1e6], 300)[:, None] + np.random.default_rng(0).standard_normal((600, 1))
    fold = np.repeat([0, 1], 300)
    sums = FoldSums.of(X, X[:, 0], fold, 2)
    assert sums.around_means(1) is None
    assert sums.joined(1).around_means() is not None


def test_a_column_with_one_value_in_a_fold_is_constant_there():
    X = np.repeat([0.0, 1.0], 300)[:, None]
    y = np.random.default_rng(0).standard_normal(600)
    found = FoldSums.of(X, y, np.repeat([0, 1], 300), 2).around_means(1)
    assert found is not None and found.constant.tolist() == [True, False]
