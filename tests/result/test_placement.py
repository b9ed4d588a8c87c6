"""Probabilities of clusters for new rows, compared with densities computed directly."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

from conjoin.errors import DataError
from conjoin.families import Response
from conjoin.models.glm_families import BERNOULLI
from conjoin.moments import Basis
from conjoin.result.placement import Placement


def make_placement(p=2, clusters=2, seed=0):
    """Clusters in general position, in coordinates that centre and scale the features."""
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((clusters + 1, p + 1, p + 1)) / 3
    return Placement(
        basis=Basis(rng.normal(size=p), rng.uniform(1, 2, p), 0.5, 2.0, True),
        noise=0.7,
        centre=rng.standard_normal((clusters + 1, p + 1)),
        covariance=root @ np.swapaxes(root, -1, -2) + 0.1 * np.eye(p + 1),
        datasets=np.array([3.0] * clusters + [1.0]),
        means=np.array([[0.0] * p, [2.0] * p]),
    )


def test_probabilities_are_those_of_normal_densities():
    placement, rng = make_placement(), np.random.default_rng(1)
    X, y = rng.standard_normal((5, 2)), rng.standard_normal(5)
    Z, t = placement.basis.design(X), placement.basis.response(y)
    density = [
        multivariate_normal(Z @ m, placement.noise * np.eye(5) + Z @ S @ Z.T).pdf(t)
        for m, S in zip(placement.centre, placement.covariance)
    ]
    expected = placement.datasets * density
    probability, _ = placement.place(X, y)
    assert_allclose(probability, expected / expected.sum())


def test_the_model_is_the_average_of_posterior_means():
    placement, rng = make_placement(), np.random.default_rng(2)
    X, y = rng.standard_normal((8, 2)), rng.standard_normal(8)
    Z, t = placement.basis.design(X), placement.basis.response(y)
    means = []
    for m, S in zip(placement.centre, placement.covariance):
        precision = np.linalg.inv(S)
        right = precision @ m + Z.T @ t / placement.noise
        means.append(np.linalg.solve(precision + Z.T @ Z / placement.noise, right))
    probability, beta = placement.place(X, y)
    assert_allclose(beta, probability @ np.array(means))


def test_only_its_own_columns_are_used():
    placement, rng = make_placement(), np.random.default_rng(2)
    X, y = rng.standard_normal((8, 2)), rng.standard_normal(8)
    wide = np.column_stack([X[:, 1], np.full(8, np.nan), X[:, 0]])
    other = replace(placement, columns=np.array([2, 0]))
    assert_allclose(other.place(wide, y)[0], placement.place(X, y)[0], rtol=0)
    assert_allclose(other.losses(wide, y, "auto"), placement.losses(X, y, "auto"), rtol=0)
    assert other.nearest(wide) == placement.nearest(X)
    beta = placement.fit(X, y, "auto")
    assert_allclose(other.fit(wide, y, "auto"), beta, rtol=0)
    intercept, slopes = placement.lines(beta, Response(), 2)
    padded = other.lines(beta, Response(), 3)
    assert_allclose(padded[0], intercept)
    assert_allclose(padded[1], [[slopes[0, 1], 0, slopes[0, 0]]])


def test_classes_are_placed_by_laplace():
    placement, rng = make_placement(), np.random.default_rng(3)
    X, y = rng.standard_normal((12, 2)), rng.integers(2, size=12).astype(float)
    Z = placement.basis.design(X)
    log, modes = [], []
    for m, S in zip(placement.centre, placement.covariance):
        precision = np.linalg.inv(S)

        def energy(beta, m=m, precision=precision):
            eta = Z @ beta
            loss = np.sum(np.logaddexp(0, eta) - y * eta) / placement.noise
            return loss + 0.5 * (beta - m) @ precision @ (beta - m)

        mode = minimize(energy, m, method="BFGS", options={"gtol": 1e-9}).x
        share = 1 / (1 + np.exp(-Z @ mode))
        information = (Z.T * (share * (1 - share))) @ Z / placement.noise
        log.append(-energy(mode) - 0.5 * np.linalg.slogdet(np.eye(3) + information @ S)[1])
        modes.append(mode)
    expected = placement.datasets * np.exp(np.array(log) - max(log))
    probability, beta = placement.place(X, y, BERNOULLI)
    assert_allclose(probability, expected / expected.sum(), rtol=1e-4)
    assert_allclose(beta, probability @ np.array(modes), atol=1e-4)


def test_without_rows_datasets_count():
    probability, beta = make_placement().place(np.zeros((0, 2)), np.zeros(0))
    assert_allclose(probability, [3 / 7, 3 / 7, 1 / 7])
    assert_allclose(beta, probability @ make_placement().centre)


def test_the_nearest_cluster_is_that_of_the_nearest_mean_features():
    placement = make_placement()
    for cluster, mean in enumerate(placement.means):
        X = placement.basis.center + placement.basis.scale * (mean + [[-0.4, 0.3], [0.4, 0.3]])
        assert placement.nearest(X) == cluster


def test_clusters_of_very_few_rows_are_never_the_nearest():
    placement = make_placement()
    placement.means[0] = np.nan
    assert placement.nearest(placement.basis.center[None]) == 1
    placement.means[:] = np.nan
    with pytest.raises(DataError, match="needs an intercept and a cluster of at least five rows"):
        placement.nearest(placement.basis.center[None])
