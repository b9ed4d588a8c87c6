import numpy as np
from numpy.testing import assert_allclose

from conjoin.criterion.risk import cluster_errors, noise_variances
from conjoin.moments import Moments
from tests.helpers import random_rows


def test_error_of_a_single_dataset():
    X, y = random_rows(np.random.default_rng(0), 40, 4)
    moments = Moments.stack([Moments.from_rows(X, y)])
    noise = noise_variances(moments)
    assert_allclose(cluster_errors(moments, noise), noise * (1 + 4 / 35))


def test_unbiased_for_a_cluster_of_unlike_datasets():
    """Mean estimate against mean exact error over many draws, unequal sizes and noise."""
    rng = np.random.default_rng(0)
    sizes, sigmas = (20, 40), (1.0, 2.0)
    betas = [np.array([1.0, 0.0, -1.0]), np.array([1.3, -0.2, -1.0])]
    estimates, truths = [], []
    for _ in range(3000):
        parts, exact = [], []
        for n, sigma, beta in zip(sizes, sigmas, betas):
            parts.append(Moments.from_rows(*random_rows(rng, n, 3, beta, sigma)))
        moments = Moments.stack(parts)
        joint = np.linalg.solve(moments.union().G, moments.union().h)
        exact = [s**2 + np.sum((joint - b) ** 2) for s, b in zip(sigmas, betas)]
        estimates.append(cluster_errors(moments, noise_variances(moments)))
        truths.append(exact)
    difference = np.array(estimates) - np.array(truths)
    standard_error = difference.std(axis=0) / np.sqrt(len(difference))
    assert (np.abs(difference.mean(axis=0)) < 4 * standard_error + 0.02).all()


def test_too_few_rows_have_no_finite_error():
    X, y = random_rows(np.random.default_rng(0), 4, 3)
    moments = Moments.stack([Moments.from_rows(X, y)])
    assert np.isinf(cluster_errors(moments, np.ones(1))).all()
