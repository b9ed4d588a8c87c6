"""Partial pooling with a full covariance of deviations, by EM on moments.

Moments of datasets (K,) and the variances of a diagonal fit enter; variances with a full covariance
leave. Symbols are those of `models.partial`.
"""

from dataclasses import replace

import numpy as np

from conjoin import linalg
from conjoin._typing import FloatArray
from conjoin.models.partial import (
    Hyper,
    Posterior,
    expected_squares,
    posterior,
)
from conjoin.models.variance_priors import SPREAD_BOUNDS, noise_bounds
from conjoin.moments import Moments

# Rise of the log evidence for each dataset below which EM stops: a thousandth of a unit is no
# evidence at all.
EVIDENCE_CLOSE = 1e-3


def fit_full(moments: Moments, start: Hyper, steps: int = 4) -> Hyper:
    """Return a full covariance of deviations by EM, started from a diagonal fit.

    An inverse-Wishart prior worth p + 2 datasets, centred at the diagonal start, keeps the matrix
    of full rank when datasets are few. The noise is estimated along with it. Few `steps` suffice:
    the prior holds the covariance near its start.
    """
    p, K = moments.p, moments.shape[0]
    prior = start.L @ start.L.T + SPREAD_BOUNDS[0] * np.eye(p)
    strength = p + 2.0  # the least degrees of freedom for which the prior has a mean
    hyper = replace(start, L=np.linalg.cholesky(prior))
    last = -np.inf
    for _ in range(steps):
        post = posterior(moments, hyper)
        if post.log_evidence < last + EVIDENCE_CLOSE * K:
            break
        last = post.log_evidence
        T = (second_moment(post, hyper) + strength * prior) / (K + strength)
        T = linalg.symmetrise(T) + SPREAD_BOUNDS[0] * np.eye(p)
        noise = improved_noise(moments, hyper, post)
        hyper = replace(hyper, L=np.linalg.cholesky(T), noise=noise)
    return hyper


def second_moment(post: Posterior, hyper: Hyper) -> FloatArray:
    """Return the expected sum over datasets of the squared deviations (p, p)."""
    UJ = post.parts.UJ
    second = post.z.T @ post.z + post.parts.J.sum(axis=0)
    second += np.matmul(np.swapaxes(UJ, -1, -2), np.matmul(post.C, UJ)).sum(axis=0)
    moment: FloatArray = hyper.L @ second @ hyper.L.T
    return moment


def improved_noise(moments: Moments, hyper: Hyper, post: Posterior) -> float:
    """Return the noise variance after a step of EM: expected residuals over rows."""
    gradient = expected_squares(moments, hyper, post)[0]
    noise = hyper.noise * (1 + 2 * gradient / max(float(moments.n.sum()), 1.0))
    return float(np.clip(noise, *noise_bounds(moments)))
