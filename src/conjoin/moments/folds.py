"""Folds: rows of every dataset assigned at random, whatever their order and wherever they are.

Enters: rows sorted by dataset, names of columns, a random seed. Leaves: the fold of every row, and
moments by dataset and fold.

A hash of its values decides the fold of a row. A value is cut to 30 bits and mixed with constants
drawn for its column, and the sums over columns are taken modulo a prime. All steps are exact in
whole numbers, so DuckDB, Dask and Spark find the same hash (`engine.remote`). Inside a dataset,
rows are ordered by their hash and dealt to the folds in turn. The folds are therefore balanced, and
as random as the hash. The first fold depends on the hash too, so that small datasets do not crowd
into the first folds.

==========  ===================================================  ============
symbol      meaning                                              shape
==========  ===================================================  ============
u           a value as a whole number, 0 <= u < 2^31             (n, columns)
v           (multiplier * u + shift) mod PRIME                   (n, columns)
h1          sum over columns of (v^2 mod PRIME)^2, mod PRIME     (n,)
h2          sum over columns of v, mod PRIME: breaks ties        (n,)
==========  ===================================================  ============
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.moments.gram import Moments
from conjoin.moments.resample import stream

# A Mersenne prime: products of two numbers below it stay below 2^62 and fit into 64-bit integers.
PRIME = 2**31 - 1
# Values are cut to 30 bits and a sign; adding 2^30 makes them whole numbers from 0 to 2^31.
BITS = 30
HALF = 2**BITS
# Largest exponent of a column's factor: 2^1023 is the largest power of two that a float holds.
# Columns with all values below 2^-970 therefore share a cell of the hash.
MOST_EXPONENT = 1000
TARGET = ""  # stands for the target among the names of columns, none of which is empty


@dataclass(frozen=True)
class ColumnHash:
    """Constants that turn the values of one column into whole numbers.

    Parameters
    ----------
    factor : float
        A power of two; values times it stay below 2^30.
    multiplier, shift : int
        Of the mixing; drawn from the stream of the column's name.
    """

    factor: float
    multiplier: int
    shift: int

    @classmethod
    def of(cls, name: str, largest: float, seed: int) -> "ColumnHash":
        """Return the constants of a column whose largest absolute value is given."""
        rng = stream(seed, "folds", name)
        exponent = int(np.frexp(largest)[1]) if largest > 0 else 0
        factor = 2.0 ** min(BITS - exponent, MOST_EXPONENT)
        return cls(factor, int(rng.integers(1, PRIME)), int(rng.integers(PRIME)))

    def mix(self, values: FloatArray) -> IntArray:
        """Return v of the module's table for values (n,)."""
        u = np.floor(values * self.factor).astype(np.int64) + HALF
        return (u * self.multiplier + self.shift) % PRIME


def deal(
    X: FloatArray,
    y: FloatArray,
    starts: IntArray,
    names: Sequence[str],
    folds: int,
    seed: int,
    largest: FloatArray | None = None,
) -> IntArray:
    """Return the fold of every row (N,), balanced inside each dataset.

    `names` are those of the columns of X; `largest` bounds the absolute values of each column and
    of the target, by default their maxima.
    """
    if largest is None:
        largest = _largest(X, y)
    rank, first = _rank(X, y, starts, names, seed, largest)
    fold: IntArray = (rank + first) % folds
    return fold


def deal_share(
    X: FloatArray,
    y: FloatArray,
    starts: IntArray,
    names: Sequence[str],
    share: float,
    seed: int,
) -> BoolArray:
    """Say which rows (N,) belong to a random share of every dataset; the rest is never empty."""
    rank, _ = _rank(X, y, starts, names, seed, _largest(X, y))
    sizes = np.diff(starts)
    count = np.minimum(np.floor(share * sizes), sizes - 1)
    dealt: BoolArray = rank < np.repeat(count, sizes)
    return dealt


def _largest(X: FloatArray, y: FloatArray) -> FloatArray:
    """Return the largest absolute value of each column and, last, of the target."""
    low, high = (f(X, axis=0, initial=0.0) for f in (np.min, np.max))
    return np.append(np.maximum(-low, high), np.max(np.abs(y), initial=0.0))


def _rank(
    X: FloatArray,
    y: FloatArray,
    starts: IntArray,
    names: Sequence[str],
    seed: int,
    largest: FloatArray,
) -> tuple[IntArray, IntArray]:
    """Return the rank of every row by its hash inside its dataset, and the dataset's least hash."""
    h1, h2 = np.zeros(len(y), dtype=np.int64), np.zeros(len(y), dtype=np.int64)
    for name, values, most in zip((*names, TARGET), (*X.T, y), largest):
        v = ColumnHash.of(name, float(most), seed).mix(values)
        v2 = v * v % PRIME
        h1 += v2 * v2 % PRIME
        h2 += v
    h1, h2 = h1 % PRIME, h2 % PRIME
    dataset = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    order = np.lexsort((h2, h1, dataset))
    rank = np.empty(len(y), dtype=np.int64)
    rank[order] = np.arange(len(y)) - starts[dataset]
    first = h1[order[np.minimum(starts[:-1], max(len(y) - 1, 0))]]
    return rank, first[dataset]


def sort_by_cell(
    starts: IntArray, fold: IntArray, folds: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the cell of each row (N,), the order that sorts rows by cell, and the cells' bounds.

    A cell is one fold of one dataset; fold f of dataset k has the number k F + f. Bounds (K F + 1,)
    are places in the sorted rows.
    """
    K = len(starts) - 1
    cell = np.repeat(np.arange(K), np.diff(starts)) * folds + fold
    order = np.argsort(cell, kind="stable")
    return cell, order, np.searchsorted(cell[order], np.arange(K * folds + 1))


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
    _, order, bounds = sort_by_cell(starts, fold, folds)
    flat = Moments.by_dataset(Z[order], t[order], bounds, weights[order])
    p = flat.p
    return Moments(
        flat.G.reshape(K, folds, p, p),
        flat.h.reshape(K, folds, p),
        *(getattr(flat, a).reshape(K, folds) for a in ("q", "n", "w")),
    )
