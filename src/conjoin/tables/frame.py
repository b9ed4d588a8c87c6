"""Any table to a narwhals frame: in memory as Arrow, elsewhere where it lives.

pandas and Polars frames, Arrow tables and mappings of column names to sequences come into memory
as Arrow tables; relations of DuckDB, lazy Polars frames, Dask and PySpark frames stay lazy.
"""

from collections.abc import Collection, Mapping
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import pyarrow as pa

from conjoin._typing import AnyArray
from conjoin.errors import DataError

Frame: TypeAlias = "nw.DataFrame[Any] | nw.LazyFrame[Any]"

ACCEPTED = (
    "a pandas, Polars, Dask or PySpark frame, a DuckDB relation, an Arrow table, a mapping of "
    "column names to arrays, or a mapping of dataset names to frames"
)


REFUSALS = (
    pa.ArrowInvalid,
    pa.ArrowTypeError,
    pa.ArrowNotImplementedError,
    OverflowError,
    UnicodeEncodeError,
)  # by Arrow, of values that no column can hold


def to_frame(table: Any, what: str = "data", wanted: Collection[str] | None = None) -> Frame:
    """Return a table as a narwhals frame, its column names as text.

    Where all `wanted` columns are there, others that come from Python objects are left out: they
    may hold anything.
    """
    if isinstance(table, Mapping):
        return nw.from_native(_arrow_of_mapping(table, what, wanted), eager_only=True)
    try:
        frame: Frame = nw.from_native(table)
        lazy = isinstance(frame, nw.LazyFrame)
        names = [str(n) for n in (frame.collect_schema().names() if lazy else frame.columns)]
    except nw.exceptions.DuplicateError as error:
        name = str(error).split("'")[1]
        raise DataError(f"{what} has two columns named {name!r}; rename one of them.") from None
    except TypeError:
        raise DataError(f"{what} is a {type(table).__name__}; expected {ACCEPTED}.") from None
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise DataError(f"{what} has two columns named {repeated[0]!r}; rename one of them.")
    if isinstance(frame, nw.LazyFrame):
        return frame
    return nw.from_native(_arrow_of_frame(frame, what, wanted), eager_only=True)


def in_memory(frame: Frame) -> nw.DataFrame[Any]:
    """Return a frame whose rows are here, as Arrow."""
    return frame.collect("pyarrow") if isinstance(frame, nw.LazyFrame) else frame


def fitted(
    frame: nw.DataFrame[Any], numbers: Collection[str], dates: Collection[str] = ()
) -> nw.DataFrame[Any]:
    """Return a frame in memory whose columns of numbers and dates are such for Arrow too.

    Arrow refuses whole numbers that Float64 must round; it knows no time of a day alone, and
    nothing of columns without a single value.
    """
    table: pa.Table = frame.to_native()
    columns = []
    for name, column in zip(table.column_names, table.columns):
        kind = column.type
        if name in numbers and (pa.types.is_null(kind) or pa.types.is_integer(kind)):
            column = column.cast(pa.float64(), safe=False)
        elif name in dates and (pa.types.is_null(kind) or pa.types.is_date(kind)):
            column = column.cast(pa.timestamp("us"))
        columns.append(column)
    return nw.from_native(pa.table(columns, names=table.column_names), eager_only=True)


def _kept(names: Collection[str], wanted: Collection[str] | None) -> set[str]:
    return set(names) if wanted is None or not set(wanted) <= set(names) else set(wanted)


def _arrow_of_frame(
    frame: nw.DataFrame[Any], what: str, wanted: Collection[str] | None
) -> pa.Table:
    if frame.implementation.is_pandas():
        kept = _kept([str(name) for name in frame.columns], wanted)
        columns = {
            str(name): _arrow_of_series(series, str(name), what)
            for name, series in frame.to_native().items()
            if str(name) in kept
        }
        return pa.table(columns)
    table = frame.to_arrow()
    return table.rename_columns([str(name) for name in frame.columns])


def _arrow_of_series(series: Any, name: str, what: str) -> pa.Array:
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "biuf":
        return _arrow_of_values(series.to_numpy(), name, what)
    try:
        found = pa.Array.from_pandas(series)
        inner = found.type.value_type if pa.types.is_dictionary(found.type) else found.type
        if isinstance(inner, pa.BaseExtensionType) or (inner != found.type and _is_nested(inner)):
            # Periods and intervals, of which Arrow sees the parts only: their names.
            found = pa.array(series.astype(object).map(str, na_action="ignore"), from_pandas=True)
    except REFUSALS:
        raise DataError(_mixed(series.tolist(), name, what)) from None
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def _is_nested(dtype: Any) -> bool:
    return bool(pa.types.is_nested(dtype))


def _arrow_of_mapping(
    table: Mapping[Any, Any], what: str, wanted: Collection[str] | None
) -> pa.Table:
    names = [str(name) for name in table]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise DataError(f"{what} has two columns named {repeated[0]!r}; rename one of them.")
    kept = _kept(names, wanted)
    columns = {
        name: _arrow_of_values(values, name, what)
        for name, values in zip(names, table.values())
        if name in kept
    }
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise DataError(f"Columns of {what} differ in length: {sorted(lengths)} rows.")
    return pa.table(columns)


def _arrow_of_values(values: Any, name: str, what: str) -> pa.Array:
    """Return one column; masked entries and None are missing."""
    array = to_array(values)
    if array.ndim != 1:
        raise DataError(
            f"Column {name!r} of {what} has {array.ndim} dimensions; expected one value a row."
        )
    mask = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
    data = np.asarray(array)
    if data.dtype.kind == "f" and data.dtype.itemsize not in (4, 8):
        data = data.astype(np.float64)
    if not data.dtype.isnative:
        data = data.astype(data.dtype.newbyteorder("="))
    try:
        return pa.array(data, mask=mask, from_pandas=True)
    except REFUSALS:
        raise DataError(_mixed(array.tolist(), name, what)) from None


def to_array(values: Any) -> AnyArray:
    """Return a sequence as an array; a list of different things is not made text of."""
    # Not np.asarray: a masked array would lose its mask, and missing values their absence.
    array = np.asanyarray(values)
    if array.dtype.kind in "US" and isinstance(values, (list, tuple)):
        return np.array(values, dtype=object)
    return array


def _mixed(values: list[Any], name: str, what: str) -> str:
    """Say what kinds of values a column mixes."""
    kinds: dict[str, Any] = {}
    for value in values:
        if value is not None and value == value:
            kinds.setdefault(type(value).__name__, value)
    shown = " and ".join(f"{kind} ({value!r})" for kind, value in list(kinds.items())[:2])
    fault = "mixes types" if len(kinds) > 1 else "holds values that cannot be used"
    return (
        f"Column {name!r} of {what} {fault}: {shown}; make it one type, or leave it out with "
        "features=[...]."
    )


def is_table(value: Any) -> bool:
    """Say whether a value is itself a table, as opposed to a column or a number."""
    if isinstance(value, Mapping):
        return True
    try:
        nw.from_native(value)
    except TypeError:
        return False
    except nw.exceptions.NarwhalsError:  # a table, though one with a fault
        return True
    return True


def is_lazy(value: Any) -> bool:
    """Say whether a value is a table whose rows are not in memory."""
    try:
        return isinstance(nw.from_native(value), nw.LazyFrame)
    except (TypeError, nw.exceptions.NarwhalsError):
        return False
