"""Noise variances of datasets, shrunk towards each other where degrees of freedom are few.

A dataset's residual variance s2_k has df_k degrees of freedom. If the true variances follow a
scaled inverse chi-square law with `df0` degrees of freedom around `s2_0`, the posterior scale is

    (df_k s2_k + df0 s2_0) / (df_k + df0),

and df0 and s2_0 come from the mean and variance of log s2_k (Smyth 2004, "Linear models and
empirical Bayes methods for assessing differential expression"): the variance of log s2_k beyond
what sampling explains is trigamma(df0 / 2).
"""

import numpy as np
from scipy.special import digamma, polygamma

from conjoin._typing import FloatArray
from conjoin.models.ols import fit_ols
from conjoin.moments import Moments

MOST_PRIOR_DF = 1e6
LEAST_PRIOR_DF = 2.0


def noise_variances(moments: Moments) -> FloatArray:
    """Return the shrunk noise variance of each dataset (K,), from residuals of its own fit."""
    fit = fit_ols(moments)
    df = np.maximum(moments.n - fit.rank, 0.0)
    if df.sum() <= 0:  # no residuals anywhere: all that is left is the spread of the target
        spread = moments.q.sum() / max(moments.n.sum(), 1.0)
        return np.full(moments.shape, spread)
    floor = 1e-12 * float(moments.q.sum() / moments.n.sum()) + np.finfo(float).tiny
    return shrink(fit.rss, df, floor)


def shrink(rss: FloatArray, df: FloatArray, floor: float = np.finfo(float).tiny) -> FloatArray:
    """Return variances rss / df drawn towards each other, never below `floor`."""
    pooled = max(float(rss.sum() / df.sum()), floor) if df.any() else floor
    df0, centre = _prior(np.maximum(rss, floor), df, pooled)
    shrunk: FloatArray = np.maximum((rss + df0 * centre) / (df + df0), floor)
    return shrunk


def _prior(rss: FloatArray, df: FloatArray, pooled: float) -> tuple[float, float]:
    """Return degrees of freedom and scale of the law that the variances follow."""
    use = df > 0
    if np.count_nonzero(use) < 3:
        # Two variances say little about their law: lean on the pooled one like on four rows.
        return 4.0, pooled
    half = df[use] / 2
    log_s2 = np.log(rss[use] / df[use]) - digamma(half) + np.log(half)
    weight = 1 / polygamma(1, half)
    mean = float(np.average(log_s2, weights=weight))
    spread = np.average((log_s2 - mean) ** 2, weights=weight) * len(half) / (len(half) - 1)
    excess = float(spread - np.average(polygamma(1, half), weights=weight))
    if excess <= 1e-6:
        return MOST_PRIOR_DF, pooled
    half0 = _inverse_trigamma(excess)
    df0 = float(np.clip(2 * half0, LEAST_PRIOR_DF, MOST_PRIOR_DF))
    return df0, float(np.exp(mean + digamma(df0 / 2) - np.log(df0 / 2)))


def _inverse_trigamma(value: float) -> float:
    """Return x with trigamma(x) = value, by Newton's iteration on its reciprocal."""
    x = 0.5 + 1 / value
    for _ in range(50):
        trigamma = float(polygamma(1, x))
        step = trigamma * (1 - trigamma / value) / float(polygamma(2, x))
        x += step
        if abs(step) < 1e-8 * x:
            break
    return x
