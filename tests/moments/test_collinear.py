"""Directions in which columns hardly differ."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin.models.ols import fit_ols
from conjoin.moments import Basis, Moments
from conjoin.moments.collinear import (
    LIKE_A_COLUMN,
    directions_of_moments,
    directions_of_rows,
    is_nearly_collinear,
    precise,
    stretched,
)


def twins(eps, n=400, seed=0):
    """Three columns, the second of which is the first up to `eps`."""
    rng = np.random.default_rng(seed)
    a, c, z = rng.standard_normal((3, n))
    return np.column_stack([a, a + eps * z, c]), z + 0.1 * rng.standard_normal(n)


def second(Z):
    return Z.T @ Z / len(Z)


def test_ordinary_columns_have_no_nearly_collinear_direction():
    X, y = twins(1.0)
    basis = Basis.from_rows(X, y)
    assert not is_nearly_collinear(second(basis.features(X)))
    assert directions_of_rows(X, np.ones(len(y)), basis) is None
    assert precise(X, np.ones(len(y)), basis) is basis
    assert not is_nearly_collinear(np.ones((1, 1)))


@pytest.mark.parametrize("eps", [1e-2, 1e-4, 1e-6])
def test_rows_and_moments_find_the_same_direction(eps):
    X, y = twins(eps)
    basis = Basis.from_rows(X, y)
    rows = directions_of_rows(X, np.ones(len(y)), basis)
    moments = directions_of_moments(second(basis.features(X)), basis)
    assert rows.vectors.shape == moments.vectors.shape == (3, 1)
    assert_allclose(rows.squares, moments.squares, rtol=1e-2)
    assert_allclose(np.abs(rows.vectors[:2, 0]), np.sqrt(0.5), rtol=0.01)


@pytest.mark.parametrize("eps", [1e-2, 1e-5, 1e-8, 1e-11])
def test_a_stretched_direction_is_as_wide_as_a_column(eps):
    X, y = twins(eps)
    basis = Basis.from_rows(X, y)
    wide = stretched(basis, directions_of_rows(X, np.ones(len(y)), basis), LIKE_A_COLUMN)
    values = np.linalg.eigvalsh(second(wide.features(X)))
    assert 0.5 < values[0] and values[-1] < 3


def test_exact_sums_of_columns_are_left_alone_whatever_their_offset():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 300))
    for offset in (0.0, 2000.0, 2.0**20):
        X = np.column_stack([a, b, a + b]) + offset
        basis = Basis.from_rows(X, a)
        assert is_nearly_collinear(second(basis.features(X)))
        assert directions_of_rows(X, np.ones(300), basis) is None
        assert directions_of_moments(second(basis.features(X)), basis) is None


@pytest.mark.parametrize("eps", [1e-3, 1e-5, 1e-6, 1e-7, 1e-9])
def test_least_squares_keeps_directions_that_numpy_keeps(eps):
    X, y = twins(eps)
    basis = precise(X, np.ones(len(y)), Basis.from_rows(X, y))
    moments = Moments.from_rows(basis.design(X), basis.response(y))
    fit = fit_ols(moments)
    A = np.column_stack([np.ones(len(y)), X])
    expected, rss, rank, _ = np.linalg.lstsq(A, y, rcond=None)
    assert (int(fit.rank), rank) == (4, 4)
    assert_allclose(fit.rss * basis.target_scale**2, rss[0], rtol=1e-6)
    intercept, slopes = basis.to_original(fit.beta)
    assert_allclose(intercept + X @ slopes, A @ expected, atol=1e-14 / eps + 1e-9)


def test_the_order_and_the_unit_of_columns_do_not_matter():
    X, y = twins(1e-4)
    w = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    order, unit = [2, 0, 1], np.array([3.0, 1e-3, 7e5])
    basis = Basis.from_rows(X, y, w)
    other = Basis.from_rows((X * unit)[:, order], y, w)
    one = stretched(basis, directions_of_rows(X, w, basis), LIKE_A_COLUMN)
    two = stretched(other, directions_of_rows((X * unit)[:, order], w, other), LIKE_A_COLUMN)
    assert_allclose(two.features((X * unit)[:, order]), one.features(X)[:, order], atol=1e-8)


def test_a_rare_flag_is_not_collinear():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20_000, 2)), rng.standard_normal(20_000)
    X[:, 1] = np.arange(20_000) == 7
    assert not is_nearly_collinear(second(Basis.from_rows(X, y).features(X)))
