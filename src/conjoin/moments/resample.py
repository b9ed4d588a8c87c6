"""Moments of many resamples of one dataset, and random streams that depend on names only.

Enters: rows of one dataset and drawn row numbers. Leaves: moments of the rows drawn and not drawn.

A resample is a set of row numbers drawn with replacement. Its moments are those of the drawn
rows. `left_out` are the moments of the rows that were not drawn, each counted once. A model fitted
to the resample can be validated on them.
"""

import hashlib
from dataclasses import dataclass

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.moments.gram import Moments

# Numbers in one block of drawn rows (1 MB), which stays in the processor's cache. The result does
# not depend on it.
BLOCK_VALUES = 131_072


def stream(seed: int, *names: str) -> np.random.Generator:
    """Return the random stream of a name (or of a cluster's names) under a seed.

    It depends on nothing else: adding, removing or reordering datasets does not change the draws of
    the others.
    """
    text = "\x1f".join(names).encode()
    words = np.frombuffer(hashlib.sha256(text).digest(), dtype=np.uint32)
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=tuple(map(int, words))))


def canonical_order(X: FloatArray, y: FloatArray) -> IntArray:
    """Return an order of rows that depends on their values only, not on their order before.

    Rows are sorted by the target; those that tie, by one column after another.
    """
    order: IntArray = np.argsort(y, kind="stable")
    same = np.diff(y[order]) == 0  # as the row before
    for column in X.T:
        if not same.any():
            break
        tied = np.append(same, False) | np.append(False, same)
        run = np.cumsum(np.append(True, ~same))[tied]
        some = order[tied]
        order[tied] = some[np.lexsort((column[some], run))]
        same &= np.diff(column[order]) == 0
    return order


def split_rows(n: int, shares: tuple[float, ...], rng: np.random.Generator) -> tuple[IntArray, ...]:
    """Split row numbers 0..n-1 at random into parts of given shares, each of at least one row."""
    order = rng.permutation(n)
    cuts = np.round(np.cumsum(shares)[:-1] / np.sum(shares) * n).astype(int)
    parts = len(shares)
    cuts = np.clip(cuts, np.arange(1, parts), np.maximum(n - np.arange(parts - 1, 0, -1), 1))
    return tuple(np.split(order, cuts))


def draw(rows: IntArray, n: int, resamples: int, rng: np.random.Generator) -> IntArray:
    """Draw n of the given row numbers with replacement, `resamples` times: (resamples, n)."""
    return rows[rng.integers(len(rows), size=(resamples, n))]


@dataclass(frozen=True, eq=False)
class ResampledMoments:
    """Moments of resamples (B,) and of the rows each of them left out (B,)."""

    drawn: Moments
    left_out: Moments


def resample(
    X: FloatArray, y: FloatArray, weights: FloatArray, draws: IntArray, total: Moments
) -> ResampledMoments:
    """Return the moments of the drawn rows and, from the dataset's total, of the rows left out."""
    drawn = draw_moments(X, y, weights, draws)
    # The rows drawn, each counted once, are all draws less every draw of a row beyond its first.
    # Those draws are few; lists of unequal length are padded with a row of weight zero.
    ordered = np.sort(draws, axis=1)
    again = ordered[:, 1:] == ordered[:, :-1]
    place = np.cumsum(again, axis=1)
    sample, at = np.nonzero(again)
    repeats = np.full((len(draws), int(place[:, -1].max(initial=0))), len(y))
    repeats[sample, place[sample, at] - 1] = ordered[sample, at + 1]
    padded = (
        np.append(X, np.zeros((1, X.shape[1])), axis=0),
        np.append(y, 0),
        np.append(weights, 0),
    )
    return ResampledMoments(drawn, total - (drawn - draw_moments(*padded, repeats)))


def draw_moments(X: FloatArray, y: FloatArray, weights: FloatArray, draws: IntArray) -> Moments:
    """Return the moments of the drawn rows only, shape (resamples,)."""
    A = np.concatenate([X, y[:, None]], axis=1) * np.sqrt(weights)[:, None]
    (resamples, n), width = draws.shape, A.shape[1]
    # Blocks of rows are gathered into one buffer.
    block = max(1, BLOCK_VALUES // max(n * width, 1))
    buffer = np.empty((min(block, resamples), n, width))
    P = np.empty((resamples, width, width))
    for start in range(0, resamples, block):
        some = draws[start : start + block]
        rows = buffer[: len(some)]
        np.take(A, some, axis=0, out=rows, mode="clip")  # draws are in range by construction
        np.matmul(np.swapaxes(rows, -1, -2), rows, out=P[start : start + block])
    w = np.take(weights, draws)
    return Moments.from_products(P, np.count_nonzero(w, axis=-1), np.sum(w, axis=-1))
