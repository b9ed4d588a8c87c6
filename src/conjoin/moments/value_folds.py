"""Folds by value alone: the fold of a row does not depend on any other row.

Enters: rows and the names of their columns. Leaves: a hash of every row, and with it the fold.
`moments.folds` deals rows in turn, which balances folds but depends on all rows of a dataset.
Moments that are kept and added to later need folds that stay: here the fold is the hash modulo the
number of folds. Exact copies of a row are in one fold in either way.

A value times a constant is cut to whole numbers below 2^31, twice: with a coarse and a fine
constant, so that columns in any usual unit have many different ones. They are mixed as in
`moments.folds`, with constants drawn by the name of the column. All steps are exact, so every
engine finds the same hash (`engine.remote_folds`).

==========  ======================================================================  ============
symbol      meaning                                                                 shape
==========  ======================================================================  ============
z           value * scale                                                           (n,)
u           floor(z - WRAP floor(z / WRAP)), 0 <= u < 2^31                           (n,)
v           (multiplier u + shift) mod PRIME                                        (n,)
h           sum over columns and scales of (v^2 mod PRIME)^2, mod PRIME             (n,)
==========  ======================================================================  ============
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.moments.folds import PRIME, Mixing
from conjoin.moments.resample import stream

# Products with it wrap around: below 2^31 they can be multiplied by a number below PRIME.
WRAP = 2.0**31
# Cells of a coarse and of a fine grid: steps of 3e-4 and of 3e-13 in the unit of the column. The
# first tells values up to 1e15 apart, the second those that differ only far behind the point.
# Multiples of pi, so that no round value lies on the edge of a cell.
SCALES = (np.pi * 2.0**10, np.pi * 2.0**40)
TARGET = ""  # the name of the target: its hash does not depend on what it is called


@dataclass(frozen=True)
class ValueHash:
    """What hashes the values of one column with one scale."""

    scale: float
    mixing: Mixing

    def mixed(self, values: FloatArray) -> IntArray:
        """Return (v^2 mod PRIME)^2 mod PRIME of values (n,)."""
        z = values * self.scale
        v = self.mixing.mix(z - np.floor(z / WRAP) * WRAP)
        squares = v * v % PRIME
        found: IntArray = squares * squares % PRIME
        return found


def hashes_of(name: str, seed: int) -> tuple[ValueHash, ...]:
    """Return what hashes a column of this name."""
    found = []
    for k, scale in enumerate(SCALES):
        rng = stream(seed, "value folds", name, str(k))
        mixing = Mixing(int(rng.integers(1, PRIME)), int(rng.integers(PRIME)))
        found.append(ValueHash(scale, mixing))
    return tuple(found)


def hash_rows(X: FloatArray, y: FloatArray, names: Sequence[str], seed: int) -> IntArray:
    """Return the hash (N,) of every row; `names` are those of the columns of X.

    >>> X, y = np.array([[1.0], [2.0], [1.0]]), np.array([0.5, 0.5, 0.5])
    >>> h = hash_rows(X, y, ["price"], 0)
    >>> bool(h[0] == h[2]), bool(h[0] == h[1])
    (True, False)
    """
    h = np.zeros(len(y), dtype=np.int64)
    for name, values in zip((*names, TARGET), (*X.T, y)):
        for one in hashes_of(name, seed):
            h += one.mixed(values)
    return h % PRIME
