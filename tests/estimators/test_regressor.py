import json
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import estimator_html_repr
from sklearn.utils.estimator_checks import parametrize_with_checks

import conjoin
from conjoin import ConjoinError, ConjoinWarning, JoinRegressor
from conjoin.criterion import Risk
from conjoin.datasets import make_clusters
from conjoin.errors import ArgumentError, DataError, ReadError

TRUE_CLUSTERS = [["d1", "d2", "d3"], ["d4", "d5"]]
FEATURES = ["x1", "x2", "x3"]


def join(by=None, **params):
    """Return an estimator that is quick to fit."""
    return JoinRegressor(by, **{"folds": 4, **params})


@pytest.fixture(scope="module")
def data():
    """Five datasets in two clusters: X with columns store, x1, x2, x3, and y; rows mixed."""
    made = make_clusters(sizes=(3, 2), n=60, p=3, distance=2.0)
    frame = pd.concat([pd.DataFrame(t).assign(store=k) for k, t in made.tables().items()])
    frame = frame.sample(frac=1, random_state=0).reset_index(drop=True)
    return frame[["store", *FEATURES]], frame["y"].to_numpy()


@pytest.fixture(scope="module")
def fitted(data):
    return join(by="store").fit(*data)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


# --- scikit-learn's own checks: none is expected to fail -----------------------------------------


@pytest.mark.filterwarnings("ignore::conjoin.errors.ConjoinWarning")
@parametrize_with_checks(
    [JoinRegressor(), JoinRegressor(fit_intercept=False, missing="drop", limit=False)]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# --- the forms of X ------------------------------------------------------------------------------


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


# --- wrong arguments -----------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"strategy": "sum"}, "strategy='sum' is unknown; expected one of auto, best"),
        ({"method": "guess"}, "method='guess' is unknown"),
        ({"on_unseen": "skip"}, "on_unseen='skip' is unknown; expected one of pooled"),
        ({"missing": "zero"}, "missing='zero' is unknown"),
        ({"count": "all"}, "count='all' is unknown"),
        ({"delta": 2}, "delta=2 is not a level"),
        ({"folds": 1}, "folds=1 is not a count"),
        ({"random_state": None}, "random_state=None is no seed"),
    ],
)
def test_parameters_are_checked_at_fit(data, wrong, words):
    X, y = data
    for model in (join(by="store", **wrong), join(**wrong)):
        with pytest.raises(ArgumentError, match=words):
            model.fit(X, y)


def test_targets_that_are_none(data):
    X, y = data
    model = join(by="store")
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X, np.where(np.arange(len(y)) == 3, np.nan, y))
    with pytest.raises(ValueError, match="1d array"):
        model.fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, y[:-1])
    with pytest.raises(ValueError, match="requires y to be passed"):
        model.fit(X, None)
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        column = join(by="store").fit(X, y[:, None])
    assert_array_equal(column.predict(X), model.fit(X, y).predict(X))


def test_lazy_frames_are_refused(data):
    X, y = data
    with pytest.raises(DataError, match="X is a lazy frame"):
        join(by="store").fit(pl.from_pandas(X).lazy(), y)


def test_unfitted():
    model = join()
    for method in (model.predict, lambda X: model.assign(X, [1.0])):
        with pytest.raises(NotFittedError):
            method([[1.0]])
    assert not hasattr(model, "clusters_")
    with pytest.raises(NotFittedError):
        model.save("nowhere.json")


# --- one dataset ---------------------------------------------------------------------------------


def test_without_names_there_is_one_least_squares_model(data):
    X, y = data
    with pytest.warns(ConjoinWarning, match="only one dataset, so nothing is joined") as caught:
        model = join().fit(X[FEATURES], y)
    assert caught[0].filename == __file__
    assert model.clusters_ == [["all"]]
    assert model.strategy_ == "separate"
    assert model.verdicts_ == ()
    assert model.errors_["separate"].error == pytest.approx(
        np.mean((y - cross_val_predict(LinearRegression(), X[FEATURES], y, cv=10)) ** 2), rel=0.05
    )
    expected = LinearRegression().fit(X[FEATURES], y)
    assert_allclose(model.predict(X[FEATURES]), expected.predict(X[FEATURES]), atol=1e-10)
    assert_allclose(model.coef_.to_numpy()[0, 1:], expected.coef_)
    with pytest.raises(ArgumentError, match="fitted without groups, to one dataset"):
        model.predict(X[FEATURES], groups=X["store"])


def test_one_name_is_one_dataset_too(data, tmp_path):
    X, y = data
    X, y = X[X["store"] == "d4"], y[X["store"] == "d4"]
    with pytest.warns(ConjoinWarning, match="only one dataset"):
        model = join(by="store", fit_intercept=False).fit(X, y)
    assert model.clusters_ == [["d4"]]
    expected = np.linalg.lstsq(X[FEATURES].to_numpy(), y, rcond=None)[0]
    assert_allclose(model.coef_.loc["d4"], [0, *expected], atol=1e-12)
    with pytest.warns(ConjoinWarning, match="not there at fitting"):
        other = model.predict(X.assign(store="d9"))
    assert_array_equal(other, model.predict(X))
    assert model.assign(X, y).cluster == 0
    assert_array_equal(model.result_.using("pooled").predict(X), model.predict(X))
    assert model.result_.explain("d4") == ()
    model.save(tmp_path / "one.json")
    assert_array_equal(JoinRegressor.load(tmp_path / "one.json").predict(X), model.predict(X))
    assert "1 dataset in 1 cluster<" in model._repr_html_()


# --- datasets that are not known -----------------------------------------------------------------


def test_unseen_dataset_gets_the_pooled_model_with_one_warning(data, fitted):
    X, _ = data
    new = pd.concat([X.head(4).assign(store="d8"), X.head(4).assign(store="d9"), X.tail(2)])
    with pytest.warns(ConjoinWarning) as caught:
        prediction = fitted.predict(new)
    assert len(caught) == 1
    assert "2 datasets were not there at fitting ('d8', 'd9')" in str(caught[0].message)
    assert caught[0].filename == __file__
    pooled = fitted.result_.pooled.predict(X[FEATURES].head(4))
    assert_allclose(prediction[:4], pooled)
    assert_allclose(prediction[4:8], pooled)
    assert_array_equal(prediction[8:], fitted.predict(X.tail(2)))


def test_unseen_dataset_gets_the_nearest_cluster():
    made = make_clusters(sizes=(2, 2), n=60, p=2, distance=3.0)
    X = np.vstack([made.X[k] + (0 if k in ("d1", "d2") else 9) for k in made.names])
    y, names = np.concatenate(list(made.y.values())), np.repeat(made.names, 60)
    model = join(on_unseen="nearest").fit(X, y, groups=names)
    assert model.clusters_ == [["d1", "d2"], ["d3", "d4"]]
    found = model.predict(X[-20:], groups=["new"] * 20)
    assert_allclose(found, model.result_.models[1].predict(X[-20:]))


def test_unseen_dataset_may_be_refused(data, fitted):
    X, _ = data
    strict = clone(fitted).set_params(on_unseen="raise").fit(*data)
    with pytest.raises(DataError, match="Dataset 'd9' was not there at fitting"):
        strict.predict(X.assign(store="d9"))


@pytest.mark.parametrize("nothing", [None, np.nan, pd.NA])
def test_missing_name_gets_the_pooled_model(data, fitted, nothing):
    X, y = data
    expected = fitted.result_.pooled.predict(X[FEATURES])
    names = X["store"].astype(object)
    names[:2] = nothing
    prediction = fitted.predict(X.assign(store=names))
    assert_allclose(prediction[:2], expected[:2])
    assert_array_equal(prediction[2:], fitted.predict(X)[2:])
    model = join().fit(X[FEATURES], y, groups=X["store"])
    prediction = model.predict(X[FEATURES], groups=names)
    assert_allclose(prediction[:2], model.result_.pooled.predict(X[FEATURES])[:2])


def test_rows_without_a_name_are_left_out_of_fitting(data):
    X, y = data
    names = X["store"].astype(object)
    names[:5] = None
    with pytest.warns(ConjoinWarning, match="5 of 300 rows are left out"):
        model = join().fit(X[FEATURES], y, groups=names)
    whole = join().fit(X[FEATURES][5:], y[5:], groups=names[5:])
    assert_allclose(model.predict(X[FEATURES], names), whole.predict(X[FEATURES], names))


def test_limit(data, fitted):
    X, _ = data
    far = X.head(2).assign(x1=1e6)
    with pytest.warns(ConjoinWarning, match="2 of 2 rows lie further outside") as caught:
        kept = fitted.predict(far)
    assert caught[0].filename == __file__
    assert np.abs(kept).max() < 1e3
    free = clone(fitted).set_params(limit=False).fit(*data)
    assert np.abs(free.predict(far)).max() > 1e5


# --- weights -------------------------------------------------------------------------------------


def test_whole_weights_are_like_repeated_rows(data):
    X, y = data
    w = np.random.default_rng(0).integers(1, 4, len(y))
    weighted = join(by="store").fit(X, y, sample_weight=w)
    again = X.index.repeat(w)
    repeated = join(by="store").fit(X.loc[again], y[again])
    assert weighted.clusters_ == repeated.clusters_
    # Repeated rows count as more rows, so models are drawn together less.
    assert np.mean((weighted.predict(X) - repeated.predict(X)) ** 2) < 0.02
    separate = join(by="store", strategy="separate")
    weighted, repeated = (
        clone(separate).fit(X, y, sample_weight=w),
        clone(separate).fit(X.loc[again], y[again]),
    )
    assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-9)


def test_rows_of_weight_zero_are_left_out(data):
    X, y = data
    w = np.ones(len(y))
    w[::3] = 0
    w[X["store"] == "d5"] = 0
    wild = np.where(w > 0, y, 1e6)
    weighted = join(by="store").fit(X, wild, sample_weight=w)
    without = join(by="store").fit(X[w > 0], y[w > 0])
    assert list(weighted.labels_) == ["d1", "d2", "d3", "d4"]
    known = X[X["store"] != "d5"]
    assert_allclose(weighted.predict(known), without.predict(known), rtol=1e-9)


def test_weights_that_are_none(data):
    X, y = data
    model = join(by="store")
    with pytest.raises(ValueError, match="[Nn]egative"):
        model.fit(X, y, sample_weight=-np.ones(len(y)))
    with pytest.raises(ValueError, match="zero"):
        model.fit(X, y, sample_weight=np.zeros(len(y)))


# --- what was found ------------------------------------------------------------------------------


def test_attributes(data, fitted):
    X, y = data
    assert fitted.labels_ == {"d1": 0, "d2": 0, "d3": 0, "d4": 1, "d5": 1}
    assert fitted.strategy_ == "auto"
    assert sum(fitted.weights_.values()) == pytest.approx(1)
    assert {"auto", "separate", "pooled", "clusters"} <= set(fitted.errors_)
    assert fitted.errors_["pooled"].error > fitted.errors_["auto"].error
    assert any(line.joined for line in fitted.verdicts_)
    assert fitted.score(X, y) == r2_score(y, fitted.predict(X))
    coef = fitted.coef_
    assert list(coef.columns) == ["intercept", *FEATURES]
    assert list(coef.index) == ["d1", "d2", "d3", "d4", "d5"]
    rows = coef.loc[X["store"]].to_numpy()
    assert_allclose(rows[:, 0] + np.sum(rows[:, 1:] * X[FEATURES], axis=1), fitted.predict(X))


def test_coefficients_without_pandas(fitted, monkeypatch):
    expected = fitted.coef_

    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr("conjoin.estimators.base.import_module", absent)
    table = fitted.coef_
    assert table.column_names == ["dataset", "intercept", *FEATURES]
    assert_array_equal(table["x2"].to_numpy(), expected["x2"])


def test_looking_at_the_names_of_attributes_computes_none(data, monkeypatch):
    model = join(by="store", strategy="pooled").fit(*data)
    monkeypatch.setattr(JoinRegressor, "errors_", property(lambda self: pytest.fail("computed")))
    assert "errors_" in dir(model)
    assert "JoinRegressor" in estimator_html_repr(make_pipeline(model))


def test_assign(data, fitted):
    X, y = data
    rows = (X["store"] == "d5").to_numpy()
    for new in (X[rows], X.loc[rows, FEATURES]):
        found = fitted.assign(new, y[rows])
        assert found.cluster == 1
        assert found.probability > 0.9
    array = join(by=0).fit(X.to_numpy(dtype=object), y)
    assert array.assign(X[rows].to_numpy(dtype=object), y[rows]).cluster == 1


# --- notebooks -----------------------------------------------------------------------------------


def test_notebook_view(data, fitted):
    page = fitted._repr_html_()
    assert "5 datasets in 2 clusters" in page
    assert "<td>d1, d2, d3</td>" in page
    assert "error (RMSE)" in page
    assert f"{fitted.errors_['auto'].error ** 0.5:.4g}" in page
    assert "sk-top-container" in page
    assert fitted._repr_mimebundle_()["text/html"].startswith('<div class="conjoin-summary">')
    assert "JoinRegressor(by='store', folds=4)" in repr(fitted)
    assert "conjoin-summary" not in join()._repr_html_()
    with sklearn.config_context(display="text"):
        assert list(fitted._repr_mimebundle_()) == ["text/plain"]


def test_notebook_view_shows_names_as_text(data):
    X, y = data
    bad = "<img src=x onerror=alert(1)>"
    model = join(by="store").fit(X.replace({"store": {"d1": bad}}), y)
    page = model._repr_html_()
    assert "<img" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page


def test_notebook_view_of_many_datasets_computes_no_errors(data, fitted, monkeypatch):
    monkeypatch.setattr("conjoin.report.notebook.MOST_ERRORS", 4)
    monkeypatch.setattr(conjoin.Partition, "errors", property(lambda self: pytest.fail("computed")))
    page = fitted._repr_html_()
    assert "5 datasets in 2 clusters" in page
    assert "error (RMSE)" not in page


def test_notebook_view_of_many_clusters_is_short(data, fitted, monkeypatch):
    monkeypatch.setattr("conjoin.report.notebook.MOST_CLUSTERS", 1)
    monkeypatch.setattr("conjoin.report.notebook.MOST_MEMBERS", 2)
    page = fitted._repr_html_()
    assert "d1, d2 and 1 more" in page
    assert "and 1 cluster more" in page


# --- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["by", "groups", "array"])
def test_save_and_load(data, tmp_path, source):
    X, y = data
    groups = X["store"] if source == "groups" else None
    X = {"by": X, "groups": X[FEATURES], "array": X.to_numpy(dtype=object)}[source]
    by = {"by": "store", "groups": None, "array": np.int64(0)}[source]
    model = join(by=by, strategy="best", on_unseen="nearest", delta=0.05)
    model.fit(X, y, groups=groups)
    model.save(tmp_path / "model.json")
    again = JoinRegressor.load(tmp_path / "model.json")
    assert again.get_params() == model.get_params()
    assert_array_equal(again.predict(X, groups=groups), model.predict(X, groups=groups))
    assert again.strategy_ == model.strategy_
    assert again.errors_ == model.errors_
    assert again.n_features_in_ == model.n_features_in_
    assert hasattr(again, "feature_names_in_") == (source != "array")
    assert again.assign(X[:40], y[:40]).probabilities == pytest.approx(
        model.assign(X[:40], y[:40]).probabilities
    )
    assert "5 datasets" in again._repr_html_()
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "model.json").read_text()
    assert conjoin.load(tmp_path / "model.json").labels == model.labels_


def test_files_that_are_none(data, fitted, tmp_path):
    X, y = data
    path = tmp_path / "model.json"
    fitted.save(path)
    text = path.read_text()
    path.write_text(text[: len(text) // 2])
    with pytest.raises(ReadError, match="no model of conjoin, or only part of one"):
        JoinRegressor.load(path)
    path.write_text(text.replace('"on_unseen": "pooled"', '"on_unseen": "raise"'))
    with pytest.raises(ReadError, match="was changed after it was written"):
        JoinRegressor.load(path)
    path.write_text(json.dumps({"coef": [1, 2]}))
    with pytest.raises(ReadError, match="is no model of conjoin"):
        JoinRegressor.load(path)
    fitted.result_.save(path)
    with pytest.raises(ReadError, match="read it with conjoin.load"):
        JoinRegressor.load(path)


def test_a_ready_criterion_cannot_be_saved(data, tmp_path):
    model = join(by="store", method=Risk()).fit(*data)
    assert model.clusters_ == TRUE_CLUSTERS
    with pytest.raises(ArgumentError, match="method=Risk.* cannot be saved"):
        model.save(tmp_path / "model.json")


def test_pickle(data, fitted):
    X, _ = data
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.predict(X), fitted.predict(X))
    assert again.errors_ == fitted.errors_


def test_clone(data, fitted):
    fresh = clone(fitted)
    assert fresh.get_params() == fitted.get_params()
    assert not hasattr(fresh, "result_")
    assert_array_equal(fresh.fit(*data).predict(data[0]), fitted.predict(data[0]))


# --- inside scikit-learn -------------------------------------------------------------------------


def test_pipeline_with_named_columns(data, fitted):
    X, y = data
    scale = ColumnTransformer(
        [("scale", StandardScaler(), FEATURES)],
        remainder="passthrough",
        verbose_feature_names_out=False,
    )
    model = make_pipeline(scale.set_output(transform="pandas"), join(by="store"))
    model.fit(X, y)
    assert model[-1].clusters_ == TRUE_CLUSTERS
    assert_allclose(model.predict(X), fitted.predict(X), rtol=0.1, atol=0.1)


def test_pipeline_with_the_name_passed_through_by_position(data, fitted):
    X, y = data
    prepare = ColumnTransformer(
        [("fill", SimpleImputer(), FEATURES), ("store", "passthrough", ["store"])]
    )
    model = make_pipeline(prepare, join(by=-1)).fit(X, y)
    assert model[-1].clusters_ == TRUE_CLUSTERS
    assert_allclose(model.predict(X), fitted.predict(X), rtol=0.1, atol=0.1)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output_gives_names(data, fitted, library):
    X, y = data
    X = X if library == "pandas" else pl.from_pandas(X)
    step = FunctionTransformer(feature_names_out="one-to-one").set_output(transform=library)
    model = make_pipeline(step, join(by="store")).fit(X, y)
    assert_array_equal(model.predict(X), fitted.predict(data[0]))


@pytest.mark.usefixtures("routing")
def test_pipeline_passes_groups_on(data):
    X, y = data
    last = join().set_fit_request(groups=True).set_predict_request(groups=True)
    model = make_pipeline(StandardScaler(), last.set_score_request(groups=True))
    model.fit(X[FEATURES], y, groups=X["store"])
    assert model[-1].clusters_ == TRUE_CLUSTERS
    prediction = model.predict(X[FEATURES], groups=X["store"])
    assert model.score(X[FEATURES], y, groups=X["store"]) == pytest.approx(r2_score(y, prediction))


def test_cross_validation_by_column(data):
    X, y = data
    folds = KFold(3, shuffle=True, random_state=0)
    prediction = cross_val_predict(join(by="store"), X, y, cv=folds)
    pooled = cross_val_predict(LinearRegression(), X[FEATURES], y, cv=folds)
    assert np.mean((y - prediction) ** 2) < 0.5 * np.mean((y - pooled) ** 2)
    assert cross_val_score(join(by="store"), X, y, cv=folds).min() > 0.8


def test_datasets_left_out_by_cross_validation_are_unseen(data):
    X, y = data
    folds = GroupKFold(5)
    with pytest.warns(ConjoinWarning, match="1 dataset was not there"):
        prediction = cross_val_predict(join(by="store"), X, y, groups=X["store"], cv=folds)
    assert np.isfinite(prediction).all()


@pytest.mark.usefixtures("routing")
def test_cross_validation_with_groups(data):
    X, y = data
    model = join().set_fit_request(groups=True, sample_weight=True)
    model.set_score_request(groups=True, sample_weight=False)
    params = {"groups": X["store"], "sample_weight": np.ones(len(y))}
    folds = KFold(3, shuffle=True, random_state=0)
    found = cross_validate(model, X[FEATURES], y, params=params, cv=folds, error_score="raise")
    assert found["test_score"].min() > 0.8
    # scikit-learn hands nothing but X to predict here.
    with pytest.raises(ArgumentError, match="predict needs them too"):
        cross_val_predict(model, X[FEATURES], y, params=params, cv=folds)


@pytest.mark.usefixtures("routing")
def test_grid_search_with_groups(data):
    X, y = data
    model = join().set_fit_request(groups=True).set_predict_request(groups=True)
    model.set_score_request(groups=True)
    search = GridSearchCV(model, {"strategy": ["pooled", "clusters"]}, cv=2, error_score="raise")
    search.fit(X[FEATURES], y, groups=X["store"])
    assert search.best_params_ == {"strategy": "clusters"}
    assert search.best_estimator_.predict(X[FEATURES], groups=X["store"]).shape == y.shape


def test_grid_search_over_strategies(data):
    X, y = data
    search = GridSearchCV(
        join(by="store"),
        {"strategy": ["pooled", "separate", "auto"]},
        cv=KFold(3, shuffle=True, random_state=0),
        error_score="raise",
    ).fit(X, y)
    assert search.best_params_["strategy"] != "pooled"
    assert search.best_estimator_.strategy_ == search.best_params_["strategy"]


def test_errors_are_value_errors(data):
    with pytest.raises(ValueError) as caught:
        join(by="shop").fit(*data)
    assert isinstance(caught.value, ConjoinError)


def test_fitting_clean_data_warns_of_nothing(data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        join(by="store").fit(*data).predict(data[0])


def test_a_bar_on_standard_error_shows_progress_when_asked_for(data, capsys):
    X, y = data
    join("store").fit(X, y)
    assert not capsys.readouterr().err
    join("store", verbose=True).fit(X, y)
    shown = capsys.readouterr()
    done, total = shown.err.split()[-2].split("/")
    assert "Finding what to join" in shown.err
    assert done == total != "0"
    assert not shown.out
