"""From tables of any kind to a collection of datasets."""

import datetime

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from conjoin.errors import ConjoinWarning
from conjoin.tables import collect
from tests.tables.helpers import refused


def test_missing_by(frame):
    refused(frame, "by='shop' is not a column; columns are 'store', 'price'", by="shop")
    refused(frame, "by is missing", by=None)


def test_text_in_a_numeric_column(frame):
    frame["price"] = frame["price"].astype(object)
    frame.loc[40, "price"] = "cheap"
    refused(frame, "Column 'price' of data mixes types: float .* and str .'cheap'.; make it one")
    collection = collect(frame, target="sales", by="store", features=["promo"])
    assert collection.features == ("promo",)


def test_dates(frame):
    frame["day"] = [datetime.datetime(2020, 1, 1) + datetime.timedelta(i) for i in range(90)]
    with pytest.warns(ConjoinWarning, match="Column 'day' is a date; used as years, weekday"):
        collection = collect(frame, target="sales", by="store", features=["day"])
    assert collection.features[:2] == ("day years", "day weekday=Tue")


@pytest.mark.parametrize("value", [np.nan, None])
def test_missing_values(frame, value):
    gaps = [35, 36, 37, 38, 70]
    frame.loc[gaps, "price"] = value
    refused(frame, "Column 'price' lacks 5 of 90 values; fill them, or choose", missing="raise")
    median = frame["price"].median()
    marked = collect(frame, target="sales", by="store").in_table_order()
    assert marked.features == ("price", "price missing", "promo")
    assert (marked.X[gaps, 0] == median).all()
    assert np.nonzero(marked.X[:, 1])[0].tolist() == gaps
    plain = collect(frame, target="sales", by="store", missing="median").in_table_order()
    assert plain.features == ("price", "promo")
    assert (plain.X[:, 0] == marked.X[:, 0]).all()
    with pytest.warns(ConjoinWarning, match="5 of 90 rows are left out because a feature is"):
        whole = collect(frame, target="sales", by="store", missing="drop")
    assert whole.sizes == (30, 26, 29)


def test_few_missing_values_get_no_indicator(frame):
    frame.loc[[35, 70], "price"] = np.nan
    assert collect(frame, target="sales", by="store").features == ("price", "promo")


def test_missing_values_in_every_row_cannot_be_dropped(frame):
    odd = np.arange(90) % 2 == 1
    holes = frame.assign(
        price=frame["price"].where(odd), promo=frame["promo"].astype(float).where(~odd)
    )
    refused(holes, "Every row has a missing value, so missing='drop' leaves none", missing="drop")


def test_missing_names(frame):
    frame.loc[3, "store"] = None
    for data in (frame, pl.from_pandas(frame), {c: frame[c].to_list() for c in frame}):
        with pytest.warns(ConjoinWarning, match="1 of 90 rows is left out because 'sales' or"):
            assert collect(data, target="sales", by="store").sizes == (29, 30, 30)


def test_names_that_are_not_a_number_are_missing(frame):
    names = np.where(np.arange(90) % 5 == 0, np.nan, np.arange(90) % 3)
    numbered = frame.assign(store=names)
    columns = {c: numbered[c].to_numpy() for c in numbered}
    for data in (numbered, pl.DataFrame(columns), pa.table(columns), columns):
        with pytest.warns(ConjoinWarning, match="18 of 90 rows are left out"):
            assert collect(data, target="sales", by="store").names == ("0", "1", "2")


def test_by_with_a_mapping(frame):
    refused({"a": frame, "b": frame}, "by='store' names a column, but data is a mapping")


def test_empty_tables(frame):
    for empty in (pd.DataFrame(), pl.DataFrame(), pa.table({}), {}):
        refused(empty, "data is empty")
    refused({"store": [], "price": [], "sales": []}, "There is no dataset: data has no rows")
    refused(frame[["store", "sales"]], "There is no column besides 'sales', 'store'; add features")
    refused({"a": pd.DataFrame(), "b": frame}, "Dataset 'a' is empty", by=None)
    only = {name: part[["sales"]] for name, part in frame.groupby("store")}
    refused(only, "share no column besides the target 'sales'", by=None)


def test_mixed_values_in_lists_and_odd_values(frame):
    columns = {c: frame[c].to_list() for c in frame}
    refused({**columns, "price": [1, "cheap"] * 45}, "Column 'price' of data mixes types: int")
    refused({**columns, "price": [1j] * 90}, "Column 'price' of data holds values that cannot")
    refused({**columns, "price": [10**30] * 90}, "Column 'price' of data holds values that cannot")
    refused({**columns, "price": np.ones((90, 2))}, "Column 'price' of data has 2 dimensions")
    refused({**columns, "price": [1.0]}, "Columns of data differ in length: .1, 90. rows")
    refused(frame.assign(store=[[1], [2], [3]] * 30), "by='store' is of type List")
    gaps = {**columns, "price": ["low", float("nan"), "high"] * 30}
    collection = collect(gaps, target="sales", by="store", features=["price"])
    assert collection.features == ("price=high", "price=low")
    assert collection.X.sum() == 60


def test_lazy_tables_give_the_same_numbers(frame):
    frame["c"] = ["x", "y ", "", None, "z", "z"] * 15
    frame["day"] = [f"2020-{i % 12 + 1:02d}-{i % 28 + 1:02d}" for i in range(90)]
    frame.loc[:10, "price"] = np.nan
    lazy = pl.from_pandas(frame).lazy()
    relation = duckdb.from_arrow(pa.Table.from_pandas(frame, preserve_index=False))
    with pytest.warns(ConjoinWarning, match="'day' is a date, format %Y-%m-%d"):
        first, *others = (collect(d, target="sales", by="store") for d in (frame, lazy, relation))
    for other in others:
        assert other.names == first.names
        assert other.schema == first.schema
        assert other.X.tobytes() == first.X.tobytes()
        assert other.y.tobytes() == first.y.tobytes()


def test_whole_numbers_beyond_floats_are_rounded(frame):
    frame["id"] = 2**60 + 1000 * np.arange(90)
    frame["c"] = ["x", "y", "z"] * 30
    collection = collect(frame, target="sales", by="store").in_table_order()
    assert (collection.X[:, 2] == frame["id"].astype(float)).all()
    collection = collect(frame, target="id", by="store").in_table_order()
    assert (collection.y == frame["id"].astype(float)).all()


def test_numbers_in_the_byte_order_of_another_machine(frame):
    columns = {c: frame[c].to_numpy() for c in frame}
    swapped = {**columns, "price": columns["price"].astype(">f8"), "c": ["x", "y", "z"] * 30}
    collection = collect(swapped, target="sales", by="store").in_table_order()
    assert (collection.X[:, 0] == columns["price"]).all()


def test_choices_are_those_of_the_request(frame):
    refused(frame, "missing='guess' is unknown; expected one of indicator", missing="guess")
    refused(frame, "columns='all' is unknown; expected one of intersect", columns="all")
    refused(frame, "family='magic' is unknown", family="magic")
