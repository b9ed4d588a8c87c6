"""Moments that are not formed are those that are formed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin.moments import Moments
from conjoin.moments.folds import fold_moments
from conjoin.moments.rows import RowFolds, RowMoments

# Datasets without rows, with fewer rows than columns, with exactly as many as A has columns, and
# with more, whose rows are replaced by their triangular factor.
SIZES = np.array([2, 0, 5, 30, 1, 2, 7, 8, 3, 2])
COLUMNS = 6


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    starts = np.concatenate([[0], np.cumsum(SIZES)])
    X = np.column_stack([np.ones(starts[-1]), rng.normal(size=(starts[-1], COLUMNS - 1))])
    return X, rng.normal(size=starts[-1]), starts, rng.uniform(0.5, 2.0, starts[-1])


def test_all_sums_are_those_of_moments(rows):
    formed, found = Moments.by_dataset(*rows), RowMoments.by_dataset(*rows)
    assert (found.p, found.shape, found.outputs) == (COLUMNS, (10,), 1)
    for name in ("G", "h", "q", "n", "w"):
        assert_allclose(getattr(found, name), getattr(formed, name), atol=1e-12)
    beta = np.random.default_rng(1).normal(size=(10, COLUMNS))
    assert_allclose(found.sse(beta), formed.sse(beta), atol=1e-12)
    labels = np.array([0, 1, 0, 1, 0, 0, 1, 0, 1, 1])
    for one, two in (
        (found.union(), formed.union()),
        (found.sum_by(labels), formed.sum_by(labels)),
    ):
        for name in ("G", "h", "q", "n", "w"):
            assert_allclose(getattr(one, name), getattr(two, name), atol=1e-12)


def test_some_datasets_can_be_taken(rows):
    kept = np.array([True, True, False, True, False, True, False, True, True, False])
    formed, found = Moments.by_dataset(*rows)[kept], RowMoments.by_dataset(*rows).take(kept)
    for name in ("G", "h", "q", "n", "w"):
        assert_allclose(getattr(found, name), getattr(formed, name), atol=1e-12)


def test_large_datasets_keep_no_more_rows_than_columns(rows):
    found = RowMoments.by_dataset(*rows)
    assert len(found.A) == np.minimum(SIZES, COLUMNS + 1).sum()


def test_folds_are_formed_when_asked_for(rows):
    X, y, starts, w = rows
    fold = np.arange(len(y)) % 3
    formed, found = fold_moments(X, y, w, starts, fold, 3), RowFolds(X, y, w, starts, fold, 3)
    assert found.shape == formed.shape
    for name in ("G", "h", "q", "n", "w"):
        assert_allclose(getattr(found, name), getattr(formed, name), atol=1e-12)
    outside, expected = found.take(fold != 1), formed.union(1) - formed[:, 1]
    for name in ("G", "h", "q", "n", "w"):
        assert_allclose(getattr(outside, name), getattr(expected, name), atol=1e-12)
