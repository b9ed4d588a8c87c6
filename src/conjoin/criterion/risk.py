"""Unbiased estimate of the out-of-sample error of a cluster's joint least-squares fit.

==========  ===================================================================
symbol      meaning
==========  ===================================================================
G_C, b_C    Gram matrix and coefficients of the cluster
s2_k        noise variance of dataset k
rss_k       squared errors of b_C on dataset k
h_k         tr(W_k G_C^-1): share of dataset k's noise that the fit follows
v_k         tr(W_k G_C^-1 (sum_j s2_j G_j) G_C^-1): variance of the fit at k's rows
N           rows of the cluster
==========  ===================================================================

    error_k = s2_k + [rss_k/n_k - s2_k (1 - 2 h_k) - v_k] / (1 - h_k)^2 + v_k N/(N - p - 1)

The bracket estimates the bias of the joint fit on dataset k without bias, given the designs; the
last term is the variance on new rows instead of the same ones. For a single dataset the error is
s2 (1 + p/(n - p - 1)); it is infinite where N <= p + 1. Generalised cross-validation,
rss_k/n_k / (1 - h_k)^2, stands beside it: it needs no estimate of the noise and does as well on
pairs.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from conjoin import linalg
from conjoin._typing import FloatArray
from conjoin.criterion.base import PairScore, Unit
from conjoin.models.noise import noise_variances
from conjoin.moments import Moments

__all__ = ["Gcv", "Risk", "cluster_errors", "gcv_errors", "noise_variances"]


def _joint(moments: Moments) -> tuple[FloatArray, FloatArray, FloatArray, float, int]:
    """Return G_C^-1, mean squared errors of b_C, leverages h_k, rows N and rank of one cluster."""
    joint = moments.union()
    inverse, rank = linalg.inverse_and_rank(joint.G)
    beta = linalg.matvec(inverse, joint.h)
    leverage = linalg.trace_product(moments.G, inverse) / moments.n
    return inverse, moments.sse(beta) / moments.n, leverage, float(joint.n), int(rank)


def cluster_errors(moments: Moments, noise: FloatArray) -> FloatArray:
    """Return the estimated error on new rows of each dataset (K,) of one cluster's joint fit."""
    inverse, mse, h, N, rank = _joint(moments)
    if N <= rank + 1:
        return np.full(moments.shape, np.inf)
    spread = inverse @ np.sum(noise[:, None, None] * moments.G, axis=0) @ inverse
    v = linalg.trace_product(moments.G, spread) / moments.n
    room = np.where(h < 1 - 1e-9, (1 - h) ** 2, np.inf)  # no bias where the fit follows every row
    error: FloatArray = noise + (mse - noise * (1 - 2 * h) - v) / room + v * N / (N - rank - 1)
    return error * moments.n / moments.w


def gcv_errors(moments: Moments, noise: FloatArray) -> FloatArray:
    """Return the same by generalised cross-validation; the noise is not used."""
    _, mse, h, N, rank = _joint(moments)
    if N <= rank + 1:
        return np.full(moments.shape, np.inf)
    error: FloatArray = mse / np.maximum(1 - h, 1e-9) ** 2
    return error * moments.n / moments.w


@dataclass(frozen=True)
class Risk:
    """Join where the unbiased estimate of the out-of-sample error falls.

    Decides at the data's own sizes, with each dataset's own noise. The score is the gain, summed
    over datasets, in units of their mean noise.
    """

    errors: Callable[[Moments, FloatArray], FloatArray] = field(default=cluster_errors, repr=False)

    @property
    def threshold(self) -> float:
        """Join where the gain is positive."""
        return 0.0

    def prepare(self, unit: Unit, seed: int) -> Moments:
        """Return the moments of the unit's datasets."""
        return unit.member_moments

    def compare(self, a: Moments, b: Moments) -> PairScore:
        """Return the estimated gain of joining."""
        both = Moments.concatenate([a, b])
        noise = noise_variances(both)
        own = np.concatenate(
            [self.errors(a, noise[: a.shape[0]]), self.errors(b, noise[a.shape[0] :])]
        )
        joint = self.errors(both, noise)
        # Two sets without enough rows for any error cannot be told apart: better together.
        gain = float("inf") if np.isinf(own).any() else float(np.sum(own - joint))
        score = gain / float(np.mean(noise))
        return PairScore(score, score > self.threshold)


def Gcv() -> Risk:
    """Return the criterion that decides by generalised cross-validation."""
    return Risk(gcv_errors)
