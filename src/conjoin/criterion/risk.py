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
s2 (1 + p/(n - p - 1)); it is infinite where N <= p + 1.
"""

import numpy as np

from conjoin import linalg
from conjoin._typing import FloatArray
from conjoin.models.ols import fit_ols
from conjoin.moments import Moments


def noise_variances(moments: Moments) -> FloatArray:
    """Return each dataset's residual variance; pooled within-dataset noise where it has none."""
    fit = fit_ols(moments)
    df = moments.n - fit.rank
    pooled = fit.rss.sum() / df.sum() if df.sum() > 0 else np.nan
    noise: FloatArray = np.where(df > 0, fit.rss / np.where(df > 0, df, 1.0), pooled)
    return noise


def cluster_errors(moments: Moments, noise: FloatArray) -> FloatArray:
    """Return the estimated error on new rows of each dataset (K,) of one cluster's joint fit."""
    joint = moments.union()
    inverse = linalg.inverse(joint.G)
    beta = linalg.matvec(inverse, joint.h)
    N, r = float(joint.n), int(linalg.rank(joint.G))
    if N <= r + 1:
        return np.full(moments.shape, np.inf)
    inner = np.sum(noise[:, None, None] * moments.G, axis=0)
    spread = inverse @ inner @ inverse
    h = linalg.trace_product(moments.G, inverse) / moments.n
    v = linalg.trace_product(moments.G, spread) / moments.n
    misfit = moments.sse(beta) / moments.n - noise * (1 - 2 * h) - v
    bias = np.where(h < 1, misfit / np.where(h < 1, (1 - h) ** 2, 1.0), 0.0)
    error: FloatArray = noise + bias + v * N / (N - r - 1)
    return error * moments.n / moments.w
