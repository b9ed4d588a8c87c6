"""One linear model for each cluster, with the prior under which its evidence is computed.

Moments of clusters and a common centre enter, coefficients leave. Coefficients of a cluster are
N(mu, T) with T = diag(r^2); its rows have noise s2. Then

    beta = mu + r (I + r G r / s2)^-1 r (h - G mu) / s2.

The centre mu is that of partial pooling over the datasets, so the model of a cluster does not
depend on how the other datasets are grouped. The prior matters only where a cluster has few rows
for its columns.
"""

import numpy as np

from conjoin import linalg
from conjoin._typing import FloatArray, IntArray
from conjoin.models.partial import Hyper
from conjoin.moments import Moments

TINY = 1e-12  # rows of a dataset that has none left, so that a mean over rows is defined


def centre(moments: Moments, hyper: Hyper) -> FloatArray:
    """Return the posterior mean (p,) of the common centre of datasets (K,).

    It is `posterior(moments, hyper).mu` for a diagonal L, with less work: with J as in
    `models.partial`, the information on mu is (I - J) / (r r') and the pull is J L'ht / r.
    """
    root = np.sqrt(np.sum(hyper.L**2, axis=1))
    scale = root / (hyper.noise * hyper.of_centre().relative)[:, None]
    inner = moments.G * (scale[:, :, None] * root)
    index = np.arange(len(root))
    inner[:, index, index] += 1.0
    J = linalg.definite_inverse(inner)
    total = (len(J) * np.eye(len(root)) - J.sum(axis=0)) / np.outer(root, root)
    total[index[moments.outputs :], index[moments.outputs :]] += 1 / hyper.slope_variances
    pull = linalg.matvec(J, scale * moments.h).sum(axis=0) / root
    mu: FloatArray = linalg.inverse(linalg.symmetrise(total)) @ pull
    return mu


def union_noise(moments: Moments, hyper: Hyper, labels: IntArray) -> FloatArray:
    """Return the noise variance (C,) of clusters: the mean over their rows."""
    rows = np.maximum(moments.n, TINY)
    noise = np.bincount(labels, rows * hyper.noise * hyper.relative) / np.bincount(labels, rows)
    return np.asarray(noise)


def fit_clusters(
    G: FloatArray, h: FloatArray, noise: FloatArray, mu: FloatArray, hyper: Hyper
) -> FloatArray:
    """Return coefficients (..., p) of clusters with moments G (..., p, p), h (..., p).

    `noise` (...) are their noise variances and `mu` (p,) or (..., p) is the centre.
    """
    root = np.sqrt(np.sum(hyper.L**2, axis=1))
    scale = root / noise[..., None]
    inner = G * (scale[..., :, None] * root)
    index = np.arange(len(root))
    inner[..., index, index] += 1.0
    pull = scale * (h - linalg.matvec(G, np.broadcast_to(mu, h.shape)))
    beta: FloatArray = mu + root * np.linalg.solve(inner, pull[..., None])[..., 0]
    return beta
