from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from conjoin.errors import ArgumentError, DataError
from conjoin.families import Response
from conjoin.learners.foreign import LEAST_PROBABILITY, Foreign
from conjoin.learners.rows import UNKNOWN, LearnerRows

TWO = Response("logistic", ("no", "yes"))
THREE = Response("logistic", ("a", "b", "c"))
NUMBERS = Response()


def rows_of(response=NUMBERS, n=90, named=True):
    rng = np.random.default_rng(0)
    X, dataset = rng.normal(size=(n, 2)), np.arange(n) % 3
    y = X[:, 0] + 5.0 * dataset
    if response.classes:
        y = (np.argsort(np.argsort(X[:, 0])) * len(response.classes) // n).astype(float)
    if response.family == "poisson":
        y = np.floor(np.abs(y))
    return LearnerRows(X, y, np.ones(n), dataset, 3, ("u", "v"), (), response, named)


class Odd(RegressorMixin, BaseEstimator):
    """An estimator that does one thing wrong."""

    def __init__(self, wrong="fit"):
        self.wrong = wrong

    def fit(self, X, y):
        if self.wrong == "fit":
            raise RuntimeError("no luck today.\nmore lines")
        return self

    def predict(self, X):
        if self.wrong == "predict":
            raise RuntimeError("out of luck")
        return np.full(len(X) + (self.wrong == "size"), np.nan if self.wrong == "nan" else 1.0)


class Hidden(Odd):
    """An estimator that does not store its argument."""

    def __init__(self, wrong="fit"):
        self.wrong = wrong.upper()


def test_an_estimator_needs_fit_predict_and_clone():
    with pytest.raises(ArgumentError, match="learner=StandardScaler has no method predict"):
        Foreign.of(StandardScaler(), 0)
    with pytest.raises(ArgumentError, match="learner=Hidden cannot be cloned"):
        Foreign.of(Hidden(), 0)


def test_a_pipeline_is_called_by_its_last_step():
    assert Foreign.of(make_pipeline(StandardScaler(), LinearRegression()), 0).name == (
        "LinearRegression"
    )


def test_the_name_reaches_the_estimator_as_a_mean_or_a_category():
    rows = rows_of()
    for estimator, kind in (
        (LinearRegression(), "mean"),
        (HistGradientBoostingRegressor(max_iter=30, min_samples_leaf=5), "category"),
    ):
        model = Foreign.of(estimator, 0).fit(rows, {})
        assert model.names.kind == kind
        errors = model.predict(rows.X, rows.dataset)[:, 0] - rows.y
        assert np.mean(errors**2) < 0.2 * np.var(rows.y)
        unknown = model.predict(rows.X, np.full(len(rows), UNKNOWN))
        assert np.isfinite(unknown).all()
    assert Foreign.of(LinearRegression(), 0).fit(rows_of(named=False), {}).names.kind == "none"


class LikeXGBoost(RegressorMixin, BaseEstimator):
    """Takes kinds of columns as settings, as XGBoost does."""

    def __init__(self, enable_categorical=False, feature_types=None, booster=None):
        self.enable_categorical, self.feature_types = enable_categorical, feature_types
        self.booster = booster

    def fit(self, X, y, **options):
        self.seen_, self.options_, self.mean_ = X, options, np.mean(y)
        return self

    def predict(self, X):
        self.seen_ = X
        return np.full(len(X), self.mean_)


class LikeCatBoost(LikeXGBoost):
    """Names categories when it is trained, as CatBoost does."""

    def __init__(self):
        pass

    def fit(self, X, y, cat_features=None):
        return super().fit(X, y, cat_features=cat_features)


def test_lightgbm_gets_the_name_as_a_category():
    lightgbm, rows = pytest.importorskip("lightgbm"), rows_of()
    model = Foreign.of(lightgbm.LGBMRegressor(n_estimators=10, n_jobs=1, verbose=-1), 0).fit(
        rows, {}
    )
    assert model.names.kind == "category" and not model.names.at_fit
    trees = model.estimator.booster_
    assert trees.dump_model()["feature_infos"][trees.feature_name()[-1]]["values"]
    assert np.isfinite(model.predict(rows.X, np.full(len(rows), UNKNOWN))).all()


def test_xgboost_and_catboost_get_the_name_as_a_category():
    """The packages are not installed here; these take what they take."""
    rows = rows_of()
    other = np.full(len(rows), UNKNOWN)
    p = rows.X.shape[1]
    model = Foreign.of(LikeXGBoost(), 0).fit(rows, {})
    assert model.estimator.enable_categorical
    assert model.estimator.feature_types == ["q"] * p + ["c"]
    model.predict(rows.X, other)
    assert np.isnan(model.estimator.seen_[:, p]).all()
    for own in (LikeXGBoost(feature_types=["c"] * p), LikeXGBoost(booster="gblinear")):
        assert Foreign.of(own, 0).fit(rows, {}).names.kind == "mean"
    model = Foreign.of(LikeCatBoost(), 0).fit(rows, {})
    assert model.estimator.options_ == {"cat_features": [p]}
    model.predict(rows.X, other)
    assert all(type(code) is int and code == UNKNOWN for code in model.estimator.seen_[:, p])


def test_rows_are_predicted_by_clones_that_have_not_seen_them():
    rows, group = rows_of(), np.arange(90) % 5
    seen = []
    learner = Foreign.of(RandomForestRegressor(3), 0)
    found = learner.cross_fit(rows, group, lambda done, total: seen.append((done, total)))
    assert seen == [(g, 5) for g in range(1, 6)]
    own = group == 2
    alone = learner.fit(rows.take(~own), {}).predict(rows.X[own], rows.dataset[own])
    assert np.array_equal(found.held_out[own], alone)
    assert not hasattr(learner.estimator, "estimators_")


def test_probabilities_become_log_odds():
    for response, lines in ((TWO, 1), (THREE, 3)):
        rows = rows_of(response, named=False)
        model = Foreign.of(LogisticRegression(), 0).fit(rows, {})
        found = model.predict(rows.X, rows.dataset)
        assert found.shape == (90, lines)
        P = np.maximum(model.estimator.predict_proba(rows.X), LEAST_PROBABILITY)
        if lines == 1:
            assert np.allclose(found[:, 0], np.log(P[:, 1] / P[:, 0]))
        else:
            assert np.allclose(found.sum(axis=1), 0)
            assert np.array_equal(np.argmax(found, axis=1), np.argmax(P, axis=1))
        assert model.predict(rows.X[:0], rows.dataset[:0]).shape == (0, lines)


def test_counts_become_logarithms():
    rows = rows_of(Response("poisson"), named=False)
    model = Foreign.of(LinearRegression(), 0).fit(rows, {})
    found = model.predict(rows.X, rows.dataset)[:, 0]
    assert np.isfinite(found).all()


@pytest.mark.parametrize(
    ("estimator", "response", "fault"),
    [
        (LinearSVC(), TWO, "has no predict_proba"),
        (LinearRegression(), TWO, "has no predict_proba"),
        (LogisticRegression(), NUMBERS, "is for classes, but the target is a number"),
    ],
)
def test_the_kind_must_fit_the_target(estimator, response, fault):
    with pytest.raises(ArgumentError, match=fault):
        Foreign.of(estimator, 0).fit(rows_of(response), {})


def test_errors_of_the_estimator_are_quoted():
    rows = rows_of(named=False)
    with pytest.raises(
        DataError, match=r"Odd failed to train on 90 rows .*: no luck today. more lines\.$"
    ):
        Foreign.of(Odd(), 0).fit(rows, {})
    for wrong, fault in (("nan", "not finite"), ("size", r"of shape \(91,\) for 90 rows")):
        model = Foreign.of(Odd(wrong), 0).fit(rows, {})
        with pytest.raises(DataError, match=fault):
            model.predict(rows.X, rows.dataset)


def test_errors_of_predictions_name_the_datasets():
    rows = replace(rows_of(named=False), labels=("north", "south", "west"))
    words = r"not finite \(such as nan\) for 90 rows of 3 datasets \('north', 'south', 'west'\);"
    with pytest.raises(DataError, match=words):
        Foreign.of(Odd("nan"), 0).fit(rows, {}).predict(rows.X, rows.dataset)
    own = rows.dataset == 1
    with pytest.raises(DataError, match="failed to predict 30 rows of dataset 'south' with 2 col"):
        Foreign.of(Odd("predict"), 0).fit(rows, {}).predict(rows.X[own], rows.dataset[own])


class Plain:
    """An estimator with the methods that are asked for, and nothing of scikit-learn."""

    def __init__(self, kind=None):
        self._estimator_type = kind

    def get_params(self, deep=True):
        return {"kind": self._estimator_type}

    def set_params(self, **settings):
        return self

    def fit(self, X, y):
        self.mean = y.mean()
        return self

    def predict(self, X):
        return np.full(len(X), self.mean)


def test_an_estimator_need_not_derive_from_scikit_learn():
    rows = rows_of()
    found = Foreign.of(Plain(), 0).cross_fit(rows, np.arange(len(rows)) % 2)
    np.testing.assert_allclose(found.held_out.mean(), rows.y.mean())
    with pytest.raises(ArgumentError, match="learner=Plain is for classes"):
        Foreign.of(Plain("classifier"), 0).fit(rows, {})


def test_weights_are_used_where_they_can_be():
    rows = rows_of(named=False)
    heavy = np.where(rows.X[:, 1] > 0, 1000.0, 1.0)
    weighted = LearnerRows(
        rows.X, rows.y, heavy, rows.dataset, 3, rows.names, (), rows.response, named=False
    )
    fits = [Foreign.of(LinearRegression(), 0).fit(one, {}) for one in (rows, weighted)]
    assert not np.allclose(fits[0].estimator.coef_, fits[1].estimator.coef_)
    Foreign.of(Odd("none"), 0).fit(weighted, {})  # takes no weights


def test_a_free_random_state_gets_the_seed():
    learner = Foreign.of(RandomForestRegressor(2), 7)
    assert learner.fit(rows_of(), {}).estimator.random_state == 7
    fixed = Foreign.of(RandomForestRegressor(2, random_state=3), 7)
    assert fixed.fit(rows_of(), {}).estimator.random_state == 3


def test_plain_values_refer_to_the_estimator_and_its_encoder():
    model, objects = Foreign.of(LinearRegression(), 0).fit(rows_of(), {}), []
    plain = model.to_plain(objects)
    assert plain == {
        "kind": "estimator",
        "name": "LinearRegression",
        "names": "mean",
        "object": 0,
        "encoder": 1,
    }
    assert objects == [model.estimator, model.names.encoder]
    assert model.to_plain(objects) == plain
    assert len(objects) == 2
