"""How the columns of a table become numbers: frozen rules that are replayed on new rows.

A rule is learned once from the training rows (`tables.schema`) and is plain data from then on: it
says which features a column gives and how, as narwhals expressions, so that the same rule works on
rows in memory and on frames of DuckDB, Dask and Spark. All steps are exact or rounded, so that the
features are the same numbers wherever they are formed.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Protocol

import narwhals as nw

OTHER, MISSING = "(other)", "(missing)"
TRUE, FALSE = ["true", "1", "1.0"], ["false", "0", "0.0"]
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
DIGITS = 9  # of sines and cosines, which differ between engines in the last ones


class Encoding(Protocol):
    """A column of the table and what becomes of it."""

    kind: ClassVar[str]

    @property
    def name(self) -> str:
        """The column."""

    def features(self) -> tuple[str, ...]:
        """Return the names of the features it gives."""

    def expressions(self) -> tuple[nw.Expr, ...]:
        """Return an expression for each feature, Float64 without missing values."""

    def describe(self) -> str:
        """Say in a few words what was done to the column."""


@dataclass(frozen=True)
class Number:
    """A column of numbers; missing ones become `fill`, beside an indicator if there is one.

    `text` is true where numbers are written as text.
    """

    kind: ClassVar[str] = "number"
    name: str
    fill: float
    indicator: bool = False
    text: bool = False
    missing: int = 0

    def features(self) -> tuple[str, ...]:
        """Return the column, and the indicator of missing values."""
        return (self.name, f"{self.name} missing") if self.indicator else (self.name,)

    def expressions(self) -> tuple[nw.Expr, ...]:
        """Return the values with missing ones filled in, and where they were."""
        column = nw.col(self.name)
        values = present(as_text(column) if self.text else column)
        filled = values.fill_null(self.fill).alias(self.name)
        if not self.indicator:
            return (filled,)
        return filled, values.is_null().cast(nw.Float64).alias(self.features()[1])

    def describe(self) -> str:
        """Say how missing values were treated."""
        words = "numbers written as text" if self.text else "number"
        if not self.missing:
            return words
        with_indicator = ", with an indicator" if self.indicator else ""
        return f"{words}; {self.missing:,} missing, filled with {self.fill:g}{with_indicator}"


@dataclass(frozen=True)
class Flag:
    """A column of true and false, also as words or 1 and 0; a missing value is in the middle."""

    kind: ClassVar[str] = "flag"
    name: str
    indicator: bool = False

    def features(self) -> tuple[str, ...]:
        """Return the column, and the indicator of missing values."""
        return (self.name, f"{self.name} missing") if self.indicator else (self.name,)

    def expressions(self) -> tuple[nw.Expr, ...]:
        """Return 0 and 1, and where values were missing."""
        words = as_text(nw.col(self.name)).str.to_lowercase()
        absent = words.is_null() | words.is_in(["", "nan"])
        known = words.is_in([*TRUE, *FALSE])  # anything else has no number and is refused
        value = nw.when(known).then(words.is_in(TRUE).cast(nw.Float64))
        filled = nw.when(absent).then(0.5).otherwise(value)
        if not self.indicator:
            return (filled.alias(self.name),)
        return filled.alias(self.name), absent.cast(nw.Float64).alias(self.features()[1])

    def describe(self) -> str:
        """Say what it is."""
        return "true/false" + (", missing values as an indicator" if self.indicator else "")


@dataclass(frozen=True)
class Category:
    """A column of names: 0/1 columns for all frequent levels but the most frequent, `reference`.

    Levels that were rare at fitting, or not there, go to `OTHER` where `other` says that there is
    such a column, else they are like the reference. Missing values are a level of their own.
    """

    kind: ClassVar[str] = "category"
    name: str
    reference: str
    levels: tuple[str, ...]
    other: bool = False
    pooled: int = 0

    def features(self) -> tuple[str, ...]:
        """Return a name for each 0/1 column."""
        levels = (*self.levels, OTHER) if self.other else self.levels
        return tuple(f"{self.name}={level}" for level in levels)

    def expressions(self) -> tuple[nw.Expr, ...]:
        """Return where the column has each level."""
        text = as_text(nw.col(self.name)).fill_null(MISSING)
        columns = [text == level for level in self.levels]
        if self.other:
            columns.append(~text.is_in([*self.levels, self.reference]))
        return tuple(
            column.cast(nw.Float64).alias(name) for column, name in zip(columns, self.features())
        )

    def describe(self) -> str:
        """Say how many levels there are."""
        pooled = f"; {self.pooled} rare levels pooled" if self.pooled else ""
        count = len(self.features())
        columns = "column" if count == 1 else "columns"
        return f"category, {count} 0/1 {columns} against {self.reference!r}{pooled}"


@dataclass(frozen=True)
class Date:
    """A column of dates or times: a trend in years, the season, the weekday, the time of day.

    `format` says how dates are written where the column is text; missing ones become `fill`, a
    number of years, and have no season or weekday.
    """

    kind: ClassVar[str] = "date"
    name: str
    parts: tuple[str, ...]
    fill: float
    format: str | None = None

    def features(self) -> tuple[str, ...]:
        """Return the names of the parts."""
        names = [f"{self.name} years"]
        if "season" in self.parts:
            names += [f"{self.name} season {wave}" for wave in ("sin", "cos")]
        if "weekday" in self.parts:
            names += [f"{self.name} weekday={day}" for day in WEEKDAYS[1:]]
        if "time of day" in self.parts:
            names += [f"{self.name} hour {w} {k}" for k in (1, 2) for w in ("sin", "cos")]
        return tuple(names)

    def expressions(self) -> tuple[nw.Expr, ...]:
        """Return the parts."""
        date = as_date(nw.col(self.name), self.format).dt
        day = (date.ordinal_day() - 1).cast(nw.Float64)
        parts = [(date.year().cast(nw.Float64) + day / 365.25).fill_null(self.fill)]
        if "season" in self.parts:
            parts += _waves(day, 365.25, 1)
        if "weekday" in self.parts:
            # Sunday is 7, but 0 on Spark.
            day_of_week = date.weekday() % 7
            parts += [(day_of_week == d % 7).cast(nw.Float64).fill_null(0.0) for d in range(2, 8)]
        if "time of day" in self.parts:
            parts += _waves(date.hour().cast(nw.Float64) + date.minute() / 60.0, 24.0, 2)
        return tuple(part.alias(name) for part, name in zip(parts, self.features()))

    def describe(self) -> str:
        """Say which parts are used, and how text was read."""
        written = f", read as {self.format}" if self.format else ""
        return f"date{written}; used: {', '.join(self.parts)}"


@dataclass(frozen=True)
class LeftOut:
    """A column that is not used, and why."""

    kind: ClassVar[str] = "left out"
    name: str
    reason: str

    def features(self) -> tuple[str, ...]:
        """Return nothing."""
        return ()

    def expressions(self) -> tuple[nw.Expr, ...]:
        """Return nothing."""
        return ()

    def describe(self) -> str:
        """Say why it is not used."""
        return f"left out: {self.reason}"


KINDS: dict[str, Any] = {kind.kind: kind for kind in (Number, Flag, Category, Date, LeftOut)}


def to_plain(encoding: Encoding) -> dict[str, Any]:
    """Return an encoding as plain values."""
    return {"kind": encoding.kind, **asdict(encoding)}  # type: ignore[call-overload]


def from_plain(values: Mapping[str, Any]) -> Encoding:
    """Return the encoding of plain values."""
    rest = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items() if k != "kind"}
    encoding: Encoding = KINDS[str(values["kind"])](**rest)
    return encoding


def present(column: nw.Expr) -> nw.Expr:
    """Return numbers in Float64 with NaN as missing."""
    return column.cast(nw.Float64).fill_nan(None)


def as_text(column: nw.Expr) -> nw.Expr:
    """Return names as text without blanks around them; where nothing is left they are missing."""
    text = column.cast(nw.String).str.strip_chars()
    return nw.when(text != "").then(text)


def as_date(column: nw.Expr, format: str | None) -> nw.Expr:
    """Return dates and times, from text where a format is given."""
    if format is None:
        return column
    return as_text(column).str.to_datetime(format=format)


def _waves(values: nw.Expr, period: float, harmonics: int) -> list[nw.Expr]:
    """Return sines and cosines of a cycle; 0 where the value is missing."""
    waves = []
    for k in range(1, harmonics + 1):
        angle = values * (2 * math.pi * k / period)
        waves += [angle.sin(), angle.cos()]
    return [wave.round(DIGITS).fill_null(0.0) for wave in waves]
