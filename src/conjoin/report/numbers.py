"""Numbers as plain values and as text, the same for every face of a result.

Floats and arrays enter. Floats that JSON can hold (None for what is not finite) or short texts
leave.
"""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

# Beyond these a plain number has more digits than a reader takes in: 1,000,000,000,000 or 0.00001.
LARGEST_PLAIN, LEAST_PLAIN = 1e12, 1e-4
# Percent from which decimals are left out: a gain of 123.4 % is never known to the last digit.
NO_DECIMALS = 100.0


def finite(value: float | None) -> float | None:
    """Return a number, or None if it is missing, nan or infinite."""
    return float(value) if value is not None and math.isfinite(value) else None


def plain(values: Any) -> list[Any]:
    """Return an array of any shape as nested lists, with None for what is not finite.

    >>> plain(np.array([[1.0, np.nan], [np.inf, 2.5]]))
    [[1.0, None], [None, 2.5]]
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim > 1:
        return [plain(row) for row in array]
    return [finite(x) for x in array.tolist()]


def mean(values: Iterable[float]) -> float | None:
    """Return the mean of numbers, or None if there is none or one of them is not finite."""
    known = list(values)
    return finite(float(np.mean(known))) if known else None


def percent_of(part: float | None, whole: float | None) -> float | None:
    """Return a part in percent of a whole above zero, or None if one of them is not known."""
    if part is None or whole is None or not whole > 0:
        return None
    return finite(100 * part / whole)


def percent_change(after: float | None, before: float | None) -> float | None:
    """Return by how many percent a number changed, or None if that is not known.

    >>> percent_change(50.0, 100.0)
    -50.0
    """
    if after is None or before is None or not before > 0:
        return None
    return finite(100 * (after / before - 1))


def number(value: float | None, digits: int = 4) -> str:
    """Return a number as people read it.

    >>> number(1234567.8), number(0.000123456), number(-12.3), number(None)
    ('1,234,568', '0.0001235', '−12.3', 'unknown')
    """
    if value is None or not math.isfinite(value):
        return "unknown"
    if value and (abs(value) >= LARGEST_PLAIN or abs(value) < LEAST_PLAIN):
        text = f"{value:.{digits - 1}e}"
    elif abs(value) >= 10 ** (digits - 1):
        text = f"{value:,.0f}"
    else:
        text = f"{value:.{digits}g}"
    return text.replace("-", "−", 1) if value < 0 else text


def signed(percent: float) -> str:
    """Return a change in percent with its sign.

    >>> signed(-3.14159), signed(1234.5), signed(0.001)
    ('−3.1 %', '+1,234 %', '0.0 %')
    """
    text = f"{abs(percent):,.0f}" if abs(percent) >= NO_DECIMALS else f"{abs(percent):.1f}"
    sign = "" if text == "0.0" else "−" if percent < 0 else "+"
    return f"{sign}{text} %"


def end(percent: float) -> str:
    """Return an end of an interval in percent: its sign is never lost to rounding.

    >>> end(-0.684), end(-0.027), end(0.78), end(0.0)
    ('−0.7 %', '−0.03 %', '0.8 %', '0.0 %')
    """
    text = signed(percent).lstrip("+")
    return f"−{number(-percent, 1)} %" if percent < 0 and text == "0.0 %" else text


def unsigned(percent: float) -> str:
    """Return an amount in percent; what would round to zero is called small.

    >>> unsigned(1.74), unsigned(-31.06), unsigned(250.0), unsigned(0.01)
    ('1.7 %', '31.1 %', '250 %', 'less than 0.1 %')
    """
    text = signed(abs(percent)).lstrip("+")
    return "less than 0.1 %" if text == "0.0 %" else text


def share(value: float | None) -> str:
    """Return a share of one in percent.

    >>> share(0.12345), share(0.0012), share(1.0), share(None)
    ('12.3 %', '0.12 %', '100 %', 'unknown')
    """
    if value is None:
        return "unknown"
    percent = 100 * value
    if percent >= 99.95:  # would be written as 100.0
        return "100 %"
    return f"{percent:.1f} %" if percent >= 10 else f"{percent:.2g} %"


def p_value(value: float | None) -> str:
    """Return a p-value; below a thousandth its digits say nothing.

    >>> p_value(0.0312), p_value(2e-9), p_value(None)
    ('0.031', '< 0.001', '')
    """
    if value is None:
        return ""
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"
