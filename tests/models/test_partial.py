from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from conjoin.models import partial
from conjoin.models.full import fit_full
from conjoin.models.partial import DIAGONAL, INTERCEPT, POOLED, SLOPES, Hyper, posterior
from conjoin.models.variance_priors import NOISE_BOUNDS
from conjoin.moments import Moments
from tests.collections_ import make


def small(seed=0, K=4, n=5, p=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((K, n, p))
    X[:, :, 0] = 1.0
    return X, rng.standard_normal((K, n)), rng


def test_evidence_and_posterior_equal_the_joint_normal_written_out():
    X, y, rng = small()
    K, n, p = X.shape
    L = np.tril(rng.standard_normal((p, p)))
    relative = np.array([1.0, 0.5, 2.0, 1.0])
    slopes = rng.uniform(0.2, 2.0, p - 1)
    hyper = Hyper(0.7, L, slopes, relative)
    post = posterior(Moments.from_rows(X, y), hyper)
    big = np.zeros((K * n, K * p))
    for k in range(K):
        big[k * n : (k + 1) * n, k * p : (k + 1) * p] = X[k]
    flat = 1e7  # variance that stands for the flat intercept
    prior_mu = np.diag([flat, *slopes])
    prior = np.kron(np.ones((K, K)), prior_mu) + np.kron(np.eye(K), L @ L.T)
    noise = np.diag(np.repeat(0.7 * relative, n))
    covariance = big @ prior @ big.T + noise
    exact = prior @ big.T @ np.linalg.solve(covariance, y.ravel())
    assert_allclose(post.beta.ravel(), exact, atol=1e-5)
    log_density = multivariate_normal(cov=covariance).logpdf(y.ravel())
    constant = -0.5 * K * n * np.log(2 * np.pi) - 0.5 * np.log(flat)
    assert post.log_evidence + constant == pytest.approx(log_density, abs=1e-4)
    residuals = partial.expected_residuals(Moments.from_rows(X, y), hyper, post)
    spread = prior - prior @ big.T @ np.linalg.solve(covariance, big @ prior)
    fit = y.ravel() - big @ exact
    total = fit**2 + np.diag(big @ spread @ big.T)
    assert_allclose(residuals, total.reshape(K, n).sum(axis=1), rtol=1e-4)


@pytest.mark.parametrize("outputs", [None, 1, 2])
@pytest.mark.parametrize("family", [POOLED, INTERCEPT, SLOPES, DIAGONAL])
def test_gradient_by_fishers_identity_equals_finite_differences(family, outputs, monkeypatch):
    moments = make("continuum", K=8, n=7, p=3).moments
    if outputs:  # of classes: the centre's slopes have a variance each
        moments = replace(moments, outputs=outputs, unit_noise=True)
    caught = {}

    def catch(objective, theta, **options):
        caught["objective"], caught["theta"] = objective, theta
        raise StopIteration

    monkeypatch.setattr(partial, "minimize", catch)
    with pytest.raises(StopIteration):
        partial.fit_variances(moments, family)
    theta = caught["theta"] + np.random.default_rng(0).normal(0, 0.5, len(caught["theta"]))
    gradient = caught["objective"](theta)[1]
    for i, direction in enumerate(np.eye(len(theta))):
        step = 1e-5 * direction
        up, down = caught["objective"](theta + step)[0], caught["objective"](theta - step)[0]
        assert gradient[i] == pytest.approx((up - down) / 2e-5, rel=1e-4, abs=1e-5)


def test_finds_the_variances_that_made_the_data():
    truth = make("continuum", K=300, n=40, p=4, spread=0.5)
    hyper = partial.fit_variances(truth.moments, SLOPES)
    scale = truth.basis.target_scale**2
    assert hyper.noise * scale == pytest.approx(1.0, rel=0.1)
    slopes = (np.diagonal(hyper.L)[1:] / truth.basis.scale) ** 2 * scale
    assert_allclose(slopes, 0.25, rtol=0.2)


@pytest.mark.parametrize("family", [SLOPES, DIAGONAL])
def test_beats_separate_and_pooled_on_a_continuum(family):
    truth = make("continuum", K=60, n=15, p=6)
    hyper = partial.fit_variances(truth.moments, family)
    error = truth.error(posterior(truth.moments, hyper).beta)
    separate = np.linalg.solve(truth.moments.G, truth.moments.h[..., None])[..., 0]
    union = truth.moments.union()
    pooled = np.broadcast_to(np.linalg.solve(union.G, union.h), separate.shape)
    assert error < 0.75 * min(truth.error(separate), truth.error(pooled))
    full = fit_full(truth.moments, hyper)
    assert truth.error(posterior(truth.moments, full).beta) < 1.1 * error


def test_bounds_hold_on_exact_and_on_absurd_data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5, 6, 3))
    X[:, :, 0] = 1
    for y in (X.sum(axis=2), 1e-9 * rng.standard_normal((5, 6)), np.zeros((5, 6))):
        moments = Moments.from_rows(X, y)
        for family in (INTERCEPT, DIAGONAL):
            hyper = partial.fit_variances(moments, family)
            assert np.isfinite(posterior(moments, hyper).beta).all()
            low, high = NOISE_BOUNDS
            assert low * 0.999 <= hyper.noise <= high * 1.001


def test_datasets_without_rows_follow_the_centre():
    truth = make("continuum", K=10, n=20, p=3)
    empty = truth.moments[:1] - truth.moments[:1]
    moments = Moments.concatenate([empty, truth.moments[1:]])
    hyper = partial.fit_variances(truth.moments, SLOPES)
    post = posterior(moments, hyper)
    assert_allclose(post.beta[0], post.mu)


@pytest.mark.parametrize("p", [3, 50])
@pytest.mark.parametrize("family", [POOLED, INTERCEPT, SLOPES, DIAGONAL, "full"])
def test_coefficients_alone_are_those_of_the_posterior(family, p):
    moments = make("continuum", K=6, n=30, p=p).moments
    hyper = partial.fit_variances(moments, DIAGONAL if family == "full" else family)
    if family == "full":
        hyper = fit_full(moments, hyper)
    hyper = replace(hyper, relative=np.linspace(0.5, 2.0, 6))
    expected = posterior(moments, hyper).beta
    assert_allclose(partial.coefficients(moments, hyper), expected, rtol=1e-9, atol=1e-12)
