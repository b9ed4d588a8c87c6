"""Several tables become one: columns that only some have, and types that differ."""

import datetime
import decimal
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest

from conjoin.errors import ConjoinWarning
from conjoin.tables import collect
from tests.tables.helpers import refused


def test_no_shared_columns(frame):
    tables = {
        "a": frame[["price", "sales"]],
        "b": frame[["promo", "sales"]],
    }
    refused(tables, "share no column besides the target 'sales'", by=None)


def test_columns_that_only_some_datasets_have(frame):
    tables = {"a": frame[["price", "promo", "sales"]], "b": frame[["price", "sales"]]}
    for features in (None, ["promo"], ["price", "promo"]):
        refused(tables, "Columns 'promo' are not in every dataset .'b' lacks 'promo'.; choose "
                "columns='intersect'", by=None, features=features)  # fmt: skip
    refused(
        tables,
        "columns='all' is unknown; expected one of inter",
        by=None,
        columns="all",
    )
    refused(tables, "share no column", by=None, features=["promo"], columns="intersect")
    assert collect(tables, target="sales", features=["price"]).features == ("price",)
    for features in (None, ["promo", "price"]):
        shared = collect(tables, target="sales", features=features, columns="intersect")
        assert shared.features == ("price",)
    filled = collect(tables, target="sales", columns="impute")
    assert filled.features == ("price", "promo", "promo missing")
    assert (filled.X[filled.rows(1)][:, 2] == 1).all()
    assert (filled.X[filled.rows(1)][:, 1] == np.median(frame["promo"])).all()


def test_empty_dataset(frame):
    part = frame.drop(columns="store")
    refused({"a": part, "b": part[:0]}, "Dataset 'b' is empty", by=None)
    refused(frame[:0], "There is no dataset")


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (1.0, "x", "is a number in dataset 'a' and text in dataset 'b'"),
        (pd.Timestamp("2020-01-01"), 1, "is a date in dataset 'a' and a number in dataset 'b'"),
        (
            pd.Timestamp("2020-01-01", tz="UTC"),
            pd.Timestamp("2020-01-01"),
            "is a date in time zone UTC in",
        ),
        (
            pd.Timestamp("2020-01-01"),
            pd.Timedelta(1, "D"),
            "is a date in dataset 'a' and of type duration",
        ),
        ([1, 2], 1.0, "is of type list.* in dataset 'a' and a number"),
        (b"x", "x", "is of type binary in dataset 'a' and text"),
    ],
)
def test_a_column_of_different_kinds_in_two_tables(frame, a, b, message):
    part = frame.drop(columns="store")
    tables = {"a": part.assign(z=[a] * 90), "b": part.assign(z=[b] * 90)}
    refused(tables, f"Column 'z' {message}", by=None)
    kept = collect(tables, target="sales", features=["price", "promo"])
    assert kept.features == ("price", "promo")


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([True, False], [0, 1]),
        ([1, 2], [1.5, 2.5]),
        ([2**60, 1], [1.5, 2.5]),
        ([decimal.Decimal("1.5"), decimal.Decimal(2)], [1, 3]),
        ([None, None], [1, 2]),
        ([1, 2], [None, None]),
        (pd.array([None, None], dtype="str"), [1, 2]),
    ],
)
def test_numbers_of_different_types_go_together(frame, a, b):
    part = frame.drop(columns="store").assign(c=["x", "y", "z"] * 30)
    tables = {"a": part.assign(z=list(a) * 45), "b": part.assign(z=list(b) * 45)}
    collection = collect(tables, target="sales", missing="median").in_table_order()
    z = collection.X[:, collection.features.index("z")]
    for k, values in enumerate((a, b)):
        if values[0] is not None and values[0] == values[0]:
            assert (z[collection.rows(k)] == np.array(list(values) * 45, dtype=float)).all()


def test_texts_and_dates_of_different_types_go_together(frame):
    part = frame.drop(columns="store")
    day = datetime.datetime(2020, 1, 1)
    hours = [day + datetime.timedelta(hours=5 * i) for i in range(90)]
    tables = {
        "a": part.assign(c=pd.Categorical(["x", "y"] * 45), d=[h.date() for h in hours]),
        "b": part.assign(c=["x", "y"] * 45, d=hours),
        "c": pl.from_pandas(part).with_columns(c=pl.lit(None), d=pl.Series(hours)),
    }
    with pytest.warns(ConjoinWarning, match="'d' is a date; used as years, weekday, time of day"):
        collection = collect(tables, target="sales")
    assert {"c=x", "c=y", "d hour sin 1"} <= set(collection.features)
    midnight = collection.X[collection.rows(0)][:, collection.features.index("d hour cos 1")]
    assert (midnight == 1).all()


def test_a_column_without_values_in_one_table(frame):
    part = frame.drop(columns="store")
    tables = {"a": part.assign(c=None), "b": part.assign(c=["x", "y"] * 45)}
    for order in (["a", "b"], ["b", "a"]):
        collection = collect({name: tables[name] for name in order}, target="sales")
        assert collection.features == ("price", "promo", "c=x", "c=y")


def test_lazy_tables_in_a_mapping_and_names_like_patterns(frame):
    strange = frame.rename(columns={"price": "^p.*$"})
    lazy = pl.from_pandas(strange).lazy()
    assert collect(lazy, target="sales", by="store").features == ("^p.*$", "promo")
    tables = {name: lazy.filter(pl.col("store") == name).drop("store") for name in "abc"}
    assert collect(tables, target="sales").sizes == (30, 30, 30)


def test_many_small_tables_take_little_time():
    rng = np.random.default_rng(0)
    tables = {}
    for i in range(1000):
        x = rng.normal(size=(20, 5))
        tables[f"s{i}"] = pd.DataFrame(x, columns=list("abcde")).assign(
            c=rng.choice(["x", "y"], 20), y=x[:, 0]
        )
    start = time.perf_counter()
    assert len(collect(tables, target="y").names) == 1000
    assert time.perf_counter() - start < 10  # about 1 s where nothing else runs
