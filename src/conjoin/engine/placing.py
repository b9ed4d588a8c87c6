"""What is needed to place a new dataset, from the moments of the known ones.

A study, start values, labels and strategies enter, a `Placement` leaves: the coefficients of each
cluster as a normal distribution, and what each strategy learned of datasets in general.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from conjoin import linalg
from conjoin._typing import FloatArray, IntArray
from conjoin.api.request import Request
from conjoin.engine.strategies import Strategies
from conjoin.engine.study import Study, make_study
from conjoin.grouping.objective import sum_by
from conjoin.models.mixture import mixture_prior
from conjoin.models.newcomer import Prior
from conjoin.models.noise import noise_prior
from conjoin.models.partial import (
    Hyper,
    expected_residuals,
    integrate,
    posterior,
    posterior_of_rows,
)
from conjoin.moments import Moments, RowMoments, beside
from conjoin.result.placement import Placement, StrategyPrior
from conjoin.strategies.plan import Start, start_values
from conjoin.strategies.refits import PartialPooling, Refit, SoftClusters
from conjoin.tables import DatasetCollection

FEWEST_ROWS = 5  # rows of a cluster from which its mean features may be stored: fewer disclose them
# Degrees of freedom at most that the noise of known datasets counts for against the rows of a new
# one. Datasets without a noise of their own may differ in noise all the same: they need 20 residual
# degrees of freedom to show it (`models.own_noise`).
MOST_NOISE_DF = 20.0
TINY = 1e-300  # in place of zero, where a cluster has no information at all


def make_placement(
    study: Study, start: Start, labels: IntArray, priors: tuple[StrategyPrior, ...] = ()
) -> Placement:
    """Return the coefficients of each cluster as a distribution, and of a dataset in none."""
    C, m, hyper = int(labels.max()) + 1, start.problem.moments, start.hyper
    if isinstance(m, RowMoments):  # all datasets have one noise
        unions = m.sum_by(labels)
        G, h, mu = unions.G / hyper.noise, unions.h / hyper.noise, posterior_of_rows(m, hyper).mu
    else:
        noise = (hyper.noise * hyper.relative)[:, None]
        G, h = sum_by((m.G / noise[..., None], m.h / noise), labels, C)
        mu = posterior(m, hyper).mu
    spread = np.diagonal(hyper.L) ** 2
    covariance = linalg.inverse(linalg.symmetrise(np.diag(1 / spread) + G))
    centre = mu + linalg.matvec(covariance, h - linalg.matvec(G, mu))
    return Placement(
        basis=study.basis,
        noise=float(hyper.noise) * study.dispersion,
        centre=np.concatenate([centre, mu[None]]),
        covariance=np.concatenate([covariance, np.diag(spread)[None]]),
        datasets=np.array([*np.bincount(labels, minlength=C), 1.0]),
        means=_means(study, start, labels),
        priors=priors,
    )


def place_by_rows(
    table: DatasetCollection, more: FloatArray, study: Study, labels: IntArray
) -> Placement:
    """Return a placement for the columns of a table and `more` (n, m) beside them.

    Datasets and folds of the study stay.
    """
    request = Request(
        target=table.schema.roles.target, folds=int(study.given.folds.shape[1]), verdict="gaussian"
    )
    wide = replace(table, X=beside(table.X, more))
    return place_by_study(make_study(wide, request, study.dealt), labels)


def place_by_study(found: Study, labels: IntArray) -> Placement:
    """Return a placement by the columns of a study."""
    start = start_values(found.given)
    prior = _of_centre(start.problem.moments, start.hyper)
    prior = replace(prior, noise=prior.noise * found.dispersion)
    return make_placement(found, start, labels, (StrategyPrior("partial", 1.0, prior),))


def learned_priors(
    study: Study, start: Start, refits: Mapping[str, Refit], strategies: Strategies
) -> tuple[StrategyPrior, ...]:
    """Return what each strategy that shrinks coefficients learned of datasets in general."""
    found = []
    for name, refit in refits.items():
        if not isinstance(refit, PartialPooling | SoftClusters):
            continue
        # A likelihood has moments near the coefficients of the strategy only.
        moments = start.problem.near(strategies.validated[name].coef).moments
        if isinstance(refit, PartialPooling):
            prior = _of_centre(moments, refit.hyper)
        else:
            prior = _of_mixture(moments, refit)
        prior = replace(prior, noise=prior.noise * study.dispersion)
        found.append(StrategyPrior(name, strategies.weights[name], prior))
    return tuple(found)


def _of_centre(moments: Moments, hyper: Hyper) -> Prior:
    """Return N(mu, C + L L'): the posterior of the centre and the spread around it."""
    if isinstance(moments, RowMoments):  # all datasets have one noise
        centre = posterior_of_rows(moments, hyper)
        covariance = centre.C + hyper.L @ hyper.L.T
        return Prior(hyper.noise, centre.mu[None], covariance[None], np.ones(1), MOST_NOISE_DF)
    post = posterior(moments, hyper)
    noise, df = noise_of_new(hyper, expected_residuals(moments, hyper, post), moments.n)
    covariance = post.C + hyper.L @ hyper.L.T
    return Prior(noise, post.mu[None], covariance[None], np.ones(1), df)


def _of_mixture(moments: Moments, refit: SoftClusters) -> Prior:
    """Return one component for each centre of a mixture."""
    hyper = refit.mixture.hyper
    unknown = hyper.L.shape[1] - np.einsum("kmm->k", integrate(moments, hyper).J)
    squares = moments.sse(refit(moments)) + hyper.noise * hyper.relative * unknown
    noise, df = noise_of_new(hyper, squares, moments.n)
    return Prior(noise, *mixture_prior(moments, refit.mixture), df)


def noise_of_new(hyper: Hyper, squares: FloatArray, n: FloatArray) -> tuple[float, float]:
    """Return the noise variance of a new dataset, and the degrees of freedom it counts for.

    A strategy with one noise for all datasets expects it for the new one too. If its datasets
    differ in noise, their expected residual squares (K,) on n (K,) rows say how much.
    """
    if np.ptp(hyper.relative) == 0:
        return float(hyper.noise * hyper.relative[0]), MOST_NOISE_DF
    df, noise = noise_prior(squares, n)
    return noise, min(df, MOST_NOISE_DF)


def _means(study: Study, start: Start, labels: IntArray) -> FloatArray:
    """Return mean features of each cluster (C, features) in working coordinates.

    They are nan without an intercept, and for clusters of very few rows. Rows of a likelihood count
    by their information.
    """
    m, C = start.problem.moments, int(labels.max()) + 1
    features = m.p // m.outputs - int(study.basis.intercept)
    if not study.basis.intercept:
        return np.full((C, features), np.nan)
    unions = m.sum_by(labels)
    G, n = unions.G[:, 0, :: m.outputs], unions.n
    enough = n[:, None] >= FEWEST_ROWS * m.outputs
    means: FloatArray = np.where(enough, G[:, 1:] / np.maximum(G[:, :1], TINY), np.nan)
    return means
