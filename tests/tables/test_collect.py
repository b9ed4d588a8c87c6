import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

import conjoin
from conjoin.errors import ConjoinError, ConjoinWarning
from conjoin.tables import collect
from conjoin.tables.dataset import natural_order
from conjoin.tables.read import read_columns


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
    refused(frame, "target='profit' is not a column of dataset 'a'", target="profit")


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
    refused(tables, "Columns 'promo' are not in every dataset", by=None)
    refused(tables, "Dataset 'b' lacks column 'promo'", by=None, features=["promo"])
    assert collect(tables, target="sales", features=["price"]).features == ("price",)


def test_text_in_a_numeric_column(frame):
    frame["price"] = frame["price"].astype(object)
    frame.loc[40, "price"] = "cheap"
    refused(frame, "Column 'price' holds 'cheap' in dataset 'b', which is not a number")


def test_dates(frame):
    frame["day"] = datetime.datetime(2020, 1, 1)
    refused(frame, "Column 'day' holds dates")


@pytest.mark.parametrize("value", [np.nan, None])
def test_missing_values(frame, value):
    frame.loc[[35, 70], "price"] = value
    refused(frame, "Column 'price' lacks 1 of 30 values in dataset 'b' .first in its row 5")


def test_infinity(frame):
    frame.loc[31, "price"] = np.inf
    refused(frame, "Column 'price' has an infinite value in dataset 'b' .its row 1")


def test_missing_names(frame):
    frame.loc[3, "store"] = None
    refused(frame, "Column by='store' has no name in row 3")


def test_empty_dataset(frame):
    part = frame.drop(columns="store")
    refused({"a": part, "b": part[:0]}, "Dataset 'b' is empty", by=None)
    refused(frame[:0], "There is no dataset")


def test_one_dataset_only(frame):
    refused(frame[frame["store"] == "a"], "There is only one dataset .'a'.: column by='store'")
    refused({"a": frame.drop(columns="store")}, "the mapping has one entry", by=None)


def test_duplicate_names(frame):
    part = frame.drop(columns="store")
    refused({1: part, "1": part}, "Two datasets are named '1'", by=None)


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
    refused(frame, "does not take these options", method="direct", n=3)
    refused(frame, "does not take these options", method="risk", n=3)
    refused(frame, "strategy='magic' is unknown", strategy="magic")
    refused(frame, "finds clusters itself", method="bic", grouping="greedy")
    refused(frame, "scores pairs only", method="tuned", grouping="agglomerative")
    refused(frame, "count='cats' is unknown", count="cats")
    refused(frame, "folds=1 is not a count", folds=1)
    refused(frame, "random_state='x' is no seed", random_state="x")
    refused(frame, "random_state=-1 is negative", random_state=-1)
    refused([1, 2], "data is a list; expected a pandas or Polars frame")
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


def test_duplicate_columns(frame):
    twice = pd.concat([frame, frame[["price"]]], axis=1)
    refused(twice, "data has two columns named 'price'")


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
    refused(columns, "Column 'price' lacks 1 of 30 values in dataset 'b'")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_missing_values_in_files_are_seen(frame, tmp_path, suffix):
    frame.loc[40, "price"] = np.nan
    path = tmp_path / f"table{suffix}"
    frame.to_csv(path, index=False) if suffix == ".csv" else frame.to_parquet(path, index=False)
    refused(read_columns(path), "Column 'price' lacks 1 of 30 values in dataset 'b'")


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
    assert collect(frame, target="sales", by="store", features="price").features == ("price",)


def test_the_unit_of_weights_means_nothing(frame):
    w = np.linspace(1, 2, 90)
    one, two = (
        collect(frame.assign(w=w * unit), target="sales", by="store", weights="w")
        for unit in (1.0, 1e5)
    )
    np.testing.assert_allclose(one.weights, two.weights)
    assert one.weights.mean() == pytest.approx(1)
