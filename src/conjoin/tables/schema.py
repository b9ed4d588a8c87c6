"""What is learned of a table's columns: roles, and a frozen rule for each feature column.

`learn` looks at every column once and decides by its type and values alone what becomes of it; the
`Schema` is then replayed on any rows, training or new ones, wherever they live.
"""

import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from conjoin._typing import FloatArray
from conjoin.errors import ArgumentError, DataError
from conjoin.families import Response
from conjoin.tables.encoding import (
    DIGITS,
    MISSING,
    OTHER,
    Category,
    Date,
    Encoding,
    Flag,
    LeftOut,
    Number,
    as_date,
    as_text,
    from_plain,
    present,
    to_plain,
)
from conjoin.tables.frame import Frame, fitted
from conjoin.text import quoted

MISSING_CHOICES = ("indicator", "median", "drop", "raise")
MOST_LEVELS = 20  # with a 0/1 column of their own
RAREST = 0.01  # share of rows that a level needs for a column of its own
FEWEST = 5  # rows that it needs, and missing values for an indicator
MOST_NAMES_SHOWN = 5
MOST_DATES_TRIED = 20_000
HALF_A_YEAR, TWO_WEEKS = 0.5, 14 / 365.25
NUMBER = re.compile(
    r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|infinity|nan)", re.ASCII | re.IGNORECASE
)
KIND_WORDS = {"number": "a number", "flag": "true/false", "category": "text", "date": "a date"}
DATE_FORMATS = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d.%m.%Y",
    "%d-%b-%Y",
    "%d %b %Y",
    "%d %B %Y",
    "%b %d, %Y",
    "%B %d, %Y",
)
SHORT_DATE_FORMATS = ("%d/%m/%y", "%m/%d/%y", "%d.%m.%y", "%d-%b-%y")  # of two-digit years
TIME_FORMATS = ("%H:%M:%S", "%H:%M", "%H:%M:%SZ", "%I:%M %p", "%I:%M:%S %p")
FORMATS = (
    *DATE_FORMATS,
    *SHORT_DATE_FORMATS,
    *(f"{date}{gap}{time}" for date in DATE_FORMATS for gap in (" ", "T") for time in TIME_FORMATS),
)


@dataclass(frozen=True)
class Roles:
    """Which columns are what; `features` None means all that have no other role."""

    target: str
    by: tuple[str, ...] = ()
    features: tuple[str, ...] | None = None
    weights: str | None = None

    def __post_init__(self) -> None:
        aside = (self.target, *self.by, *([self.weights] if self.weights else []))
        if self.target in self.by:
            raise DataError(
                f"by={self.target!r} is the target too; name the column of datasets with by."
            )
        if self.features is None:
            return
        if not self.features:
            raise DataError("features is empty; name at least one column, or leave it out.")
        for column in self.features:
            if column in aside:
                raise DataError(
                    f"features names {column!r}, which is target, by or weights; drop it."
                )
        repeated = sorted({c for c in self.features if self.features.count(c) > 1})
        if repeated:
            raise DataError(f"features names {repeated[0]!r} twice; name it once.")

    @property
    def aside(self) -> list[str]:
        """Columns with a role of their own."""
        return [*self.by, self.target, *([self.weights] if self.weights else [])]

    @classmethod
    def of(cls, target: Any, by: Any, features: Any, weights: Any) -> "Roles":
        """Return roles from arguments of any accepted form: names may be whole numbers."""
        if weights is not None and not isinstance(weights, str):
            raise DataError(
                f"weights is a {type(weights).__name__}; expected the name of a column of weights."
            )
        if features is not None:
            features = _names(features)
        return cls(str(target), () if by is None else _names(by), features, weights)


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        return (str(value),)
    names = tuple(str(name) for name in value)
    return tuple(sorted(names)) if isinstance(value, (set, frozenset)) else names


@dataclass(frozen=True)
class Schema:
    """Roles of columns and the rules that make features of them.

    Parameters
    ----------
    roles : Roles
    encodings : tuple of Encoding
        One for every feature column of the table, those that are left out among them.
    constant : tuple of str
        Features with one value in all training rows; they are not used.
    response : Response
        What the target is.
    """

    roles: Roles
    encodings: tuple[Encoding, ...]
    constant: tuple[str, ...] = ()
    response: Response = Response()

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the numbers that columns become, in order."""
        return tuple(
            name for e in self.encodings for name in e.features() if name not in self.constant
        )

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features of models: the inputs, or what a representation makes of them."""
        return self.inputs

    @property
    def representation(self) -> Any:
        """What makes features of inputs, where they are not the same (`representations`)."""
        return None

    def represent(self, rows: FloatArray) -> FloatArray:
        """Return the features (rows, features) of inputs (rows, inputs)."""
        return rows

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of the table that are used as features."""
        return tuple(e.name for e in self.encodings if set(e.features()) - set(self.constant))

    def expressions(self) -> list[nw.Expr]:
        """Return an expression for each feature."""
        return [
            expression
            for e in self.encodings
            for name, expression in zip(e.features(), e.expressions())
            if name not in self.constant
        ]

    def encode(self, frame: nw.DataFrame[Any], what: str = "X") -> FloatArray:
        """Return the features of rows in memory, shape (rows, features)."""
        return self.represent(self.encode_inputs(frame, what))

    def encode_inputs(self, frame: nw.DataFrame[Any], what: str = "X") -> FloatArray:
        """Return the numbers that columns become, shape (rows, inputs)."""
        known = frame.columns
        absent = [name for name in self.columns if name not in known]
        if absent:
            raise DataError(f"{what} lacks column {absent[0]!r}; {close_match(absent[0], known)}")
        kinds = {e.name: e.kind for e in self.encodings if e.name in self.columns}
        numbers = [name for name, kind in kinds.items() if kind in ("number", "flag")]
        dates = [name for name, kind in kinds.items() if kind == "date"]
        selected = self.select(fitted(frame, numbers, dates), what)
        rows = np.empty((len(frame), len(self.inputs)))
        for j, name in enumerate(self.inputs):
            rows[:, j] = selected.get_column(name).to_numpy()
        if not np.isfinite(rows).all():
            j = int(np.argmin(np.isfinite(rows).all(axis=0)))
            infinite = np.isinf(rows[:, j]).any()
            fault = "an infinite value" if infinite else "a value that is neither true nor false"
            raise DataError(f"Column {self.inputs[j]!r} of {what} has {fault}; correct or drop it.")
        return rows

    def select(self, frame: Any, what: str = "X") -> Any:
        """Return the features of a frame as a frame; engines' own errors become one sentence."""
        try:
            return frame.select(*self.expressions())
        except Exception as error:
            raise DataError(self._misfit(frame, what, error)) from None

    def _misfit(self, frame: Any, what: str, error: Exception) -> str:
        """Say which column does not have the type it had at fitting."""
        for e in self.encodings:
            try:
                frame.select(*e.expressions())
            except Exception:
                written = f" written as {e.format}" if isinstance(e, Date) and e.format else ""
                return (
                    f"Column {e.name!r} of {what} was {KIND_WORDS[e.kind]}{written} at fitting, "
                    f"but now it is {frame.collect_schema()[e.name]}{_such_as(frame, e)}; give it "
                    "the same type."
                )
        return f"The columns of {what} are not as at fitting: {str(error).splitlines()[0]}."

    def without(self, constant: Sequence[str]) -> "Schema":
        """Return the schema with more features that are not used."""
        return replace(self, constant=(*self.constant, *constant))

    def to_plain(self) -> dict[str, Any]:
        """Return the schema as plain values."""
        r = self.roles
        return {
            "target": r.target,
            "by": list(r.by),
            "features": None if r.features is None else list(r.features),
            "weights": r.weights,
            "columns": [to_plain(e) for e in self.encodings],
            "constant": list(self.constant),
            "response": self.response.to_plain(),
        }

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> "Schema":
        """Return the schema of plain values."""
        features = values.get("features")
        roles = Roles(
            values["target"],
            tuple(values["by"]),
            None if features is None else tuple(features),
            values["weights"],
        )
        encodings = tuple(from_plain(column) for column in values["columns"])
        response = Response.from_plain(values.get("response", {}))
        return cls(roles, encodings, tuple(values["constant"]), response)


def learn(frame: Frame, roles: Roles, missing: str = "indicator") -> Schema:
    """Decide what becomes of every column.

    `missing` says what to do with missing values of features: "indicator" (the median, beside an
    indicator column), "median" (alone), "drop" (such rows; see `complete`) or "raise".
    """
    check_missing(missing)
    types = dict(frame.collect_schema().items())
    check_roles(roles, list(types))
    aside = {roles.target, *roles.by, roles.weights}
    names = roles.features or tuple(name for name in types if name not in aside)
    if not names:
        raise DataError(
            f"There is no column besides {quoted(sorted(c for c in aside if c))}; add features."
        )
    facts = _facts(frame, {name: types[name] for name in names})
    for name in names:
        if types[name].is_numeric():
            _refuse_infinite(frame, name, facts, roles.by)
    encodings = tuple(_decide(frame, name, types[name], facts, missing) for name in names)
    if not any(e.features() for e in encodings):
        raise DataError(
            "No column can be used as a feature: "
            + "; ".join(f"{e.name!r} {e.describe()}" for e in encodings[:MOST_NAMES_SHOWN])
            + "."
        )
    _refuse_repeated(encodings)
    return Schema(roles, encodings)


def _refuse_repeated(encodings: Sequence[Encoding]) -> None:
    """Refuse columns that would give two features of one name."""
    home: dict[str, str] = {}
    for e in encodings:
        for feature in e.features():
            if feature in home:
                raise DataError(
                    f"Columns {home[feature]!r} and {e.name!r} would both give a feature named "
                    f"{feature!r}; rename one of them."
                )
            home[feature] = e.name


def check_missing(missing: str) -> None:
    """Refuse a way to treat missing values that is unknown."""
    if missing not in MISSING_CHOICES:
        raise ArgumentError(
            f"missing={missing!r} is unknown; expected one of {', '.join(MISSING_CHOICES)}."
        )


def check_roles(roles: Roles, columns: Sequence[str]) -> None:
    """Refuse roles that name columns which are not there."""
    wanted = {"target": (roles.target,), "by": roles.by, "features": roles.features or ()}
    wanted["weights"] = (roles.weights,) if roles.weights else ()
    for role, names in wanted.items():
        for name in names:
            if name not in columns:
                raise DataError(f"{role}={name!r} is not a column; {close_match(name, columns)}")


def close_match(name: str, columns: Any) -> str:
    """Return words for a message: a column of a like name, and which columns there are."""
    close = difflib.get_close_matches(name, sorted(columns), n=1)
    guess = f"did you mean {close[0]!r}? " if close else ""
    return f"{guess}columns are {quoted(list(columns))}."


def _facts(frame: Frame, types: Mapping[str, Any]) -> dict[str, Any]:
    """Return numbers of rows and values and ranges of all columns, in one query."""
    asked = [nw.len().alias("rows")]
    for name, dtype in types.items():
        column = nw.col(name)
        if dtype.is_numeric():
            values = present(column)
            for fact, found in (
                ("count", values.count()), ("min", values.min()), ("max", values.max()),
                ("mean", values.mean()),
            ):  # fmt: skip
                asked.append(found.alias(f"{fact} {name}"))
        elif dtype == nw.Boolean:
            asked.append(column.count().alias(f"count {name}"))
        elif dtype in (nw.Date, nw.Datetime):
            asked += _date_facts(column, name)
    return one_row(frame.select(*asked))


def _date_facts(date: nw.Expr, name: str) -> list[nw.Expr]:
    years = _years(date)
    return [
        date.count().alias(f"count {name}"),
        years.min().alias(f"min {name}"),
        years.max().alias(f"max {name}"),
        years.mean().alias(f"mean {name}"),
    ]


def _years(date: nw.Expr) -> nw.Expr:
    day = (date.dt.ordinal_day() - 1).cast(nw.Float64)
    return date.dt.year().cast(nw.Float64) + day / 365.25


def one_row(frame: Any) -> dict[str, Any]:
    """Return the only row of a frame as plain values."""
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return {name: values[0] for name, values in frame.to_dict(as_series=False).items()}


def _decide(
    frame: Frame, name: str, dtype: Any, facts: Mapping[str, Any], missing: str
) -> Encoding:
    rows = int(facts["rows"])
    if dtype.is_numeric():
        return _number(frame, name, facts, missing, text=False)
    if dtype == nw.Boolean:
        absent = rows - int(facts[f"count {name}"])
        if absent:
            _refuse_missing(name, absent, rows, missing)
        return Flag(name, indicator=absent >= FEWEST and missing == "indicator")
    if dtype in (nw.Date, nw.Datetime):
        return _date(frame, name, facts, dtype == nw.Datetime, None, missing)
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return _text(frame, name, rows, missing)
    return LeftOut(name, f"its type is {dtype}, which is neither number, text nor date")


def _refuse_infinite(
    frame: Frame, name: str, facts: Mapping[str, Any], by: Sequence[str] = ()
) -> None:
    ends = (facts[f"min {name}"], facts[f"max {name}"])
    if all(end is None or math.isfinite(float(end)) for end in ends):
        return
    where = ""
    if by:
        infinite: Any = frame.filter(present(nw.col(name)).abs() == math.inf).head(1).select(*by)
        found = [str(value) for value in one_row(infinite).values()]
        where = f" in dataset {' | '.join(found)!r}"
    raise DataError(f"Column {name!r} has an infinite value{where}; correct or drop such rows.")


def _number(
    frame: Frame, name: str, facts: Mapping[str, Any], missing: str, *, text: bool
) -> Encoding:
    rows, count = int(facts["rows"]), int(facts[f"count {name}"])
    if count == 0:
        return LeftOut(name, "all values are missing")
    _refuse_infinite(frame, name, facts)
    absent = rows - count
    if not absent:
        return Number(name, float(facts[f"mean {name}"]), text=text)
    _refuse_missing(name, absent, rows, missing)
    fill = _median(frame, name, text)
    indicator = missing == "indicator" and absent >= FEWEST
    return Number(name, fill, indicator, text, absent)


def _median(frame: Frame, name: str, text: bool) -> float:
    """Return the exact median; Dask has an approximate one only, so there the column is fetched."""
    column = nw.col(name)
    values = present(as_text(column) if text else column)
    if isinstance(frame, nw.LazyFrame) and frame.implementation.is_dask():
        numbers = frame.select(values.alias("v")).collect().get_column("v").to_numpy()
        return float(np.nanmedian(numbers))
    return float(one_row(frame.select(values.median().alias("v")))["v"])


def _refuse_missing(name: str, absent: int, rows: int, missing: str) -> None:
    if missing == "raise":
        raise DataError(
            f"Column {name!r} lacks {absent} of {rows} values; fill them, or choose "
            "missing='indicator', 'median' or 'drop'."
        )


def _date(
    frame: Frame, name: str, facts: Mapping[str, Any], times: bool, format: str | None, missing: str
) -> Encoding:
    rows, count = int(facts["rows"]), int(facts[f"count {name}"])
    if count == 0:
        return LeftOut(name, "all values are missing")
    if count < rows:
        _refuse_missing(name, rows - count, rows, missing)
    span = float(facts[f"max {name}"]) - float(facts[f"min {name}"])
    parts = ["years"]
    if span >= HALF_A_YEAR:
        parts.append("season")
    if span >= TWO_WEEKS:
        parts.append("weekday")
    if times:
        date = as_date(nw.col(name), format)
        clock = (date.dt.hour() * 60 + date.dt.minute()).max().alias("latest")
        if int(one_row(frame.select(clock))["latest"] or 0) > 0:
            parts.append("time of day")
    return Date(name, tuple(parts), round(float(facts[f"mean {name}"]), DIGITS), format)


def _text(frame: Frame, name: str, rows: int, missing: str) -> Encoding:
    counts = level_counts(frame, name)
    absent = counts.pop(None, 0)
    if not counts:
        return LeftOut(name, "all values are missing")
    if absent:
        _refuse_missing(name, absent, rows, missing)
    if {level.lower() for level in counts} == {"true", "false"}:
        return Flag(name, indicator=absent >= FEWEST and missing == "indicator")
    if len(counts) > MOST_LEVELS:
        special = _numbers_or_dates(frame, name, counts, rows, missing)
        if special is not None:
            return special
    if absent:
        counts[MISSING] = counts.get(MISSING, 0) + absent
    return _category(name, counts, rows)


def level_counts(frame: Frame, name: str) -> dict[Any, int]:
    """Return the levels of a column with their number of rows."""
    levels = frame.select(as_text(nw.col(name)).alias("level"))
    table: Any = levels.group_by("level").agg(nw.len().alias("rows"))
    if isinstance(table, nw.LazyFrame):
        table = table.collect()
    found = table.to_dict(as_series=False)
    counts = {
        None if level is None or level != level else str(level): int(n)
        for level, n in zip(found["level"], found["rows"])
    }
    return counts


def _numbers_or_dates(
    frame: Frame, name: str, counts: Mapping[str, int], rows: int, missing: str
) -> Encoding | None:
    """Return the rule of a column of numbers or dates written as text, if it is one."""
    odd = [value for value in counts if not _is_number(value)]
    if not odd or len(counts) - len(odd) > max(MOST_LEVELS, len(odd)):
        if odd:
            raise DataError(
                f"Column {name!r} mixes numbers with text such as {min(odd)!r}; correct these "
                "values, or leave the column out with features."
            )
        values = present(as_text(nw.col(name)))
        asked = (values.count(), values.min(), values.max(), values.mean())
        facts = _named_facts(frame, name, asked, rows)
        return _number(frame, name, facts, missing, text=True)
    format = date_format(list(counts))
    if format is None:
        return None
    date = as_date(nw.col(name), format)
    years = _years(date)
    facts = _named_facts(frame, name, (date.count(), years.min(), years.max(), years.mean()), rows)
    return _date(frame, name, facts, "%H" in format, format, missing)


def _named_facts(frame: Frame, name: str, asked: Any, rows: int) -> dict[str, Any]:
    words = ("count", "min", "max", "mean")
    found = one_row(frame.select(*(e.alias(f"{w} {name}") for w, e in zip(words, asked))))
    return {"rows": rows, **found}


def date_format(values: Sequence[str]) -> str | None:
    """Return the first format in which all texts are dates, if there is one.

    Some texts are tried with care, the others as fast as Arrow can.

    >>> date_format(["31/12/2017", "01/02/2018"])
    '%d/%m/%Y'
    >>> date_format(["sunny", "rainy"]) is None
    True
    """
    some = values[:: max(1, len(values) // MOST_DATES_TRIED)]
    return next((f for f in FORMATS if _all_parse(some, f) and _arrow_parses(values, f)), None)


def _all_parse(values: Sequence[str], format: str) -> bool:
    try:
        for value in values:
            datetime.strptime(value, format)
    except ValueError:
        return False
    return True


def _arrow_parses(values: Sequence[str], format: str) -> bool:
    found = pc.strptime(pa.array(values, pa.string()), format, "us", error_is_null=True)
    return int(found.null_count) == 0


def _category(name: str, counts: Mapping[str, int], rows: int) -> Encoding:
    ordered = sorted(counts, key=lambda level: (-counts[level], level))
    if len(ordered) == 1:
        return LeftOut(name, f"it is {ordered[0]!r} in every row")
    needed = max(FEWEST, RAREST * rows) if len(ordered) > 2 else 1
    frequent = [level for level in ordered[:MOST_LEVELS] if counts[level] >= needed]
    # A level of that name stands for rare ones already.
    frequent = [level for level in frequent if level != OTHER]
    if not frequent or (
        len(ordered) > MOST_LEVELS and sum(counts[level] for level in frequent) < rows / 2
    ):
        return LeftOut(name, f"text with {len(ordered):,} different values, few of them frequent")
    rare = len(ordered) - len(frequent)
    return Category(name, frequent[0], tuple(frequent[1:]), rare > 0, rare)


def _is_number(value: str) -> bool:
    """Say whether a text is a number as every engine reads it, so not 1_000."""
    return NUMBER.fullmatch(value) is not None


def _such_as(frame: Any, encoding: Encoding) -> str:
    """Return a value of a column for a message, if possible one that is not as it should be."""
    if isinstance(frame, nw.LazyFrame):
        return ""
    values = frame.get_column(encoding.name).drop_nulls().to_list()
    odd = [v for v in values if not (isinstance(v, str) and _is_number(v.strip()))]
    if isinstance(encoding, Date) and encoding.format:
        odd = [v for v in odd if not _all_parse([str(v)], encoding.format)]
    shown = odd or values
    return f" with values such as {shown[0]!r}" if shown else ""


def complete(schema: Schema) -> nw.Expr:
    """Return an expression that says where no feature column of a table is missing."""
    found = [~_absent(e).cast(nw.Boolean) for e in schema.encodings if e.features()]
    whole = found[0]
    for one in found[1:]:
        whole = whole & one
    return whole


def _absent(encoding: Encoding) -> nw.Expr:
    column = nw.col(encoding.name)
    if isinstance(encoding, Number):
        return present(as_text(column) if encoding.text else column).is_null()
    if isinstance(encoding, Category | Flag) or (isinstance(encoding, Date) and encoding.format):
        return as_text(column).is_null()
    return column.is_null()
