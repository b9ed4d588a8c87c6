"""Names of datasets: text, natural order, several columns."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pytest

from conjoin.errors import DataError
from conjoin.tables import collect
from conjoin.tables.frame import in_memory, to_frame
from conjoin.tables.names import dataset_names, name_of, natural_order
from tests.tables.helpers import refused


def test_duplicate_names(frame):
    part = frame.drop(columns="store")
    refused({1: part, "1": part}, "Two datasets are named '1'", by=None)
    parts = {"place": ["a | b", "a"] * 45, "shop": ["c", "b | c"] * 45}
    refused(frame.assign(**parts), "Two datasets are named 'a . b . c'", by=["place", "shop"])


def test_names_are_in_natural_order():
    assert natural_order(["s10", "s2", "a", "S1"]) == ["S1", "a", "s2", "s10"]
    assert natural_order(["10", "9", "1.5"]) == ["1.5", "9", "10"]
    frame = pd.DataFrame({"by": [10.0, 2.0] * 20, "x": np.arange(40.0), "y": np.arange(40.0) ** 2})
    assert collect(frame, target="y", by="by").names == ("2", "10")


def test_several_columns_name_the_dataset(frame):
    frame["year"] = [2020.0, 2021.0] * 45
    collection = collect(frame, target="sales", by=["store", "year"])
    assert collection.names[:3] == ("a | 2020", "a | 2021", "b | 2020")
    assert collection.features == ("price", "promo")


@pytest.mark.parametrize(
    ("values", "names"),
    [
        (pd.to_datetime(["2020-01-02", "2020-01-01"]), ["2020-01-01 00:00:00"]),
        (pd.to_datetime(["2020-01-02", "2020-01-01"]).as_unit("ns"), ["2020-01-01 00:00:00"]),
        ([datetime.date(2020, 1, 2), datetime.date(2020, 1, 1)], ["2020-01-01", "2020-01-02"]),
        ([True, False], ["False", "True"]),
        (pd.Categorical([7, 10]), ["7", "10"]),
        (pd.PeriodIndex(["2020-02", "2020-01"], freq="M"), ["2020-01", "2020-02"]),
        ([decimal.Decimal("2.5"), decimal.Decimal("1.5")], ["1.5", "2.5"]),
        ([2**60 + 1, 2**60], [str(2**60), str(2**60 + 1)]),
        (["\u00fc", "\U0001f6b2"], ["\u00fc", "\U0001f6b2"]),
    ],
)
@pytest.mark.parametrize("text", [False, True])
def test_names_are_the_same_with_and_without_text_columns(frame, values, names, text):
    data = frame.assign(store=pd.Series(values).repeat(45).to_list())
    data = data.assign(c=["x", "y", "z"] * 30) if text else data
    found = collect(data, target="sales", by="store")
    assert list(found.names[: len(names)]) == names
    rows = dataset_names(in_memory(to_frame(data)), ["store"])
    assert set(rows) == set(found.names)


def test_text_that_is_not_valid(frame):
    part = frame.drop(columns="store").assign(c=["x", "y", "z"] * 30)
    for tables in ({"a": part, "\udcff": part}, {"a": part[["price", "sales"]], "\udcff": part}):
        refused(tables, "name of dataset .* is not valid text", by=None)
    columns = {c: frame[c].to_list() for c in frame}
    for name in ("store", "c"):
        broken = {**columns, name: ["x", "\udcff", "z"] * 30}
        refused(broken, f"Column '{name}' of data holds values that cannot be used")


def test_names_of_rows():
    frame = in_memory(to_frame({"shop": ["a", None, "b"], "year": [2020.0, 2020.0, np.nan]}))
    assert dataset_names(frame, ["shop", "year"]) == ["a | 2020", None, None]
    with pytest.raises(DataError, match="X lacks column 'place', which names the dataset"):
        dataset_names(frame, ["place"])
    assert [name_of(value) for value in (3.0, 2.5, 7, "x")] == ["3", "2.5", "7", "x"]
