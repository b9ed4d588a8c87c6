"""Intervals of predictions: numbers, counts, classes; in memory, in files, by estimators."""

import csv

import numpy as np
import pytest
from numpy.testing import assert_allclose

import conjoin
from conjoin.api.request import PredictionOptions
from conjoin.errors import ArgumentError
from conjoin.result.file_prediction import predict_source
from conjoin.result.intervals import Intervals, PredictionSets


def stores(seed, K=6, n=80):
    rng = np.random.default_rng(seed)
    store, x = np.repeat([f"s{k}" for k in range(K)], n), rng.standard_normal(K * n)
    noise = np.repeat(np.arange(1, K + 1), n) * rng.standard_normal(K * n)
    return {"store": store, "x": x, "y": 2 * x + noise}


@pytest.fixture(scope="module")
def found():
    return conjoin.partition(stores(0), target="y", by="store", learner="linear")


def inside(got, y):
    return (got.low <= y) & (y <= got.high)


def test_every_dataset_has_its_own_width(found):
    new = stores(1, n=500)
    got = found.predict(new, interval=0.9)
    assert isinstance(got, Intervals)
    assert_allclose(got.prediction, found.predict(new))
    covered = inside(got, new["y"]).reshape(6, 500).mean(axis=1)
    assert abs(covered.mean() - 0.9) < 0.04
    assert covered.min() > 0.7  # 80 rows at fitting: a width is known to about a tenth
    width = (got.high - got.low).reshape(6, 500)[:, 0]
    assert 3 < width[5] / width[0] < 10


def test_unseen_datasets_have_wider_intervals_and_a_source(found):
    new = {**stores(1), "store": np.repeat("new", 480)}
    with pytest.warns(UserWarning, match="not there at fitting"):
        got, source = found.predict(new, interval=0.9, return_source=True)
    known = found.predict(stores(1), interval=0.9)
    assert np.mean(got.high - got.low) > 1.2 * np.mean(known.high - known.low)
    assert source[0].startswith("model for all")


def test_files_keep_and_write_intervals(found, tmp_path):
    found.save(tmp_path / "m.json")
    again = conjoin.load(tmp_path / "m.json")
    new = stores(1)
    for one, two in zip(found.predict(new, interval=0.8), again.predict(new, interval=0.8)):
        assert np.array_equal(one, two)
    with (tmp_path / "new.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([[*new], *zip(*new.values())])
    options = PredictionOptions(interval=0.8)
    _, columns = predict_source(again, [str(tmp_path / "new.csv")], tmp_path / "o.csv", options)
    assert columns == ["prediction", "prediction_low", "prediction_high", "model"]
    with (tmp_path / "o.csv").open() as file:
        low = [float(line["prediction_low"]) for line in csv.DictReader(file)]
    assert_allclose(low, again.predict(new, interval=0.8).low)


def test_classes_have_sets(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, 900))
    label = np.array(["a", "b", "c"])[np.digitize(x + rng.logistic(size=x.shape), [-1, 1])]
    data, new = (
        {"store": np.repeat(["p", "q", "r"], 300), "x": x[i], "y": label[i]} for i in (0, 1)
    )
    found = conjoin.partition(data, target="y", by="store", learner="linear")
    got = found.predict(new, interval=0.9)
    assert isinstance(got, PredictionSets)
    true = np.array([found.classes.index(one) for one in new["y"]])
    assert abs(got.sets[np.arange(900), true].mean() - 0.9) < 0.04
    assert got.sets.any(axis=1).all()


def test_counts_have_intervals_above_zero():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(600)
    data = {"store": np.repeat(["p", "q"], 300), "x": x, "y": rng.poisson(np.exp(1 + 0.5 * x))}
    found = conjoin.partition(data, target="y", by="store", family="poisson", learner="linear")
    got = found.predict(data, interval=0.9)
    assert got.low.min() >= 0
    assert 0.87 < inside(got, data["y"]).mean() < 0.97


@pytest.mark.parametrize("value", [0, 1, 1.5, "wide", True])
def test_a_share_out_of_reach_is_refused(found, value):
    with pytest.raises(ArgumentError, match="interval=.* is no share of new rows"):
        found.predict(stores(1), interval=value)


def test_estimators_predict_intervals():
    data = stores(0)
    X, groups = data["x"][:, None], data["store"]
    model = conjoin.JoinRegressor(learner="linear").fit(X, data["y"], groups=groups)
    got = model.predict(X, groups=groups, interval=0.9)
    assert 0.85 < inside(got, data["y"]).mean() < 0.95
    classifier = conjoin.JoinClassifier(learner="linear").fit(X, data["y"] > 0, groups=groups)
    assert classifier.predict(X, groups=groups, interval=0.9).sets.shape == (480, 2)


def test_datasets_added_later_have_the_width_of_their_error(found):
    rng = np.random.default_rng(3)
    x = rng.standard_normal(200)
    new = {"x": x, "y": 2 * x + 3 * rng.standard_normal(200)}
    more = found.adding({"late": found.assign(new, new["y"])})
    got = more.predict({**new, "store": np.repeat("late", 200)}, interval=0.9)
    assert 0.82 < inside(got, new["y"]).mean() < 0.97
