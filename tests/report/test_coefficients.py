"""Coefficients of datasets and clusters as plain values."""

import math

import numpy as np
import pytest

import conjoin
from conjoin.report.coefficients import MOST_PANELS, coefficient_facts
from conjoin.report.facts import dataset_facts
from conjoin.report.view import View
from tests.report import results


def test_coefficients_have_intervals_and_small_datasets_have_none():
    found = coefficient_facts(View(results.hostile()))
    assert found["without"] == 1
    tiny = found["names"].index("tiny")
    for feature in found["features"]:
        assert feature["value"][tiny] is None
        known = [k for k in range(5) if k != tiny]
        assert all(feature["low"][k] < feature["value"][k] < feature["high"][k] for k in known)
    assert found["features"][-1]["name"] == "level"  # rows of all datasets have the same mean


def test_intervals_of_coefficients_are_those_of_least_squares():
    rng = np.random.default_rng(1)
    tables = {}
    for name in "ab":
        x = rng.standard_normal(30)
        tables[name] = {"x": x, "y": 2 * x + rng.standard_normal(30)}
    result = conjoin.partition(tables, target="y")
    details = result.analysis.details
    x, y = tables["a"]["x"], tables["a"]["y"]
    X = np.stack([np.ones(30), x], axis=1)
    beta, rss = np.linalg.lstsq(X, y, rcond=None)[:2]
    variance = float(rss[0]) / 28 * np.linalg.inv(X.T @ X)[1, 1]
    assert details.own[0, 1] == pytest.approx(beta[1])
    assert details.own_spread[0, 1] == pytest.approx(math.sqrt(variance))
    slope = next(f for f in coefficient_facts(View(result))["features"] if f["name"] == "x")
    half = 1.7011309 * math.sqrt(variance)  # the quantile of t with 28 degrees of freedom
    assert slope["high"][0] - slope["value"][0] == pytest.approx(half)


def test_coefficients_come_class_by_class():
    result = results.choices(3)
    found = coefficient_facts(View(result))
    blocks = [line["block"] for line in found["features"]]
    assert list(dict.fromkeys(blocks)) == [str(label) for label in result.classes]
    assert len(blocks) == 12
    assert found["left_out"] == 0
    for line in found["features"]:
        assert line["name"].startswith(f"{line['block']}: ")
        if line["name"].endswith("level"):
            continue
        expected = [model.coef[line["name"]] for model in result.models]
        np.testing.assert_allclose(line["model"], expected)
        # Own fits lie around the models of their clusters, not around those of another class.
        own = np.array([expected[c - 1] for c in found["number"]])
        spread = (np.array(line["high"]) - line["low"]) / 2
        assert np.mean(np.abs(line["value"] - own) < 2 * spread) > 0.8


def test_many_classes_are_not_all_drawn():
    rng = np.random.default_rng(0)
    tables = {}
    for k in range(2):
        x = rng.standard_normal((300, 1))
        tables[f"d{k}"] = {"x": x[:, 0], "y": rng.choice(list("abcdefghijklmnop"), 300)}
    found = coefficient_facts(View(conjoin.partition(tables, target="y")))
    assert len(found["features"]) == 2 * MOST_PANELS
    assert found["left_out"] == 8


def test_the_level_is_the_log_odds_at_average_features():
    result = results.choices(2)
    found = coefficient_facts(View(result))
    level = next(f for f in found["features"] if f["name"] == "level")
    middle = dict(zip(result.features, result.analysis.placement.basis.center))
    share = result.models[0].predict_proba({k: [v] for k, v in middle.items()})[0]
    assert level["model"][0] == pytest.approx(math.log(share[1] / share[0]))


def test_explain_says_how_far_the_common_model_holds(learned):
    found = dataset_facts(learned, "d0")
    low, high = found["reach"]["interval"]
    assert low < found["reach"]["value"] < high
    assert "The common model (boosted trees) counts" in found["reason"]
    assert "reach" not in dataset_facts(learned.linear, "d0")
