"""Dates of new rows that are text where they were dates at fitting, and the other way round."""

import datetime
import warnings

import pyarrow as pa
import pytest

from conjoin.errors import DataError
from conjoin.tables.encoding import Date
from conjoin.tables.frame import in_memory, to_frame
from conjoin.tables.roles import Roles
from conjoin.tables.schema import Schema

WHEN = [datetime.datetime(2023, 1, 6), None, datetime.datetime(2024, 12, 31)]
PARTS = ("years", "season", "weekday")
DAYS = Schema(Roles("y", ()), (Date("v", PARTS, 2020.0),))
TEXT = Schema(Roles("y", ()), (Date("v", PARTS, 2020.0, "%d.%m.%Y"),))


def encode(values, schema=DAYS, what="new.csv", dates=None):
    return schema.encode(in_memory(to_frame({"v": values})), what, dates).tolist()


@pytest.mark.parametrize(
    "texts",
    [
        ["2023-01-06", "", "2024-12-31"],
        [" 2023-01-06 ", None, "2024-12-31"],
        ["2023-01-06 00:00:00.000000", None, "2024-12-31 00:00:00.000000"],
        ["2023-01-06T00:00:00", None, "2024-12-31T00:00:00"],
        ["06.01.2023", None, "31.12.2024"],
        ["01/06/2023", None, "12/31/2024"],
    ],
)
def test_text_is_read_where_a_date_was(texts):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert encode(texts) == encode(WHEN)
        assert encode(pa.array(texts).dictionary_encode().to_pandas()) == encode(WHEN)


def test_the_time_of_day_is_read():
    hours = Schema(Roles("y", ()), (Date("v", ("years", "time of day"), 2020.0),))
    noon = [datetime.datetime(2023, 1, 6, 12, 30, 5)]
    assert encode(["2023-01-06 12:30:05.250"], hours) == encode(noon, hours)


def test_dates_are_read_where_text_was():
    texts = ["06.01.2023", None, "31.12.2024"]
    assert encode(WHEN, TEXT) == encode(texts, TEXT) == encode(WHEN)
    days = [None if one is None else one.date() for one in WHEN]
    assert encode(days, TEXT) == encode(WHEN)


@pytest.mark.parametrize("odd", ["2023-13-45", "2023-02-31", "soon", "nan"])
def test_a_text_that_is_no_date_is_named(odd):
    with pytest.raises(DataError, match=f"'v' of new.csv was a date .* such as '{odd}'; write"):
        encode(["2023-01-06", odd, "2024-12-31"])


def test_day_and_month_that_may_be_swapped_are_told():
    with pytest.warns(UserWarning, match="'v' of new.csv is read with the day before the month"):
        found = encode(["06/01/2023"])
    assert found == encode(WHEN[:1])


def test_parts_of_a_table_are_read_as_the_whole():
    frame = in_memory(to_frame({"v": ["01/06/2023", "12/31/2024"]}))
    dates = DAYS.date_formats(frame)
    assert encode(["01/06/2023"], dates=dates) == encode(WHEN[:1])
    with pytest.raises(DataError, match="such as '31/12/2024'"):
        encode(["31/12/2024"], dates=dates)


def test_only_missing_texts():
    assert encode(["", ""]) == encode([None, None])
