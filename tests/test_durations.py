"""Lengths of time as users write them."""

from datetime import timedelta

import numpy as np
import pytest

from conjoin.durations import Duration, check_gap, check_horizon, parse_duration
from conjoin.errors import ArgumentError


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (28, Duration(28.0, dated=False)),
        ("28", Duration(28.0, dated=False)),
        ("4 weeks", Duration(28.0, dated=True)),
        ("12h", Duration(0.5, dated=True)),
        ("1 Year", Duration(365.25, dated=True)),
        (timedelta(days=2), Duration(2.0, dated=True)),
        (np.timedelta64(36, "h"), Duration(1.5, dated=True)),
    ],
)
def test_numbers_texts_and_timedeltas_are_read(value, found):
    assert parse_duration("horizon", value) == found


@pytest.mark.parametrize(
    "value",
    [
        "soon",
        "4 moons",
        -1,
        True,
        float("nan"),
        "-3 days",
        np.timedelta64("NaT"),
        np.timedelta64(10**6, "Y"),
    ],
)
def test_anything_else_is_refused_with_its_value(value):
    with pytest.raises(ArgumentError, match="gap=.* is no length of time"):
        check_gap("gap", value)


def test_a_horizon_is_above_zero_and_a_gap_may_be_zero():
    check_gap("gap", 0)
    with pytest.raises(ArgumentError, match="horizon=0 is not above zero"):
        check_horizon("horizon", 0)
