"""Class targets through `partition`: the truth is found, awkward data is handled."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import conjoin
from conjoin.datasets import make_class_clusters
from conjoin.errors import ConjoinWarning
from tests.api.outcomes import excess, fit, frame_of, lines_of


def test_planted_clusters_are_found_and_predict(fitted):
    result, _, outcomes = fitted
    assert result.family == "logistic"
    assert result.labels == dict(outcomes.labels)
    clusters = {name: result.models[result.labels[name]] for name in outcomes.names}
    separate = excess(outcomes, result.using("separate").coefficients)
    pooled = excess(outcomes, dict.fromkeys(outcomes.names, result.pooled))
    assert excess(outcomes, clusters) < 0.7 * min(separate, pooled)
    assert excess(outcomes, result.coefficients) < 0.8 * min(separate, pooled)
    assert result.errors["clusters"].error < result.errors["pooled"].error


def test_validated_errors_are_those_of_new_rows(fitted):
    result, _, outcomes = fitted
    for strategy in ("auto", "pooled", "clusters"):
        models = result.using(strategy).coefficients
        new = np.mean([outcomes.population_error(n, *lines_of(models[n])) for n in models])
        assert result.errors[strategy].error == pytest.approx(new, rel=0.1)


def test_probabilities_sum_to_one_and_predict_is_the_most_likely_class(fitted):
    result, frame, _ = fitted
    P = result.predict_proba(frame)
    assert P.shape == (len(frame), len(result.classes))
    assert_allclose(P.sum(axis=1), 1.0)
    assert P.min() >= 0
    assert (result.predict(frame) == np.array(result.classes)[P.argmax(axis=1)]).all()
    assert np.mean(result.predict(frame) == frame["y"]) > 0.6
    model = result.coefficients["d1"]
    own = frame[frame["store"] == "d1"]
    assert_allclose(model.predict_proba(own), P[frame["store"] == "d1"])
    assert (model.predict(own) == result.predict(own)).all()


def test_order_of_rows_and_datasets_does_not_matter(fitted):
    result, frame, outcomes = fitted
    shuffled = frame.sample(frac=1.0, random_state=3)
    again = fit(shuffled)
    assert_allclose(again.predict_proba(frame), result.predict_proba(frame), atol=1e-6)
    assert again.clusters == result.clusters
    tables = dict(reversed(outcomes.tables().items()))
    turned = conjoin.partition(tables, target="y")
    assert {frozenset(c) for c in turned.clusters} == {frozenset(c) for c in result.clusters}
    P = turned.predict_proba(frame, frame["store"])
    assert_allclose(P, result.predict_proba(frame), atol=1e-6)


def test_two_labels_and_three_lines(result, of_three):
    assert len(result.models[0].lines) == 1
    assert isinstance(result.models[0].intercept, float)
    lines = of_three.models[0].lines
    assert len(lines) == 3
    assert_allclose(np.sum([list(line.coef.values()) for line in lines], axis=0), 0, atol=1e-9)
    assert sum(line.intercept for line in lines) == pytest.approx(0, abs=1e-9)
    assert set(of_three.models[0].intercept) == {"c1", "c2", "c3"}


def finite(result, frame):
    P = result.predict_proba(frame)
    assert np.isfinite(P).all()
    assert_allclose(P.sum(axis=1), 1.0)
    for estimate in result.errors.values():
        assert np.isfinite(estimate.error)
    for name in result.labels:
        assert np.isfinite(lines_of(result.coefficients[name])[0]).all()
    assert len(result.ledger()) == len(result.labels) - 1
    return P


@pytest.mark.parametrize("strategy", ["auto", "partial", "clusters", "separate"])
def test_a_dataset_of_one_class_lies_between_its_own_rows_and_the_others(shops, strategy):
    frame = frame_of(shops)
    alone = frame["store"] == "d2"
    frame.loc[alone, "y"] = "c2"
    result = fit(frame, strategy=strategy)
    P = finite(result, frame)[alone, 1]
    others = result.pooled.predict_proba(frame[alone])[:, 1]
    assert others.mean() < P.mean() < 1.0
    assert P.max() < 1.0


def test_every_dataset_of_one_class(small):
    frame = small.assign(y=np.where(small["store"] == "d1", "no", "yes"))
    result = fit(frame)
    P = finite(result, frame)
    assert P[frame["store"] == "d1", 0].min() > 0.5
    assert P[frame["store"] != "d1", 1].min() > 0.5


def test_a_class_absent_from_some_datasets(three):
    frame = frame_of(three)
    frame = frame[(frame["y"] != "c3") | (frame["store"] == "d4")]
    result = fit(frame)
    assert result.classes == ("c1", "c2", "c3")
    P = finite(result, frame)
    absent = P[frame["store"] == "d1", 2].mean()
    assert 0 < absent < result.pooled.predict_proba(frame[frame["store"] == "d1"])[:, 2].mean()


def test_separable_data(small):
    frame = small.assign(y=np.where(small["x1"] > 0, "right", "left"))
    result = fit(frame)
    finite(result, frame)
    assert np.mean(result.predict(frame) == frame["y"]) > 0.97
    assert abs(result.coefficients["d1"].coef["x1"]) < 1e3


def test_a_class_of_one_percent():
    rare = make_class_clusters(sizes=(2, 2), n=1200, p=3, distance=1.0, classes=(0.99, 0.01))
    frame = frame_of(rare)
    result = fit(frame)
    P = finite(result, frame)[:, 1]
    for name in rare.names:
        own = frame["store"] == name
        assert P[own].mean() == pytest.approx(np.mean(frame["y"][own] == "c2"), abs=0.005)
    share = np.mean(frame["y"] == "c2")
    constant = -share * np.log(share) - (1 - share) * np.log(1 - share)
    assert result.errors["auto"].error < 1.02 * constant


@pytest.mark.parametrize("n", [(1, 1, 1, 1, 1, 1), (1, 2, 3, 40, 60, 5)], ids=str)
def test_tiny_datasets(n):
    frame = frame_of(make_class_clusters(sizes=(3, 3), n=n, p=3, random_state=4))
    result = fit(frame)
    finite(result, frame)
    assert {v.verdict for v in result.ledger()} == {"undecided"} or max(n) > 30


def test_a_constant_feature_and_a_rare_flag(small):
    frame = small.assign(flag=np.arange(len(small)) == 3, same=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjoinWarning)
        finite(fit(frame), frame)


def test_row_weights(small):
    doubled = pd.concat([small, small[small["store"] == "d1"]])
    weighted = small.assign(weight=np.where(small["store"] == "d1", 2.0, 1.0))
    result = fit(weighted, weights="weight", strategy="pooled")
    wanted = fit(doubled, strategy="pooled")
    assert_allclose(result.predict_proba(small), wanted.predict_proba(small), atol=0.02)


@pytest.mark.parametrize("labels", [("c", "d"), ("b", "c")])
def test_datasets_without_the_same_classes_are_never_said_to_join(labels):
    rng = np.random.default_rng(0)
    tables = {}
    for name, classes, slope in (("one", ("a", "b"), 2.0), ("two", labels, -2.0)):
        x = rng.standard_normal(300)
        first = rng.random(300) < 1 / (1 + np.exp(-slope * x))
        tables[name] = {"x": x, "y": np.where(first, *classes)}
    compared = conjoin.compare(tables["one"], tables["two"], target="y")
    assert (compared.verdict, compared.join) == ("undecided", False)
    assert compared.gain < -0.1
    assert compared.rows_to_settle is None
    result = conjoin.partition(tables, target="y")
    assert len(result.clusters) == 2
    assert [line.verdict for line in result.ledger()] == ["undecided"]


@pytest.mark.parametrize(("datasets", "asked", "used"), [(301, 10, 5), (301, 3, 3), (20, 10, 10)])
def test_very_many_datasets_of_classes_are_validated_on_fewer_folds(datasets, asked, used):
    rng = np.random.default_rng(0)
    n = 12 * datasets
    table = {
        "x": rng.standard_normal(n),
        "y": rng.random(n) < 0.5,
        "by": np.repeat(np.arange(datasets), 12),
    }
    result = conjoin.partition(table, target="y", by="by", folds=asked)
    assert result.analysis.study.given.folds.shape == (datasets, used)
