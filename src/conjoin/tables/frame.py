"""Any table as a narwhals frame: in memory as Arrow, elsewhere where it is.

pandas and Polars frames, Arrow tables and mappings of column names to sequences become Arrow tables
in memory. DuckDB relations, lazy Polars frames, Dask and PySpark frames stay lazy. A table that
cannot be used raises a `DataError` that names the column.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import pyarrow as pa

from conjoin._typing import AnyArray, FloatArray
from conjoin.errors import DataError
from conjoin.tables.names import is_utf8

Frame: TypeAlias = "nw.DataFrame[Any] | nw.LazyFrame[Any]"

ACCEPTED = (
    "a pandas, Polars, Dask or PySpark frame, a DuckDB relation, an Arrow table, a mapping of "
    "column names to arrays, or a mapping of dataset names to frames"
)

NESTING = {list, tuple, dict}  # what may hold itself
DEEPEST = 100  # lists in lists: more than any table has, fewer than end Python

# What Arrow raises for values that no column can hold.
ARROW_ERRORS = (
    pa.ArrowInvalid,
    pa.ArrowTypeError,
    pa.ArrowNotImplementedError,
    OverflowError,
    UnicodeEncodeError,
)


def to_frame(table: Any, what: str = "data", wanted: Collection[str] | None = None) -> Frame:
    """Return a table as a narwhals frame with texts as column names.

    If the table has all `wanted` columns, the other columns of Python objects are left out: they
    may hold values that Arrow cannot store. `what` names the table in error messages.
    """
    if isinstance(table, Mapping):
        return nw.from_native(_arrow_of_mapping(table, what, wanted), eager_only=True)
    try:
        frame: Frame = nw.from_native(table)
        lazy = isinstance(frame, nw.LazyFrame)
        names = [str(n) for n in (frame.collect_schema().names() if lazy else frame.columns)]
        if frame.implementation.is_duckdb():  # whose schema names a repeated column once
            names = [str(n) for n in frame.to_native().columns]
    except nw.exceptions.DuplicateError as error:
        raise repeated_column(what, error) from None
    except TypeError:
        raise DataError(f"{what} is a {type(table).__name__}; expected {ACCEPTED}.") from None
    check_distinct_columns(names, what)
    odd = next((name for name in names if "\0" in name), None)
    if odd is not None and frame.implementation.is_polars():  # Polars would panic
        raise DataError(
            f"The name of column {odd!r} of {what} has a NUL character, with which Polars cannot "
            "hand over the column; rename it."
        )
    if isinstance(frame, nw.LazyFrame):
        return frame
    return nw.from_native(_arrow_of_frame(frame, what, wanted), eager_only=True)


def repeated_column(what: str, error: Exception) -> DataError:
    """Return the error for a table in which narwhals found two columns of one name."""
    return _two_columns(what, str(error).split("'")[1])


def check_distinct_columns(names: Sequence[str], what: str) -> None:
    """Raise an error if two columns have one name."""
    if len(set(names)) < len(names):
        raise _two_columns(what, min(name for name in names if names.count(name) > 1))


def _two_columns(what: str, name: str) -> DataError:
    return DataError(f"{what} has two columns named {name!r}; rename one of them.")


def check_one_dimension(values: AnyArray, name: str, what: str) -> None:
    """Raise an error if a column is not a sequence with one value per row."""
    if values.ndim != 1:
        raise DataError(
            f"Column {name!r} of {what} has {values.ndim} dimensions; expected one value per row."
        )


def check_equal_lengths(columns: Mapping[str, Any], what: str) -> None:
    """Raise an error if columns have different numbers of rows."""
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise DataError(f"Columns of {what} differ in length: {sorted(lengths)} rows.")


def in_memory(frame: Frame) -> nw.DataFrame[Any]:
    """Return a frame in memory, as Arrow."""
    return frame.collect("pyarrow") if isinstance(frame, nw.LazyFrame) else frame


def pieces(column: nw.Series[Any]) -> list[FloatArray]:
    """Return the values of a Float64 column without missing ones, in the pieces Arrow holds."""
    native = column.to_native()
    if not isinstance(native, pa.ChunkedArray):
        return [np.asarray(column.to_numpy(), dtype=np.float64)]
    # Not `to_numpy`: it loads pandas, which takes longer than reading a million values.
    return [np.asarray(np.from_dlpack(one), np.float64) for one in native.chunks if len(one)]


def one_row(frame: Frame) -> dict[str, Any]:
    """Return the only row of a frame as plain values."""
    table = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return {name: values[0] for name, values in table.to_dict(as_series=False).items()}


def with_castable_types(
    frame: nw.DataFrame[Any], numbers: Collection[str], dates: Collection[str] = ()
) -> nw.DataFrame[Any]:
    """Return a frame in memory whose numbers and dates Arrow can cast.

    Arrow does not cast large whole numbers that Float64 must round, does not read the hour of a
    date without a time, and does not cast a column without any value.
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


def _columns_to_keep(names: Collection[str], wanted: Collection[str] | None) -> set[str]:
    return set(names) if wanted is None or not set(wanted) <= set(names) else set(wanted)


def _arrow_of_frame(
    frame: nw.DataFrame[Any], what: str, wanted: Collection[str] | None
) -> pa.Table:
    if frame.implementation.is_pandas():
        kept = _columns_to_keep([str(name) for name in frame.columns], wanted)
        columns = {
            str(name): _arrow_of_series(series, str(name), what)
            for name, series in frame.to_native().items()
            if str(name) in kept
        }
        return pa.table(columns)
    huge = [name for name, kind in frame.schema.items() if kind in (nw.Int128, nw.UInt128)]
    if huge:  # Arrow has no such numbers
        frame = frame.with_columns(nw.col(*huge).cast(nw.Float64))
    table = frame.to_arrow()
    return table.rename_columns([str(name) for name in frame.columns])


def _arrow_of_series(series: Any, name: str, what: str) -> pa.Array:
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "biuf":
        return _arrow_of_values(series.to_numpy(), name, what)
    if hasattr(series, "sparse") and str(series.dtype).startswith("Sparse"):
        return _arrow_of_series(series.sparse.to_dense(), name, what)
    try:
        if series.dtype == object and _holds_dates(series):
            return _arrow_of_dates(series)
        if series.dtype == object:
            _check_depth(series.to_numpy(), name, what)
        found = pa.Array.from_pandas(series)
        inner = found.type.value_type if pa.types.is_dictionary(found.type) else found.type
        if isinstance(inner, pa.BaseExtensionType) or (inner != found.type and _is_nested(inner)):
            # Arrow stores periods and intervals as numbers or parts: use their texts instead.
            found = pa.array(series.astype(object).map(str, na_action="ignore"), from_pandas=True)
    except ARROW_ERRORS:
        raise DataError(_mixed(series.tolist(), name, what)) from None
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def _is_nested(dtype: Any) -> bool:
    return bool(pa.types.is_nested(dtype))


def _arrow_of_mapping(
    table: Mapping[Any, Any], what: str, wanted: Collection[str] | None
) -> pa.Table:
    names = [str(name) for name in table]
    check_distinct_columns(names, what)
    for name in names:
        if not is_utf8(name):
            raise DataError(f"The name of column {name!r} of {what} is not valid text; rename it.")
    kept = _columns_to_keep(names, wanted)
    columns = {
        name: _arrow_of_values(values, name, what)
        for name, values in zip(names, table.values())
        if name in kept
    }
    check_equal_lengths(columns, what)
    return pa.table(columns)


def _arrow_of_values(values: Any, name: str, what: str) -> pa.Array:
    """Return one column; masked entries and None are missing."""
    array = to_array(values)
    check_one_dimension(array, name, what)
    mask = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
    data = np.asarray(array)
    if data.dtype.kind == "f" and data.dtype.itemsize not in (4, 8):
        data = data.astype(np.float64)
    if not data.dtype.isnative:
        data = data.astype(data.dtype.newbyteorder("="))
    try:
        if data.dtype == object and mask is None and _holds_dates(data):
            return _arrow_of_dates(data)
        _check_depth(data, name, what)
        return pa.array(data, mask=mask, from_pandas=True)
    except ARROW_ERRORS:
        raise DataError(_mixed(array.tolist(), name, what)) from None


def _check_depth(values: AnyArray, name: str, what: str) -> None:
    """Refuse lists that hold themselves: Arrow follows lists to any depth, and would end Python."""
    if values.dtype == object and any(_is_deep(one, DEEPEST) for one in values):
        raise DataError(
            f"Column {name!r} of {what} holds lists in lists, over {DEEPEST} deep; expected a list "
            "of numbers in each row, or leave it out with features=[...]."
        )


def _is_deep(value: Any, most: int) -> bool:
    """Say whether lists are in lists more than `most` times; one path is enough."""
    if not isinstance(value, (list, tuple, dict)):
        return False
    parts = value.values() if isinstance(value, dict) else value
    if NESTING.isdisjoint(map(type, parts)):
        return False
    return most == 0 or any(_is_deep(part, most - 1) for part in parts)


def _holds_dates(values: Any) -> bool:
    """Say whether the first of some objects is a date of numpy."""
    return isinstance(next((one for one in values if one is not None), None), np.datetime64)


def _arrow_of_dates(values: Any) -> pa.Array:
    """Return objects that are dates of numpy as a column: Arrow takes no objects of whole days."""
    found = np.array([np.datetime64("NaT") if one is None else one for one in values])
    if found.dtype.kind != "M":
        raise pa.ArrowInvalid("dates among other values")
    return pa.array(found.astype("datetime64[us]"))


def to_array(values: Any) -> AnyArray:
    """Return a sequence as an array; a list that mixes text and numbers keeps its objects."""
    # Not np.asarray: a masked array would lose its mask, and with it its missing values.
    array = np.asanyarray(values)
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        array = as_doubles(array)
    if array.dtype.kind in "US" and isinstance(values, (list, tuple)):
        return np.array(values, dtype=object)
    return array


def as_doubles(values: Any) -> AnyArray:
    """Return numbers as doubles; what is beyond the largest double becomes infinite."""
    with np.errstate(over="ignore"):
        return np.asanyarray(values, dtype=np.float64)


def _mixed(values: list[Any], name: str, what: str) -> str:
    """Return the message for a column that mixes types or holds values of an unknown type."""
    kinds: dict[str, Any] = {}
    broken = next((one for one in values if isinstance(one, str) and not is_utf8(one)), None)
    if broken is not None:  # the other texts can be used
        values = [broken]
    for value in values:
        if value is not None and not _is_missing(value):
            kinds.setdefault(type(value).__name__, value)
    examples = " and ".join(f"{kind} ({_shown(value)})" for kind, value in [*kinds.items()][:2])
    fault = "mixes types" if len(kinds) > 1 else "holds values that cannot be used"
    return (
        f"Column {name!r} of {what} {fault}: {examples}; make it one type, or leave it out with "
        "features=[...]."
    )


def _is_missing(value: Any) -> bool:
    """Say whether a value differs from itself, as NaN does; objects of others may fail to say."""
    try:
        return bool(value != value)
    except Exception:
        return False


def _shown(value: Any) -> str:
    """Return how an object shows itself, whatever goes wrong in code of others."""
    try:
        return repr(value)
    except Exception:
        return "an object that cannot be shown"


def is_table(value: Any) -> bool:
    """Say whether a value is a table, not a column or a number."""
    if isinstance(value, Mapping):
        return True
    try:
        nw.from_native(value)
    except TypeError:
        return False
    except nw.exceptions.NarwhalsError:  # a table, but one with an error in it
        return True
    return True


def is_mapping_of_tables(data: Any) -> bool:
    """Say whether data is a mapping of dataset names to tables."""
    if not isinstance(data, Mapping) or not data:
        return False
    examples = {type(value): value for value in data.values()}
    return all(is_table(value) for value in examples.values())


def is_lazy(value: Any) -> bool:
    """Say whether a value is a table whose rows are not in memory."""
    try:
        return isinstance(nw.from_native(value), nw.LazyFrame)
    except (TypeError, nw.exceptions.NarwhalsError):
        return False
