"""The scatter of scores of classes and counts, where rows depend on each other.

Enters: rows under a distribution, their own fits, and the person or the time of every row. Leaves:
a `Scatter` for verdicts, as `models.clustered` and `models.serial` find it for numbers.

Near the own fit of a dataset a likelihood is a parabola. The score and the information of the rows
of a cluster stand for its sum of scores s_c and its Gram matrix G_c; all else is the same. The
residual of a row in time is Pearson's: y less its expectation, over the root of its variance.
"""

from dataclasses import replace

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.models.clustered import ClusterSums, blocks_of_datasets, sort_by_cluster
from conjoin.models.glm_rows import GlmRows
from conjoin.models.padded_rows import SortedRows
from conjoin.models.scatter import Scatter
from conjoin.models.serial import TimeBlocks
from conjoin.moments import Moments

# Least variance of a row under its model: a row that is predicted with certainty has a residual
# near zero, which must not be divided by zero.
LEAST_VARIANCE = 1e-6


def glm_scatter(
    rows: GlmRows,
    beta: FloatArray,
    moments: Moments,
    time: FloatArray | None,
    who: IntArray | None,
) -> Scatter:
    """Return the scatter by person, else by stretch of time.

    Parameters
    ----------
    rows : GlmRows
    beta : array (K, P)
        Each dataset's own fit.
    moments : Moments (K,)
        Near these coefficients.
    time, who : arrays (N,), optional
        Of every row; one of them is given.
    """
    if who is not None:
        return _clustered(rows, beta, moments, who)
    assert time is not None  # one of the two was asked for
    some = rows.sorted_rows
    rank = np.full(len(some), some.X.shape[1])
    blocks = TimeBlocks.of(pearson_residuals(rows, beta), some.w, some.starts, time, rank)
    return blocks.raised(_clustered(rows, beta, moments, blocks.block))


def _clustered(rows: GlmRows, beta: FloatArray, moments: Moments, cluster: IntArray) -> Scatter:
    """Return the scatter over clusters (N,); a cluster in two datasets counts as one in each."""
    (K, P), every = beta.shape, rows.sorted_rows
    sums = ClusterSums.zeros(K, P)
    for some in blocks_of_datasets(every.starts, P):
        place, bounds, owner = sort_by_cluster(every.starts, cluster, some)
        part = SortedRows(every.X[place], every.y[place], every.w[place], bounds)
        alone = GlmRows.of(part, np.zeros(len(place), dtype=int), 1, rows.family)
        one = replace(alone, phi=rows.phi).moments(beta[some][owner])[:, 0]
        sums.add(some, one, owner, moments[some])
    # Columns with a heavy tail bound no probability: new rows cannot cost more than can be seen.
    return sums.scatter(np.zeros(K, dtype=bool), moments)


def pearson_residuals(rows: GlmRows, beta: FloatArray) -> FloatArray:
    """Return the residual (N, m) of every row under coefficients (K, P)."""
    every, m = rows.sorted_rows, rows.family.m
    found = np.empty((len(every.y), m))
    for k, (i, j) in enumerate(zip(every.starts[:-1].tolist(), every.starts[1:].tolist())):
        eta = every.X[i:j] @ beta[k].reshape(-1, m)
        at = rows.family.derivatives(every.y[i:j], eta[:, 0] if m == 1 else eta)
        variance = at.curvature if m == 1 else np.diagonal(at.curvature, axis1=-2, axis2=-1)
        residual = -at.gradient / np.sqrt(np.maximum(variance, LEAST_VARIANCE))
        found[i:j] = residual.reshape(j - i, m)
    return found
