"""Trained learners that predict rows of a table."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression

import conjoin
from conjoin.errors import ArgumentError, DataError
from conjoin.learners.boosting import Boosting


def table(n, seed, classes=False):
    rng = np.random.default_rng(seed)
    x, kind = rng.standard_normal(n), rng.choice(["red", "green"], n)
    y = 2 * x + (kind == "red") + 0.1 * rng.standard_normal(n)
    target = np.where(y > 0, "yes", "no") if classes else y
    return pd.DataFrame({"x": x, "kind": kind, "y": target})


@pytest.fixture(scope="module")
def lines():
    return conjoin.compare(table(60, 0), table(60, 1), target="y", learner=LinearRegression())


def test_tables_and_arrays_are_predicted_alike(lines):
    new = table(5, 2)
    found = lines.fit_joined.predict(new)
    np.testing.assert_allclose(found, new["y"], atol=0.5)
    features = lines.schema.features
    rows = np.column_stack(
        [new["x"] if name == "x" else new["kind"] == name.split("=")[-1] for name in features]
    )
    np.testing.assert_allclose(lines.fit_joined.predict(rows.astype(float)), found)
    np.testing.assert_allclose(lines.fit_joined.predict(new[["kind", "x"]].to_dict("list")), found)


def test_a_model_says_what_it_is(lines):
    fit = lines.fit_a
    assert (fit.learner, fit.rows, fit.family, fit.classes) == (
        "LinearRegression", 60, "gaussian", (),
    )  # fmt: skip
    assert not hasattr(fit, "coef")
    assert fit.error == pytest.approx(0.01, rel=0.5)


def test_what_cannot_be_predicted_is_named(lines):
    with pytest.raises(DataError, match="lacks column 'kind'"):
        lines.fit_joined.predict({"x": [1.0]})
    with pytest.raises(ArgumentError, match="no classes, so there are no probabilities"):
        lines.fit_joined.predict_proba(table(3, 0))
    with pytest.raises(DataError, match="X has 1 columns"):
        lines.fit_joined.predict([[1.0]])


def test_classes_have_probabilities():
    a, b = table(80, 3, classes=True), table(80, 4, classes=True)
    learner = RandomForestClassifier(10, min_samples_leaf=3)
    fit = conjoin.compare(a, b, target="y", learner=learner).fit_joined
    new = table(50, 5, classes=True)
    chances = fit.predict_proba(new)
    assert fit.classes == ("no", "yes")
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert np.mean(fit.predict(new) == new["y"]) > 0.8


def test_trees_take_missing_values():
    a, b = table(80, 6), table(80, 7)
    a.loc[:9, "x"] = np.nan
    fit = conjoin.compare(a, b, target="y", learner=Boosting(rounds=20, leaves=4)).fit_joined
    found = fit.predict({"x": [None, 2.0, -2.0], "kind": ["red", "green", "red"]})
    assert np.isfinite(found).all() and found[1] > found[2]
