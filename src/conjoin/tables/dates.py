"""Dates of new rows in the form in which a schema expects them.

A CSV file has no types, so a date of the training rows may come as text, and the other way round.
Columns of a table enter; the same columns leave, dates where dates were, text where text was.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import pyarrow as pa
import pyarrow.compute as pc

from conjoin.errors import warn_caller
from conjoin.tables.encoding import Date, Encoding, as_text
from conjoin.tables.frame import Frame, in_memory
from conjoin.tables.parse import FORMATS, all_fit, date_format, fits_in_arrow

TEXTS = (nw.String, nw.Categorical, nw.Enum)
# Different texts that decide how dates of a file are written: a file may be larger than memory.
MOST_TEXTS = 200_000
# Fractions of seconds, which other programs write and no feature uses.
FRACTION = r"(:\d\d)\.\d+"
SWAPPED = {f"%d{mark}%m": f"%m{mark}%d" for mark in "/-"}


def formats_of(
    frame: Frame, encodings: Sequence[Encoding], what: str, columns: Sequence[str]
) -> dict[str, str]:
    """Return how dates are written in columns of text that were dates at fitting.

    A column that is not written in one usual form is left out. Warns if day and month may be
    swapped; then the day comes first.
    """
    types = dict(frame.collect_schema().items())
    found = {}
    for e in encodings:
        if not isinstance(e, Date) or e.format or e.name not in columns:
            continue
        if types.get(e.name) not in TEXTS:
            continue
        level = frame.select(as_text(nw.col(e.name)).alias("level")).unique()
        texts = in_memory(level.head(MOST_TEXTS)).get_column("level").drop_nulls().to_list()
        texts = sorted(set(_without_fractions(pa.array(texts, pa.string())).to_pylist()))
        format = date_format(texts) if texts else FORMATS[0]
        if format is not None:
            found[e.name] = format
            _warn_of_order(e.name, texts, format, what)
    return found


def _warn_of_order(name: str, texts: Sequence[str], format: str, what: str) -> None:
    """Warn if the month might come first as well."""
    other = next(
        (format.replace(day, month) for day, month in SWAPPED.items() if day in format), None
    )
    if texts and other is not None and fits_in_arrow(texts, other) and all_fit(texts[:1], other):
        warn_caller(
            f"Column {name!r} of {what} is read with the day before the month, as in "
            f"{texts[0]!r}; if that is wrong, write dates like 2024-01-31."
        )


def with_dates(
    frame: nw.DataFrame[Any], encodings: Sequence[Encoding], formats: Mapping[str, str]
) -> nw.DataFrame[Any]:
    """Return a frame in memory in which dates are of the type of fitting, where that is possible.

    `formats` are those of `formats_of`. A column with a text that is no date stays as it is.
    """
    table: pa.Table = frame.to_native()
    for e in encodings:
        if not isinstance(e, Date) or e.name not in table.column_names:
            continue
        j = table.column_names.index(e.name)
        column = table.column(j)
        if e.name in formats:
            table = table.set_column(j, e.name, _parsed(column, formats[e.name]))
        elif e.format and (pa.types.is_date(column.type) or pa.types.is_timestamp(column.type)):
            zone = getattr(column.type, "tz", None)
            seconds = column.cast(pa.timestamp("s", zone), safe=False)
            table = table.set_column(j, e.name, pc.strftime(seconds, e.format))
    return nw.from_native(table, eager_only=True)


def _parsed(column: pa.ChunkedArray, format: str) -> pa.ChunkedArray:
    """Return a column of text as dates; as it is if one of the texts is no date."""
    coded = column.cast(pa.string()).combine_chunks().dictionary_encode()
    words = _without_fractions(pc.utf8_trim_whitespace(coded.dictionary))
    words = pc.if_else(pc.equal(words, ""), None, words)
    dates = pc.strptime(words, format, "us", error_is_null=True)
    if dates.null_count > words.null_count:
        return column
    return pa.chunked_array([dates.take(coded.indices)])


def _without_fractions(texts: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(texts, FRACTION, r"\1")


def no_date(texts: Sequence[str]) -> str:
    """Return a text that keeps others from being dates of one format.

    >>> no_date(["2024-01-30", "2024-01-32", "2024-01-31"])
    '2024-01-32'
    """
    plain = _without_fractions(pa.array([text.strip() for text in texts], pa.string()))
    misfits = {
        format: pc.strptime(plain, format, "us", error_is_null=True).is_null() for format in FORMATS
    }
    nearest = min(FORMATS, key=lambda format: int(pc.sum(misfits[format]).as_py()))
    own = zip(texts, plain.to_pylist(), misfits[nearest].to_pylist())
    return next((t for t, p, odd in own if odd or not all_fit([p], nearest)), texts[0])
