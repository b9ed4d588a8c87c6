"""The order in which a network sees columns and rows: one of their content.

A network starts from random weights by place. So columns in another order would train another
network, as another random seed does. Here columns get places by what they hold beside the target,
whatever their order and names, and rows get places that depend neither on the order of rows nor of
columns. Rows enter; orders leave.

A column is known by the ranks of its values, so that its unit and its offset change nothing.
Columns of the same ranks, such as a number and its logarithm, are told apart by their values, and
copies by their names.
"""

from collections.abc import Sequence

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.moments.resample import canonical_order
from conjoin.tables.assemble import MULTIPLIER
from conjoin.tables.dataset import DatasetCollection

HALF = np.uint64(32)  # bits; the upper half of a product comes back to the lower one


def column_order(X: FloatArray, y: FloatArray, names: Sequence[str] = ()) -> IntArray:
    """Return the order (columns,) of the columns of rows X (n, columns) with the target y (n,).

    Copies of a column are in the order of their `names`, or in that of X if there are none.

    >>> X, y = np.array([[1.0, 5.0], [2.0, 3.0], [4.0, 3.0]]), np.array([0.0, 1.0, 2.0])
    >>> one, other = X[:, column_order(X, y)], X[:, ::-1][:, column_order(X[:, ::-1], y)]
    >>> bool((one == other).all())
    True
    """
    target = _mixed(_ranks(y))
    keys = []
    for j in range(X.shape[1]):
        column = np.ascontiguousarray(X[:, j]) + 0.0  # the sum makes -0 to 0
        by_rank, by_value = (
            int(_mixed(values ^ target).sum())  # whatever the order of rows; it wraps around
            for values in (_ranks(column), column.view(np.uint64))
        )
        keys.append((by_rank, by_value, names[j] if names else "", j))
    return np.array([key[-1] for key in sorted(keys)], dtype=np.int64)


def _ranks(values: FloatArray) -> "np.ndarray[tuple[int], np.dtype[np.uint64]]":
    """Return the place (n,) of each value among the different values."""
    return np.unique(values, return_inverse=True)[1].ravel().astype(np.uint64)


def _mixed(
    values: "np.ndarray[tuple[int], np.dtype[np.uint64]]",
) -> "np.ndarray[tuple[int], np.dtype[np.uint64]]":
    """Return hashes (n,) of 64 bits; two rounds, so that small numbers are far from each other."""
    for _ in range(2):
        values = (values + MULTIPLIER) * MULTIPLIER
        values ^= values >> HALF
    return values


def collection_columns(collection: DatasetCollection) -> IntArray:
    """Return the order of the columns of a collection."""
    return column_order(collection.X, collection.y, collection.schema.inputs)


def with_rows_by_content(collection: DatasetCollection) -> DatasetCollection:
    """Return the rows of every dataset in an order that depends on their values alone.

    The order of columns does not matter, unlike in that of `tables.assemble`. So sums over the rows
    of features have the same bits.
    """
    X = collection.X[:, collection_columns(collection)]
    order = canonical_order(np.column_stack([X, collection.weights]), collection.y)
    dataset = np.repeat(np.arange(len(collection.names)), collection.sizes)
    return collection.in_order(order[np.argsort(dataset[order], kind="stable")])
