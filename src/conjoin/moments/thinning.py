"""Folds of a dataset of which only the sums over all rows are known.

Sums of products of one dataset enter; as many parts leave, whose sums are those of the dataset.

Where rows may not be cut into folds, their sums can be. Let G = X'X, h = X'y, q = y'y, and s2 the
residual variance. Part f has G / F and h / F + e_f, where the e_f are normal with covariance
s2 G / F and sum to zero. For normal noise the parts are then distributed as F independent samples
with the same design. Errors of a fit without a part, judged on that part, estimate the error for
new targets at the same columns without bias, as Mallows' criterion does ("data thinning"; Oliveira,
Lei and Tibshirani 2023 call it a coupled bootstrap).
"""

import numpy as np

from conjoin import linalg
from conjoin._typing import FloatArray
from conjoin.moments.resample import stream

# Rows for each column that a part needs: with fewer, the noise that is added would be more than the
# residuals that there are.
ROWS_PER_COLUMN = 2


def thin(
    products: FloatArray, n: float, most: int, seed: int, name: str
) -> tuple[FloatArray, FloatArray]:
    """Return sums of products (F, p, p) of parts that add up to `products` (p, p), and their rows.

    The first column is that of ones, the last one the target. There are at most `most` parts.

    >>> X = np.column_stack([np.ones(90), np.arange(90) % 7, np.arange(90) % 5])
    >>> parts, rows = thin(X.T @ X, 90.0, 10, 0, "a")
    >>> len(parts), bool(np.allclose(parts.sum(axis=0), X.T @ X)), float(rows[0])
    (10, True, 9.0)
    """
    G, h, q = products[:-1, :-1], products[:-1, -1], float(products[-1, -1])
    F = max(min(most, int(n / (ROWS_PER_COLUMN * len(G)))), 2)
    inverse, rank = linalg.inverse_and_rank(G[None])
    beta = inverse[0] @ h
    rss = max(q - float(h @ beta), 0.0)
    s2 = rss / max(n - float(rank[0]), 1.0)
    values, vectors = np.linalg.eigh(G)
    root = vectors * np.sqrt(np.maximum(values, 0.0) * s2 / F)
    draws = stream(seed, "thinning", name).standard_normal((F, len(G)))
    e = (draws - draws.mean(axis=0)) @ root.T
    added = np.einsum("fi,ij,fj->f", e, inverse[0], e) * F
    if added.sum() > rss:  # few rows: no more noise than there is
        e *= np.sqrt(rss / added.sum())
        added *= rss / added.sum()
    parts = np.empty((F, *products.shape))
    parts[:, :-1, :-1] = G / F
    parts[:, :-1, -1] = parts[:, -1, :-1] = h / F + e
    own = np.einsum("fi,ij,fj->f", h / F + e, inverse[0], h / F + e) * F
    parts[:, -1, -1] = own + (rss - added.sum()) / F
    return parts, np.full(F, n / F)
