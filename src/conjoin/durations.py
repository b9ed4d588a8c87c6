"""Lengths of time as users write them: 28, "4 weeks", "12h", timedelta(days=7).

The name and the value of an argument enter; a number and its unit leave. A plain number has no
unit: it counts days where times are dates, else the units of the column.
"""

import re
import sys
from dataclasses import dataclass
from datetime import timedelta
from numbers import Real
from typing import Any

from conjoin.errors import ArgumentError

# Days in a unit. Months and years are mean ones: blocks of time need no calendar.
DAYS = {
    "second": 1 / 86400,
    "minute": 1 / 1440,
    "hour": 1 / 24,
    "day": 1.0,
    "week": 7.0,
    "month": 365.25 / 12,
    "quarter": 365.25 / 4,
    "year": 365.25,
}
SHORT = {"s": "second", "min": "minute", "h": "hour", "d": "day", "w": "week", "y": "year"}
WRITTEN = re.compile(r"\s*(\d+\.?\d*|\.\d+)\s*([a-z]*)\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Duration:
    """A length of time: in days if `dated`, else in the units of the time column."""

    amount: float
    dated: bool


def parse_duration(name: str, value: Any) -> Duration:
    """Return a length of time.

    >>> parse_duration("horizon", "2 weeks")
    Duration(amount=14.0, dated=True)
    >>> parse_duration("gap", 3)
    Duration(amount=3.0, dated=False)
    """
    given = value
    numpy = sys.modules.get("numpy")  # the command line's help does without it
    if numpy is not None and isinstance(value, numpy.timedelta64):  # it counts as a whole number
        value = value.astype("timedelta64[us]").item()
        value = value if isinstance(value, timedelta) else str(value)  # NaT, or too long
    if isinstance(value, timedelta):
        value = f"{value.total_seconds()} s"
    if isinstance(value, Real) and not isinstance(value, bool) and 0 <= float(value) < float("inf"):
        return Duration(float(value), dated=False)
    found = WRITTEN.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise _unknown(name, given)
    amount, word = float(found[1]), found[2].lower()
    if not word:
        return Duration(amount, dated=False)
    unit = SHORT.get(word, word.removesuffix("s"))
    if unit not in DAYS:
        raise _unknown(name, given)
    return Duration(amount * DAYS[unit], dated=True)


def check_horizon(name: str, value: Any) -> None:
    """Raise an error if a horizon is not a length of time above zero."""
    if value is not None and parse_duration(name, value).amount <= 0:
        raise ArgumentError(
            f"{name}={value!r} is not above zero; expected a length of time, such as '4 weeks'."
        )


def check_gap(name: str, value: Any) -> None:
    """Raise an error if a gap is not a length of time."""
    if value is not None:
        parse_duration(name, value)


def _unknown(name: str, value: Any) -> ArgumentError:
    return ArgumentError(
        f"{name}={value!r} is no length of time; expected a number, or a text such as '4 weeks', "
        "'10 days' or '12 hours'."
    )
