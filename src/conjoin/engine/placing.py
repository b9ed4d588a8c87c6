"""What is needed to place a new dataset, from the moments of the known ones.

A study, start values and labels enter, a `Placement` leaves: the coefficients of each cluster as a
normal distribution.
"""

import numpy as np

from conjoin import linalg
from conjoin._typing import FloatArray, IntArray
from conjoin.engine.study import Study
from conjoin.grouping.objective import sum_by
from conjoin.models.partial import posterior
from conjoin.result.placement import Placement
from conjoin.strategies.plan import Start

FEWEST_ROWS = 5  # rows of a cluster from which its mean features may be stored: fewer disclose them
TINY = 1e-300  # in place of zero, where a cluster has no information at all


def make_placement(study: Study, start: Start, labels: IntArray) -> Placement:
    """Return the coefficients of each cluster as a distribution, and of a dataset in none."""
    C, m, hyper = int(labels.max()) + 1, start.problem.moments, start.hyper
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
    )


def _means(study: Study, start: Start, labels: IntArray) -> FloatArray:
    """Return mean features of each cluster (C, features) in working coordinates.

    They are nan without an intercept, and for clusters of very few rows. Rows of a likelihood count
    by their information.
    """
    m, C = start.problem.moments, int(labels.max()) + 1
    features = m.p // m.outputs - int(study.basis.intercept)
    if not study.basis.intercept:
        return np.full((C, features), np.nan)
    G, n = sum_by((m.G[:, 0, :: m.outputs], m.n), labels, C)
    enough = n[:, None] >= FEWEST_ROWS * m.outputs
    means: FloatArray = np.where(enough, G[:, 1:] / np.maximum(G[:, :1], TINY), np.nan)
    return means
