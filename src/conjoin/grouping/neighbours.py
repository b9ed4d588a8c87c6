"""Nearest neighbours of very many points, as candidates for joining.

Coordinates (K, d) enter; the numbers of neighbours (K, k) leave. They only say which pairs are
tried: what a join costs is computed exactly afterwards, so neighbours may be approximate.
"""

import numpy as np
from scipy.spatial import cKDTree

from conjoin._typing import FloatArray, IntArray

# Points up to which neighbours are exact.
MOST_EXACT = 2_000
# Beyond, the k-th neighbour found is at most (1 + SLACK) times as far as the true one. With one,
# 30,000 points of 11 columns in one cloud take a tenth of the time; datasets of a cluster are about
# equally far from each other, so any of them will do.
SLACK = 1.0
# Columns up to which a tree over the points is quicker than comparing all pairs. Points with more
# columns are looked at along their directions of largest variance, as many as this.
MOST_COLUMNS = 20


def neighbours(points: FloatArray, k: int) -> IntArray:
    """Return for each point (K, d) the numbers of the k points nearest to it, itself among them.

    >>> neighbours(np.array([[0.0], [1.0], [5.0]]), 2).tolist()
    [[0, 1], [1, 0], [2, 1]]
    """
    few = len(points) <= MOST_EXACT
    used = points if few or points.shape[1] <= MOST_COLUMNS else _leading(points)
    found: IntArray = cKDTree(used).query(used, k=k, eps=0.0 if few else SLACK)[1]
    return found.reshape(len(points), k)


def neighbour_pairs(points: FloatArray, k: int) -> IntArray:
    """Return all pairs (B, 2) of a point and one of its k nearest others, each pair once.

    >>> neighbour_pairs(np.array([[0.0], [1.0], [5.0]]), 1).tolist()
    [[0, 1], [1, 2]]
    """
    K = len(points)
    k = min(k, K - 1)
    pairs = np.stack([np.repeat(np.arange(K), k + 1), neighbours(points, k + 1).ravel()], axis=1)
    pairs.sort(axis=1)
    kept = pairs[pairs[:, 0] != pairs[:, 1]]
    number = np.unique(kept[:, 0] * K + kept[:, 1])
    return np.stack([number // K, number % K], axis=1)


def _leading(points: FloatArray) -> FloatArray:
    """Return the coordinates of points along their directions of largest variance."""
    centred = points - points.mean(axis=0)
    vectors = np.linalg.eigh(centred.T @ centred)[1]
    found: FloatArray = centred @ vectors[:, -MOST_COLUMNS:]
    return found
