"""Nearest neighbours of very many points, as candidates for joining.

Coordinates (K, d) enter; the numbers of neighbours (K, k) leave. They only say which pairs are
tried: what a join costs is computed exactly afterwards, so neighbours may be approximate.

Very many points of more than 20 columns are searched by faiss, if it is installed (the extra
`faiss`), along all columns. Without it a tree is used, along the directions of largest variance.
"""

from importlib.util import find_spec
from typing import Any

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
# Parts into which faiss cuts the points, over the root of their number, and parts that are looked
# at for each point. `python -m benchmarks.speed.neighbours` measures the share that is missed.
PARTS, PROBES = 4, 32


def neighbours(points: FloatArray, k: int) -> IntArray:
    """Return for each point (K, d) the numbers of the k points nearest to it, itself among them.

    >>> neighbours(np.array([[0.0], [1.0], [5.0]]), 2).tolist()
    [[0, 1], [1, 0], [2, 1]]
    """
    few = len(points) <= MOST_EXACT
    if not few and points.shape[1] > MOST_COLUMNS and has_faiss():
        return _by_faiss(points, k)
    used = points if few or points.shape[1] <= MOST_COLUMNS else _leading(points)
    return _by_tree(used, k, 0.0 if few else SLACK)


def _by_tree(points: FloatArray, k: int, slack: float) -> IntArray:
    """Return the neighbours that a k-d tree finds."""
    found: IntArray = cKDTree(points).query(points, k=k, eps=slack)[1]
    return found.reshape(len(points), k)


def has_faiss() -> bool:
    """Say whether faiss is installed."""
    return find_spec("faiss") is not None


def _by_faiss(points: FloatArray, k: int) -> IntArray:
    """Return the neighbours that an inverted file of faiss finds; missing ones are the point."""
    import faiss

    library: Any = faiss
    centred = points - points.mean(axis=0)  # it computes in single precision
    used = np.ascontiguousarray(centred, dtype=np.float32)
    K, columns = used.shape
    quantizer = library.IndexFlatL2(columns)
    index = library.IndexIVFFlat(quantizer, columns, min(int(PARTS * np.sqrt(K)), K // 40 + 1))
    index.train(used)  # its seed is fixed
    index.add(used)
    index.nprobe = PROBES
    found: IntArray = index.search(used, k)[1]
    return np.where(found < 0, np.arange(K)[:, None], found)


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
