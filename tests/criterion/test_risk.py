import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin.criterion.risk import (
    Gcv,
    Risk,
    cluster_errors,
    gcv_errors,
    joining_gain,
    new_row_factor,
    own_errors,
    weighted_gain,
)
from conjoin.models.noise import noise_variances
from conjoin.models.ols import fit_ols
from conjoin.moments import Moments
from tests.helpers import random_rows, raw_unit


def datasets(K=4, p=3, n=20):
    rng = np.random.default_rng(0)
    return Moments.stack([Moments.from_rows(*random_rows(rng, n + k, p)) for k in range(K)])


def test_error_of_a_single_dataset():
    X, y = random_rows(np.random.default_rng(0), 40, 4)
    moments = Moments.stack([Moments.from_rows(X, y)])
    noise = noise_variances(moments)
    assert_allclose(cluster_errors(moments, noise), noise * (1 + 4 / 35))


def test_errors_of_a_cluster_are_the_formula_written_out():
    moments, noise = datasets(), np.array([1.0, 2.0, 0.5, 1.5])
    inverse = np.linalg.inv(moments.union().G)
    beta = inverse @ moments.union().h
    N, expected = float(moments.n.sum()), []
    fit_variance = inverse @ sum(s * G for s, G in zip(noise, moments.G)) @ inverse
    for k in range(4):
        n, G, s2 = moments.n[k], moments.G[k], noise[k]
        h, v = np.trace(G @ inverse) / n, np.trace(G @ fit_variance) / n
        rss = moments.q[k] - 2 * beta @ moments.h[k] + beta @ G @ beta
        bias = (rss / n - s2 * (1 - 2 * h) - v) / (1 - h) ** 2
        expected.append(s2 + bias + v * N / (N - 3 - 1))
    assert_allclose(cluster_errors(moments, noise), expected)


@pytest.mark.parametrize("errors", [cluster_errors, gcv_errors])
def test_a_stack_of_clusters_equals_one_cluster_at_a_time(errors):
    moments, noise = datasets(), np.array([1.0, 2.0, 0.5, 1.5])
    clusters = np.array([[0, 1], [2, 3], [0, 3]])
    stacked = errors(moments[clusters], noise[clusters])
    assert stacked.shape == (3, 2)
    for cluster, found in zip(clusters, stacked):
        assert_allclose(found, errors(moments[cluster], noise[cluster]))


def test_own_errors_are_those_of_clusters_of_one():
    moments, noise = datasets(n=4), np.array([1.0, 2.0, 0.5, 1.5])
    fit = fit_ols(moments)
    singles = cluster_errors(moments[:, None], noise[:, None])[:, 0]
    assert np.isinf(singles).tolist() == [True, False, False, False]
    assert_allclose(own_errors(moments, noise, fit.rss, fit.rank), singles)


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
    assert np.isinf(gcv_errors(moments, np.ones(1))).all()


def test_new_row_factor():
    assert new_row_factor(np.array([10.0, 5.0, 4.0]), 4).tolist() == [2.0, np.inf, np.inf]


def test_gains_without_a_finite_error_are_infinite_or_unknown():
    own = np.array([[3.0, 1.0], [np.inf, 1.0], [np.inf, np.inf]])
    joint = np.array([[1.0, 2.0], [1.0, 2.0], [np.inf, np.inf]])
    found = weighted_gain(own, joint, np.array([0.75, 0.25]))
    np.testing.assert_array_equal(found, [1.25, np.inf, np.nan])


def test_joining_gain_weighs_the_fall_of_each_error():
    moments, noise = datasets(), np.array([1.0, 2.0, 0.5, 1.5])
    left, right, weights = moments[:1], moments[1:], np.array([0.4, 0.3, 0.2, 0.1])
    own = np.concatenate([cluster_errors(left, noise[:1]), cluster_errors(right, noise[1:])])
    expected = weights @ (own - cluster_errors(moments, noise))
    found = joining_gain(left, right, (weights[:1], weights[1:]), noise)
    assert found == pytest.approx(expected)
    estimated = joining_gain(left, right, (weights[:1], weights[1:]))
    assert estimated == pytest.approx(
        joining_gain(left, right, (weights[:1], weights[1:]), noise_variances(moments))
    )


@pytest.mark.parametrize("criterion", [Risk(), Gcv()], ids=["risk", "gcv"])
def test_criteria_join_equal_datasets_and_no_opposite_ones(criterion):
    rng = np.random.default_rng(0)
    beta = rng.standard_normal(3)
    one, two, far = (
        criterion.prepare(raw_unit("a", *random_rows(rng, 40, 3, s * beta)), 0) for s in (1, 1, -1)
    )
    assert criterion.compare(one, two).join
    assert not criterion.compare(one, far).join
    few = criterion.prepare(raw_unit("b", *random_rows(rng, 3, 3)), 0)
    assert criterion.compare(few, one).score == np.inf
