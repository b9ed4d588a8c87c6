"""Rows of a matrix that are made when they are asked for, so that no second copy of them is kept.

What makes some rows enters; something that is indexed, measured and converted like a matrix leaves.
A table of a million rows is most of the memory: rows in another order, or with one more column, are
made from it in parts. Whatever reads all of them at once still works, and then takes their memory.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from conjoin._typing import FloatArray, IntArray

# Rows up to which matrices are made at once, and rows of a part beyond: a part of ten columns takes
# 5 MB.
MOST_AT_ONCE, PART_ROWS = 200_000, 65_536


class MadeRows:
    """A matrix (rows, columns) of which parts are made when they are asked for.

    Parameters
    ----------
    make : callable
        From a slice, a mask or numbers of rows to these rows (some, columns).
    shape : (int, int)
    """

    ndim = 2

    def __init__(self, make: Callable[[Any], FloatArray], shape: tuple[int, int]) -> None:
        self.make, self.shape = make, shape

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.shape[0]

    def __getitem__(self, index: Any) -> FloatArray:
        """Return some rows, or some columns of some rows."""
        if not isinstance(index, tuple):
            return self.make(index)
        rows, columns = index
        if rows == slice(None):
            found = [self.make(part)[:, columns] for part in slices(len(self))]
            return np.concatenate(found)
        return self.make(rows)[:, columns]

    def __array__(self, dtype: Any = None, copy: Any = None) -> FloatArray:
        """Return all rows."""
        found = np.empty(self.shape)
        for part in slices(len(self)):
            found[part] = self.make(part)
        return found if dtype is None else found.astype(dtype, copy=False)

    def copy(self) -> FloatArray:
        """Return all rows."""
        return self.__array__()

    def min(self, axis: int) -> FloatArray:
        """Return the smallest value of every column."""
        return self._ends(np.min, axis)

    def max(self, axis: int) -> FloatArray:
        """Return the largest value of every column."""
        return self._ends(np.max, axis)

    def _ends(self, end: Callable[..., FloatArray], axis: int) -> FloatArray:
        assert axis == 0  # by column
        return end(np.stack([end(self.make(p), axis=0) for p in slices(len(self))]), axis=0)


def made_rows(make: Callable[[Any], FloatArray], rows: int, columns: int) -> FloatArray:
    """Return a matrix: with many rows one whose parts are made when they are asked for.

    >>> made_rows(lambda rows: np.arange(3.0)[rows][:, None], 3, 1)[1:].tolist()
    [[1.0], [2.0]]
    """
    if rows <= MOST_AT_ONCE:
        return make(slice(None))
    return cast(FloatArray, MadeRows(make, (rows, columns)))


def narrow(numbers: IntArray) -> IntArray:
    """Return whole numbers (rows,) of less than 2^31; with many rows in half the memory."""
    return numbers.astype(np.int32) if len(numbers) > MOST_AT_ONCE else numbers


def slices(rows: int) -> list[slice]:
    """Return slices of rows: one, or with many rows parts.

    >>> slices(3)
    [slice(0, 3, None)]
    """
    step = max(rows, 1) if rows <= MOST_AT_ONCE else PART_ROWS
    return [slice(i, min(i + step, rows)) for i in range(0, max(rows, 1), step)]


def beside(X: FloatArray, more: FloatArray) -> FloatArray:
    """Return columns (n, p) with further ones (n, m) beside them."""
    return made_rows(_Beside(X, more), len(X), X.shape[1] + more.shape[1])


class _Beside:
    """Makes rows of two matrices (a class, so that it can be pickled)."""

    def __init__(self, X: FloatArray, more: FloatArray) -> None:
        self.X, self.more = X, more

    def __call__(self, rows: Any) -> FloatArray:
        return np.concatenate([self.X[rows], self.more[rows]], axis=1)
