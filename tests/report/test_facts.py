"""A result as plain values, for every face."""

import dataclasses
import json
import math

import numpy as np
import pytest

import conjoin
from conjoin.datasets import make_clusters, make_pair
from conjoin.engine.methods import METHODS
from conjoin.report.facts import brief_facts, comparison_facts, dataset_facts, facts
from conjoin.result.found import SEARCHES
from tests.report import results

RESULTS = {
    "numbers": results.hostile,
    "two classes": lambda: results.choices(2),
    "three classes": lambda: results.choices(3),
    "counts": results.counts,
}
# What scripts of users may rely on.
KEYS = {
    "conjoin", "target", "family", "by", "verdict", "method", "strategy", "clusters", "strategies",
    "ledger", "datasets", "columns", "cautions",
}  # fmt: skip


@pytest.mark.parametrize("kind", RESULTS)
def test_all_of_it_fits_json(kind):
    found = facts(RESULTS[kind](), details=True)
    again = json.loads(json.dumps(found, allow_nan=False))
    assert again == found
    assert KEYS <= set(found)
    assert ("classes" in found) == ("classes" in kind)


@pytest.mark.parametrize("kind", RESULTS)
def test_a_saved_result_has_the_same_facts(kind, tmp_path):
    result = RESULTS[kind]()
    result.save(tmp_path / "model.json", evidence=True)
    loaded = conjoin.load(tmp_path / "model.json")
    assert json.dumps(facts(loaded)) == json.dumps(facts(result))
    # Files round the figures of the page, which shows four digits of them.
    assert set(facts(loaded, details=True)["details"]) == set(
        facts(result, details=True)["details"]
    )


def test_details_and_long_ledgers_come_only_if_asked_for(monkeypatch):
    tables = make_clusters(sizes=(3, 2), n=40, p=2, distance=1.0).tables()
    result = conjoin.partition(tables, target="y")
    asked = []
    ledger = type(result.analysis).ledger

    def asked_for(self, most, progress=None):
        asked.append(most)
        return ledger(self, most, progress)

    monkeypatch.setattr(type(result.analysis), "ledger", asked_for)
    found = facts(result, most_steps=2)
    assert asked == [2]
    assert len(found["ledger"]) == 2
    assert found["steps"] == len(result.ledger())
    assert "details" not in found
    assert "details" not in vars(result.analysis)


def test_strategies_have_their_errors_and_the_one_in_use_is_marked():
    result = results.hostile()
    found = facts(result)["strategies"]
    assert {"separate", "pooled", "clusters", "intercept", "partial", "mixture", "auto"} <= set(
        found
    )
    assert [name for name, line in found.items() if line["in_use"]] == ["auto"]
    assert min(line["percent"] for line in found.values() if not line["kept"]) == 0
    least = min(e.error for name, e in result.errors.items() if name not in ("clusters", "plain"))
    for name, line in found.items():
        estimate = result.errors[name]
        assert line["error"] == estimate.error
        assert line["shown"] == pytest.approx(math.sqrt(estimate.error))
        low, high = line["interval"]
        assert low < line["shown"] < high
        assert line["kept"] == (name in ("clusters", "plain"))
        if line["kept"]:
            assert line["percent"] is None and line["behind"] is None
            continue
        # Percentages are of the error as it is shown, the root.
        behind = 100 * (math.sqrt(estimate.error / least) - 1)
        assert line["percent"] == pytest.approx(behind, abs=1e-9)
        low, high = line["percent_interval"]
        assert low <= line["percent"] <= high
        half = 1.6448536 * line["percent_standard_error"]
        assert high - line["percent"] == pytest.approx(half, rel=1e-6)
        assert line["words"]
    assert sum(line["weight"] or 0 for line in found.values()) == pytest.approx(1)


def test_partitions_that_are_found_again_are_known_by_name():
    for name, method in METHODS.items():
        assert (name in SEARCHES) == (method.find_outside is not None), name
    tables = make_clusters(sizes=(2, 1), n=40, p=2, distance=1.0).tables()
    assert facts(conjoin.partition(tables, target="y"))["found_again"]
    assert not facts(conjoin.partition(tables, target="y", method="tuned"))["found_again"]


def test_brief_facts_need_no_errors(monkeypatch):
    result = results.hostile()
    whole = facts(result)
    monkeypatch.setattr(conjoin.Partition, "errors", property(lambda self: pytest.fail("found")))
    assert {key: whole[key] for key in brief_facts(result)} == brief_facts(result)


def test_a_dataset_explained():
    result = results.choices(3)
    found = dataset_facts(result, "<i>0")
    assert set(found["coef"]) == set(result.pooled.coef)
    assert "the expected log loss by" in found["reason"]
    width = np.ptp(result.pooled.limits["x1"])
    one = found["coef"]["no: x1"]
    assert one["shift"] == pytest.approx((one["in_use"] - one["all"]) * width)
    assert list(found["models"]) == [
        "in_use", "own", "separate", "cluster", "others", "all",
    ]  # fmt: skip
    assert found["errors"]["its own"] == found["models"]["own"]["error"]
    own = found["alternatives"][0]
    assert own["own"]
    names = [found["dataset"], *own["datasets"]]
    error = np.mean([result.coefficients[name].error for name in names])
    assert own["percent"] == pytest.approx(100 * own["gain"] / error)


def test_a_file_without_details_explains_what_it_knows(tmp_path):
    results.hostile().save(tmp_path / "model.json", evidence=True)
    loaded = conjoin.load(tmp_path / "model.json")
    bare = dataclasses.replace(loaded, analysis=dataclasses.replace(loaded.analysis, details=None))
    assert list(dataset_facts(bare, "tiny")["models"]) == ["in_use"]


def test_a_join_that_points_the_other_way_is_commented_on():
    tables = make_clusters(sizes=(2, 2), n=20, p=2, distance=0.6, random_state=0).tables()
    result = conjoin.partition(tables, target="y", method="bic")
    assert result.clusters == [["d1", "d2"], ["d3", "d4"]]
    for name in result.labels:
        against = result.explain(name)[0].gain < 0
        assert ("all datasets together" in dataset_facts(result, name)["reason"]) == against
    assert {result.explain(name)[0].gain < 0 for name in result.labels} == {True, False}


def test_a_comparison():
    one, two = make_pair(p=3, n=120, d=1.0, random_state=1).tables().values()
    result = conjoin.compare(one, two, target="y")
    found = comparison_facts(result, "one", "two")
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["gain"] == result.gain
    assert found["shown_joined"] == pytest.approx(math.sqrt(result.error_joined))
    assert found["models"]["a"]["rows"] == 120
    assert found["sentence"].startswith("Keep one and two apart: joining raises the expected")
