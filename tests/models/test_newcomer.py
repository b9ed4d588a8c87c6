"""The model of a new dataset, compared with a fit to all datasets and with direct densities."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from conjoin.models.full import fit_full
from conjoin.models.glm_families import BERNOULLI, POISSON, multinomial
from conjoin.models.newcomer import (
    Prior,
    average_coefficients,
    held_out_losses,
    place,
    possible_noises,
)
from conjoin.models.partial import (
    DIAGONAL,
    INTERCEPT,
    POOLED,
    SLOPES,
    Hyper,
    coefficients,
    fit_variances,
    posterior,
)
from conjoin.moments import Moments


def make_rows(K=12, n=30, p=3, seed=0):
    """Datasets with coefficients around a common centre; the design has an intercept."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((K, n, p))
    X[..., 0] = 1
    beta = np.array([0.2, 0.5, -0.3]) + 0.3 * rng.standard_normal((K, p))
    return X, np.einsum("knp,kp->kn", X, beta) + 0.5 * rng.standard_normal((K, n))


def prior_of(moments, hyper):
    post = posterior(moments, hyper)
    return Prior(hyper.noise, post.mu[None], (post.C + hyper.L @ hyper.L.T)[None], np.ones(1))


def random_prior(components=3, p=3, seed=1, **options):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((components, p, p)) / 2
    covariance = root @ np.swapaxes(root, 1, 2) + 0.1 * np.eye(p)
    shares = rng.uniform(1, 3, components)
    return Prior(0.7, rng.standard_normal((components, p)), covariance, shares, **options)


@pytest.mark.parametrize("family", [POOLED, INTERCEPT, SLOPES, DIAGONAL, "full"])
def test_a_new_dataset_gets_what_a_fit_to_all_datasets_gives_it(family):
    X, y = make_rows()
    known, few = Moments.from_rows(X[:-1], y[:-1]), 10
    if family == "full":
        hyper = fit_full(known, fit_variances(known, DIAGONAL))
    else:
        hyper = fit_variances(known, family)
    new = Moments.from_rows(X[-1:, :few], y[-1:, :few])
    everything = Moments.concatenate([known, new])
    hyper_all = Hyper(hyper.noise, hyper.L, hyper.slope_variances, np.ones(len(X)))
    placed = place(prior_of(known, hyper), X[-1, :few], y[-1, :few])
    assert_allclose(placed.beta, coefficients(everything, hyper_all)[-1], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("rows", [0, 1, 5, 40])
def test_probabilities_and_evidence_are_those_of_normal_densities(rows):
    prior, rng = random_prior(), np.random.default_rng(2)
    Z, t = rng.standard_normal((rows, 3)), rng.standard_normal(rows)
    placed = place(prior, Z, t)
    shares = prior.shares / prior.shares.sum()
    density = np.ones(3)
    if rows:
        density = np.array(
            [
                multivariate_normal(Z @ m, prior.noise * np.eye(rows) + Z @ S @ Z.T).pdf(t)
                for m, S in zip(prior.centre, prior.covariance)
            ]
        )
    assert_allclose(placed.probability, shares * density / (shares @ density))
    constant = -0.5 * rows * np.log(2 * np.pi)
    assert_allclose(placed.log_evidence + constant, np.log(shares @ density), atol=1e-8)


def test_the_average_weighs_priors_by_the_density_of_the_rows():
    near, far = random_prior(1), random_prior(1)
    far = replace(far, centre=far.centre + 50)
    rng = np.random.default_rng(3)
    Z = rng.standard_normal((10, 3))
    t = Z @ near.centre[0]
    own = place(near, Z, t).beta
    assert_allclose(average_coefficients([near, far], np.array([0.01, 0.99]), Z, t), own)
    both = average_coefficients([near, near], np.array([0.3, 0.7]), Z, t)
    assert_allclose(both, own)
    without_rows = average_coefficients([near, far], np.array([0.25, 0.75]), Z[:0], t[:0])
    assert_allclose(without_rows, near.centre[0] + 0.75 * 50)


def test_noise_of_its_own_lies_between_the_prior_and_the_residuals():
    rng = np.random.default_rng(4)
    Z = rng.standard_normal((60, 3))
    for sigma in (0.1, 3.0):
        centre = rng.standard_normal(3)
        t = Z @ centre + sigma * rng.standard_normal(60)
        covariance = np.eye(3)[None]
        common = Prior(1.0, np.zeros((1, 3)), covariance, np.ones(1))
        own = replace(common, noise_df=4.0)
        own_fit = np.linalg.lstsq(Z, t, rcond=None)[0]
        shift = [np.sum((place(one, Z, t).beta - own_fit) ** 2) for one in (common, own)]
        # Less noise than usual: the rows count more; more noise: they count less.
        assert (shift[1] < shift[0]) == (sigma < 1)


def test_possible_noises_are_quantiles_around_the_usual_one():
    assert possible_noises(2.0, float("inf")).tolist() == [2.0]
    noises = possible_noises(2.0, 10.0)
    assert noises.min() < 2.0 < noises.max()
    assert_allclose(np.mean(1 / noises), 1 / 2.0, rtol=0.05)  # the mean precision of the law


@pytest.mark.parametrize("family", [BERNOULLI, POISSON, multinomial(3)])
def test_likelihoods_end_at_the_mode(family):
    rng = np.random.default_rng(5)
    d, n = 3, 25
    prior = random_prior(2, d * family.m)
    prior = replace(prior, noise=1.0, centre=prior.centre * 0.3)
    Z = rng.standard_normal((n, d))
    y = rng.integers(3 if family.m == 2 else 2, size=n).astype(float)
    placed = place(prior, Z, y, family)

    def energy(beta, c):
        eta = Z @ beta.reshape(-1, family.m)
        away = beta - prior.centre[c]
        pull = away @ np.linalg.solve(prior.covariance[c], away)
        return family.loss(y, eta[:, 0] if family.m == 1 else eta).sum() + 0.5 * pull

    for c, mode in enumerate(placed.components):
        least = energy(mode, c)
        for _ in range(20):
            assert energy(mode + 1e-3 * rng.standard_normal(len(mode)), c) > least


@pytest.mark.parametrize("family", [None, BERNOULLI])
def test_held_out_rows_are_predicted_from_the_others(family):
    rng = np.random.default_rng(6)
    Z, t = rng.standard_normal((9, 3)), rng.integers(2, size=9).astype(float)
    priors, weights = [random_prior(seed=1), random_prior(seed=2)], np.array([0.4, 0.6])
    fold = np.arange(9) % 4
    losses = held_out_losses(priors, weights, Z, t, fold, family)
    for f in range(4):
        out = fold == f
        beta = average_coefficients(priors, weights, Z[~out], t[~out], family)
        eta = Z[out] @ beta
        expected = (t[out] - eta) ** 2 if family is None else family.loss(t[out], eta)
        assert_allclose(losses[out], expected)


def test_few_rows_take_a_shorter_way_to_the_same_place():
    prior, rng = random_prior(noise_df=5.0), np.random.default_rng(7)
    Z, t = rng.standard_normal((2, 3)), rng.standard_normal(2)
    short, long = place(prior, Z, t), place(prior, np.vstack([Z, np.zeros((2, 3))]), np.r_[t, 0, 0])
    common = replace(prior, noise_df=float("inf"))
    one, two = (
        place(common, Z, t),
        place(common, np.vstack([Z, np.zeros((2, 3))]), np.r_[t, 0.0, 0.0]),
    )
    assert_allclose(one.components, two.components)  # rows of zeros tell nothing of coefficients
    assert_allclose(one.probability, two.probability)
    assert not np.allclose(short.components, long.components)  # but of the noise
