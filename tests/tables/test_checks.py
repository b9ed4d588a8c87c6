"""Errors and warnings on rows and columns."""

import datetime

import numpy as np
import pandas as pd
import pytest

from conjoin.errors import ConjoinWarning, DataError
from conjoin.tables import collect
from conjoin.tables.checks import check_scales
from tests.tables.helpers import refused


def test_all_values_are_missing(frame):
    for nothing in (np.nan, None, pd.NaT):
        with pytest.warns(ConjoinWarning, match="left out: 'price' .all values are missing"):
            collection = collect(frame.assign(price=nothing), target="sales", by="store")
        assert collection.features == ("promo",)
        refused(frame.assign(price=nothing, promo=nothing), "No column can be used as a feature")
    for nothing in (np.nan, None):
        refused(
            frame.assign(sales=nothing),
            "'sales' or 'store' is missing in all 90 rows; there is nothing to learn",
        )
    refused(frame.assign(store=None), "'sales' or 'store' is missing in all 90 rows")


def test_a_dataset_that_vanishes_with_its_missing_rows_is_named(frame):
    frame["price"] = frame["price"].where(frame["store"] != "b")
    with pytest.warns(ConjoinWarning, match="30 of 90 rows .*; no row is left of dataset 'b'"):
        assert collect(frame, target="sales", by="store", missing="drop").names == ("a", "c")
    frame["sales"] = frame["sales"].where(frame["store"] != "c")
    with pytest.warns(ConjoinWarning, match="is missing; no row is left of dataset 'c'"):
        assert collect(frame, target="sales", by="store").names == ("a", "b")


def test_infinity(frame):
    column = frame.assign(price=np.where(np.arange(90) == 31, np.inf, frame["price"]))
    refused(column, "Column 'price' has an infinite value in dataset 'b'; correct or drop")
    target = frame.assign(sales=np.where(np.arange(90) == 61, -np.inf, frame["sales"]))
    refused(target, "Target 'sales' is infinite in a row of dataset 'c'")
    weight = frame.assign(w=np.where(np.arange(90) == 31, np.inf, 1.0))
    refused(weight, "Weights 'w' of dataset 'b' are infinite in a row", weights="w")
    text = frame.assign(price=[*map(str, frame["price"][:-1]), "inf"])
    refused(text, "Column 'price' has an infinite value")


def test_one_dataset_only(frame):
    refused(frame[frame["store"] == "a"], "There is only one dataset .'a'.: by='store' has one")
    refused({"a": frame.drop(columns="store")}, "the mapping has one entry", by=None)
    refused({"a": frame.assign(c="x")}, "the mapping has one entry", by=None)


def test_constant_target(frame):
    frame["sales"] = 3.0
    refused(frame, "Target 'sales' is 3 in every row")


def test_all_columns_constant(frame):
    frame["price"], frame["promo"] = 1.0, 0
    refused(frame, "Columns 'price', 'promo' are constant over all datasets")


def test_one_constant_column_is_left_out_with_a_warning(frame):
    frame["promo"] = 1
    with pytest.warns(ConjoinWarning, match="one value in all datasets: 'promo'"):
        collection = collect(frame, target="sales", by="store")
    assert collection.features == ("price",)


def test_target_that_is_not_a_number(frame):
    words = "target='sales' is not numeric: .* such as 'many'"
    refused(frame.assign(sales="many"), words, family="gaussian")
    refused(frame.assign(sales="many"), "Target 'sales' has one class in all rows, 'many'")
    dates = frame.assign(sales=pd.Timestamp("2020-01-01"))
    refused(dates, "target='sales' is not numeric: its type is Datetime")
    part = frame.drop(columns="store")
    tables = {"a": part, "b": part.assign(sales="many")}
    refused(tables, "Column 'sales' is a number in dataset 'a' and text in dataset 'b'; give it "
            "one type everywhere", by=None)  # fmt: skip
    yes = collect(frame.assign(sales=frame["sales"] > 100), target="sales", by="store")
    assert set(yes.y) == {0.0, 1.0}


def test_ten_thousand_datasets_with_a_single_row():
    rng = np.random.default_rng(0)
    numbered = {"id": np.arange(10_000), "x": rng.normal(size=10_000), "y": rng.normal(size=10_000)}
    refused(numbered, "Each of the 10,000 datasets has a single row .by='id'.", target="y", by="id")
    texts = {**numbered, "c": ["yes", "no"] * 5_000}
    refused(texts, "Each of the 10,000 datasets has a single row", target="y", by="id")


def test_columns_of_other_types_are_left_out_with_the_reason(frame):
    odd = {
        "list": [["a"], ["b"]] * 45,
        "bytes": [b"x", b"y"] * 45,
        "time": [datetime.time(i % 24) for i in range(90)],
        "length": pd.to_timedelta(np.arange(90), "h"),
        "id": [f"id {i}" for i in range(90)],
        "same": "yes",
    }
    for name, values in odd.items():
        with pytest.warns(ConjoinWarning, match=f"Columns left out: '{name}' ") as caught:
            collection = collect(frame.assign(**{name: values}), target="sales", by="store")
        assert len(caught) == 1
        assert collection.features == ("price", "promo")
    with pytest.warns(ConjoinWarning, match="'list' .*; 'bytes' .*; 'time' .* and 3 more"):
        collect(frame.assign(**odd), target="sales", by="store")


def test_numbers_too_large_to_square(frame):
    refused(frame.assign(sales=-frame["sales"] * 1e155), "Column 'sales' has values up to")
    collection = collect(frame.assign(price=frame["price"] * 1e140), target="sales", by="store")
    assert np.isfinite(collection.X).all()


def test_numbers_too_small_to_square(frame):
    refused(frame.assign(sales=frame["sales"] * 1e-200), "column 'sales' differ by at most")


def test_a_coefficient_that_no_double_can_square(frame):
    low, high = np.zeros(2), np.array([1e-100, 1e100])
    with pytest.raises(
        DataError, match="Target 'sales' varies by .* and column 'price' by .*closer"
    ):
        check_scales(("price", "sales"), low, high)


def test_columns_of_any_size_have_units_in_which_they_can_be_squared(frame):
    for size in (1e-310, 1e155):
        found = collect(frame.assign(price=frame["price"] * size), target="sales", by="store")
        price = found.X[:, [f.startswith("price in units") for f in found.features]]
        assert price.shape[1] == 1 and 0.01 < np.abs(price).max() < 2


def test_weights_that_sums_would_round_away(frame):
    odd = frame.assign(w=np.geomspace(1e-12, 1e12, len(frame)))
    with pytest.raises(DataError, match="Weights 'w' go from 1e-12 to 1e"):
        collect(odd, target="sales", by="store", weights="w")
    kept = collect(odd.assign(w=odd["w"] ** 0.5), target="sales", by="store", weights="w")
    assert np.isfinite(kept.weights).all()


def test_a_name_of_thousands_of_characters_is_cut_in_messages(frame):
    long = "n" * 3000
    with pytest.raises(DataError) as caught:
        collect(frame.rename(columns={"sales": long}), target="sales", by="store")
    assert len(str(caught.value)) < 500
