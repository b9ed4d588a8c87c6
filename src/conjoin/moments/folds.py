"""Moments of folds: rows of every dataset dealt out at random, by a stream of its name."""

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.moments.gram import Moments
from conjoin.moments.resample import canonical_order, stream


def deal(
    X: FloatArray, y: FloatArray, starts: IntArray, names: tuple[str, ...], folds: int, seed: int
) -> IntArray:
    """Return the fold of every row, balanced inside each dataset.

    The fold at which dealing starts is random, so that small datasets do not crowd into the first
    ones; it depends on values and names, not on the order of rows.
    """
    fold = np.empty(len(y), dtype=np.int64)
    for name, i, j in zip(names, starts[:-1], starts[1:]):
        rng = stream(seed, "folds", name)
        order = canonical_order(X[i:j], y[i:j])
        dealt = (rng.permutation(j - i) + int(rng.integers(folds))) % folds
        fold[i + order] = dealt
    return fold


def fold_moments(
    Z: FloatArray,
    t: FloatArray,
    weights: FloatArray,
    starts: IntArray,
    fold: IntArray,
    folds: int,
) -> Moments:
    """Return moments (K, F) of rows sorted by dataset."""
    K = len(starts) - 1
    dataset = np.repeat(np.arange(K), np.diff(starts))
    cell = dataset * folds + fold
    order = np.argsort(cell, kind="stable")
    bounds = np.searchsorted(cell[order], np.arange(K * folds + 1))
    flat = Moments.by_dataset(Z[order], t[order], bounds, weights[order])
    p = flat.p
    return Moments(
        flat.G.reshape(K, folds, p, p),
        flat.h.reshape(K, folds, p),
        *(getattr(flat, a).reshape(K, folds) for a in ("q", "n", "w")),
    )
