"""Numbers as plain values and as text."""

import math

import pytest

from conjoin.report.numbers import finite, mean, number, percent_change, percent_of, unsigned


def test_what_is_not_known_is_none():
    assert finite(math.nan) is finite(math.inf) is finite(None) is None
    assert mean([]) is mean([1.0, math.nan]) is None
    assert percent_of(1.0, 0.0) is percent_of(None, 1.0) is percent_change(1.0, 0.0) is None
    assert percent_change(3.0, 2.0) == pytest.approx(50)


def test_numbers():
    assert number(float("inf")) == number(None) == "unknown"
    assert number(-1234567) == "−1,234,567"
    assert number(0) == "0"
    assert unsigned(-12.34) == "12.3 %"
