"""JoinClassifier, and JoinRegressor for counts, as estimators of scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_predict, cross_validate
from sklearn.utils.estimator_checks import parametrize_with_checks

import conjoin
from conjoin import ConjoinWarning, JoinClassifier, JoinRegressor
from conjoin.errors import ArgumentError, DataError, ReadError


@pytest.mark.filterwarnings("ignore::conjoin.ConjoinWarning")
@parametrize_with_checks([JoinClassifier(), JoinRegressor(family="poisson")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def shops(n=150, classes=("buys", "leaves"), seed=0):
    rng = np.random.default_rng(seed)
    C = len(classes)
    one = rng.standard_normal((3, C)) * 1.5
    slopes = np.stack([one, -one])
    names = np.repeat(["a", "b", "c", "d"], n)
    X = rng.standard_normal((len(names), 2))
    Z = np.column_stack([np.ones(len(X)), X])
    scores = np.where(
        np.isin(names, ["a", "b"])[:, None], Z @ slopes[0], Z @ slopes[1]
    ) + rng.gumbel(size=(len(X), C))
    y = np.array(classes)[np.argmax(scores, axis=1)]
    return pd.DataFrame({"shop": names, "x0": X[:, 0], "x1": X[:, 1]}), y


@pytest.mark.parametrize("classes", [("buys", "leaves"), ("red", "green", "blue")])
def test_frame_and_arrays_give_the_same(classes):
    X, y = shops(classes=classes)
    by_column = JoinClassifier(by="shop").fit(X, y)
    features, names = X[["x0", "x1"]].to_numpy(), X["shop"].to_numpy()
    by_groups = JoinClassifier().fit(features, y, groups=names)
    expected = by_column.predict_proba(X)
    assert_allclose(by_groups.predict_proba(features, groups=names), expected, atol=1e-12)
    assert by_column.clusters_ == [["a", "b"], ["c", "d"]]
    assert by_column.classes_.tolist() == sorted(classes)
    assert_allclose(expected.sum(axis=1), 1)
    prediction = by_column.predict(X)
    assert (prediction == by_column.classes_[expected.argmax(axis=1)]).all()
    assert_allclose(np.log(expected), by_column.predict_log_proba(X))
    score = by_column.score(X, y)
    assert score == pytest.approx(np.mean(prediction == y))
    assert score > max(np.mean(y == label) for label in classes) + 0.1
    assert by_column.errors_["auto"].error < by_column.errors_["pooled"].error
    lines = 1 if len(classes) == 2 else len(classes)
    assert by_column.coef_.shape == (4, 3 * lines)


@pytest.mark.parametrize("labels", [(0, 1), (True, False), (3, 7), ("no", "yes"), (1.0, 2.0)])
def test_labels_come_back_as_they_were(labels):
    X, y = shops(n=60, classes=labels)
    model = JoinClassifier(by="shop").fit(X, y)
    assert set(model.predict(X).tolist()) <= set(labels)
    assert model.classes_.tolist() == sorted(labels)


def test_a_single_dataset_is_the_ridge_regression_of_scikit_learn():
    X, y = shops(n=100, classes=("red", "green", "blue"))
    rows = X[["x0", "x1"]].to_numpy()
    with pytest.warns(ConjoinWarning, match="one logistic model"):
        model = JoinClassifier().fit(rows, y)
    basis = model.result_.analysis.study.basis
    Z = (rows - basis.center) / basis.scale
    theirs = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000).fit(Z, y)
    assert_allclose(model.predict_proba(rows), theirs.predict_proba(Z), atol=1e-6)


def test_a_dataset_of_one_class_borrows_the_other():
    X, y = shops()
    y[(X["shop"] == "a").to_numpy()] = "buys"
    model = JoinClassifier(by="shop").fit(X, y)
    probability = model.predict_proba(X)[(X["shop"] == "a").to_numpy(), 0]
    assert np.isfinite(probability).all()
    assert 0.5 < probability.mean() < 1


def test_cross_validation_with_a_column_of_names():
    X, y = shops(n=60)
    model = JoinClassifier(by="shop", folds=3)
    cv = KFold(3, shuffle=True, random_state=0)
    probability = cross_val_predict(model, X, y, cv=cv, method="predict_proba")
    assert probability.shape == (len(y), 2)
    scores = cross_validate(clone(model), X, y, cv=cv, scoring="neg_log_loss")
    assert scores["test_score"].mean() > -np.log(2)


def test_save_and_load(tmp_path):
    X, y = shops(classes=("red", "green", "blue"))
    model = JoinClassifier(by="shop", strategy="clusters").fit(X, y)
    model.save(tmp_path / "model.json")
    again = JoinClassifier.load(tmp_path / "model.json")
    assert_allclose(again.predict_proba(X), model.predict_proba(X))
    assert again.classes_.tolist() == model.classes_.tolist()
    assert again.get_params() == model.get_params()
    with pytest.raises(ReadError, match="holds JoinClassifier, no JoinRegressor"):
        JoinRegressor.load(tmp_path / "model.json")
    assert_allclose(conjoin.load(tmp_path / "model.json").predict_proba(X), model.predict_proba(X))


def test_assign_a_new_shop():
    X, y = shops()
    model = JoinClassifier(by="shop").fit(X, y)
    new = (X["shop"] == "c").to_numpy()
    found = model.assign(X[new].drop(columns="shop"), y[new])
    assert found.cluster == model.labels_["c"]
    assert found.probability > 0.9
    assert found.model.predict_proba(X.loc[new, ["x0", "x1"]]).shape == (new.sum(), 2)
    with pytest.raises(DataError, match="label 'steals', which is not in the training data"):
        model.assign(X[new].drop(columns="shop"), np.full(new.sum(), "steals"))


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.linspace(0, 1, 600), "y is continuous, with values such as"),
        (np.full(600, "same"), "has one class in all rows, 'same'"),
        (np.where(np.arange(600) == 3, np.nan, 1.0), "1 missing labels"),
        (np.array(["a", None] * 300, dtype=object), "300 missing labels"),
        (np.array([f"c{k}" for k in range(600)]), "600 classes in 600 rows"),
        (np.arange(600).astype(str), "holds numbers written as text, such as '0'"),
    ],
)
def test_bad_targets_get_one_sentence(y, words):
    X, _ = shops()
    with pytest.raises(DataError, match=words):
        JoinClassifier(by="shop").fit(X, y)


def test_predict_proba_of_numbers_is_refused():
    result = conjoin.partition(
        conjoin.datasets.make_clusters(sizes=(1, 1), n=30, p=2).tables(), target="y"
    )
    with pytest.raises(ArgumentError, match="has no classes"):
        result.predict_proba({"x1": [0.0], "x2": [0.0]}, "d1")


def test_counts():
    rng = np.random.default_rng(0)
    X, _ = shops()
    rate = np.exp(0.5 + np.where(X["shop"].isin(["a", "b"]), 0.8, -0.8) * X["x0"])
    y = rng.poisson(rate)
    model = JoinRegressor(by="shop", family="poisson").fit(X, y)
    assert model.clusters_ == [["a", "b"], ["c", "d"]]
    assert (model.predict(X) > 0).all()
    assert model.score(X, y) > 0.2
    with pytest.raises(DataError, match="counts, which cannot be negative"):
        model.fit(X, y - 5)
    with pytest.raises(ArgumentError, match="family='gamma' is unknown"):
        JoinRegressor(by="shop", family="gamma").fit(X, y)


@pytest.mark.parametrize("turn", [lambda y: y.astype(object), lambda y: y.astype("boolean")])
def test_true_and_false_in_any_column_are_labels_that_score(turn):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.standard_normal(120), "shop": np.repeat(["a", "b"], 60)})
    y = X.x + rng.standard_normal(120) > 0
    model = JoinClassifier(by="shop").fit(X, turn(y))
    assert model.classes_.dtype == bool
    assert model.score(X, turn(y)) == model.score(X, y) == np.mean(model.predict(X) == y)
    weights = rng.uniform(size=120)
    expected = np.average(model.predict(X) == y, weights=weights)
    assert model.score(X, y, weights) == pytest.approx(expected)


def test_blank_and_missing_labels_are_refused_alike():
    X = pd.DataFrame({"x": np.arange(40.0), "shop": ["a", "b"] * 20})
    y = pd.Series(np.where(np.arange(40) % 3, "yes", "no"))
    model = JoinClassifier(by="shop").fit(X, y)
    with pytest.raises(DataError, match=r"y has 14 missing labels \(NaN, None or blank text\)"):
        JoinClassifier(by="shop").fit(X, y.replace("no", " "))
    with pytest.raises(DataError, match="y has 1 missing labels"):
        model.score(X, y.where(X.x > 0))
    assert model.score(X, np.full(40, "maybe")) == 0
    with pytest.raises(DataError, match="y has 1 missing labels"):
        model.score(X, (X.x > 3).astype("boolean").where(X.x > 0))
    with pytest.raises(DataError, match="labels such as 1, but those at fitting were 'no', 'yes'"):
        model.score(X, np.ones(40, dtype=int))
