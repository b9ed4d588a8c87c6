"""The forms of X and of the names of datasets, and the messages about wrong ones."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, dok_array

import conjoin
from conjoin import ConjoinWarning
from conjoin.errors import ArgumentError, DataError
from conjoin.estimators.input import (
    by_columns,
    free_name,
    is_frame,
    plain_parameter,
    refuse_text,
    with_column,
)
from tests.estimators.regression import FEATURES, TRUE_CLUSTERS, join


def test_frame_of_pandas(data, fitted):
    X, y = data
    assert fitted.clusters_ == TRUE_CLUSTERS
    assert_array_equal(fitted.feature_names_in_, X.columns)
    assert fitted.n_features_in_ == 4
    expected = conjoin.partition(X.assign(y=y), target="y", by="store", folds=4)
    assert_array_equal(fitted.predict(X), expected.predict(X))


@pytest.mark.parametrize("convert", [pl.from_pandas, pa.Table.from_pandas, dict])
def test_other_frames_give_the_same(data, fitted, convert):
    X, y = data
    model = join(by="store").fit(convert(X), y)
    assert_array_equal(model.predict(convert(X)), fitted.predict(X))
    assert_array_equal(model.predict(X), fitted.predict(X))
    assert list(model.feature_names_in_) == list(X.columns)


def test_polars_target(data, fitted):
    X, y = data
    model = join(by="store").fit(pl.from_pandas(X), pl.Series("y", y))
    assert_array_equal(model.predict(X), fitted.predict(X))


def test_array_with_the_position_of_the_names(data, fitted):
    X, y = data
    code = X["store"].str[1:].astype(float)
    numbers = np.column_stack([X[FEATURES], code])
    model = join(by=3).fit(numbers, y)
    assert model.clusters_ == [["1", "2", "3"], ["4", "5"]]
    assert model.result_.features == ("x0", "x1", "x2")
    assert not hasattr(model, "feature_names_in_")
    assert_allclose(model.predict(numbers), fitted.predict(X), rtol=0.1, atol=0.1)
    last = join(by=-1).fit(numbers, y)
    assert_array_equal(last.predict(numbers), model.predict(numbers))


def test_array_of_objects_keeps_text(data):
    X, y = data
    kind = np.where(np.arange(len(y)) % 3, "weekday", "sunday")
    mixed = np.column_stack([X.to_numpy(dtype=object), kind])
    model = join(by=0).fit(mixed, y)
    assert model.clusters_ == TRUE_CLUSTERS
    assert model.result_.features == ("x1", "x2", "x3", "x4=sunday")
    assert np.isfinite(model.predict(mixed)).all()


def test_array_of_text_has_numbers_beside_the_names(data, fitted):
    X, y = data
    text = np.column_stack([X["store"].astype(str), *(X[c].map(repr) for c in FEATURES)])
    text = text.astype(str)
    model = join(by=0).fit(text, y)
    assert model.clusters_ == TRUE_CLUSTERS
    assert model.result_.features == ("x1", "x2", "x3")
    text[4, 2] = "many"
    with pytest.raises(DataError, match="Column 'x2' of X is text .*many"):
        model.predict(text)


def test_two_columns_name_the_dataset(data):
    X, y = data
    X = X.assign(year=np.where(np.arange(len(y)) % 2, 2024, 2025))
    model = join(by=["store", "year"]).fit(X, y)
    assert "d1 | 2024" in model.labels_
    array = X.to_numpy(dtype=object)
    by_position = join(by=[0, 4]).fit(array, y)
    assert by_position.labels_ == model.labels_
    assert_allclose(by_position.predict(array), model.predict(X), rtol=0.1, atol=0.1)


def test_names_of_other_types(data, fitted):
    X, y = data
    expected = fitted.predict(X)
    for kind in (X.astype({"store": "category"}), X.astype({"store": "string"})):
        assert_array_equal(join(by="store").fit(kind, y).predict(kind), expected)
    polars = pl.from_pandas(X).with_columns(pl.col("store").cast(pl.Categorical))
    assert_array_equal(join(by="store").fit(polars, y).predict(polars), expected)
    plain = X.set_axis([0, 1, 2, 3], axis=1)
    assert join(by=0).fit(plain, y).clusters_ == TRUE_CLUSTERS
    with pytest.raises(DataError, match="there is nothing to learn from"):
        join(by="store").fit(X.assign(store=None), y)


def test_groups_beside_x(data, fitted):
    X, y = data
    for features in (X[FEATURES], X[FEATURES].to_numpy()):
        model = join().fit(features, y, groups=X["store"])
        assert model.clusters_ == TRUE_CLUSTERS
        assert model.n_features_in_ == 3
        expected = fitted.predict(X)
        for names in (X["store"], X["store"].to_list(), X["store"].astype("category")):
            assert_allclose(model.predict(features, groups=names), expected, rtol=0.1, atol=0.1)


def test_a_column_may_be_called_groups_or_y(data, fitted):
    X, y = data
    taken = X[FEATURES].set_axis(["groups", "y", "sample_weight"], axis=1)
    model = join().fit(taken, y, groups=X["store"], sample_weight=np.ones(len(y)))
    assert model.result_.features == ("groups", "y", "sample_weight")
    expected = fitted.predict(X)
    assert_allclose(model.predict(taken, groups=X["store"]), expected, rtol=0.1, atol=0.1)


def test_columns_of_any_kind_and_missing_values(data):
    X, y = data
    kind = np.resize(["a", "b", "c"], len(y))
    X = X.assign(kind=kind, day=pd.date_range("2024-01-01", periods=len(y)))
    X.loc[::10, "x1"] = np.nan
    with pytest.warns(ConjoinWarning, match="'day' is a date"):
        model = join(by="store").fit(X, y + 3 * (kind == "b"))
    assert {"x1 missing", "kind=b", "day weekday=Tue"} <= set(model.result_.features)
    assert model.coef_["kind=b"].mean() == pytest.approx(3, abs=0.5)
    assert np.isfinite(model.predict(X.head(3))).all()


def test_missing_values_in_an_array(data):
    X, y = data
    array = X[FEATURES].to_numpy(copy=True)
    array[::7, 0] = np.nan
    model = join().fit(array, y, groups=X["store"])
    assert model.result_.features == ("x0", "x0 missing", "x1", "x2")
    assert np.isfinite(model.predict(array, groups=X["store"])).all()
    with pytest.raises(DataError, match="Column 'x0' lacks 43 of 300 values"):
        join(missing="raise").fit(array, y, groups=X["store"])


def test_shuffled_and_surplus_columns_are_found_by_name(data, fitted):
    X, _ = data
    shuffled = X.assign(remark="none")[["x3", "remark", "store", "x1", "x2"]]
    assert_array_equal(fitted.predict(shuffled), fitted.predict(X))


def test_array_at_prediction_is_read_by_position(data, fitted):
    X, _ = data
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        prediction = fitted.predict(X.to_numpy(dtype=object))
    assert_array_equal(prediction, fitted.predict(X))
    with (
        pytest.warns(UserWarning, match="feature names"),
        pytest.raises(ValueError, match="X has 3 features, but JoinRegressor is expecting 4"),
    ):
        fitted.predict(X[FEATURES].to_numpy())


def test_frame_at_prediction_of_a_model_of_arrays(data):
    X, y = data
    model = join(by=0).fit(X.to_numpy(dtype=object), y)
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        prediction = model.predict(X)
    assert_array_equal(prediction, model.predict(X.to_numpy(dtype=object)))


def test_by_and_groups_together(data):
    X, y = data
    with pytest.raises(ArgumentError, match="by='store' and groups are both given"):
        join(by="store").fit(X, y, groups=X["store"])


def test_by_that_is_not_there(data):
    X, y = data
    with pytest.raises(
        DataError, match="X lacks column 'shop', .*; columns are 'store', 'x1', 'x2', 'x3'.$"
    ):
        join(by="shop").fit(X, y)
    with pytest.raises(ArgumentError, match="by='store' is no position, but X is an array"):
        join(by="store").fit(X.to_numpy(dtype=object), y)
    with pytest.raises(ArgumentError, match="by=4 is no column of X, which has 4 columns"):
        join(by=4).fit(X.to_numpy(dtype=object), y)
    with pytest.raises(ArgumentError, match="by is empty"):
        join(by=[]).fit(X, y)


def test_names_come_the_same_way_at_prediction(data, fitted):
    X, y = data
    grouped = join().fit(X[FEATURES], y, groups=X["store"])
    with pytest.raises(ArgumentError, match="fitted with groups=..., so predict needs them"):
        grouped.predict(X[FEATURES])
    with pytest.raises(ArgumentError, match="groups is given, but .* fitted with by='store'"):
        fitted.predict(X, groups=X["store"])
    with pytest.raises(DataError, match="X lacks column 'store', which by names"):
        fitted.predict(X[FEATURES])
    with pytest.raises(DataError, match="X lacks column 'x2'"):
        fitted.predict(X.drop(columns="x2"))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        grouped.predict(X[FEATURES], groups=["d1"])


def test_lazy_frames_are_refused(data):
    X, y = data
    with pytest.raises(DataError, match="X is a lazy frame"):
        join(by="store").fit(pl.from_pandas(X).lazy(), y)


# --- the parts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("by", "positions", "expected"),
    [
        (None, True, ()),
        (0, True, ("a",)),
        (-1, True, ("c",)),
        ([2, 0], True, ("c", "a")),
        (np.array([1]), True, ("b",)),
        ("shop", False, ("shop",)),
        (0, False, ("0",)),  # a column of a frame may be called 0
    ],
)
def test_by_means_columns_by_name_or_position(by, positions, expected):
    assert by_columns(by, ["a", "b", "c"], positions=positions) == expected


def test_true_is_no_position():
    with pytest.raises(ArgumentError, match="by=True is no position"):
        by_columns(True, ["a", "b"], positions=True)


def test_a_free_name_is_no_other_column():
    assert free_name("y", []) == "y"
    assert free_name("y", ["y", "y_"]) == "y__"


def test_a_column_replaces_one_of_its_name():
    table = pa.table({"a": [1, 2], "b": [3, 4]})
    found = with_column(table, "a", ["x", "y"])
    assert found.column_names == ["b", "a"]
    assert found["a"].to_pylist() == ["x", "y"]


def test_sparse_matrices_are_no_frames():
    assert is_frame({"x": [1.0]})
    assert not is_frame(csr_array(np.eye(2)))
    assert not is_frame(dok_array((2, 2)))  # a mapping of positions
    assert not is_frame(np.eye(2))


@pytest.mark.parametrize(
    ("value", "plain"),
    [(np.int64(3), 3), (np.array(["a", "b"]), ["a", "b"]), ((1, None), [1, None]), (True, True)],
)
def test_parameters_become_plain_values(value, plain):
    found = plain_parameter("by", value)
    assert found == plain
    assert type(found) is type(plain)


def test_parameters_that_no_file_can_hold():
    with pytest.raises(ArgumentError, match="method=.* cannot be saved in a file; choose one by"):
        plain_parameter("method", object())


@pytest.mark.parametrize("y", [["red", "blue"], np.array(["a1"], dtype=object)])
def test_words_are_no_targets_of_a_regression(y):
    with pytest.raises(DataError, match="y holds text, such as .*; use JoinClassifier for classes"):
        refuse_text(y)


@pytest.mark.parametrize("y", [["1.5", "2"], [" -3 "], [1.0], []])
def test_numbers_and_numbers_as_text_are_targets(y):
    refuse_text(y)
