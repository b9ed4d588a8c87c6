"""The regressor inside pipelines, cross-validation and searches of scikit-learn."""

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import ColumnTransformer
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

from conjoin import ConjoinWarning
from conjoin.errors import ArgumentError
from tests.estimators.regression import FEATURES, TRUE_CLUSTERS, join


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


def test_arrays_of_a_column_transformer_keep_their_names(data, fitted, tmp_path):
    X, y = data
    prepare = ColumnTransformer(
        [("scale", StandardScaler(), FEATURES), ("store", "passthrough", ["store"])]
    )
    names = prepare.fit(X).get_feature_names_out()
    model = make_pipeline(prepare, join(by="store__store", feature_names=names)).fit(X, y)
    result = model[-1].result_
    assert result.features == tuple(f"scale__{name}" for name in FEATURES)
    assert result.clusters == TRUE_CLUSTERS
    assert_allclose(model.predict(X), fitted.predict(X), rtol=0.1, atol=0.1)
    model[-1].save(tmp_path / "model.json")
    again = type(model[-1]).load(tmp_path / "model.json")
    assert_array_equal(again.predict(prepare.transform(X)), model.predict(X))


def test_names_that_do_not_fit_an_array_are_refused(data):
    X, y = data
    with pytest.raises(ArgumentError, match="feature_names has 2 different names, but X has 1 col"):
        join(feature_names=["a", "b"]).fit(X[FEATURES[:1]].to_numpy(), y, groups=X["store"])


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
