"""Sums of products in DuckDB: rows come in batches, and go again.

A frame of DuckDB with numbered columns enters (`engine.remote_frame`), with the folds of its rows,
or with what decides them by hash; the same table of sums leaves that a query would give. A query
sums each product of two columns by itself, which takes three times as long as one matrix product of
a batch; with many columns it would also be very long.

Batches are worked on in threads, while DuckDB reads the next ones. Their sums are added in the
order of the rows, so the bits do not depend on the number of threads. A query of DuckDB adds in
another order every time.
"""

from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow.compute as pc

from conjoin._typing import FloatArray, IntArray
from conjoin.execution import in_threads_as_they_come
from conjoin.moments import Basis
from conjoin.moments.folds import CACHED, CELLS, PRIME, ColumnCells, Mixing
from conjoin.sources.read import read_batches

if TYPE_CHECKING:
    from conjoin.engine.remote_folds import RemoteFolds

# Rows of a batch with up to FEW columns: 14 MB, a small part of any memory limit. With more columns
# it has fewer rows. DuckDB stores so many rows together, so that batches need not be cut: twice as
# many take a tenth more time.
BATCH, FEW = 122_880, 14
# Products of two numbers that take as long as a call of the linear algebra library: 3 microseconds.
# Where cells have fewer, products of two columns are summed for all cells at once.
CALL = 2_000

FOLD = ("fold", "copy")  # columns of rows that are dealt to folds


def sums_in_batches(dealing: "RemoteFolds", basis: Basis, dealt: Any = None) -> dict[str, Any]:
    """Return sums of products by dataset and fold, as columns of values.

    `dealt` are the rows with their folds and copies; without it the fold is the hash modulo folds.
    Copies are added as whole numbers: they may be hashes.
    """
    width, folds = len(dealing.cells), dealing.folds
    hashes = [_Hash.of(c, kind, dealing.seed) for c, kind in zip(dealing.cells, dealing.kinds)]
    size = max(BATCH * FEW // max(width, FEW), 1)
    spare: list[FloatArray] = []  # room for a batch: the system takes its time to give new memory

    def work(batch: Any) -> _Part:
        columns = [_numbers(batch.column(f"x{j}")) for j in range(width)]
        keys, code = _datasets([batch.column(name) for name in dealing.by])
        if dealt is None:
            fold, copy = _hashed(columns, hashes) % folds, None
        else:
            fold, copy = (_numbers(batch.column(name)).astype(np.int64) for name in FOLD)
        cell, w = code * folds + fold, _numbers(batch.column("w"))
        try:
            room = spare.pop()
        except IndexError:  # another thread has it
            room = np.empty((width + 1, size))
        if room.shape[1] < len(cell):
            room = np.empty((width + 1, len(cell)))
        found = _sum(keys, cell, _Rows(columns, w, copy), basis, room[:, : len(cell)])
        spare.append(room)
        return found

    names = [*dealing.by, *(f"x{j}" for j in range(width)), "w"]
    rows = dealing.frame if dealt is None else dealt.select(*names, *FOLD)
    native: Any = rows.to_native()
    cells = _Cells(folds, width + 1)
    with closing(read_batches(native, size)) as batches:
        for part in in_threads_as_they_come(work, batches):
            cells.add(part)
    if basis.matrix is None:
        cells.scale(np.array([1.0, *basis.scale, basis.target_scale]))
    return cells.as_columns(dealing.by)


class _Rows(NamedTuple):
    """Columns and weights of rows, and which are copies."""

    columns: list[FloatArray]
    w: FloatArray
    copy: IntArray | None


class _Part(NamedTuple):
    """Sums of a batch: its datasets, its cells by the place of the dataset there, sums of each."""

    keys: list[tuple[Any, ...]]
    cells: IntArray
    products: FloatArray
    rows: IntArray
    copies: IntArray


def _sum(
    keys: list[tuple[Any, ...]], cell: IntArray, rows: _Rows, basis: Basis, A: FloatArray
) -> _Part:
    """Sum products of columns by cell, with room A (size, rows) for them.

    Without a matrix columns are centred and not yet scaled.
    """
    center = np.append(basis.center, basis.target_center)
    scale = np.append(basis.scale, basis.target_scale)
    counts = np.bincount(cell)
    present = np.flatnonzero(counts)
    starts = np.append(0, np.cumsum(counts[present]))
    order = _order(cell)
    A[0] = 1
    for column, a, c in zip(rows.columns, A[1:], center):
        np.take(column, order, out=a, mode="clip")  # without buffers
        a -= c
    if basis.matrix is not None:
        A[1:] /= scale[:, None]
        A[1:-1] = basis.matrix.T @ A[1:-1]
    if (rows.w != 1).any():
        A *= np.sqrt(rows.w[order])
    copies = np.zeros(len(counts), dtype=np.int64)
    if rows.copy is not None:
        np.add.at(copies, cell, rows.copy)
    return _Part(keys, present, _products(A, starts), counts[present], copies[present])


def _order(cell: IntArray) -> IntArray:
    """Return the order that sorts rows by cell: digit by digit, in a tenth of the time.

    >>> _order(np.array([70000, 3, 70000, 65536 + 3])).tolist()
    [1, 3, 0, 2]
    """
    order: IntArray = np.argsort(cell.astype(np.uint16), kind="stable")
    if cell.max() >= 2**16:
        order = order[np.argsort((cell[order] >> 16).astype(np.uint16), kind="stable")]
    return order


def _products(A: FloatArray, starts: IntArray) -> FloatArray:
    """Return sums of products (cells, size, size) of columns A (size, rows), sorted by cell."""
    size, rows = A.shape
    found = np.empty((len(starts) - 1, size, size))
    if rows * size * (size + 1) // 2 > CALL * len(found):
        for product, i, j in zip(found, starts[:-1], starts[1:]):
            np.matmul(A[:, i:j], A[:, i:j].T, out=product)
        return found
    for j in range(size):
        sums = np.add.reduceat(A[: j + 1] * A[j], starts[:-1], axis=1).T
        found[:, j, : j + 1] = found[:, : j + 1, j] = sums
    return found


class _Cells:
    """Sums of products of the cells seen so far: datasets in the order they appear, and folds."""

    def __init__(self, folds: int, size: int) -> None:
        self.folds, self.size = folds, size
        self.place: dict[tuple[Any, ...], int] = {}
        self.products = np.zeros((0, size, size))
        self.rows = np.zeros(0)
        self.copies = np.zeros(0, dtype=np.int64)

    def add(self, part: _Part) -> None:
        """Add the sums of a batch."""
        numbers = [self.place.setdefault(key, len(self.place)) for key in part.keys]
        more = len(self.place) * self.folds - len(self.rows)
        if more > 0:
            more = max(more, len(self.rows) // 2)  # so that it is not done for every batch
            self.products = np.concatenate([self.products, np.zeros((more, self.size, self.size))])
            self.rows = np.append(self.rows, np.zeros(more))
            self.copies = np.append(self.copies, np.zeros(more, dtype=np.int64))
        dataset, fold = np.divmod(part.cells, self.folds)
        cell = np.array(numbers, dtype=np.int64)[dataset] * self.folds + fold
        self.products[cell] += part.products
        self.rows[cell] += part.rows
        self.copies[cell] += part.copies

    def scale(self, units: FloatArray) -> None:
        """Divide columns by their units (size,)."""
        self.products /= units[:, None]
        self.products /= units

    def as_columns(self, by: list[str]) -> dict[str, Any]:
        """Return the sums as `Encoded.products` does."""
        kept = np.flatnonzero(self.rows)
        keys = list(self.place)
        P, size = self.products[kept], self.size
        found: dict[str, Any] = {
            name: [keys[k // self.folds][i] for k in kept] for i, name in enumerate(by)
        }
        found |= {"fold": kept % self.folds, "n": self.rows[kept], "w": P[:, 0, 0]}
        found["copy"] = self.copies[kept]
        for j in range(1, size):
            found[f"s{j - 1}"] = P[:, 0, j]
            found |= {f"p{i - 1}_{j - 1}": P[:, i, j] for i in range(1, j + 1)}
        return found


def _numbers(column: Any) -> Any:
    """Return a column of a batch, which lacks no value; `to_numpy` would load pandas."""
    return np.from_dlpack(_whole(column))


def _whole(column: Any) -> Any:
    """Return a column in one piece; Arrow would copy one that is."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _datasets(columns: list[Any]) -> tuple[list[tuple[Any, ...]], IntArray]:
    """Return the names of datasets in a batch, and the place of every row's dataset there."""
    encoded = [pc.dictionary_encode(_whole(one)) for one in columns]
    values = [one.dictionary.to_pylist() for one in encoded]
    places = [np.from_dlpack(one.indices).astype(np.int64) for one in encoded]
    if len(columns) == 1:
        return [(value,) for value in values[0]], places[0]
    shape = [len(one) for one in values]
    combined, code = np.unique(np.ravel_multi_index(places, shape), return_inverse=True)
    each = np.unravel_index(combined, shape)
    return list(zip(*([v[k] for k in one] for v, one in zip(values, each)))), code


class _Hash(NamedTuple):
    """The cells of a column's values, and what each cell adds to the first hash of a row."""

    cells: ColumnCells
    parts: IntArray

    @classmethod
    def of(cls, cells: ColumnCells, kind: int, seed: int) -> "_Hash":
        """Return (v^2 mod PRIME)^2 mod PRIME for every cell (`moments.folds`)."""
        v = Mixing.of(kind, seed).mix(np.arange(np.ceil(CELLS) + 1))
        square = v * v % PRIME
        return cls(cells, square * square % PRIME)


def _hashed(columns: Sequence[FloatArray], hashes: Sequence[_Hash]) -> IntArray:
    """Return the first hash of `moments.folds` (n,) of every row."""
    h = np.zeros(len(columns[0]), dtype=np.int64)
    for begin in range(0, len(h), CACHED):
        rows = slice(begin, begin + CACHED)
        some = h[rows]
        for column, one in zip(columns, hashes):
            some += one.parts.take(one.cells.place(column[rows]).astype(np.intp))
    return h % PRIME
