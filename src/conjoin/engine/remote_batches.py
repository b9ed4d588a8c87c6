"""Sums of products of very many rows or columns in DuckDB: rows come in batches, and go again.

A frame of DuckDB with numbered columns enters (`engine.remote_frame`), with the folds of its rows,
or with what decides them by hash; the same table of sums leaves that a query would give. A query
sums each product of two columns by itself, which takes three times as long as one matrix product of
a batch; with many columns it would also be very long.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

from conjoin._typing import FloatArray, IntArray
from conjoin.moments import Basis
from conjoin.moments.folds import PRIME, Mixing
from conjoin.moments.gram import gram_by_dataset
from conjoin.sources.read import read_batches

if TYPE_CHECKING:
    from conjoin.engine.remote_folds import RemoteFolds

# Rows of a batch with up to FEW columns: 30 MB, a small part of any memory limit. With more columns
# it has fewer rows.
BATCH, FEW = 262_144, 14
BLOCK = 16_384  # rows whose hash is computed at a time: a column of them stays in the cache

FOLD = ("fold", "copy")  # columns of rows that are dealt to folds


def sums_in_batches(dealing: "RemoteFolds", basis: Basis, dealt: Any = None) -> dict[str, Any]:
    """Return sums of products by dataset and fold, as columns of values.

    `dealt` are the rows with their folds and copies; without it the fold is the hash modulo folds.
    """
    width = len(dealing.cells)
    center = np.append(basis.center, basis.target_center)
    scale = np.append(basis.scale, basis.target_scale)
    cells = _Cells(dealing.folds, width + 1)
    native: Any = (dealing.frame if dealt is None else dealt).to_native()
    for batch in read_batches(native, max(BATCH * FEW // max(width, FEW), 1)):
        table = np.column_stack([_numbers(batch, f"x{j}") for j in range(width)])
        code = cells.codes([batch.column(name) for name in dealing.by])
        if dealt is None:
            fold, copy = _hash(table, dealing) % dealing.folds, None
        else:
            fold, copy = (batch.column(name).to_numpy().astype(np.int64) for name in FOLD)
        Z = np.ones((len(table), width + 1))
        Z[:, 1:] = (table - center) / scale
        if basis.matrix is not None:
            Z[:, 1:-1] = Z[:, 1:-1] @ basis.matrix
        cells.add(Z, _numbers(batch, "w"), code * dealing.folds + fold, copy)
    return cells.as_columns(dealing.by)


class _Cells:
    """Sums of products of the cells seen so far: datasets in the order they appear, and folds."""

    def __init__(self, folds: int, size: int) -> None:
        self.folds, self.size = folds, size
        self.place: dict[tuple[Any, ...], int] = {}
        self.products = np.zeros((0, size, size))
        self.rows = np.zeros(0)
        self.copies = np.zeros(0)

    def codes(self, columns: list[Any]) -> IntArray:
        """Return the number of every row's dataset."""
        encoded = [pc.dictionary_encode(one.combine_chunks()) for one in columns]
        code = np.zeros(len(encoded[0]), dtype=np.int64)
        for one in encoded:
            code = code * len(one.dictionary) + one.indices.to_numpy()
        found, inverse = np.unique(code, return_inverse=True)
        numbers = []
        for value in found.tolist():
            key: list[Any] = []
            for one in reversed(encoded):
                value, position = divmod(value, len(one.dictionary))
                key.append(one.dictionary[position].as_py())
            numbers.append(self.place.setdefault(tuple(reversed(key)), len(self.place)))
        more = len(self.place) * self.folds - len(self.rows)
        if more:
            self.products = np.concatenate([self.products, np.zeros((more, self.size, self.size))])
            self.rows = np.append(self.rows, np.zeros(more))
            self.copies = np.append(self.copies, np.zeros(more))
        return np.array(numbers, dtype=np.int64)[inverse]

    def add(self, Z: FloatArray, w: FloatArray, cell: IntArray, copy: IntArray | None) -> None:
        """Add rows (n, size) with weights to their cells; `copy` says which are copies."""
        if copy is not None:
            self.copies += np.bincount(cell, copy, minlength=len(self.rows))
        # Short numbers are sorted digit by digit, in a tenth of the time.
        short = cell.astype(np.int16) if len(self.rows) <= np.iinfo(np.int16).max else cell
        order = np.argsort(short, kind="stable")
        counts = np.bincount(cell, minlength=len(self.rows))
        present = np.flatnonzero(counts)
        starts = np.append(0, np.cumsum(counts[present]))
        A = Z[order]
        if (w != 1).any():
            A *= np.sqrt(w[order])[:, None]
        own = np.repeat(np.arange(len(present)), np.diff(starts))
        self.products[present] += gram_by_dataset(A, starts, own)
        self.rows[present] += np.diff(starts)

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


def _numbers(batch: Any, name: str) -> FloatArray:
    found: FloatArray = batch.column(name).to_numpy().astype(np.float64, copy=False)
    return found


def _hash(table: FloatArray, dealing: "RemoteFolds") -> IntArray:
    """Return the first hash of `moments.folds` (n,) of every row."""
    mixings = [Mixing.of(kind, dealing.seed) for kind in dealing.kinds]
    h = np.zeros(len(table), dtype=np.int64)
    for part in _parts(len(table)):
        for values, cells, c in zip(table[part].T, dealing.cells, mixings):
            u = np.floor(cells.place(np.ascontiguousarray(values))).astype(np.int64)
            v = _modulo(u * c.multiplier + c.shift)
            square = _modulo(v * v)
            h[part] += _modulo(square * square)
    return h % PRIME


def _parts(rows: int) -> Iterator[slice]:
    return (slice(begin, begin + BLOCK) for begin in range(0, rows, BLOCK))


def _modulo(x: IntArray) -> IntArray:
    """Return x modulo PRIME = 2^31 - 1, below 2^62, without a division.

    >>> x = np.array([0, PRIME, PRIME + 5, 2**62 - 1])
    >>> bool((_modulo(x) == x % PRIME).all())
    True
    """
    x = (x & PRIME) + (x >> 31)
    x = (x & PRIME) + (x >> 31)
    x -= PRIME * (x >= PRIME)
    return x
