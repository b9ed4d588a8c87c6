"""The last step to a `DatasetCollection`: checks on the numbers, then rows in a canonical order.

Arrays of features, target and weights enter, with the dataset of every row; a collection leaves.
"""

from dataclasses import dataclass, replace

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.errors import DataError
from conjoin.moments.made import MOST_AT_ONCE, narrow
from conjoin.tables.checks import (
    check_names,
    check_response,
    check_scales,
    check_weights,
    drop_constant,
    fitting_unit,
)
from conjoin.tables.dataset import DatasetCollection
from conjoin.tables.encoding import Encoding, Number
from conjoin.tables.order import RowOrder
from conjoin.tables.schema import Schema

# An odd number of 64 bits, the golden ratio: times it every bit of a value moves the upper ones.
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """Rows as numbers, in the order of the table.

    Parameters
    ----------
    X : array, shape (rows, features)
        A copy of its own: `assemble` sorts it where it is.
    y : array, shape (rows,)
    weights : array, shape (rows,), optional
        None if all rows have the same weight.
    names : list of str
        Datasets, in natural order.
    codes : array, shape (rows,)
        Position in `names` of every row's dataset.
    positions : array, shape (rows,), optional
        Place of every row in the table that it came from; 0 is the first.
    order : RowOrder, optional
        When every row was, and whom it is about.
    """

    X: FloatArray
    y: FloatArray
    weights: FloatArray | None
    names: list[str]
    codes: IntArray
    positions: IntArray | None = None
    order: RowOrder | None = None


def positions_inside(codes: IntArray) -> IntArray:
    """Return the place of every row (rows,) among those of its dataset, which are in one block.

    >>> positions_inside(np.array([1, 1, 1, 0, 0]))
    array([0, 1, 2, 0, 1])
    """
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    return np.arange(len(codes)) - first[inverse]


def assemble(rows: EncodedRows, schema: Schema, fewest: int) -> DatasetCollection:
    """Return the rows in a canonical order, after the last checks; `fewest` datasets are needed."""
    if rows.weights is not None:
        rows = with_positive_weights(rows, rows.weights, schema.roles.weights)
    X, y, names = rows.X, rows.y, rows.names
    check_names(names, len(y), schema.roles, fewest)
    check_response(schema, float(y.min()), float(y.max()))
    low, high = X.min(axis=0), X.max(axis=0)
    units = _units(schema, low, high, (float(y.min()), float(y.max())))
    if (units != 1).any():
        schema, X = _in_units(schema, units, low / 2 + high / 2), X / units
        low, high = low / units, high / units
    names_of_columns = (*schema.features, schema.roles.target)
    check_scales(names_of_columns, np.append(low, y.min()), np.append(high, y.max()))
    schema, varying = drop_constant(schema, low == high)
    order = canonical_order(replace(rows, X=X))
    starts = np.searchsorted(rows.codes[order], np.arange(len(names) + 1))
    weights = _ones(len(y)) if rows.weights is None else rows.weights[order]
    for column in X.T:  # one at a time, so that memory holds the rows once
        column[:] = column[order]
    X = X if varying.all() else X[:, varying]
    positions = None if rows.positions is None else narrow(rows.positions[order])
    when = None if rows.order is None else rows.order.take(order)
    schema = schema.with_means(X.mean(axis=0))
    return DatasetCollection(
        tuple(names), schema, X, y[order], weights, starts, None, positions, when
    )


def _ones(rows: int) -> FloatArray:
    """Return ones (rows,); many of them take no memory, and cannot be written to."""
    return np.ones(rows) if rows <= MOST_AT_ONCE else np.broadcast_to(np.ones(1), rows)


def canonical_order(rows: EncodedRows) -> IntArray:
    """Return the order (rows,) by dataset, and inside a dataset by a hash of the values of a row.

    It does not depend on the order of the table. So sums over rows have the same bits however the
    table is sorted. Rows that differ in their weight alone are sorted by it, so that the unit of
    weights means nothing, and those of different persons by persons. Equal rows keep their order.
    """
    columns = [*rows.X.T, rows.y]
    if rows.order is not None and rows.order.time is not None:
        columns.append(rows.order.time)
    key = np.zeros(len(rows.y), dtype=np.uint64)
    for column in columns:
        bits = (column + 0.0).view(np.uint64)  # the sum makes -0 to 0
        key ^= bits
        key *= MULTIPLIER
        key ^= key >> np.uint64(32)
    ties: list[FloatArray | IntArray] = [] if rows.weights is None else [rows.weights]
    if rows.order is not None and rows.order.who is not None:
        ties.insert(0, rows.order.who)
    order: IntArray = np.lexsort((*ties, key, rows.codes))
    return order


def _units(
    schema: Schema, low: FloatArray, high: FloatArray, target: tuple[float, float]
) -> FloatArray:
    """Return what each feature is divided by, so that it and its coefficient can be squared."""
    numbers = {e.name for e in schema.encodings if isinstance(e, Number)}
    return np.array(
        [
            fitting_unit((a, b), target) if name in numbers else 1.0
            for name, a, b in zip(schema.features, low.tolist(), high.tolist())
        ]
    )


def _in_units(schema: Schema, units: FloatArray, middle: FloatArray) -> Schema:
    """Return the schema with the units of features; the `middle` is filled in if no mean is."""
    place = {name: j for j, name in enumerate(schema.features)}
    found: list[Encoding] = []
    for e in schema.encodings:
        j = place.get(e.name)
        if isinstance(e, Number) and j is not None and units[j] != 1:
            fill = e.fill if np.isfinite(e.fill) else float(middle[j])
            found.append(replace(e, unit=float(units[j]), fill=fill))
        else:
            found.append(e)
    return replace(schema, encodings=tuple(found))


def with_positive_weights(rows: EncodedRows, w: FloatArray, column: str | None) -> EncodedRows:
    """Return the rows with a weight above zero; raise an error for weights that make no sense."""
    names, codes = rows.names, rows.codes
    largest = np.zeros(len(names))
    np.maximum.at(largest, codes, w)
    bad = (largest <= 0) | (np.bincount(codes, w < 0, minlength=len(names)) > 0)
    if np.isinf(largest).any():
        raise DataError(
            f"Weights {column!r} of dataset {names[int(np.argmax(largest))]!r} are infinite in a "
            "row; correct or drop the row."
        )
    if bad.any():
        k = int(np.argmax(bad))
        raise DataError(
            f"Weights {column!r} of dataset {names[k]!r} must be >= 0 and not all zero; the "
            f"smallest is {w[codes == k].min():g}."
        )
    kept = w > 0
    check_weights(str(column), float(w[kept].min()), float(largest.max()))
    positions = None if rows.positions is None else rows.positions[kept]
    order = None if rows.order is None else rows.order.take(kept)
    return EncodedRows(rows.X[kept], rows.y[kept], w[kept], names, codes[kept], positions, order)
