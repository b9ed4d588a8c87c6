"""Folds: rows of every dataset assigned at random, whatever their order and wherever they are.

Enters: rows sorted by dataset, a random seed. Leaves: the fold of every row, the number of exact
copies, and moments by dataset and fold.

A hash of its values decides the fold of a row. The range of a column is cut into cells, and the
number of a value's cell is mixed with constants drawn for the column. The sums over columns are
taken modulo a prime. All steps are exact, so DuckDB, Dask and Spark find the same hash
(`engine.remote`). Inside a dataset, rows are ordered by their hash and dealt to the folds in turn.
The folds are therefore balanced, and as random as the hash. The first fold depends on the hash too,
so that small datasets do not crowd into the first folds.

**Units, names and order do not matter.** Cells start at the least value and end at the largest, so
they move with a column to which a constant is added, and grow with its unit. They are few, so that
the rounding of such a change hardly ever moves a value into another cell. The constants of a column
follow from its mean cell, not from its name or its place. Rows in the same cells throughout are
ordered by their target, and then by their columns.

**Exact copies of a row stay together**: in different folds they would tell the models what they are
validated on. Rows may also be equal by chance, where all columns have few values; then there are
too few distinct rows to be dealt, and nothing is given away. So equal rows count as copies only if
a column or the target is `fine`: inside datasets it has at least `FINE_SHARE` as many values as
there are distinct rows, or `FINE_VALUES` values in each dataset on average.

==========  ===================================================  ============
symbol      meaning                                              shape
==========  ===================================================  ============
u           number of a value's cell, 0 <= u < 2^31              (n, columns)
v           (multiplier * u + shift) mod PRIME                   (n, columns)
h1          sum over columns of (v^2 mod PRIME)^2, mod PRIME     (n,)
h2          sum over columns of v, mod PRIME: breaks ties        (n,)
==========  ===================================================  ============
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.moments.forward import Forward
from conjoin.moments.gram import Moments
from conjoin.moments.made import MOST_AT_ONCE, PART_ROWS, narrow
from conjoin.moments.resample import stream

# A Mersenne prime: products of two numbers below it stay below 2^62 and fit into 64-bit integers.
PRIME = 2**31 - 1
# Cells of a column's range. Adding 2^20 to a column between 0 and 1 rounds it at 1e-10, and moves
# one of a million values into another cell. Two columns have ten million pairs of cells, so few
# rows share all of theirs. Multiples of pi, so that no round value lies on the edge of a cell.
CELLS = 1000 * np.pi
# Where the least value lies inside its cell: anywhere but at an edge.
OFFSET = 0.5
# Largest exponent of a column's factor: 2^1023 is the largest power of two that a float holds.
MOST_EXPONENT = 1000
# Share of distinct rows, and number in a dataset, from which values of a column are fine: whoever
# draws from them again gets another one. Scales of ten or a hundred points are not fine unless rows
# are few; a hundred values fill ten folds.
FINE_SHARE, FINE_VALUES = 0.75, 100
# Rows from which the fold is the hash modulo the number of folds: so many rows balance themselves
# and no engine has to sort them. In memory it is the same, so that answers are the same.
LARGE_ROWS = 5_000_000
# Share by which the smallest and the largest fold may then differ from the mean. With 5 million
# rows chance makes it 0.1 %; more means that rows have few different values.
UNBALANCED = 0.1
# Rows that are hashed at a time: a hundred kilobytes, which stay in the cache.
CACHED = 16_384


@dataclass(frozen=True)
class ColumnCells:
    """Cells of the values of one column: floor((value * factor - low) * cells + OFFSET).

    `factor` is a power of two that brings the values to at most 1.
    """

    factor: float
    low: float
    cells: float

    @classmethod
    def of(cls, low: float, high: float) -> "ColumnCells":
        """Return the cells of a column by its range."""
        exponent = int(np.frexp(max(abs(low), abs(high)))[1])
        factor = 2.0 ** min(-exponent, MOST_EXPONENT)
        width = high * factor - low * factor
        return cls(factor, low * factor, float(CELLS / width) if width > 0 else 0.0)

    def place(self, values: FloatArray) -> FloatArray:
        """Return the places of values (n,) among the cells, before they are cut."""
        found = values * self.factor
        found -= self.low
        found *= self.cells
        found += OFFSET
        return found


@dataclass(frozen=True)
class Mixing:
    """Constants that mix the cells of a column: v = (multiplier * u + shift) mod PRIME."""

    multiplier: int
    shift: int

    @classmethod
    def of(cls, kind: int, seed: int) -> "Mixing":
        """Return the constants of columns of a kind: the cell of their mean, or `TARGET`."""
        rng = stream(seed, "folds", str(kind))
        return cls(int(rng.integers(1, PRIME)), int(rng.integers(PRIME)))

    def mix(self, place: FloatArray) -> IntArray:
        """Return v of the module's table for places (n,)."""
        v: IntArray = np.floor(place).astype(np.int64)
        v *= self.multiplier
        v += self.shift
        for _ in range(3):  # the third one brings any number between 0 and PRIME
            v = _folded(v)
        v[v == PRIME] = 0
        return v


def _folded(values: IntArray) -> IntArray:
    """Return numbers that are the same modulo PRIME and have half the bits: 2^31 counts as one.

    Below 2^62 the result is below 2^32, and twice folded at most 2^31. Division takes ten times
    as long.
    """
    found: IntArray = values >> 31
    found += values & PRIME
    return found


TARGET = -1  # the kind of the target; those of columns are at least 0


@dataclass(frozen=True, eq=False)
class Dealt:
    """Rows dealt to folds.

    Parameters
    ----------
    fold : array (N,)
        Fold of every row.
    copies : array (K,)
        Rows of each dataset that are exact copies of one before; all are 0 if no column is fine.
    rank : array (N,)
        Rank of every row inside its dataset, which depends on values alone; copies have the same.
    repeats : array (N,), optional
        How often every row is there; None if no row is a copy.
    forward : Forward, optional
        The plan of forward validation, where rows are ordered in time: the fold of a row is then
        the origin whose model is judged on it, or `UNTESTED`.
    """

    fold: IntArray
    copies: IntArray
    rank: IntArray
    repeats: IntArray | None = None
    forward: Forward | None = None

    def cells(self, folds: int) -> tuple[IntArray, int]:
        """Return the cell (N,) of every row inside its dataset, and their number.

        Cells are folds, or pieces of time.
        """
        if self.forward is None:
            return self.fold, folds
        return self.forward.piece, self.forward.pieces


def deal(
    X: FloatArray,
    y: FloatArray,
    starts: IntArray,
    folds: int,
    seed: int,
    bounds: tuple[float, float] | None = None,
) -> IntArray:
    """Return the fold of every row (N,), balanced inside each dataset; copies stay together.

    `bounds` are a range for every column and the target, by default the range of each. With it no
    column differs from another, so a dataset has the same folds with other datasets beside it.
    """
    return deal_rows(X, y, starts, folds, seed, bounds).fold


def deal_rows(
    X: FloatArray,
    y: FloatArray,
    starts: IntArray,
    folds: int,
    seed: int,
    bounds: tuple[float, float] | None = None,
) -> Dealt:
    """Return the fold of every row, and the number of copies; arguments as in `deal`."""
    ranked = _rank(X, y, starts, seed, bounds)
    repeats = None
    if ranked.copies.any():
        begin = np.repeat(starts[:-1], np.diff(starts))
        repeats = np.bincount(ranked.rank + begin)[ranked.rank + begin]
    fold: IntArray = (ranked.rank + ranked.first) % folds
    if len(y) > LARGE_ROWS and is_balanced(np.bincount(ranked.hash % folds, minlength=folds)):
        fold = ranked.hash % folds
    return Dealt(narrow(fold), ranked.copies, narrow(ranked.rank), repeats)


def is_balanced(rows: FloatArray | IntArray) -> bool:
    """Say whether folds by hash have about equal numbers of rows (F,)."""
    return bool(np.abs(rows / rows.mean() - 1).max() < UNBALANCED)


@dataclass(frozen=True, eq=False)
class _Ranked:
    """Ranks (N,) of rows by hash inside datasets, the dataset's least hash (N,), copies (K,).

    `hash` (N,) is that of every row.
    """

    rank: IntArray
    first: IntArray
    copies: IntArray
    hash: IntArray


def _rank(
    X: FloatArray,
    y: FloatArray,
    starts: IntArray,
    seed: int,
    bounds: tuple[float, float] | None,
) -> _Ranked:
    """Order the rows of each dataset by their hash; copies have the same rank."""
    h1, h2, kinds = _hash(X, y, seed, bounds)
    sizes = np.diff(starts)
    dataset = np.repeat(np.arange(len(sizes)), sizes)
    # Both hashes are below 2^31, so that they are one number: a third of the time of three sorts.
    both = (h1 << 31) | h2
    order: IntArray = (
        np.argsort(both, kind="stable") if len(sizes) == 1 else np.lexsort((both, dataset))
    )
    same = _same(order, dataset, h1, h2)
    if same.any():
        columns = [y, *(X[:, j] for j in np.argsort(kinds, kind="stable"))]
        order, same = _break_ties(order, same, columns)
        if same.any() and not _any_fine(order, same, dataset, columns):
            same = np.zeros_like(same)
    rank = np.empty(len(y), dtype=np.int64)
    before = np.cumsum(~same)
    begins = np.minimum(starts[:-1], max(len(y) - 1, 0))
    rank[order] = before - before[begins][dataset] if len(y) else before
    copies = np.bincount(dataset, same, minlength=len(sizes)).astype(np.int64)
    return _Ranked(rank, h1[order[begins]][dataset], copies, h1)


def _hash(
    X: FloatArray, y: FloatArray, seed: int, bounds: tuple[float, float] | None
) -> tuple[IntArray, IntArray, IntArray]:
    """Return both hashes (N,) and the kinds of the columns of X."""
    h1, h2 = np.zeros(len(y), dtype=np.int64), np.zeros(len(y), dtype=np.int64)
    kinds = np.zeros(X.shape[1], dtype=np.int64)
    for j, column in enumerate((*X.T, y) if len(y) else ()):
        values = np.ascontiguousarray(column)  # it is read several times
        low, high = (float(values.min()), float(values.max())) if bounds is None else bounds
        place = ColumnCells.of(low, high).place(values)
        kind = TARGET
        if j < len(kinds):
            kind = kinds[j] = kind_of(float(place.mean())) if bounds is None else 0
        mixing = Mixing.of(int(kind), seed)
        for first in range(0, len(y), CACHED):
            rows = slice(first, first + CACHED)
            v = mixing.mix(place[rows])
            v2 = _folded(_folded(v * v))
            h1[rows] += _folded(v2 * v2)
            h2[rows] += v
    return h1 % PRIME, h2 % PRIME, kinds


def kind_of(mean: float) -> int:
    """Return the kind of a column by the mean place of its values among its cells."""
    return int(np.floor(mean))


def _same(order: IntArray, *keys: FloatArray | IntArray) -> BoolArray:
    """Say for each row in order whether it has the same keys as the one before."""
    same = np.ones(len(order), dtype=bool)
    same[:1] = False
    for key in keys:
        ordered = key[order]
        same[1:] &= ordered[1:] == ordered[:-1]
    return same


def _break_ties(
    order: IntArray, same: BoolArray, columns: Sequence[FloatArray]
) -> tuple[IntArray, BoolArray]:
    """Order rows that tie by one column after another, and say which equal the one before."""
    order, tied = order.copy(), same | np.append(same[1:], False)
    run = np.cumsum(~same)[tied]
    some = order[tied]
    order[tied] = some[np.lexsort((*(column[some] for column in columns[::-1]), run))]
    equal = same.copy()
    equal[tied] &= _same(order[tied], *columns)
    return order, equal


def _any_fine(
    order: IntArray, same: BoolArray, dataset: IntArray, columns: Sequence[FloatArray]
) -> bool:
    """Say whether a column or the target is fine; rows in order, `same` as the row before."""
    distinct = order[~same]
    owner, datasets = dataset[distinct], len(np.unique(dataset))
    return any(
        is_fine(_values_inside(column[distinct], owner), len(distinct), datasets)
        for column in columns
    )


def _values_inside(values: FloatArray, dataset: IntArray) -> int:
    """Return the number of different values inside each dataset, summed over datasets."""
    order = np.lexsort((values, dataset))
    return int(np.count_nonzero(~_same(order, values, dataset)))


def is_fine(values: int, distinct: int, datasets: int) -> bool:
    """Say whether a column is fine, by its values inside datasets and the number of distinct rows.

    A column of two values never is.
    """
    return values > 2 * datasets and values >= min(FINE_SHARE * distinct, FINE_VALUES * datasets)


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


def fold_moments_in_parts(
    design: Callable[[slice], FloatArray],
    t: FloatArray,
    weights: FloatArray,
    starts: IntArray,
    fold: IntArray,
    folds: int,
) -> Moments:
    """Do the same where `design` returns the design of some rows.

    With many rows it is asked for about `PART_ROWS` rows at a time, so that designs of all rows are
    never there at once.
    """
    found = []
    for first, last in parts_of(starts):
        rows = slice(int(starts[first]), int(starts[last]))
        own = starts[first : last + 1] - starts[first]
        found.append(fold_moments(design(rows), t[rows], weights[rows], own, fold[rows], folds))
    return found[0] if len(found) == 1 else Moments.concatenate(found)


def parts_of(starts: IntArray, part_rows: int | None = None) -> list[tuple[int, int]]:
    """Return the first dataset of each part and the one after its last: about equal rows a part.

    A part has `part_rows`, by default `PART_ROWS`.

    >>> parts_of(np.array([0, 10, 20]))
    [(0, 2)]
    """
    K, rows = len(starts) - 1, int(starts[-1])
    if rows <= MOST_AT_ONCE:
        return [(0, K)]
    begins = np.flatnonzero(np.diff(starts[:-1] // (part_rows or PART_ROWS), prepend=-1))
    return list(zip(begins.tolist(), [*begins[1:].tolist(), K]))
