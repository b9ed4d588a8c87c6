"""How the columns of a table become numbers: frozen rules that are applied again to new rows.

`tables.learn` decides a rule once, from the training rows. From then on the rule is plain data. It
says which features a column gives, as narwhals expressions. So one rule works on rows in memory and
on frames of DuckDB, Dask and Spark. All steps are exact or rounded, so that every engine computes
the same features.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Protocol

import narwhals as nw

OTHER, MISSING = "(other)", "(missing)"
TRUE, FALSE = ["true", "1", "1.0"], ["false", "0", "0.0"]
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
# Digits that sines and cosines keep. Engines differ in the last of their 15 to 16 digits; rounding
# to 9 removes that difference and is far finer than a minute of the day (about 0.004).
DIGITS = 9
DAYS_IN_YEAR = 365.25  # mean over leap years, so that a season does not drift over the decades


class Encoding(Protocol):
    """A column of the table and the features that it becomes."""

    kind: ClassVar[str]

    @property
    def name(self) -> str:
        """The column."""

    def features(self) -> tuple[str, ...]:
        """Return the names of the features."""

    def expressions(self) -> tuple[nw.Expr, ...]:
        """Return an expression for each feature: Float64 without missing values."""

    def describe(self) -> str:
        """Return a short description for the user: the type, and what happens to its values."""


@dataclass(frozen=True)
class Number:
    """A column of numbers.

    Parameters
    ----------
    name : str
        The column.
    fill : float
        Value that replaces missing ones.
    indicator : bool, default False
        Whether a 0/1 feature marks the missing values.
    text : bool, default False
        Whether the numbers are written as text.
    missing : int, default 0
        Number of missing values in the training rows.
    code : bool, default False
        Whether the numbers stand for categories, of which there are too many for 0/1 features.
        Boosted trees treat them as categories, lines as numbers.
    unit : float, default 1.0
        Values are divided by it: a power of two, so that nothing is rounded. Other than 1 only for
        columns whose values, or coefficients, double precision could not square.
    """

    kind: ClassVar[str] = "number"
    name: str
    fill: float
    indicator: bool = False
    text: bool = False
    missing: int = 0
    code: bool = False
    unit: float = 1.0

    def features(self) -> tuple[str, ...]:
        """Return the column, and the indicator of missing values if there is one.

        >>> Number("x", 0.0).features(), Number("x", 0.0, unit=2.0**500).features()
        (('x',), ('x in units of 3.27339e+150',))
        """
        values = self.name if self.unit == 1 else f"{self.name} in units of {self.unit:g}"
        return (values, f"{self.name} missing") if self.indicator else (values,)

    def expressions(self) -> tuple[nw.Expr, ...]:
        """Return the values with missing ones filled in, and the indicator."""
        column = nw.col(self.name)
        values = present(as_text(column) if self.text else column)
        filled = values.fill_null(self.fill)
        filled = (filled if self.unit == 1 else filled / self.unit).alias(self.features()[0])
        if not self.indicator:
            return (filled,)
        return filled, values.is_null().cast(nw.Float64).alias(self.features()[1])

    def describe(self) -> str:
        """Return the type, and how missing values are filled in."""
        words = "number written as text" if self.text else "number"
        if self.code:
            words = "category with many values; a number for lines, a category for trees"
        if self.unit != 1:
            words += f" in units of {self.unit:g}"
        if not self.missing:
            return words
        values = "1 missing value" if self.missing == 1 else f"{self.missing:,} missing values"
        indicator = ", plus an indicator column" if self.indicator else ""
        return f"{words}; {values} filled with the median {self.fill:g}{indicator}"


@dataclass(frozen=True)
class Flag:
    """A column of true and false, also written as words or as 1 and 0.

    Parameters
    ----------
    name : str
        The column.
    indicator : bool, default False
        Whether a 0/1 feature marks the missing values. They become 0.5 in any case.
    """

    kind: ClassVar[str] = "flag"
    name: str
    indicator: bool = False

    def features(self) -> tuple[str, ...]:
        """Return the column, and the indicator of missing values if there is one."""
        return (self.name, f"{self.name} missing") if self.indicator else (self.name,)

    def expressions(self) -> tuple[nw.Expr, ...]:
        """Return 0 and 1, and the indicator."""
        words = as_text(nw.col(self.name)).str.to_lowercase()
        absent = words.is_null() | words.is_in(["", "nan"])
        known = words.is_in([*TRUE, *FALSE])  # other values stay null: `Schema` raises an error
        value = nw.when(known).then(words.is_in(TRUE).cast(nw.Float64))
        filled = nw.when(absent).then(0.5).otherwise(value)
        if not self.indicator:
            return (filled.alias(self.name),)
        return filled.alias(self.name), absent.cast(nw.Float64).alias(self.features()[1])

    def describe(self) -> str:
        """Return the type, and whether missing values have an indicator."""
        indicator = ", plus an indicator column for missing values" if self.indicator else ""
        return f"true/false{indicator}"


@dataclass(frozen=True)
class Category:
    """A column of categories: a 0/1 feature for each frequent one except the reference.

    Missing values are a category of their own.

    Parameters
    ----------
    name : str
        The column.
    reference : str
        The most frequent category; it is 0 in all features.
    levels : tuple of str
        Categories with a feature of their own.
    other : bool, default False
        Whether a feature `OTHER` marks categories that were rare or unknown in the training rows.
        Without it they count as the reference.
    pooled : int, default 0
        Number of rare categories in the training rows.
    number : bool, default False
        Whether the categories are whole numbers, such as codes.
    written : str, default ""
        An example of the categories, if nearly all are numbers such as 181,0 that are read as text.
    """

    kind: ClassVar[str] = "category"
    name: str
    reference: str
    levels: tuple[str, ...]
    other: bool = False
    pooled: int = 0
    number: bool = False
    written: str = ""

    def features(self) -> tuple[str, ...]:
        """Return the name of each 0/1 feature."""
        levels = (*self.levels, OTHER) if self.other else self.levels
        return tuple(f"{self.name}={level}" for level in levels)

    def expressions(self) -> tuple[nw.Expr, ...]:
        """Return the 0/1 features."""
        column = nw.col(self.name)
        text = (as_whole_text(column) if self.number else as_text(column)).fill_null(MISSING)
        columns = [text == level for level in self.levels]
        if self.other:
            columns.append(~text.is_in([*self.levels, self.reference]))
        return tuple(
            column.cast(nw.Float64).alias(name) for column, name in zip(columns, self.features())
        )

    def describe(self) -> str:
        """Return the number of features, the reference and the number of rare categories."""
        count = len(self.features())
        columns = "1 indicator column" if count == 1 else f"{count} indicator columns"
        rare = "1 rare category" if self.pooled == 1 else f"{self.pooled:,} rare categories"
        pooled = f"; {rare} pooled as {OTHER!r}" if self.pooled else ""
        return f"category; {columns}, reference {self.reference!r}{pooled}"


@dataclass(frozen=True)
class Date:
    """A column of dates or times: a trend in years, the season, the weekday, the time of day.

    Parameters
    ----------
    name : str
        The column.
    parts : tuple of str
        Which of "years", "season", "weekday" and "time of day" are used.
    fill : float
        Number of years that replaces missing dates. Their other features are 0.
    format : str, optional
        How dates are written, where the column is text.
    odd : tuple of str, default ()
        Texts of the training rows that are no dates; they count as missing.
    unread : int, default 0
        Number of training rows with such a text.
    """

    kind: ClassVar[str] = "date"
    name: str
    parts: tuple[str, ...]
    fill: float
    format: str | None = None
    odd: tuple[str, ...] = ()
    unread: int = 0

    def features(self) -> tuple[str, ...]:
        """Return the name of each feature."""
        names = [f"{self.name} years"]
        if "season" in self.parts:
            names += [f"{self.name} season {wave}" for wave in ("sin", "cos")]
        if "weekday" in self.parts:
            names += [f"{self.name} weekday={day}" for day in WEEKDAYS[1:]]
        if "time of day" in self.parts:
            names += [f"{self.name} hour {w} {k}" for k in (1, 2) for w in ("sin", "cos")]
        return tuple(names)

    def expressions(self) -> tuple[nw.Expr, ...]:
        """Return years, then season, weekday and time of day where they are used."""
        date = as_date(nw.col(self.name), self.format, self.odd)
        parts = [in_years(date).fill_null(self.fill)]
        if "season" in self.parts:
            parts += _waves(_day_of_year(date), DAYS_IN_YEAR, 1)
        if "weekday" in self.parts:
            # Sunday is 7, but 0 on Spark.
            day_of_week = date.dt.weekday() % 7
            parts += [(day_of_week == d % 7).cast(nw.Float64).fill_null(0.0) for d in range(2, 8)]
        if "time of day" in self.parts:
            hours = date.dt.hour().cast(nw.Float64) + date.dt.minute() / 60.0
            # The second harmonic allows two peaks a day, such as the rush hours.
            parts += _waves(hours, 24.0, 2)
        return tuple(part.alias(name) for part, name in zip(parts, self.features()))

    def describe(self) -> str:
        """Return the format of dates written as text, and the parts that are used."""
        written = f", format {self.format}" if self.format else ""
        return f"date{written}; used as {', '.join(self.parts)}{self._unread_in_words()}"

    def _unread_in_words(self) -> str:
        """Say how many values are no dates."""
        if not self.unread:
            return ""
        count = "1 value is no date" if self.unread == 1 else f"{self.unread:,} values are no dates"
        return f"; {count} (such as {self.odd[0]!r}) and counted as missing"


@dataclass(frozen=True)
class LeftOut:
    """A column that is not used, and the reason; `written` is as in `Category`."""

    kind: ClassVar[str] = "left out"
    name: str
    reason: str
    written: str = ""

    def features(self) -> tuple[str, ...]:
        """Return no name."""
        return ()

    def expressions(self) -> tuple[nw.Expr, ...]:
        """Return no expression."""
        return ()

    def describe(self) -> str:
        """Return the reason."""
        return f"left out: {self.reason}"


@dataclass(frozen=True)
class Vector:
    """A column that holds a list of numbers in each row, such as an embedding.

    Parameters
    ----------
    name : str
        The column.
    fill : tuple of float
        Value of each entry where it is missing; there are as many as entries in a list.
    indicator : bool, default False
        Whether a 0/1 feature marks the rows without a list.
    missing : int, default 0
        Number of training rows without a list.
    """

    kind: ClassVar[str] = "vector"
    name: str
    fill: tuple[float, ...]
    indicator: bool = False
    missing: int = 0

    def features(self) -> tuple[str, ...]:
        """Return a name for each entry, from 0, and the indicator if there is one."""
        entries = tuple(f"{self.name}_{j}" for j in range(len(self.fill)))
        return (*entries, f"{self.name} missing") if self.indicator else entries

    def expressions(self) -> tuple[nw.Expr, ...]:
        """Return the entries with missing ones filled in, and the indicator."""
        column = nw.col(self.name)
        entries = tuple(
            present(column.list.get(j)).fill_null(value).alias(name)
            for j, (name, value) in enumerate(zip(self.features(), self.fill))
        )
        if not self.indicator:
            return entries
        return *entries, column.is_null().cast(nw.Float64).alias(self.features()[-1])

    def describe(self) -> str:
        """Return the number of entries, and how missing lists are filled in."""
        words = f"list of {len(self.fill)} numbers, one feature each"
        if not self.missing:
            return words
        lists = "1 missing list" if self.missing == 1 else f"{self.missing:,} missing lists"
        indicator = ", plus an indicator column" if self.indicator else ""
        return f"{words}; {lists} filled with the mean{indicator}"


KINDS: dict[str, Any] = {
    kind.kind: kind for kind in (Number, Flag, Category, Date, Vector, LeftOut)
}


def to_plain(encoding: Encoding) -> dict[str, Any]:
    """Return an encoding as plain values, for a model file; what is usual goes without saying."""
    values: dict[str, Any] = asdict(encoding)  # type: ignore[call-overload]
    if values.get("unit") == 1:
        del values["unit"]
    if values.get("written") == "":
        del values["written"]
    return {"kind": encoding.kind, **values}


def from_plain(values: Mapping[str, Any]) -> Encoding:
    """Return the encoding that `to_plain` has written."""
    rest = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items() if k != "kind"}
    encoding: Encoding = KINDS[str(values["kind"])](**rest)
    return encoding


def present(column: nw.Expr) -> nw.Expr:
    """Return numbers as Float64, with NaN as missing."""
    return column.cast(nw.Float64).fill_nan(None)


def as_text(column: nw.Expr) -> nw.Expr:
    """Return values as text without blanks around them; an empty text is missing."""
    text = column.cast(nw.String).str.strip_chars()
    return nw.when(text != "").then(text)


def as_whole_text(column: nw.Expr) -> nw.Expr:
    """Return whole numbers as text, 3.0 as "3", so that a column with gaps has the same texts."""
    return present(column).cast(nw.Int64).cast(nw.String)


def as_date(column: nw.Expr, format: str | None, odd: Sequence[str] = ()) -> nw.Expr:
    """Return dates and times, parsed from text if a format is given; texts in `odd` are missing."""
    if format is None:
        return column
    return date_text(column, odd).str.to_datetime(format=format)


def date_text(column: nw.Expr, odd: Sequence[str]) -> nw.Expr:
    """Return dates as text, without those that are no dates."""
    text = as_text(column)
    return nw.when(~text.is_in(list(odd))).then(text) if odd else text


def in_years(date: nw.Expr) -> nw.Expr:
    """Return dates as years with a fraction: 1 July 2020 is about 2020.5."""
    return date.dt.year().cast(nw.Float64) + _day_of_year(date) / DAYS_IN_YEAR


def _day_of_year(date: nw.Expr) -> nw.Expr:
    """Return the day of the year, 0 for 1 January."""
    return (date.dt.ordinal_day() - 1).cast(nw.Float64)


def _waves(values: nw.Expr, period: float, harmonics: int) -> list[nw.Expr]:
    """Return sine and cosine of each harmonic of a cycle; 0 where the value is missing."""
    waves = []
    for k in range(1, harmonics + 1):
        angle = values * (2 * math.pi * k / period)
        waves += [angle.sin(), angle.cos()]
    return [wave.round(DIGITS).fill_null(0.0) for wave in waves]
