import datetime
import decimal
import time
import warnings

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import conjoin
from conjoin.errors import ConjoinError, ConjoinWarning
from conjoin.sources.read import read_columns
from conjoin.tables import collect
from conjoin.tables.dataset import natural_order


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "store": np.repeat(["a", "b", "c"], 30),
            "price": rng.normal(10, 2, 90),
            "promo": rng.integers(0, 2, 90),
            "sales": rng.normal(100, 5, 90),
        }
    )


def refused(data, match, **options):
    options = {"target": "sales", "by": "store", "method": "direct", **options}
    with pytest.raises(ConjoinError, match=match) as caught:
        conjoin.partition(data, **options)
    assert isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)


def test_missing_target(frame):
    refused(frame, "target='profit' is not a column; columns are 'store', 'price'", target="profit")
    refused(frame, "target='salez' is not a column; did you mean 'sales'?", target="salez")
    tables = {name: part.drop(columns="store") for name, part in frame.groupby("store")}
    tables["b"] = tables["b"].drop(columns="sales")
    refused(tables, "target='sales' is not a column of dataset 'b'", by=None)


def test_missing_by(frame):
    refused(frame, "by='shop' is not a column; columns are 'store', 'price'", by="shop")
    refused(frame, "by is missing", by=None)


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
    refused(tables, "columns='all' is unknown", by=None, columns="all")
    refused(tables, "share no column", by=None, features=["promo"], columns="intersect")
    assert collect(tables, target="sales", features=["price"]).features == ("price",)
    for features in (None, ["promo", "price"]):
        shared = collect(tables, target="sales", features=features, columns="intersect")
        assert shared.features == ("price",)
    filled = collect(tables, target="sales", columns="impute")
    assert filled.features == ("price", "promo", "promo missing")
    assert (filled.X[filled.rows(1)][:, 2] == 1).all()
    assert (filled.X[filled.rows(1)][:, 1] == np.median(frame["promo"])).all()


def test_text_in_a_numeric_column(frame):
    frame["price"] = frame["price"].astype(object)
    frame.loc[40, "price"] = "cheap"
    refused(frame, "Column 'price' of data mixes types: float .* and str .'cheap'.; make it one")
    collection = collect(frame, target="sales", by="store", features=["promo"])
    assert collection.features == ("promo",)


def test_dates(frame):
    frame["day"] = [datetime.datetime(2020, 1, 1) + datetime.timedelta(i) for i in range(90)]
    with pytest.warns(ConjoinWarning, match="Column 'day' is a date; used: years, weekday"):
        collection = collect(frame, target="sales", by="store", features=["day"])
    assert collection.features[:2] == ("day years", "day weekday=Tue")


@pytest.mark.parametrize("value", [np.nan, None])
def test_missing_values(frame, value):
    gaps = [35, 36, 37, 38, 70]
    frame.loc[gaps, "price"] = value
    refused(frame, "Column 'price' lacks 5 of 90 values; fill them, or choose", missing="raise")
    median = frame["price"].median()
    told = collect(frame, target="sales", by="store")
    assert told.features == ("price", "price missing", "promo")
    assert (told.X[gaps, 0] == median).all()
    assert np.nonzero(told.X[:, 1])[0].tolist() == gaps
    plain = collect(frame, target="sales", by="store", missing="median")
    assert plain.features == ("price", "promo")
    assert (plain.X[:, 0] == told.X[:, 0]).all()
    with pytest.warns(ConjoinWarning, match="5 of 90 rows are left out, since a value is missing"):
        whole = collect(frame, target="sales", by="store", missing="drop")
    assert whole.sizes == (30, 26, 29)


def test_few_missing_values_get_no_indicator(frame):
    frame.loc[[35, 70], "price"] = np.nan
    assert collect(frame, target="sales", by="store").features == ("price", "promo")


def test_all_values_are_missing(frame):
    for nothing in (np.nan, None, pd.NaT):
        with pytest.warns(ConjoinWarning, match="left out: 'price' .all values are missing"):
            collection = collect(frame.assign(price=nothing), target="sales", by="store")
        assert collection.features == ("promo",)
        refused(frame.assign(price=nothing, promo=nothing), "No column can be used as a feature")
    for nothing in (np.nan, None):
        gone = frame.assign(sales=nothing)
        refused(gone, "In all 90 rows 'sales' or 'store' is missing; there is nothing to learn")
    refused(frame.assign(store=None), "In all 90 rows 'sales' or 'store' is missing")


def test_missing_values_in_every_row_cannot_be_dropped(frame):
    odd = np.arange(90) % 2 == 1
    holes = frame.assign(
        price=frame["price"].where(odd), promo=frame["promo"].astype(float).where(~odd)
    )
    refused(holes, "Every row has a missing value, so missing='drop' leaves none", missing="drop")


def test_a_dataset_that_vanishes_with_its_missing_rows_is_named(frame):
    frame["price"] = frame["price"].where(frame["store"] != "b")
    with pytest.warns(ConjoinWarning, match="30 of 90 rows .*; nothing is left of 'b'"):
        assert collect(frame, target="sales", by="store", missing="drop").names == ("a", "c")
    frame["sales"] = frame["sales"].where(frame["store"] != "c")
    with pytest.warns(ConjoinWarning, match="'sales' or 'store' is missing .* left of 'c'"):
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


def test_missing_names(frame):
    frame.loc[3, "store"] = None
    for data in (frame, pl.from_pandas(frame), {c: frame[c].to_list() for c in frame}):
        with pytest.warns(ConjoinWarning, match="1 of 90 rows are left out, since 'sales' or"):
            assert collect(data, target="sales", by="store").sizes == (29, 30, 30)


def test_names_that_are_not_a_number_are_missing(frame):
    names = np.where(np.arange(90) % 5 == 0, np.nan, np.arange(90) % 3)
    numbered = frame.assign(store=names)
    columns = {c: numbered[c].to_numpy() for c in numbered}
    for data in (numbered, pl.DataFrame(columns), pa.table(columns), columns):
        with pytest.warns(ConjoinWarning, match="18 of 90 rows are left out"):
            assert collect(data, target="sales", by="store").names == ("0", "1", "2")


def test_empty_dataset(frame):
    part = frame.drop(columns="store")
    refused({"a": part, "b": part[:0]}, "Dataset 'b' is empty", by=None)
    refused(frame[:0], "There is no dataset")


def test_one_dataset_only(frame):
    refused(frame[frame["store"] == "a"], "There is only one dataset .'a'.: by='store' has one")
    refused({"a": frame.drop(columns="store")}, "the mapping has one entry", by=None)
    refused({"a": frame.assign(c="x")}, "the mapping has one entry", by=None)


def test_duplicate_names(frame):
    part = frame.drop(columns="store")
    refused({1: part, "1": part}, "Two datasets are named '1'", by=None)
    parts = {"place": ["a | b", "a"] * 45, "shop": ["c", "b | c"] * 45}
    refused(frame.assign(**parts), "Two datasets are named 'a . b . c'", by=["place", "shop"])


def test_by_with_a_mapping(frame):
    refused({"a": frame, "b": frame}, "by='store' names a column, but data is a mapping")


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


@pytest.mark.parametrize("method", ["direct", "bound", "tuned"])
def test_fewer_rows_than_columns(method):
    rng = np.random.default_rng(0)
    wide = {f"x{j}": rng.standard_normal(12) for j in range(20)}
    tables = {"a": {**wide, "sales": rng.standard_normal(12)}, "b": {**wide, "sales": wide["x0"]}}
    refused(
        tables, "Dataset 'a' has .* rows .* but the model has 21 columns", by=None, method=method
    )
    options = {} if method == "direct" else {"resamples": 20}
    result = conjoin.partition(
        tables, target="sales", method=method, overparametrised=True, **options
    )
    assert sorted(result.labels) == ["a", "b"]


@pytest.mark.parametrize("delta", [0, 1, -0.5, 3])
def test_delta_outside_its_range(frame, delta):
    refused(frame, f"delta={delta}.* is not a level", method="tuned", delta=delta)


def test_unknown_arguments(frame):
    refused(frame, "method='magic' is unknown", method="magic")
    refused(frame, "grouping='magic' is unknown", grouping="magic")
    refused(frame, "does not take n=...", method="direct", n=3)
    refused(frame, "does not take n=...", method="risk", n=3)
    refused(frame, "strategy='magic' is unknown", strategy="magic")
    refused(frame, "finds clusters itself", method="bic", grouping="greedy")
    refused(frame, "scores pairs only", method="tuned", grouping="agglomerative")
    refused(frame, "count='cats' is unknown", count="cats")
    refused(frame, "folds=1 is not a count", folds=1)
    refused(frame, "random_state='x' is no seed", random_state="x")
    refused(frame, "random_state=-1 is negative", random_state=-1)
    refused([1, 2], "data is a list; expected a pandas, Polars, Dask or PySpark frame")
    refused(frame, "missing='guess' is unknown; expected one of indicator", missing="guess")
    refused(frame, "columns='all' is unknown; expected 'intersect'", columns="all")
    with pytest.raises(ConjoinError, match="cannot be combined with a ready criterion"):
        conjoin.partition(frame, target="sales", by="store", method=conjoin.Direct(), n=3)


def test_weights(frame):
    frame["w"] = 1.0
    frame.loc[:9, "w"] = 0.0
    collection = collect(frame, target="sales", by="store", weights="w")
    assert collection.sizes == (20, 30, 30)
    assert collection.features == ("price", "promo")
    frame["w"] = -1.0
    refused(frame, "Weights 'w' of dataset 'a' must be >= 0", weights="w")
    refused(frame, "weights='v' is not a column", weights="v")
    refused(frame.assign(w="heavy"), "weights='w' is not numeric", weights="w")
    gaps = frame.assign(w=np.where(np.arange(90) < 6, np.nan, 1.0))
    for data in (gaps, pl.DataFrame({c: gaps[c].to_numpy() for c in gaps})):
        with pytest.warns(ConjoinWarning, match="6 of 90 rows .* 'sales' or 'store' or 'w' is"):
            assert collect(data, target="sales", by="store", weights="w").sizes == (24, 30, 30)


def test_duplicate_columns(frame):
    twice = pd.concat([frame, frame[["price"]]], axis=1)
    refused(twice, "data has two columns named 'price'")
    numbered = frame.rename(columns={"price": 0})
    refused(pd.concat([numbered, numbered[[0]]], axis=1), "data has two columns named '0'")
    refused(frame.assign(**{"1": 1.0}).rename(columns={"price": 1}), "two columns named '1'")
    refused({**frame, 1: frame["price"], "1": frame["price"]}, "two columns named '1'")
    part = twice.drop(columns="store")
    refused({"a": part, "b": part}, "dataset 'a' has two columns named 'price'", by=None)


def test_frames_of_either_kind_and_plain_columns_agree(frame):
    collections = [
        collect(data, target="sales", by="store")
        for data in (frame, pl.from_pandas(frame), {c: frame[c].to_numpy() for c in frame})
    ]
    shuffled = frame.sample(frac=1, random_state=0)
    assert collect(shuffled, target="sales", by="store").names == ("a", "b", "c")
    for other in collections[1:]:
        assert other.names == collections[0].names
        assert (other.X == collections[0].X).all()
        assert (other.y == collections[0].y).all()


def test_names_are_in_natural_order():
    assert natural_order(["s10", "s2", "a", "S1"]) == ["S1", "a", "s2", "s10"]
    assert natural_order(["10", "9", "1.5"]) == ["1.5", "9", "10"]
    frame = pd.DataFrame({"by": [10.0, 2.0] * 20, "x": np.arange(40.0), "y": np.arange(40.0) ** 2})
    assert collect(frame, target="y", by="by").names == ("2", "10")


def test_masked_values_are_missing_values(frame):
    columns = {c: frame[c].to_numpy() for c in frame}
    columns["price"] = np.ma.masked_array(columns["price"], mask=np.arange(90) == 40)
    refused(columns, "Column 'price' lacks 1 of 90 values", missing="raise")
    collection = collect(columns, target="sales", by="store")
    assert collection.X[40, 0] == np.median(np.delete(columns["price"].data, 40))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_missing_values_in_files_are_seen(frame, tmp_path, suffix):
    frame.loc[40, "price"] = np.nan
    path = tmp_path / f"table{suffix}"
    frame.to_csv(path, index=False) if suffix == ".csv" else frame.to_parquet(path, index=False)
    refused(read_columns(path), "Column 'price' lacks 1 of 90 values", missing="raise")


def test_whole_numbers_as_column_names(frame):
    numbered = frame.rename(columns={"price": 0, "promo": 1, "sales": 2, "store": 3})
    collection = collect(numbered, target=2, by=3)
    assert collection.features == ("0", "1")
    assert (collection.X == collect(frame, target="sales", by="store").X).all()


def test_names_that_do_not_go_together(frame):
    refused(frame, "features names 'sales'", features=["price", "sales"])
    refused(frame, "features names 'price' twice", features=["price", "price"])
    refused(frame, "features is empty", features=[])
    refused(frame, "by='sales' is the target too", by="sales")
    refused(frame, "weights is a ndarray", weights=np.ones(90))
    refused({}, "data is empty")
    for features in ("price", ("price",), np.array(["price"]), pd.Index(["price"]), {"price"}):
        collection = collect(frame, target="sales", by=pd.Index(["store"]), features=features)
        assert collection.features == ("price",)


def test_the_unit_of_weights_means_nothing(frame):
    w = np.linspace(1, 2, 90)
    one, two = (
        collect(frame.assign(w=w * unit), target="sales", by="store", weights="w")
        for unit in (1.0, 1e5)
    )
    np.testing.assert_allclose(one.weights, two.weights)
    assert one.weights.mean() == pytest.approx(1)


def test_a_target_that_is_no_number(frame):
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


def test_empty_tables(frame):
    for empty in (pd.DataFrame(), pl.DataFrame(), pa.table({}), {}):
        refused(empty, "data is empty")
    refused({"store": [], "price": [], "sales": []}, "There is no dataset: data has no rows")
    refused(frame[["store", "sales"]], "There is no column besides 'sales', 'store'; add features")
    refused({"a": pd.DataFrame(), "b": frame}, "Dataset 'a' is empty", by=None)
    only = {name: part[["sales"]] for name, part in frame.groupby("store")}
    refused(only, "share no column besides the target 'sales'", by=None)


def test_ten_thousand_datasets_of_one_row():
    rng = np.random.default_rng(0)
    numbered = {"id": np.arange(10_000), "x": rng.normal(size=10_000), "y": rng.normal(size=10_000)}
    refused(numbered, "Each of the 10,000 datasets has a single row .by='id'.", target="y", by="id")
    texts = {**numbered, "c": ["yes", "no"] * 5_000}
    refused(texts, "Each of the 10,000 datasets has a single row", target="y", by="id")


@pytest.mark.parametrize("word", ["cheap", "NA", "1_000", "\uff11", "1,5"])
def test_numbers_written_as_text_with_a_few_words(frame, word):
    prices = [word if i in (3, 50) else str(x) for i, x in enumerate(frame["price"])]
    refused(frame.assign(price=prices), f"Column 'price' mixes numbers with text such as '{word}'")


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
    collection = collect(tables, target="sales", missing="median")
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
    with pytest.warns(ConjoinWarning, match="'d' is a date; used: years, weekday, time of day"):
        collection = collect(tables, target="sales")
    assert {"c=x", "c=y", "d hour sin 1"} <= set(collection.features)
    midnight = collection.X[collection.rows(0)][:, collection.features.index("d hour cos 1")]
    assert (midnight == 1).all()


def test_a_column_that_one_table_has_in_name_only(frame):
    part = frame.drop(columns="store")
    tables = {"a": part.assign(c=None), "b": part.assign(c=["x", "y"] * 45)}
    for order in (["a", "b"], ["b", "a"]):
        collection = collect({name: tables[name] for name in order}, target="sales")
        assert collection.features == ("price", "promo", "c=x", "c=y")


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


def test_columns_of_other_types_are_left_out_with_the_reason(frame):
    odd = {
        "list": [[1]] * 90,
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


def test_columns_that_would_give_features_of_one_name(frame):
    gaps = frame["price"].where(np.arange(90) % 5 > 0)
    both = frame.assign(**{"price": gaps, "price missing": np.arange(90.0)})
    refused(both, "Columns 'price' and 'price missing' would both give a feature named")
    both = frame.assign(**{"c": ["x", "y", "z"] * 30, "c=y": np.arange(90.0)})
    refused(both, "Columns 'c' and 'c=y' would both give a feature named 'c=y'")


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
    result = conjoin.partition(data, target="sales", by="store")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result.predict(data)


def test_lazy_tables_give_the_same_numbers(frame):
    frame["c"] = ["x", "y ", "", None, "z", "z"] * 15
    frame["day"] = [f"2020-{i % 12 + 1:02d}-{i % 28 + 1:02d}" for i in range(90)]
    frame.loc[:10, "price"] = np.nan
    lazy = pl.from_pandas(frame).lazy()
    relation = duckdb.from_arrow(pa.Table.from_pandas(frame, preserve_index=False))
    with pytest.warns(ConjoinWarning, match="'day' is a date, read as %Y-%m-%d"):
        first, *others = (collect(d, target="sales", by="store") for d in (frame, lazy, relation))
    for other in others:
        assert other.names == first.names
        assert other.schema == first.schema
        assert other.X.tobytes() == first.X.tobytes()
        assert other.y.tobytes() == first.y.tobytes()


def test_lazy_tables_in_a_mapping_and_names_like_patterns(frame):
    strange = frame.rename(columns={"price": "^p.*$"})
    lazy = pl.from_pandas(strange).lazy()
    assert collect(lazy, target="sales", by="store").features == ("^p.*$", "promo")
    tables = {name: lazy.filter(pl.col("store") == name).drop("store") for name in "abc"}
    assert collect(tables, target="sales").sizes == (30, 30, 30)


def test_whole_numbers_beyond_floats_are_rounded(frame):
    frame["id"] = 2**60 + 1000 * np.arange(90)
    frame["c"] = ["x", "y", "z"] * 30
    collection = collect(frame, target="sales", by="store")
    assert (collection.X[:, 2] == frame["id"].astype(float)).all()
    assert (collect(frame, target="id", by="store").y == frame["id"].astype(float)).all()


def test_numbers_too_large_to_square(frame):
    refused(frame.assign(price=frame["price"] * 1e155), "Column 'price' has values up to .*e.156")
    refused(frame.assign(sales=-frame["sales"] * 1e155), "Column 'sales' has values up to")
    collection = collect(frame.assign(price=frame["price"] * 1e140), target="sales", by="store")
    assert np.isfinite(collection.X).all()


def test_text_that_is_not_valid(frame):
    part = frame.drop(columns="store").assign(c=["x", "y", "z"] * 30)
    for tables in ({"a": part, "\udcff": part}, {"a": part[["price", "sales"]], "\udcff": part}):
        refused(tables, "name of dataset .* is not valid text", by=None)
    columns = {c: frame[c].to_list() for c in frame}
    for name in ("store", "c"):
        broken = {**columns, name: ["x", "\udcff", "z"] * 30}
        refused(broken, f"Column '{name}' of data holds values that cannot be used")


def test_numbers_that_stand_for_categories(frame):
    frame["kind"] = pd.Categorical(np.arange(90) % 3)
    assert collect(frame, target="sales", by="store").features[2:] == ("kind=1", "kind=2")
    frame["range"] = pd.cut(frame["price"], [0, 9, 11, 30])
    assert "range=(11, 30]" in collect(frame, target="sales", by="store").features


def test_numbers_in_the_byte_order_of_another_machine(frame):
    columns = {c: frame[c].to_numpy() for c in frame}
    swapped = {**columns, "price": columns["price"].astype(">f8"), "c": ["x", "y", "z"] * 30}
    assert (collect(swapped, target="sales", by="store").X[:, 0] == columns["price"]).all()


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
