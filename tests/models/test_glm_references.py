"""Generalised linear models against scikit-learn and statsmodels."""

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression, PoissonRegressor

from conjoin.models.glm import fit_many
from conjoin.models.glm_families import BERNOULLI, POISSON, contrasts, multinomial
from conjoin.models.padded_rows import PaddedRows, SortedRows

N, COLUMNS = 250, 4
TIGHT = 1e-18


def draw(classes, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, COLUMNS)) * [1, 2, 0.5, 1] + [0, 1, 0, -1]
    scores = X @ rng.standard_normal((COLUMNS, classes)) * 0.7
    return X, np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)


def fit(X, y, family, strength=0.0, w=None):
    Z = np.column_stack([np.ones(len(X)), X])
    w = np.ones(len(y)) if w is None else w
    ridge = np.repeat(np.r_[0.0, np.full(COLUMNS, strength)], family.m)
    y = y.astype(float)
    rows = SortedRows.one_dataset(Z, y, w)
    found = fit_many(rows, family, ridge, tolerance=TIGHT)
    assert found.converged.all()
    return PaddedRows.of(rows), ridge, found


def sandwich(rows, family, found):
    """The covariance (K, P, P) of coefficients that holds for any distribution: H^-1 J H^-1."""
    at = rows.derivatives(found.beta, family)
    scores, bread = rows.row_scores(at), np.linalg.inv(rows.information(at))
    return bread @ (np.swapaxes(scores, 1, 2) @ scores) @ bread


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("C", [1e-3, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_coefficients_are_those_of_scikit_learn(classes, C, weighted):
    X, y = draw(classes)
    w = np.random.default_rng(1).uniform(0.2, 3, N) if weighted else np.ones(N)
    family = BERNOULLI if classes == 2 else multinomial(classes)
    _, _, found = fit(X, y, family, 1 / C, w)
    other = LogisticRegression(C=C, tol=1e-12, max_iter=100_000).fit(X, y, w)
    theirs = np.column_stack([other.intercept_ - other.intercept_.mean(), other.coef_])
    if classes == 2:
        theirs = np.column_stack([other.intercept_, other.coef_])
    B = found.beta.reshape(1 + COLUMNS, family.m)
    assert_allclose(B.T if classes == 2 else contrasts(classes) @ B.T, theirs, atol=1e-6)


def test_counts_are_those_of_scikit_learn():
    X, _ = draw(2)
    y = np.random.default_rng(2).poisson(np.exp(0.3 * X[:, 0] + 0.5))
    _, _, found = fit(X, y, POISSON, 2.0)
    other = PoissonRegressor(alpha=2.0 / N, tol=1e-12, max_iter=100_000).fit(X, y)
    assert_allclose(found.beta[0], [other.intercept_, *other.coef_], atol=1e-6)


@pytest.mark.parametrize("robust", [False, True])
@pytest.mark.parametrize("name", ["logit", "poisson"])
def test_covariances_are_those_of_statsmodels(name, robust):
    X, y = draw(2)
    kind = {"cov_type": "HC0"} if robust else {}
    if name == "logit":
        family, model = BERNOULLI, sm.Logit(y, sm.add_constant(X))
        other = model.fit(disp=0, method="newton", tol=1e-14, maxiter=100, **kind)
    else:
        y = np.random.default_rng(2).poisson(np.exp(0.3 * X[:, 0] + 0.5))
        family, model = POISSON, sm.GLM(y, sm.add_constant(X), family=sm.families.Poisson())
        other = model.fit(tol=1e-14, maxiter=100, **kind)
    rows, _, found = fit(X, y, family)
    assert_allclose(found.beta[0], other.params, atol=1e-8)
    ours = sandwich(rows, family, found) if robust else np.linalg.inv(found.information)
    assert_allclose(ours[0], other.cov_params(), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("robust", [False, True])
@pytest.mark.parametrize("classes", [3, 4])
def test_covariances_of_classes_are_those_of_statsmodels(classes, robust):
    """There, coefficients are those of a class less those of class 0, class by class."""
    X, y = draw(classes)
    kind = {"cov_type": "HC0"} if robust else {}
    model = sm.MNLogit(y, sm.add_constant(X))
    other = model.fit(disp=0, method="newton", tol=1e-14, maxiter=100, **kind)
    family = multinomial(classes)
    rows, ridge, found = fit(X, y, family)
    V = contrasts(classes)
    change = np.einsum("ca,jk->cjka", V[1:] - V[0], np.eye(1 + COLUMNS))
    change = change.reshape(len(ridge), len(ridge))
    assert_allclose(change @ found.beta[0], other.params.T.ravel(), atol=1e-8)
    ours = sandwich(rows, family, found) if robust else np.linalg.inv(found.information)
    assert_allclose(change @ ours[0] @ change.T, other.cov_params(), rtol=1e-6, atol=1e-9)
