"""Further rows of a table whose schema is known.

A frame in memory and the dataset of every row enter, with the schema of an earlier run; a
`DatasetCollection` with the same features leaves. Nothing is learned from the rows: levels of
categories and values that fill gaps are those of the earlier run.
"""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from conjoin._typing import FloatArray
from conjoin.errors import DataError, warn_caller
from conjoin.tables.assemble import EncodedRows, with_positive_weights
from conjoin.tables.checks import check_scales, no_rows, warn_unknown_rows
from conjoin.tables.dataset import DatasetCollection
from conjoin.tables.encoding import Number, present
from conjoin.tables.frame import with_castable_types
from conjoin.tables.names import natural_order
from conjoin.tables.roles import close_match
from conjoin.tables.schema import Schema
from conjoin.text import quoted


def collect_further(
    frame: nw.DataFrame[Any],
    names: Sequence[str | None],
    schema: Schema,
    what: str = "NEW",
) -> DatasetCollection:
    """Return further rows with the features of a schema, sorted by dataset.

    `what` names the table in messages.

    Raises
    ------
    DataError
        If a column is missing or has another type than before.
    """
    roles = schema.roles
    if not len(frame):
        raise no_rows()
    for role, name in (("target", roles.target), ("weights", roles.weights)):
        if name is not None and name not in frame.columns:
            raise DataError(f"{what} lacks the {role} {name!r}; {close_match(name, frame.columns)}")
    y, w = _numbers(frame, roles.target, what), None
    known = ~np.isnan(y) & np.array([name is not None for name in names], dtype=bool)
    if roles.weights:
        w = _numbers(frame, roles.weights, what)
        known &= ~np.isnan(w)
    warn_unknown_rows(int((~known).sum()), len(frame), roles)
    kept = frame.filter(known.tolist())
    some = [str(name) for name, there in zip(names, known) if there]
    order = natural_order(sorted(set(some)))
    position = {name: k for k, name in enumerate(order)}
    codes = np.array([position[name] for name in some], dtype=np.int64)
    _warn_of_constants(kept, schema, what)
    X, y = schema.encode(kept, what), y[known]
    if not np.isfinite(y).all():
        raise DataError(f"Target {roles.target!r} is infinite in a new row; correct or drop it.")
    rows = EncodedRows(X, y, None if w is None else w[known], order, codes, np.flatnonzero(known))
    return _sorted(rows, schema)


def _sorted(rows: EncodedRows, schema: Schema) -> DatasetCollection:
    if rows.weights is not None:
        rows = with_positive_weights(rows, rows.weights, schema.roles.weights)
    columns = (*schema.features, schema.roles.target)
    table = np.column_stack([rows.X, rows.y])
    check_scales(columns, table.min(axis=0), table.max(axis=0))
    by = np.argsort(rows.codes, kind="stable")
    starts = np.searchsorted(rows.codes[by], np.arange(len(rows.names) + 1))
    weights = np.ones(len(by)) if rows.weights is None else rows.weights[by]
    positions = None if rows.positions is None else rows.positions[by]
    return DatasetCollection(
        tuple(rows.names), schema, rows.X[by], rows.y[by], weights, starts, None, positions
    )


def _numbers(frame: nw.DataFrame[Any], name: str, what: str) -> FloatArray:
    """Return a column of numbers, nan where it is missing."""
    try:
        column = with_castable_types(frame.select(name), [name])
        values = column.select(present(nw.col(name)).cast(nw.Float64)).get_column(name)
        found: FloatArray = values.fill_null(float("nan")).to_numpy().astype(np.float64)
    except Exception:
        kind = frame.collect_schema()[name]
        raise DataError(
            f"Column {name!r} of {what} was a number at fitting, but now it is {kind}; give it the "
            "same type."
        ) from None
    return found


def _warn_of_constants(frame: nw.DataFrame[Any], schema: Schema, what: str) -> None:
    """Warn of columns that had one value before, and have another now: they stay left out."""
    constant = set(schema.constant)
    found = []
    for e in schema.encodings:
        if not (isinstance(e, Number) and e.name in constant and e.name in frame.columns):
            continue
        values = _numbers(frame, e.name, what)
        if np.any(values[~np.isnan(values)] != e.fill):
            found.append(e.name)
    if found:
        warn_caller(
            f"Column {quoted(found)} had one value at fitting and is not used; now it has others. "
            "To use it, fit all rows again."
        )
