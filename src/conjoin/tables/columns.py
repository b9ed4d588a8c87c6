"""Any table to plain columns: a mapping of column name to a one-dimensional array.

pandas and Polars frames come through narwhals; a mapping of names to sequences is taken as it is.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np

from conjoin._typing import AnyArray
from conjoin.errors import DataError

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
    return {str(name): frame.get_column(name).to_numpy() for name in frame.columns}


def _from_mapping(table: Mapping[Any, Any], what: str) -> Columns:
    # Not np.asarray: a masked array would lose its mask, and missing values their absence.
    columns = {str(name): np.asanyarray(values) for name, values in table.items()}
    for name, values in columns.items():
        if values.ndim != 1:
            raise DataError(
                f"Column {name!r} of {what} has {values.ndim} dimensions; expected one value a row."
            )
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise DataError(f"Columns of {what} differ in length: {sorted(lengths)} rows.")
    return columns
