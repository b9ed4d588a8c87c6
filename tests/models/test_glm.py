"""Batched generalised linear models."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression, PoissonRegressor

from conjoin.models.glm import BERNOULLI, POISSON, PaddedRows, fit_glm, sandwich

SIZES = np.array([60, 200, 35])
STARTS = np.concatenate([[0], np.cumsum(SIZES)])
RIDGE = np.array([0.0, 1.0, 1.0, 1.0])


def rows(family, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((SIZES.sum(), 3))
    eta = X @ [1.0, -0.5, 0.2] + 0.3
    if family is BERNOULLI:
        y = (rng.random(len(X)) < 1 / (1 + np.exp(-eta))).astype(float)
    else:
        y = rng.poisson(np.exp(eta)).astype(float)
    return X, y


def padded(X, y, w=None):
    Z = np.column_stack([np.ones(len(y)), X])
    return PaddedRows.of(Z, y, np.ones(len(y)) if w is None else w, STARTS)


def test_agrees_with_scikit_learn():
    X, y = rows(BERNOULLI)
    fit = fit_glm(padded(X, y), BERNOULLI, RIDGE)
    assert fit.converged.all()
    for k, (i, j) in enumerate(zip(STARTS[:-1], STARTS[1:])):
        other = LogisticRegression(C=1.0, tol=1e-12, max_iter=10_000).fit(X[i:j], y[i:j])
        assert_allclose(fit.beta[k], [*other.intercept_, *other.coef_[0]], atol=1e-6)


def test_counts_agree_with_scikit_learn():
    X, y = rows(POISSON)
    fit = fit_glm(padded(X, y), POISSON, RIDGE)
    for k, (i, j) in enumerate(zip(STARTS[:-1], STARTS[1:])):
        other = PoissonRegressor(alpha=1 / (j - i), tol=1e-12, max_iter=10_000).fit(X[i:j], y[i:j])
        assert_allclose(fit.beta[k], [other.intercept_, *other.coef_], atol=1e-5)


@pytest.mark.parametrize("family", [BERNOULLI, POISSON], ids=lambda family: family.name)
def test_derivatives_by_finite_differences(family):
    data = padded(*rows(family))
    b = np.random.default_rng(1).standard_normal((3, 4)) * 0.3
    local = data.at(b, family)
    score, information = data.score(local), data.information(local)
    for j in range(4):
        h = np.zeros(4)
        h[j] = 1e-5
        slope = (data.loss(b + h, family) - data.loss(b - h, family)) / 2e-5
        assert_allclose(-score[:, j], slope, rtol=1e-5, atol=1e-5)
        change = data.score(data.at(b + h, family)) - data.score(data.at(b - h, family))
        assert_allclose(-information[:, j], change / 2e-5, rtol=1e-5, atol=1e-4)


def test_weights_stand_for_repeated_rows():
    X, y = rows(BERNOULLI)
    twice = fit_glm(padded(X, y, np.full(len(y), 2.0)), BERNOULLI, 2 * RIDGE)
    assert_allclose(twice.beta, fit_glm(padded(X, y), BERNOULLI, RIDGE).beta, atol=1e-6)


def test_separable_data_and_a_single_class_have_a_fit():
    X, y = rows(BERNOULLI)
    y[: STARTS[1]] = (X[: STARTS[1], 0] > 0).astype(float)
    fit = fit_glm(padded(X, y), BERNOULLI, RIDGE)
    assert np.isfinite(fit.beta).all() and fit.converged.all()
    y[: STARTS[1]] = 1.0
    one = fit_glm(padded(X, y), BERNOULLI, RIDGE + 1e-3)
    assert np.isfinite(one.beta).all()


def test_the_centre_of_the_ridge_is_where_a_huge_ridge_ends():
    X, y = rows(BERNOULLI)
    centre = np.array([0.1, 0.2, 0.3, 0.4])
    fit = fit_glm(padded(X, y), BERNOULLI, np.full(4, 1e9), centre=centre)
    assert_allclose(fit.beta, np.tile(centre, (3, 1)), atol=1e-6)


def test_the_sandwich_is_near_the_inverse_information_for_a_true_model():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((20_000, 2))
    y = (rng.random(20_000) < 1 / (1 + np.exp(-X @ [1.0, -1.0]))).astype(float)
    data = PaddedRows.of(X, y, np.ones(len(y)), np.array([0, 20_000]))
    fit = fit_glm(data, BERNOULLI, np.zeros(2))
    robust = sandwich(data, BERNOULLI, fit.beta, np.zeros(2))
    assert_allclose(robust, np.linalg.inv(fit.information), rtol=0.1, atol=1e-6)
