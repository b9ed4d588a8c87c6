"""Any table in memory as plain columns: a mapping of column names to one-dimensional arrays.

pandas and Polars frames come through narwhals; the sequences of a mapping become arrays.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np

from conjoin._typing import AnyArray
from conjoin.errors import DataError
from conjoin.tables.frame import (
    check_distinct_columns,
    check_equal_lengths,
    check_one_dimension,
    repeated_column,
    to_array,
)

Columns: TypeAlias = dict[str, AnyArray]


def to_columns(table: Any, what: str = "data") -> Columns:
    """Return the columns of a frame, or of a mapping of column names to sequences."""
    if isinstance(table, Mapping):
        return _of_mapping(table, what)
    try:
        frame = nw.from_native(table, eager_only=True)
    except TypeError:
        raise DataError(
            f"{what} is a {type(table).__name__}; expected a pandas or Polars frame (collect a "
            "lazy one first), a mapping of column names to arrays, or a mapping of dataset names "
            "to frames."
        ) from None
    except nw.exceptions.DuplicateError as error:
        raise repeated_column(what, error) from None
    check_distinct_columns([str(name) for name in frame.columns], what)
    if frame.implementation.is_pandas():
        return {str(name): _of_pandas(series) for name, series in table.items()}
    return {str(name): _of_series(frame.get_column(name)) for name in frame.columns}


def _of_pandas(series: Any) -> AnyArray:
    if isinstance(series.dtype, np.dtype):
        values: AnyArray = series.to_numpy()
        return values
    return _of_series(nw.from_native(series, series_only=True))


def _of_series(column: nw.Series[Any]) -> AnyArray:
    """Return the values of a column; numbers of a categorical column become objects."""
    if column.dtype in (nw.Int128, nw.UInt128):  # numpy has no such numbers
        column = column.cast(nw.Float64)
    values: AnyArray = column.to_numpy()
    return values.astype(object) if column.dtype in (nw.Categorical, nw.Enum) else values


def _of_mapping(table: Mapping[Any, Any], what: str) -> Columns:
    check_distinct_columns([str(name) for name in table], what)
    columns = {str(name): to_array(values) for name, values in table.items()}
    for name, values in columns.items():
        check_one_dimension(values, name, what)
    check_equal_lengths(columns, what)
    return columns
