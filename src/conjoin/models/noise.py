"""Noise variances of datasets, shrunk towards each other where degrees of freedom are few.

Enters: moments of datasets, or residual sums of squares with their degrees of freedom. Leaves: one
noise variance for each dataset.

A dataset's residual variance s2_k has df_k degrees of freedom. If the true variances follow a
scaled inverse chi-square distribution with df0 degrees of freedom around s2_0, the posterior scale
is

    (df_k s2_k + df0 s2_0) / (df_k + df0).

df0 and s2_0 come from the mean and variance of log s2_k: the variance of log s2_k beyond what
sampling explains is trigamma(df0 / 2). Reference: Smyth (2004), "Linear models and empirical Bayes
methods for assessing differential expression".
"""

import numpy as np
from scipy.special import digamma, polygamma

from conjoin._typing import FloatArray
from conjoin.models.ols import fit_ols
from conjoin.moments import Moments

# Prior degrees of freedom are kept between these. Above a million all variances are equal in
# effect; at two or less a scaled inverse chi-square distribution has no mean.
MOST_PRIOR_DF = 1e6
LEAST_PRIOR_DF = 2.0
# Excess variance of log s2_k up to which variances count as equal. trigamma(df0 / 2) is about
# 2 / df0, so a smaller excess would mean a df0 above MOST_PRIOR_DF.
LEAST_EXCESS = 1e-6
# Fewer variances than this say too little about their own distribution. The pooled variance then
# counts like so many degrees of freedom: enough to keep a dataset with one residual from claiming
# no noise, few enough that ten residuals speak for themselves.
FEWEST_VARIANCES = 3
FEW_PRIOR_DF = 4.0
# No variance is below this share of the target's mean square: residuals that are smaller are
# rounding errors of the moments (1e-16 of the squares they come from).
FLOOR_SHARE = 1e-12
TINY = np.finfo(float).tiny  # keeps a variance above zero where the target is zero throughout
# Newton's iteration for the inverse of trigamma converges in a few steps; it stops when a step is
# below this share of the value, long before its most steps.
TRIGAMMA_STEPS = 50
TRIGAMMA_CLOSE = 1e-8


def noise_variances(moments: Moments) -> FloatArray:
    """Return the shrunk noise variance of each dataset (K,), from residuals of its own fit."""
    fit = fit_ols(moments)
    df = np.maximum(moments.n - fit.rank, 0.0)
    if df.sum() <= 0:  # no residuals anywhere: only the spread of the target is known
        spread = moments.q.sum() / max(moments.n.sum(), 1.0)
        return np.full(moments.shape, spread)
    floor = FLOOR_SHARE * float(moments.q.sum() / moments.n.sum()) + TINY
    return shrink(fit.rss, df, floor)


def pair_noise(rss: FloatArray, df: FloatArray, q: FloatArray, n: FloatArray) -> FloatArray:
    """Return `noise_variances` of many pairs of datasets at once, (2, B).

    `rss`, `df`, `q` and `n` (2, B) are residual squares of the datasets' own fits, their degrees of
    freedom, squares of the target and rows.
    """
    own_df = np.maximum(df, 0.0)
    squares, rows = q.sum(axis=0), n.sum(axis=0)
    floor = FLOOR_SHARE * squares / rows + TINY
    total = own_df.sum(axis=0)
    pooled = np.maximum(rss.sum(axis=0) / np.where(total > 0, total, 1.0), floor)
    shrunk = _posterior_scale(rss, own_df, FEW_PRIOR_DF, pooled, floor)
    return np.where(total > 0, shrunk, squares / np.maximum(rows, 1.0))


def shrink(rss: FloatArray, df: FloatArray, floor: float = TINY) -> FloatArray:
    """Return variances rss / df (K,) shrunk towards each other, never below `floor`."""
    df0, centre = noise_prior(rss, df, floor)
    return _posterior_scale(rss, df, df0, centre, floor)


def noise_prior(rss: FloatArray, df: FloatArray, floor: float = TINY) -> tuple[float, float]:
    """Return df0 and s2_0, towards which `shrink` draws the variances rss / df (K,)."""
    pooled = max(float(rss.sum() / df.sum()), floor) if df.any() else floor
    # An exact fit says nothing about the distribution: its logarithm is that of rounding.
    informative = np.where(rss > floor * df, df, 0.0)
    return _prior(np.maximum(rss, floor), informative, pooled)


def _posterior_scale(
    rss: FloatArray,
    df: FloatArray,
    df0: float,
    centre: FloatArray | float,
    floor: FloatArray | float,
) -> FloatArray:
    """Return the variances of the module's formula, never below `floor`."""
    shrunk: FloatArray = np.maximum((rss + df0 * centre) / (df + df0), floor)
    return shrunk


def _prior(rss: FloatArray, df: FloatArray, pooled: float) -> tuple[float, float]:
    """Return df0 and s2_0, degrees of freedom and scale of the variances' distribution."""
    use = df > 0
    if np.count_nonzero(use) < FEWEST_VARIANCES:
        return FEW_PRIOR_DF, pooled
    half = df[use] / 2
    log_s2 = np.log(rss[use] / df[use]) - digamma(half) + np.log(half)
    weight = 1 / polygamma(1, half)
    mean = float(np.average(log_s2, weights=weight))
    spread = np.average((log_s2 - mean) ** 2, weights=weight) * len(half) / (len(half) - 1)
    excess = float(spread - np.average(polygamma(1, half), weights=weight))
    if excess <= LEAST_EXCESS:
        return MOST_PRIOR_DF, pooled
    half0 = _inverse_trigamma(excess)
    df0 = float(np.clip(2 * half0, LEAST_PRIOR_DF, MOST_PRIOR_DF))
    return df0, float(np.exp(mean + digamma(df0 / 2) - np.log(df0 / 2)))


def _inverse_trigamma(value: float) -> float:
    """Return x with trigamma(x) = value, by Newton's iteration on its reciprocal."""
    x = 0.5 + 1 / value
    for _ in range(TRIGAMMA_STEPS):
        trigamma = float(polygamma(1, x))
        step = trigamma * (1 - trigamma / value) / float(polygamma(2, x))
        x += step
        if abs(step) < TRIGAMMA_CLOSE * x:
            break
    return x
