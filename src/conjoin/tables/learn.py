"""How each column of the training rows is to be used.

A frame and the roles of its columns enter; a `Schema` leaves. The type and the values of a column
alone decide its rule, so the same table gives the same rules on every engine.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from conjoin.errors import DataError
from conjoin.tables.encoding import (
    DAYS_IN_YEAR,
    DIGITS,
    MISSING,
    OTHER,
    Category,
    Date,
    Encoding,
    Flag,
    LeftOut,
    Number,
    Vector,
    as_date,
    as_text,
    as_whole_text,
    in_years,
    present,
)
from conjoin.tables.frame import Frame, one_row
from conjoin.tables.names import SEPARATOR
from conjoin.tables.parse import is_number, usual_date_format
from conjoin.tables.roles import Roles, check_roles
from conjoin.tables.schema import Schema
from conjoin.tables.written import written_numbers
from conjoin.text import quoted

# Categories with a 0/1 feature of their own. It bounds the features that one text column adds. A
# text column with more different values is also tested for numbers and dates.
MOST_LEVELS = 20
# A category needs this share of all rows, and this number of rows, for a feature of its own. With
# fewer rows its coefficient would depend on a handful of values. The same number of missing values
# is needed for an indicator.
RAREST = 0.01
FEWEST = 5
# Largest code of a category with too many values for 0/1 features: LightGBM holds a category in 32
# bits, and needs memory for every code up to the largest.
LARGEST_CODE = 1_000_000
# Rows at the beginning whose mean is near that of a column: squares are taken around it.
FIRST = 100
MOST_REASONS = 5  # columns that the message lists if none can be used: enough to see a pattern
# Dates must span half a year for a season and two weeks for a weekday. A shorter span does not
# show the cycle, and its features would be almost the same as the trend.
HALF_A_YEAR, TWO_WEEKS = 0.5, 14 / DAYS_IN_YEAR


def learn(
    frame: Frame, roles: Roles, missing: str = "indicator", facts: Mapping[str, Any] | None = None
) -> Schema:
    """Return the rule for every feature column.

    `missing` says how to treat missing values of features: "indicator" (fill in the median and add
    an indicator column), "median" (fill in only), "drop" (leave out the rows: the caller does that
    with `schema.complete_rows`) or "raise". `facts` are those of `summarize`, if they are known.
    """
    types = _types(frame, roles)
    names = roles.feature_columns(types)
    if facts is None:
        facts = _summarize_columns(frame, {name: types[name] for name in names})
    for name in names:
        if types[name].is_numeric():
            _check_finite(frame, name, facts, roles.by)
    encodings = tuple(
        _as_category(frame, name, types[name], facts, missing)
        if name in roles.category
        else _rule(frame, name, types[name], facts, missing)
        for name in names
    )
    if not any(e.features() for e in encodings):
        reasons = "; ".join(f"{e.name!r} {e.describe()}" for e in encodings[:MOST_REASONS])
        raise DataError(f"No column can be used as a feature: {reasons}.")
    _check_distinct_features(encodings)
    return Schema(roles, encodings)


def _check_distinct_features(encodings: Sequence[Encoding]) -> None:
    """Raise an error if two columns would give features of one name."""
    column_of: dict[str, str] = {}
    for e in encodings:
        for feature in e.features():
            if feature in column_of:
                raise DataError(
                    f"Columns {column_of[feature]!r} and {e.name!r} would both give a feature "
                    f"named {feature!r}; rename one of them."
                )
            column_of[feature] = e.name


def _types(frame: Frame, roles: Roles) -> dict[str, Any]:
    """Return the types of all columns; raise an error if a column is not there, or no feature."""
    types = dict(frame.collect_schema().items())
    check_roles(roles, list(types))
    if not roles.feature_columns(types):
        besides = quoted(sorted(set(roles.aside)))
        raise DataError(f"There is no column besides {besides}; add features.")
    return types


def summarize(frame: nw.LazyFrame[Any], roles: Roles) -> dict[str, Any]:
    """Return what `learn` asks of the columns, and the same of the target, as a rule in one query.

    Columns of numbers have their mean square around `near`, which is a number near their mean.
    """
    types = _types(frame, roles)
    names = [*roles.feature_columns(types), roles.target]
    numbers = [name for name in names if types[name].is_numeric()]
    means = (present(nw.col(name)).mean().alias(name) for name in numbers)
    first = one_row(frame.select(*numbers).head(FIRST).select(*means)) if numbers else {}
    near = {name: float(first[name] or 0.0) for name in numbers}
    near = {name: value if math.isfinite(value) else 0.0 for name, value in near.items()}
    facts = _summarize_columns(frame, {name: types[name] for name in names}, near)
    return facts | {f"near {name}": value for name, value in near.items()}


def _summarize_columns(
    frame: Frame, types: Mapping[str, Any], near: Mapping[str, float] | None = None
) -> dict[str, Any]:
    """Return the number of rows, and count, min, max and mean of all columns, in one query.

    With numbers `near` their means, columns of numbers have their mean square around these. NaN is
    then taken for a missing value only in columns that have one: their mean is NaN.
    """
    asked = [nw.len().alias("rows")]
    for name, dtype in types.items():
        column = nw.col(name)
        if dtype.is_numeric() and near is not None:
            asked += _sums(name, column.cast(nw.Float64), near[name])
        elif dtype.is_numeric():
            asked += _summary(name, present(column))
        elif dtype == nw.Boolean:
            asked.append(column.count().alias(f"count {name}"))
        elif dtype in (nw.Date, nw.Datetime):
            asked += _date_summary(name, column)
    found = one_row(frame.select(*asked))
    again = []
    for name in near or ():
        for fact in ("mean", "square"):
            total, count = found[f"{fact} {name}"], found[f"count {name}"]
            found[f"{fact} {name}"] = float(total) / count if count else None
        if _is_nan(found[f"mean {name}"]):
            again += _summary(name, present(nw.col(name)))
    return found | one_row(frame.select(*again)) if again else found


def _sums(name: str, values: nw.Expr, near: float) -> list[nw.Expr]:
    """Return count, min, max and sums of numbers; DuckDB's own means take twice as long."""
    d = values - near
    sums = [values.sum().alias(f"mean {name}"), (d * d).sum().alias(f"square {name}")]
    return [*_summary(name, values)[:-1], *sums]


def _is_nan(value: Any) -> bool:
    return value is not None and math.isnan(float(value))


def _summary(name: str, values: nw.Expr) -> list[nw.Expr]:
    """Return expressions for count, min, max and mean of numbers."""
    return [
        values.count().alias(f"count {name}"),
        values.min().alias(f"min {name}"),
        values.max().alias(f"max {name}"),
        values.mean().alias(f"mean {name}"),
    ]


def _date_summary(name: str, date: nw.Expr) -> list[nw.Expr]:
    """Return the same for dates: their count, and their range and mean in years."""
    return [date.count().alias(f"count {name}"), *_summary(name, in_years(date))[1:]]


def _rule(frame: Frame, name: str, dtype: Any, facts: Mapping[str, Any], missing: str) -> Encoding:
    """Return the rule for one column, by its type."""
    rows = int(facts["rows"])
    if dtype.is_numeric():
        return _number(frame, name, facts, missing, text=False)
    if dtype == nw.Boolean:
        return _flag(name, rows - int(facts[f"count {name}"]), rows, missing)
    if dtype in (nw.Date, nw.Datetime):
        return _date(frame, name, facts, None, missing, times=dtype == nw.Datetime)
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return _text(frame, name, rows, missing)
    if dtype in (nw.List, nw.Array) and not isinstance(frame, nw.LazyFrame):
        return _vector(frame, name, missing)
    return LeftOut(name, f"its type {dtype} is not a number, text, true/false or a date")


def _as_category(
    frame: Frame, name: str, dtype: Any, facts: Mapping[str, Any], missing: str
) -> Encoding:
    """Return the rule for a column that is a category because the user says so."""
    rows = int(facts["rows"])
    if dtype == nw.Boolean:
        return _rule(frame, name, dtype, facts, missing)
    column = nw.col(name)
    if not dtype.is_numeric():
        if dtype not in (nw.String, nw.Categorical, nw.Enum):
            raise DataError(
                f"category names {name!r}, whose type is {dtype}; a category is text or whole "
                "numbers. Leave it out of category, or turn it into text."
            )
        return _category_of(name, _level_counts(frame, as_text(column)), rows, missing)
    values = present(column)
    fraction = one_row(frame.select((values - values.round()).abs().max().alias("most")))["most"]
    if fraction:
        raise DataError(
            f"category names {name!r}, which has values with fractions; a category is text or "
            "whole numbers. Leave it out of category, or turn it into text."
        )
    found = _category_of(name, _level_counts(frame, as_whole_text(column)), rows, missing)
    ends = (facts[f"min {name}"], facts[f"max {name}"])
    if isinstance(found, LeftOut) and None not in ends and 0 <= ends[0] < ends[1] <= LARGEST_CODE:
        number = _number(frame, name, facts, missing, text=False)
        return replace(number, code=True) if isinstance(number, Number) else number
    return replace(found, number=True) if isinstance(found, Category) else found


def _check_finite(
    frame: Frame, name: str, facts: Mapping[str, Any], by: Sequence[str] = ()
) -> None:
    """Raise an error that names the dataset if a column of numbers has an infinite value."""
    ends = (facts[f"min {name}"], facts[f"max {name}"])
    if all(end is None or math.isfinite(float(end)) for end in ends):
        return
    where = ""
    if by:
        infinite: Any = frame.filter(present(nw.col(name)).abs() == math.inf).head(1).select(*by)
        found = [str(value) for value in one_row(infinite).values()]
        where = f" in dataset {SEPARATOR.join(found)!r}"
    raise DataError(f"Column {name!r} has an infinite value{where}; correct or drop such rows.")


def _check_missing_allowed(name: str, absent: int, rows: int, missing: str) -> None:
    """Raise an error if values are missing and missing="raise"."""
    if absent and missing == "raise":
        raise DataError(
            f"Column {name!r} lacks {absent} of {rows} values; fill them, or choose "
            "missing='indicator', 'median' or 'drop'."
        )


def _number(
    frame: Frame, name: str, facts: Mapping[str, Any], missing: str, *, text: bool
) -> Encoding:
    rows, count = int(facts["rows"]), int(facts[f"count {name}"])
    if count == 0:
        return LeftOut(name, "all values are missing")
    _check_finite(frame, name, facts)
    absent = rows - count
    if not absent:
        return Number(name, float(facts[f"mean {name}"]), text=text)
    _check_missing_allowed(name, absent, rows, missing)
    fill = _median(frame, name, text)
    return Number(name, fill, _needs_indicator(absent, missing), text, absent)


def _vector(frame: nw.DataFrame[Any], name: str, missing: str) -> Encoding:
    """Return the rule for a column of lists of numbers, which are all of one length."""
    lists = frame.get_column(name).to_native().combine_chunks()
    flat, known = pc.list_flatten(lists), lists.drop_null()
    if not len(known):
        return LeftOut(name, "all values are missing")
    if not (pa.types.is_integer(flat.type) or pa.types.is_floating(flat.type)):
        return LeftOut(name, "its lists hold something else than numbers")
    ends = pc.min_max(pc.list_value_length(known))
    least, most = ends["min"].as_py(), ends["max"].as_py()
    if least != most or not most:
        return LeftOut(name, f"its lists have between {least} and {most} entries, not one number")
    table = flat.cast(pa.float64()).to_numpy(zero_copy_only=False).reshape(-1, most)
    if np.isinf(table).any():
        raise DataError(f"Column {name!r} has an infinite value; correct or drop such rows.")
    empty = np.isnan(table).all(axis=0)
    if empty.any():
        j = int(np.argmax(empty))
        raise DataError(f"Entry {j} of the lists in column {name!r} is missing in every row.")
    _check_missing_allowed(name, lists.null_count, len(lists), missing)
    indicator = _needs_indicator(lists.null_count, missing)
    return Vector(name, tuple(np.nanmean(table, axis=0).tolist()), indicator, lists.null_count)


def _needs_indicator(absent: int, missing: str) -> bool:
    return missing == "indicator" and absent >= FEWEST


def _flag(name: str, absent: int, rows: int, missing: str) -> Encoding:
    _check_missing_allowed(name, absent, rows, missing)
    return Flag(name, indicator=_needs_indicator(absent, missing))


def _median(frame: Frame, name: str, text: bool) -> float:
    """Return the exact median. Dask only has an approximate one: there the column is fetched."""
    column = nw.col(name)
    values = present(as_text(column) if text else column)
    if isinstance(frame, nw.LazyFrame) and frame.implementation.is_dask():
        numbers = frame.select(values.alias("v")).collect().get_column("v").to_numpy()
        return float(np.nanmedian(numbers))
    return float(one_row(frame.select(values.median().alias("v")))["v"])


def _date(
    frame: Frame,
    name: str,
    facts: Mapping[str, Any],
    format: str | None,
    missing: str,
    *,
    times: bool,
    odd: Sequence[str] = (),
) -> Encoding:
    rows, count = int(facts["rows"]), int(facts[f"count {name}"])
    if count == 0:
        return LeftOut(name, "all values are missing")
    _check_missing_allowed(name, rows - count, rows, missing)
    span = float(facts[f"max {name}"]) - float(facts[f"min {name}"])
    parts = ["years"]
    if span >= HALF_A_YEAR:
        parts.append("season")
    if span >= TWO_WEEKS:
        parts.append("weekday")
    if times:
        date = as_date(nw.col(name), format, odd)
        clock = (date.dt.hour() * 60 + date.dt.minute()).max().alias("latest")
        if int(one_row(frame.select(clock))["latest"] or 0) > 0:
            parts.append("time of day")
    return Date(name, tuple(parts), round(float(facts[f"mean {name}"]), DIGITS), format)


def _text(frame: Frame, name: str, rows: int, missing: str) -> Encoding:
    counts = _level_counts(frame, as_text(nw.col(name)))
    known = {level: n for level, n in counts.items() if level is not None}
    absent = counts.get(None, 0)
    if {level.lower() for level in known} == {"true", "false"}:
        return _flag(name, absent, rows, missing)
    if len(known) > MOST_LEVELS:
        _check_missing_allowed(name, absent, rows, missing)
        special = _numbers_or_dates(frame, name, known, rows, missing)
        if special is not None:
            return special
    found = _category_of(name, counts, rows, missing)
    if isinstance(found, Category | LeftOut):
        return replace(found, written=written_numbers(known))
    return found


def _category_of(name: str, counts: Mapping[Any, int], rows: int, missing: str) -> Encoding:
    """Return the rule for categories; `counts` has missing values as None."""
    known = {level: n for level, n in counts.items() if level is not None}
    absent = counts.get(None, 0)
    if not known:
        return LeftOut(name, "all values are missing")
    _check_missing_allowed(name, absent, rows, missing)
    if absent:
        known[MISSING] = known.get(MISSING, 0) + absent
    return _category(name, known, rows)


def _level_counts(frame: Frame, text: nw.Expr) -> dict[Any, int]:
    """Return the number of rows of each category; None stands for missing values."""
    levels = frame.select(text.alias("level"))
    table: Any = levels.group_by("level").agg(nw.len().alias("rows"))
    if isinstance(table, nw.LazyFrame):
        table = table.collect()
    found = table.to_dict(as_series=False)
    return {
        None if level is None or level != level else str(level): int(n)
        for level, n in zip(found["level"], found["rows"])
    }


def _numbers_or_dates(
    frame: Frame, name: str, counts: Mapping[str, int], rows: int, missing: str
) -> Encoding | None:
    """Return the rule for numbers or dates written as text; None if the column is neither."""
    odd = [value for value in counts if not is_number(value)]
    if not odd or len(counts) - len(odd) > max(MOST_LEVELS, len(odd)):
        if odd:
            raise DataError(
                f"Column {name!r} mixes numbers with text such as {min(odd)!r}; correct these "
                "values, or leave the column out with features."
            )
        asked = _summary(name, present(as_text(nw.col(name))))
        facts = {"rows": rows, **one_row(frame.select(*asked))}
        return _number(frame, name, facts, missing, text=True)
    format, unread = usual_date_format(counts)
    if format is None:
        return None
    asked = _date_summary(name, as_date(nw.col(name), format, unread))
    facts = {"rows": rows, **one_row(frame.select(*asked))}
    found = _date(frame, name, facts, format, missing, times="%H" in format, odd=unread)
    if not isinstance(found, Date):
        return found
    return replace(found, odd=unread, unread=sum(counts[text] for text in unread))


def _category(name: str, counts: Mapping[str, int], rows: int) -> Encoding:
    ordered = sorted(counts, key=lambda level: (-counts[level], level))
    if len(ordered) == 1:
        return LeftOut(name, f"it is {ordered[0]!r} in every row")
    needed = max(FEWEST, RAREST * rows) if len(ordered) > 2 else 1
    frequent = [level for level in ordered[:MOST_LEVELS] if counts[level] >= needed]
    # A category of the table that is named OTHER is pooled with the rare ones.
    frequent = [level for level in frequent if level != OTHER]
    if not frequent or (
        len(ordered) > MOST_LEVELS and sum(counts[level] for level in frequent) < rows / 2
    ):
        return LeftOut(name, f"text with {len(ordered):,} different values, most of them rare")
    rare = len(ordered) - len(frequent)
    return Category(name, frequent[0], tuple(frequent[1:]), rare > 0, rare)
