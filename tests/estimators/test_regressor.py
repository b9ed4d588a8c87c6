"""The regressor: its models, weights of rows, and datasets that it has not seen."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from conjoin import ConjoinWarning, JoinRegressor
from conjoin.datasets import make_clusters
from conjoin.errors import DataError
from tests.estimators.regression import FEATURES, join


@pytest.mark.filterwarnings("ignore::conjoin.errors.ConjoinWarning")
@parametrize_with_checks(
    [JoinRegressor(), JoinRegressor(fit_intercept=False, missing="drop", limit=False)]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


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
    with pytest.warns(ConjoinWarning, match="2 of 2 rows lie far outside") as caught:
        kept = fitted.predict(far)
    assert caught[0].filename == __file__
    assert np.abs(kept).max() < 1e3
    free = clone(fitted).set_params(limit=False).fit(*data)
    assert np.abs(free.predict(far)).max() > 1e5


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


def test_weights_that_cannot_be_used(data):
    X, y = data
    model = join(by="store")
    with pytest.raises(ValueError, match="sample_weight is -1 in 300 of 300 rows"):
        model.fit(X, y, sample_weight=-np.ones(len(y)))
    with pytest.raises(ValueError, match="zero"):
        model.fit(X, y, sample_weight=np.zeros(len(y)))


def test_attributes(data, fitted):
    X, y = data
    assert fitted.labels_ == {"d1": 0, "d2": 0, "d3": 0, "d4": 1, "d5": 1}
    assert fitted.strategy_ == "auto"
    assert sum(fitted.weights_.values()) == pytest.approx(1)
    assert {"auto", "separate", "pooled", "clusters"} <= set(fitted.errors_)
    assert fitted.errors_["pooled"].error > fitted.errors_["auto"].error
    assert any(line.joined for line in fitted.ledger_)
    assert fitted.score(X, y) == r2_score(y, fitted.predict(X))
    coef = fitted.coef_
    assert list(coef.columns) == ["intercept", *FEATURES]
    assert list(coef.index) == ["d1", "d2", "d3", "d4", "d5"]
    rows = coef.loc[X["store"]].to_numpy()
    assert_allclose(rows[:, 0] + np.sum(rows[:, 1:] * X[FEATURES], axis=1), fitted.predict(X))


def test_assign(data, fitted):
    X, y = data
    rows = (X["store"] == "d5").to_numpy()
    for new in (X[rows], X.loc[rows, FEATURES]):
        found = fitted.assign(new, y[rows])
        assert found.cluster == 1
        assert found.probability > 0.9
    array = join(by=0).fit(X.to_numpy(dtype=object), y)
    assert array.assign(X[rows].to_numpy(dtype=object), y[rows]).cluster == 1


def test_fitting_clean_data_warns_of_nothing(data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        join(by="store").fit(*data).predict(data[0])
