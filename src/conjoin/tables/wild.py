"""Rows with gross errors: found before anything is decided, and left out where that is wanted.

A `DatasetCollection` enters; the rows with gross errors leave, or a collection without them. What a
gross error is, `models.outliers` says. The target is looked at if it is a number or a count, and
every column of numbers. If the target has values far out, so are its residuals from a robust fit:
they have a shorter tail where columns explain the target.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.models.outliers import gross_errors, may_be_far
from conjoin.models.robust import huber_residuals
from conjoin.moments import Basis
from conjoin.tables.checks import check_target_varies, drop_constant
from conjoin.tables.dataset import DatasetCollection
from conjoin.tables.encoding import Date, Number

MOST_DISTINCT = 2  # a column of two values, such as 0/1, has no gross errors
FEWEST_FITTED = 5  # rows for each feature from which residuals of a fit tell something
LOOKED_AT = 100  # rows looked at first: most columns show here that they have more values


@dataclass(frozen=True)
class Outlier:
    """A value that is a gross error.

    Parameters
    ----------
    row : int or None
        Number of the row in its table or file; the first row of data is 1. Rows that are not in
        memory have no number.
    dataset : str
        Dataset of the row.
    column : str
        Column of the value.
    value : float or None
        The value; model files hold no values of rows, so it is None there.
    """

    row: int | None
    dataset: str
    column: str
    value: float | None


@dataclass(frozen=True, eq=False)
class WildRows:
    """The rows of a collection that have gross errors.

    Parameters
    ----------
    outliers : tuple of Outlier
        In the order of datasets and rows.
    rows : array of int
        Places of their rows in the collection.
    """

    outliers: tuple[Outlier, ...]
    rows: IntArray


def find_wild_rows(collection: DatasetCollection) -> WildRows:
    """Return the rows with gross errors in the target or in a column of numbers.

    Parameters
    ----------
    collection : DatasetCollection

    Returns
    -------
    WildRows

    Examples
    --------
    >>> from conjoin.tables.collect import collect
    >>> rng = np.random.default_rng(0)
    >>> sales = rng.normal(100, 10, 60)
    >>> sales[41] = 99999999
    >>> table = {"store": ["a", "b"] * 30, "price": rng.normal(size=60), "sales": sales}
    >>> find_wild_rows(collect(table, target="sales", by="store")).outliers
    (Outlier(row=42, dataset='b', column='sales', value=99999999.0),)
    """
    found = [
        (int(row), j, name, float(values[row]))
        for j, (name, values) in enumerate(_columns(collection))
        for row in gross_errors(values, collection.starts)
    ]
    known, target = {one[0] for one in found}, collection.schema.roles.target
    for row in _far_residuals(collection, sorted(known)):
        if int(row) not in known:
            found.append((int(row), 0, target, float(collection.y[row])))
    rows = np.array(sorted({one[0] for one in found}), dtype=np.int64)
    dataset = np.searchsorted(collection.starts, rows, side="right") - 1
    places = rows if collection.positions is None else collection.positions[rows]
    at = {int(row): (int(k), int(place)) for row, k, place in zip(rows, dataset, places)}
    found.sort(key=lambda one: (at[one[0]], one[1]))  # as the table has them
    return WildRows(
        tuple(
            Outlier(1 + at[row][1], collection.names[at[row][0]], name, value)
            for row, _, name, value in found
        ),
        rows,
    )


def _columns(collection: DatasetCollection) -> Iterator[tuple[str, FloatArray]]:
    """Give the target, if it can have gross errors, and the columns of numbers and dates."""
    if not collection.response.classes and _has_more_values(collection.y):
        yield collection.schema.roles.target, collection.y
    position = {name: j for j, name in enumerate(collection.features)}
    for e in collection.schema.encodings:
        feature = f"{e.name} years" if isinstance(e, Date) else e.name
        if isinstance(e, Number | Date) and feature in position:
            values = np.ascontiguousarray(collection.X[:, position[feature]])  # one at a time
            if _has_more_values(values):
                yield feature, values


def _far_residuals(collection: DatasetCollection, known: Sequence[int]) -> IntArray:
    """Return rows whose residual from a robust fit is a gross error; `known` rows do not fit it."""
    starts, y = collection.starts, collection.y
    none = np.zeros(0, dtype=np.int64)
    if collection.response.family != "gaussian" or len(y) < FEWEST_FITTED * collection.X.shape[1]:
        return none
    if not _has_more_values(y) or not may_be_far(y, starts):
        return none
    weights = collection.weights.copy()
    weights[list(known)] = 0.0
    kept = weights > 0
    basis = Basis.from_rows(collection.X[kept], y[kept], weights[kept], intercept=True)
    Z, t = basis.design(collection.X), basis.response(y)
    residuals = huber_residuals(Z, t, weights, starts, intercept=True)
    return gross_errors(np.where(kept, residuals, 0.0), starts)


def _has_more_values(values: FloatArray) -> bool:
    """Say whether a column has more than two different values."""
    if len(np.unique(values[:LOOKED_AT])) > MOST_DISTINCT:
        return True
    low, high = values.min(), values.max()
    return bool(np.any((values != low) & (values != high)))


def without_rows(collection: DatasetCollection, rows: IntArray) -> DatasetCollection:
    """Return the collection without some rows; datasets and classes always keep one row.

    Features that have one value in all remaining rows are left out. If there is no other feature,
    or the target has one value, a `DataError` is raised.
    """
    keep: BoolArray = np.ones(len(collection.y), dtype=bool)
    keep[rows] = False
    first = collection.starts[:-1]
    lost = np.add.reduceat(keep, first) == 0
    keep[first[lost]] = True
    if collection.response.classes:
        keep |= ~np.isin(collection.y, np.unique(collection.y[keep]))
    sizes = np.add.reduceat(keep.astype(np.int64), first)
    X, y = collection.X[keep], collection.y[keep]
    if not collection.response.classes:
        check_target_varies(collection.schema.roles.target, float(y.min()), float(y.max()))
    schema, varying = drop_constant(collection.schema, X.min(axis=0) == X.max(axis=0))
    X = X if varying.all() else X[:, varying]
    places = collection.positions
    return replace(
        collection,
        schema=schema.with_means(X.mean(axis=0)),
        X=X,
        y=y,
        weights=collection.weights[keep],
        starts=np.concatenate([[0], np.cumsum(sizes)]),
        positions=None if places is None else places[keep],
        order=None if collection.order is None else collection.order.take(keep),
    )
