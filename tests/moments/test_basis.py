import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin.moments import Basis, Moments
from conjoin.moments.basis import FARTHEST


def test_sums_of_the_target_in_its_own_units():
    rng = np.random.default_rng(0)
    X, y, w = rng.standard_normal((30, 2)), rng.normal(5, 3, 30), rng.uniform(0.5, 2, 30)
    basis = Basis.from_rows(X, y, w)
    t = basis.response(y)
    assert_allclose(basis.target_sums(w @ t, w @ t**2, w.sum()), [w @ y, w @ y**2])


def test_year_and_price_columns_lose_no_digits():
    rng = np.random.default_rng(0)
    n = 400
    year = rng.integers(2014, 2025, n).astype(float)
    price = 1e7 + rng.standard_normal(n)
    X = np.column_stack([year, price])
    y = 3e5 + 0.5 * (year - 2019) - 2 * (price - 1e7) + 0.01 * rng.standard_normal(n)
    basis = Basis.from_rows(X, y)
    m = Moments.from_rows(basis.design(X), basis.response(y))
    beta = np.linalg.solve(m.G, m.h)
    intercept, slopes = basis.to_original(beta)
    # The exact answer, from columns centred with integers and no rounding to speak of.
    C = np.column_stack([np.ones(n), year - 2019, price - 1e7])
    exact, rss = np.linalg.lstsq(C, y - 3e5, rcond=None)[:2]
    assert_allclose(slopes, exact[1:], rtol=1e-9)
    assert_allclose(m.sse(beta) * basis.target_scale**2, rss[0], rtol=1e-6)
    raw = np.column_stack([np.ones(n), X])
    naive = y @ y - (raw.T @ y) @ np.linalg.solve(raw.T @ raw, raw.T @ y)
    assert abs(naive / rss[0] - 1) > 0.1  # raw moments lose the residuals


def test_coefficients_survive_a_change_of_coordinates_and_back():
    rng = np.random.default_rng(1)
    X, y = rng.normal(5, 3, (40, 3)), rng.normal(-7, 2, 40)
    for intercept in (True, False):
        basis = Basis.from_rows(X, y, intercept=intercept)
        slopes = rng.standard_normal(3)
        beta = basis.from_original(np.asarray(1.5 if intercept else 0.0), slopes)
        back_intercept, back = basis.to_original(beta)
        assert_allclose(back, slopes)
        assert_allclose(back_intercept, 1.5 if intercept else 0.0, atol=1e-12)
        prediction = basis.design(X) @ beta * basis.target_scale + basis.target_center
        assert_allclose(prediction, (1.5 if intercept else 0.0) + X @ slopes)


@pytest.mark.parametrize("intercept", [True, False])
def test_a_summary_gives_the_basis_of_the_rows(intercept):
    rng = np.random.default_rng(2)
    X, y = rng.normal(5, 3, (40, 3)), rng.normal(-7, 2, 40)
    A = np.column_stack([X, y])
    mean = A.mean(axis=0)
    spread = np.sqrt(np.mean((A - mean * intercept) ** 2, axis=0))
    one = Basis.from_rows(X, y, intercept=intercept)
    two = Basis.from_summary(A.min(axis=0), A.max(axis=0), mean, spread, intercept=intercept)
    for name in ("center", "scale", "target_center", "target_scale"):
        assert_allclose(getattr(two, name), getattr(one, name), rtol=1e-12, atol=1e-12)


def test_rare_flags_and_outliers_have_no_entry_beyond_the_limit():
    rng = np.random.default_rng(3)
    flag, wild, normal = np.zeros(1000), rng.standard_normal(1000), rng.standard_normal(1000)
    flag[7], wild[7] = 1.0, 1e6
    X = np.column_stack([flag, wild, normal])
    Z = Basis.from_rows(X, normal).design(X)[:, 1:]
    assert_allclose(np.abs(Z).max(axis=0)[:2], FARTHEST)
    assert np.std(Z[:, 2]) == pytest.approx(1.0, rel=0.1)


def test_constant_columns_and_targets_keep_their_unit():
    basis = Basis.from_rows(np.full((5, 1), 3.0), np.full(5, 2.0))
    assert (basis.scale, basis.target_scale) == (1.0, 1.0)
    assert_allclose(basis.design(np.full((1, 1), 4.0)), [[1.0, 1.0]])


def test_the_raw_basis_changes_nothing():
    X, y = np.arange(6.0).reshape(3, 2), np.arange(3.0)
    basis = Basis.raw(2)
    assert_allclose(basis.design(X), X)
    assert_allclose(basis.response(y), y)


@pytest.mark.parametrize("intercept", [True, False])
def test_a_matrix_changes_coordinates_and_no_prediction(intercept):
    rng = np.random.default_rng(4)
    X, y = rng.normal(5, 3, (40, 3)), rng.normal(-7, 2, 40)
    plain = Basis.from_rows(X, y, intercept=intercept)
    basis = plain.with_matrix(rng.standard_normal((3, 3)))
    slopes = rng.standard_normal(3)
    beta = basis.from_original(np.asarray(1.5 if intercept else 0.0), slopes)
    back_intercept, back = basis.to_original(beta)
    assert_allclose(back, slopes)
    assert_allclose(back_intercept, 1.5 if intercept else 0.0, atol=1e-12)
    prediction = basis.design(X) @ beta * basis.target_scale + basis.target_center
    assert_allclose(prediction, (1.5 if intercept else 0.0) + X @ slopes)


@pytest.mark.parametrize("outputs", [1, 2])
def test_covariances_and_second_moments_return_to_the_columns(outputs):
    rng = np.random.default_rng(5)
    X, y = rng.normal(5, 3, (40, 3)), rng.normal(-7, 2, 40)
    plain = Basis.from_rows(X, y)
    basis = plain.with_matrix(rng.standard_normal((3, 3)))
    G, other = (b.design(X).T @ b.design(X) for b in (plain, basis))
    expected = np.kron(np.linalg.inv(G), np.eye(outputs))
    found = basis.covariance_to_columns(np.kron(np.linalg.inv(other), np.eye(outputs)), outputs)
    assert_allclose(found, expected, rtol=1e-8, atol=1e-12)
    assert_allclose(basis.second_of_columns(other[1:, 1:]), G[1:, 1:], rtol=1e-8, atol=1e-8)
    assert plain.covariance_to_columns(expected) is expected
