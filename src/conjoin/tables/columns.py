"""Any table to plain columns: a mapping of column name to a one-dimensional array.

pandas and Polars frames come through narwhals; a mapping of names to sequences is taken as it is.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np

from conjoin._typing import AnyArray
from conjoin.errors import DataError
from conjoin.tables.frame import to_array

Columns: TypeAlias = dict[str, AnyArray]


def to_columns(table: Any, what: str = "data") -> Columns:
    """Return the columns of a frame, or of a mapping of column name to sequence."""
    if isinstance(table, Mapping):
        return _from_mapping(table, what)
    try:
        frame = nw.from_native(table, eager_only=True)
    except TypeError:
        raise DataError(
            f"{what} is a {type(table).__name__}; expected a pandas or Polars frame (collect a "
            "lazy one first), a mapping of column names to arrays, or a mapping of dataset names "
            "to frames."
        ) from None
    except nw.exceptions.DuplicateError as error:
        name = str(error).split("'")[1]
        raise DataError(f"{what} has two columns named {name!r}; rename one of them.") from None
    _refuse_repeated([str(name) for name in frame.columns], what)
    if frame.implementation.is_pandas():
        return {str(name): _of_pandas(series) for name, series in table.items()}
    return {str(name): _values(frame.get_column(name)) for name in frame.columns}


def _of_pandas(series: Any) -> AnyArray:
    if isinstance(series.dtype, np.dtype):
        values: AnyArray = series.to_numpy()
        return values
    return _values(nw.from_native(series, series_only=True))


def _values(column: nw.Series[Any]) -> AnyArray:
    """Return the values of a column; numbers that stand for categories do not count as such."""
    values: AnyArray = column.to_numpy()
    return values.astype(object) if column.dtype in (nw.Categorical, nw.Enum) else values


def _refuse_repeated(names: list[str], what: str) -> None:
    if len(set(names)) < len(names):
        repeated = sorted({name for name in names if names.count(name) > 1})
        raise DataError(f"{what} has two columns named {repeated[0]!r}; rename one of them.")


def _from_mapping(table: Mapping[Any, Any], what: str) -> Columns:
    _refuse_repeated([str(name) for name in table], what)
    columns = {str(name): to_array(values) for name, values in table.items()}
    for name, values in columns.items():
        if values.ndim != 1:
            raise DataError(
                f"Column {name!r} of {what} has {values.ndim} dimensions; expected one value a row."
            )
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise DataError(f"Columns of {what} differ in length: {sorted(lengths)} rows.")
    return columns
