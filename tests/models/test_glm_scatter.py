"""The scatter of classes and counts whose rows depend on each other."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin.models.clustered import clustered_scatter
from conjoin.models.glm_families import BERNOULLI, POISSON, multinomial
from conjoin.models.glm_scatter import glm_scatter, pearson_residuals
from conjoin.models.likelihood import Likelihood
from conjoin.models.padded_rows import SortedRows

N, STARTS = 240, np.array([0, 100, 240])
WHO = np.arange(N) // 4


def problem_of(family, seed=0):
    """Return two datasets whose rows come four to a person."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.ones(N), rng.standard_normal(N)])
    shared = rng.standard_normal(N)[WHO]
    if family is POISSON:
        y = rng.poisson(np.exp(0.5 + 0.4 * X[:, 1] + 0.5 * shared)).astype(float)
    else:
        y = np.clip(np.round(0.6 * X[:, 1] + shared), -1, 1) + 1
        y = np.minimum(y, family.m)
    rows = SortedRows(X, y, rng.uniform(0.5, 2, N), STARTS)
    return Likelihood.of(rows, np.zeros(N, dtype=int), 1, family)


@pytest.mark.parametrize("family", [BERNOULLI, POISSON])
def test_one_line_has_the_scatter_of_its_working_rows(family):
    problem = problem_of(family)
    moments, _, found = problem.own(who=WHO)
    rows, dataset = problem.rows.sorted_rows, np.repeat([0, 1], np.diff(STARTS))
    beta = np.linalg.solve(moments.G, moments.h[..., None])[..., 0]
    eta = np.einsum("ij,ij->i", rows.X, beta[dataset])
    at = family.derivatives(rows.y, eta)
    working, w = eta - at.gradient / at.curvature, rows.w * at.curvature / problem.rows.phi
    expected = clustered_scatter(rows.X, working, w, STARTS, WHO)
    assert_allclose(found.unbiased, expected.unbiased, rtol=1e-3)
    assert_allclose(found.cautious, expected.cautious, rtol=1e-3)
    assert_allclose(found.nu, expected.nu, rtol=1e-3)


def test_several_classes_have_the_scatter_of_sums_of_scores():
    family = multinomial(3)
    problem = problem_of(family)
    moments, _, found = problem.own(who=WHO)
    beta = np.linalg.solve(moments.G, moments.h[..., None])[..., 0]
    rows = problem.rows.sorted_rows
    for k, (i, j) in enumerate(zip(STARTS[:-1], STARTS[1:])):
        at = family.derivatives(rows.y[i:j], rows.X[i:j] @ beta[k].reshape(2, 2))
        scores = -np.einsum("n,nd,nm->ndm", rows.w[i:j], rows.X[i:j], at.gradient).reshape(-1, 4)
        sums = np.stack([scores[WHO[i:j] == c].sum(axis=0) for c in np.unique(WHO[i:j])])
        # Leverages of one person in 25 and more are small: CR2 is a few percent above plain sums.
        meat = sums.T @ sums
        excess = np.linalg.eigvals(np.linalg.solve(meat, found.unbiased[k])).real
        assert np.all((0.99 < excess) & (excess < 1.25))


def test_rows_in_time_are_raised_by_what_their_correlation_needs():
    problem = problem_of(BERNOULLI)
    moments, _, _ = problem.own()
    time = np.arange(N, dtype=float)
    anchor = np.linalg.solve(moments.G, moments.h[..., None])[..., 0]
    residuals = pearson_residuals(problem.rows, anchor)
    assert residuals.shape == (N, 1)
    assert np.corrcoef(residuals[1:, 0], residuals[:-1, 0])[0, 1] > 0.15
    found = glm_scatter(problem.rows, anchor, moments, time, None)
    alone = glm_scatter(problem.rows, anchor, moments, None, np.arange(N))
    assert np.all(found.cautious[:, 0, 0] > 1.3 * alone.cautious[:, 0, 0])


def test_without_time_or_person_there_is_no_scatter():
    assert problem_of(BERNOULLI).own()[2] is None
