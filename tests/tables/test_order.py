"""Columns of time and persons."""

import datetime as dt

import narwhals as nw
import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

from conjoin.errors import DataError
from conjoin.tables.collect import collect_rows
from conjoin.tables.order import read_order
from conjoin.tables.roles import Roles

DAYS = [dt.date(2024, 1, 1), dt.date(2024, 1, 3), dt.date(2023, 12, 31)]


def order_of(**columns):
    roles = Roles("y", **{name: name for name in columns})
    return read_order(nw.from_native(pa.table(columns), eager_only=True), roles)


@pytest.mark.parametrize(
    "values",
    [
        DAYS,
        [dt.datetime(d.year, d.month, d.day) for d in DAYS],
        [dt.datetime(d.year, d.month, d.day, tzinfo=dt.UTC) for d in DAYS],
        [d.isoformat() for d in DAYS],
        [f"{d:%d/%m/%Y}" for d in DAYS],
    ],
)
def test_dates_in_every_form_are_days(values):
    found = order_of(time=values)
    assert found.dated
    assert_allclose(found.time, [19723, 19725, 19722])


def test_numbers_and_numbers_written_as_text_stay_numbers():
    assert_allclose(order_of(time=[3, 1, 2]).time, [3, 1, 2])
    found = order_of(time=["3", " 1.5", "2"])
    assert_allclose(found.time, [3, 1.5, 2])
    assert not found.dated


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["soon", "later"], "time='time' cannot be read as dates or numbers, with values such as"),
        ([True, False], "time='time' is of type Boolean"),
        ([1.0, float("inf")], "time='time' is infinite"),
    ],
)
def test_a_time_that_cannot_be_read_is_an_error_with_a_value(values, words):
    with pytest.raises(DataError, match=words):
        order_of(time=values)


def test_one_wrong_date_among_many_is_named():
    days = [f"2019-03-{day:02d}" for day in range(1, 31)]
    with pytest.raises(DataError, match="'2019-13-45'"):
        order_of(time=[*days, "2019-13-45"])


def test_rows_keep_their_time_and_person_when_they_are_sorted_and_dropped():
    table = {
        "s": ["b", "a", "b", "a", "a", "b"],
        "x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        "y": [1.0, 2.0, None, 4.0, 5.0, 7.0],
        "t": [10, 20, 30, 40, 50, 60],
        "who": ["p", "q", "p", "q", "r", "s"],
    }
    roles = Roles.of("y", "s", None, None, None, ["t"], ("t", "who"))
    with pytest.warns(UserWarning, match="left out"):
        found = collect_rows(table, roles).in_table_order()
    assert found.features == ("x",)
    assert_allclose(found.order.time, [20, 40, 50, 10, 60])
    assert len(set(found.order.who[:2])) == 1
    assert len(np.unique(found.order.who)) == 4


def test_columns_with_two_roles_are_refused():
    with pytest.raises(DataError, match="time='y' is also target"):
        Roles.of("y", "s", None, None, order=("y", None))
    with pytest.raises(DataError, match="time and repeat both name 't'"):
        Roles.of("y", "s", None, None, order=("t", "t"))
    with pytest.raises(DataError, match="repeat='nobody' is not a column"):
        collect_rows({"s": [1, 2], "x": [1, 2], "y": [3, 4]}, Roles.of(
            "y", "s", None, None, order=(None, "nobody")))  # fmt: skip
