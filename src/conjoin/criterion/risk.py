"""Unbiased estimate of the out-of-sample error of a cluster's joint least-squares fit.

Moments and noise variances of the datasets of a cluster enter; the estimated squared error of each
dataset on new rows leaves. All functions take stacks: leading axes of the moments are batch axes,
the last one holds the K datasets of a cluster.

==========  ===================================================================  ============
symbol      meaning                                                              shape
==========  ===================================================================  ============
G_C, b_C    Gram matrix and coefficients of the cluster                          (..., p, p)
s2_k        noise variance of dataset k                                          (..., K)
rss_k       squared errors of b_C on dataset k, summed                           (..., K)
h_k         tr(W_k G_C^-1): mean leverage of dataset k's rows in the joint fit   (..., K)
v_k         tr(W_k G_C^-1 (sum_j s2_j G_j) G_C^-1): variance of the fit there    (..., K)
N, r        rows of the cluster and rank of G_C                                  (..., 1)
==========  ===================================================================  ============

    error_k = s2_k + [rss_k/n_k - s2_k (1 - 2 h_k) - v_k] / (1 - h_k)^2 + v_k N/(N - r - 1)

The bracket is an unbiased estimate, given the designs, of the squared bias of the joint fit on
dataset k. The last term is the variance of the fit on new rows. For a single dataset the error is
s2 (1 + p/(n - p - 1)). It is infinite where N <= r + 1.

Generalised cross-validation, rss_k/n_k / (1 - h_k)^2, is the alternative: it needs no estimate of
the noise variance. On the twelve settings of the paper's tables the two choose equally well.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from conjoin import linalg
from conjoin._typing import FloatArray, IntArray
from conjoin.criterion.base import PairScore, Unit
from conjoin.models.noise import noise_variances
from conjoin.moments import Moments

# A mean leverage this close to one means that the fit passes through every row of the dataset. The
# residuals are then rounding errors, and (1 - h)^2 would divide by zero. With n rows of a dataset
# and a fit that does not interpolate, 1 - h is at least about 1/n, far above this value.
FULL_LEVERAGE = 1e-9


class _JointFit(NamedTuple):
    """The joint fit of each cluster of a stack, ready to broadcast over its datasets."""

    inverse: FloatArray  # G_C^-1 (..., 1, p, p)
    mse: FloatArray  # rss_k / n_k (..., K)
    h: FloatArray  # (..., K)
    N: FloatArray  # (..., 1)
    rank: IntArray  # (..., 1)


def _joint_fit(moments: Moments) -> _JointFit:
    """Fit each cluster of a stack of moments (..., K)."""
    joint = moments.union(len(moments.shape) - 1)
    inverse, rank = linalg.inverse_and_rank(joint.G)
    beta = linalg.matvec(inverse, joint.h)[..., None, :]
    inverse = inverse[..., None, :, :]
    leverage = linalg.trace_product(moments.G, inverse) / moments.n
    mse = moments.sse(beta) / moments.n
    return _JointFit(inverse, mse, leverage, joint.n[..., None], rank[..., None])


def new_row_factor(n: FloatArray, rank: FloatArray | IntArray) -> FloatArray:
    """Return n/(n - rank - 1), the variance on new rows over that on the rows of the fit.

    The factor is exact for Gaussian features. It is infinite where n <= rank + 1.
    """
    left = n - rank - 1
    return np.where(left > 0, n / np.where(left > 0, left, 1.0), np.inf)


def _error(
    noise: FloatArray,
    mse: FloatArray,
    h: FloatArray,
    v: FloatArray,
    N: FloatArray,
    rank: FloatArray | IntArray,
) -> FloatArray:
    """Return the formula of this module, element by element."""
    factor = new_row_factor(N, rank)
    finite = np.isfinite(factor)
    bias = (mse - noise * (1 - 2 * h) - v) / _residual_share(h)
    return np.where(finite, noise + bias + v * np.where(finite, factor, 0.0), np.inf)


def _residual_share(h: FloatArray) -> FloatArray:
    """Return (1 - h)^2, infinite where the fit interpolates: no bias can be seen there."""
    return np.where(h < 1 - FULL_LEVERAGE, (1 - h) ** 2, np.inf)


def cluster_errors(moments: Moments, noise: FloatArray) -> FloatArray:
    """Return the estimated error on new rows of each dataset (..., K) under its joint fit."""
    fit = _joint_fit(moments)
    weighted = np.sum(noise[..., None, None] * moments.G, axis=-3)[..., None, :, :]
    spread = fit.inverse @ weighted @ fit.inverse
    v = linalg.trace_product(moments.G, spread) / moments.n
    return _error(noise, fit.mse, fit.h, v, fit.N, fit.rank) * moments.n / moments.w


def own_errors(
    moments: Moments, noise: FloatArray, rss: FloatArray, rank: FloatArray
) -> FloatArray:
    """Return `cluster_errors` of datasets (...,) fitted alone, from their residual squares."""
    n = np.maximum(moments.n, 1.0)
    h, v = rank / n, noise * rank / n
    return _error(noise, rss / n, h, v, moments.n, rank) * moments.n / moments.w


def gcv_errors(moments: Moments, noise: FloatArray) -> FloatArray:
    """Return the same by generalised cross-validation; `noise` is not used."""
    fit = _joint_fit(moments)
    error = fit.mse / np.maximum(1 - fit.h, FULL_LEVERAGE) ** 2
    finite = np.isfinite(new_row_factor(fit.N, fit.rank))
    return np.where(finite, error, np.inf) * moments.n / moments.w


Errors = Callable[[Moments, FloatArray], FloatArray]


def own_and_joint_errors(
    left: Moments, right: Moments, noise: FloatArray, errors: Errors = cluster_errors
) -> tuple[FloatArray, FloatArray]:
    """Return the errors (K1 + K2,) of two clusters' own fits and of their joint fit."""
    K1 = left.shape[0]
    own = np.concatenate([errors(left, noise[:K1]), errors(right, noise[K1:])])
    return own, errors(Moments.concatenate([left, right]), noise)


def weighted_gain(own: FloatArray, joint: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weighted sum of own - joint errors over the last axis.

    The gain is infinite where an own error is, and nan where a joint error is infinite as well.
    """
    known = np.asarray(np.isfinite(own).all(axis=-1))
    unknown = np.where(np.isinf(joint).any(axis=-1), np.nan, np.inf)
    difference = np.where(known[..., None], own, 0.0) - np.where(known[..., None], joint, 0.0)
    return np.where(known, linalg.dot(np.broadcast_to(weights, own.shape), difference), unknown)


def known_gain(gain: float) -> float:
    """Return a gain as users see it: nan if it is not known.

    A dataset with hardly more rows than coefficients has no finite error of its own. Joining it
    then gains without bound, which is no number to show.
    """
    return float(gain) if np.isfinite(gain) else float("nan")


def joining_gain(
    left: Moments,
    right: Moments,
    weights: tuple[FloatArray, FloatArray],
    noise: FloatArray | None = None,
) -> float:
    """Return the estimated fall of the error when two clusters (K1,) and (K2,) are joined.

    Weights (K1,) and (K2,) say how much the error of each dataset counts. Noise variances
    (K1 + K2,) are estimated from the residuals unless they are given.
    """
    if noise is None:
        noise = noise_variances(Moments.concatenate([left, right]))
    own, joint = own_and_joint_errors(left, right, np.asarray(noise, dtype=np.float64))
    return float(weighted_gain(own, joint, np.concatenate(weights)))


@dataclass(frozen=True)
class Risk:
    """Criterion that joins where the unbiased estimate of the out-of-sample error falls.

    It decides at the sizes of the datasets at hand, with each dataset's own noise variance. The
    score is the sum of the datasets' gains, divided by their mean noise variance.

    Parameters
    ----------
    errors : callable, default `cluster_errors`
        Gives the error of each dataset of a cluster from moments and noise variances.

    Examples
    --------
    >>> import conjoin
    >>> x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    >>> one = {"x": x, "y": [1.1, 1.9, 3.2, 3.9, 5.1, 5.8]}
    >>> two = {"x": x, "y": [1.0, 2.1, 2.9, 4.2, 4.9, 6.1]}
    >>> conjoin.compare(one, two, target="y", method=conjoin.Risk()).join
    True
    """

    errors: Errors = field(default=cluster_errors, repr=False)

    @property
    def threshold(self) -> float:
        """Join where the gain is positive."""
        return 0.0

    def prepare(self, unit: Unit, seed: int) -> Moments:
        """Return the moments of the unit's datasets; nothing is random, `seed` is not used."""
        return unit.member_moments

    def compare(self, a: Moments, b: Moments) -> PairScore:
        """Return the estimated gain of joining two prepared units."""
        noise = noise_variances(Moments.concatenate([a, b]))
        own, joint = own_and_joint_errors(a, b, noise, self.errors)
        # A unit with too few rows for a finite error of its own is better off with any partner.
        gain = float("inf") if np.isinf(own).any() else float(np.sum(own - joint))
        score = gain / float(np.mean(noise))
        return PairScore(score, score > self.threshold)


def Gcv() -> Risk:
    """Return the criterion that decides by generalised cross-validation."""
    return Risk(gcv_errors)
