"""When rows were, and whom they are about: the columns of the arguments `time` and `repeat`.

A frame with these columns enters; a `RowOrder` leaves: times as numbers, persons as whole numbers.
A time that cannot be read raises an error with the value and the next step.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from conjoin._typing import FloatArray, IntArray
from conjoin.errors import DataError
from conjoin.tables.parse import date_format, is_number, usual_date_format
from conjoin.tables.roles import Roles

MICROSECONDS = 86_400_000_000  # of a day
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, eq=False)
class RowOrder:
    """When every row was, and whom it is about.

    Parameters
    ----------
    time : array (rows,), optional
        Days since 1970 if `dated`, else numbers as they are.
    dated : bool
        Whether the column holds dates.
    who : array (rows,), optional
        Number of the person, patient or customer, in the order of their names.
    """

    time: FloatArray | None = None
    dated: bool = False
    who: IntArray | None = None

    def take(self, rows: Any) -> "RowOrder":
        """Select rows by their numbers or by a mask."""
        time, who = (None if one is None else one[rows] for one in (self.time, self.who))
        return RowOrder(time, self.dated, who)


def time_in_words(value: float, dated: bool) -> str:
    """Return a time for a sentence: a date, with its clock time if it has one, or a number.

    >>> time_in_words(19723.0, True), time_in_words(19723.5, True), time_in_words(3.0, False)
    ('2024-01-01', '2024-01-01 12:00', '3')
    """
    if not dated:
        return f"{value:g}"
    when = EPOCH + timedelta(days=value)
    return f"{when:%Y-%m-%d}" if value == int(value) else f"{when:%Y-%m-%d %H:%M}"


def read_order(frame: nw.DataFrame[Any], roles: Roles) -> RowOrder | None:
    """Read the columns of time and persons; None if nobody asked."""
    if roles.time is None and roles.repeat is None:
        return None
    time, dated = (None, False) if roles.time is None else _read_time(frame, roles.time)
    who = None if roles.repeat is None else _read_who(frame, roles.repeat)
    return RowOrder(time, dated, who)


def _read_time(frame: nw.DataFrame[Any], name: str) -> tuple[FloatArray, bool]:
    column = frame.get_column(name)
    if column.dtype in (nw.Date, nw.Datetime):
        return _days(_arrow(column)), True
    if column.dtype.is_numeric():
        return _finite(column.cast(nw.Float64).to_numpy().astype(np.float64), name), False
    if column.dtype in (nw.String, nw.Categorical, nw.Enum):
        return _read_text(_arrow(column).cast(pa.large_string()), name)
    raise DataError(
        f"time={name!r} is of type {column.dtype}; choose a column of dates, or of numbers that "
        "grow with time."
    )


def _read_text(column: Any, name: str) -> tuple[FloatArray, bool]:
    """Read dates or numbers that are written as text."""
    column = pc.utf8_trim_whitespace(column)
    coded = pc.dictionary_encode(column)
    texts = [text or "" for text in coded.dictionary.to_pylist()]
    if all(is_number(text) for text in texts):
        values = np.array([float(text) for text in texts])
        return _finite(values, name)[coded.indices.to_numpy()], False
    format = date_format(sorted(texts))
    if format is None:
        raise _unreadable(name, texts, column)
    dates = pc.strptime(coded.dictionary, format, "us")
    return _days(dates)[coded.indices.to_numpy()], True


def _unreadable(name: str, texts: Sequence[str], column: Any) -> DataError:
    """Return the error for a time that cannot be read; it names a value."""
    counts = {one["values"]: one["counts"] for one in pc.value_counts(column).to_pylist()}
    odd = usual_date_format(counts)[1] or [t for t in texts if not is_number(t)]
    return DataError(
        f"time={name!r} cannot be read as dates or numbers, with values such as {odd[0]!r}; write "
        "them like 2024-01-31, correct or drop these rows, or leave time out."
    )


def _arrow(column: Any) -> Any:
    values = column.to_arrow()
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values


def _days(dates: Any) -> FloatArray:
    """Return dates as days since 1970."""
    zone = getattr(dates.type, "tz", None)
    micros = dates.cast(pa.timestamp("us", zone)).cast(pa.int64())
    return np.asarray(micros.to_numpy(zero_copy_only=False), dtype=np.float64) / MICROSECONDS


def _finite(values: FloatArray, name: str) -> FloatArray:
    if not np.isfinite(values).all():
        raise DataError(f"time={name!r} is infinite in a row; correct or drop the row.")
    return values


def _read_who(frame: nw.DataFrame[Any], name: str) -> IntArray:
    column = frame.get_column(name)
    if column.dtype.is_nested():
        raise DataError(
            f"repeat={name!r} is of type {column.dtype}; choose a column of text or numbers."
        )
    coded = pc.dictionary_encode(_arrow(column))
    # Numbers by first appearance would make last digits depend on the order of rows.
    place = np.argsort(pc.array_sort_indices(coded.dictionary).to_numpy())
    return np.asarray(place[coded.indices.to_numpy()], dtype=np.int64)
