"""What the page shows, as plain values."""

import math

import numpy as np
import pytest

import conjoin
from conjoin.datasets import make_clusters
from conjoin.report.html import render
from conjoin.report.sections import colours, commands, describe
from conjoin.report.summarize import summarize_dataset
from tests.report import results


@pytest.fixture(scope="module")
def page():
    return describe(results.hostile())


def test_strategies_are_in_order_and_the_one_in_use_is_marked(page):
    lines = page["strategies"]
    assert [line["error"] for line in lines] == sorted(line["error"] for line in lines)
    assert [line["name"] for line in lines if line["chosen"]] == ["auto"]
    assert {"separate", "pooled", "clusters", "intercept", "partial", "mixture", "auto"} <= {
        line["name"] for line in lines
    }
    assert lines[0]["behind"] == 0
    assert all(line["low"] <= line["behind"] <= line["high"] for line in lines)
    assert sum(line["weight"] or 0 for line in lines) == pytest.approx(1)


def test_the_verdict_is_a_sentence(page):
    assert page["verdict"].startswith("Train 2 models for 5 datasets: the expected squared error")
    assert page["verdict"].count(".") == 1


def test_clusters_have_errors_before_and_after(page):
    result = results.hostile()
    assert [c["datasets"] for c in page["clusters"]] == result.clusters
    first = page["clusters"][0]
    index = [list(result.labels).index(name) for name in first["datasets"]]
    own = result.analysis.details.errors["own"][index]
    assert first["before"] == pytest.approx(math.sqrt(np.mean(own)))
    assert first["after"] == pytest.approx(math.sqrt(result.models[0].error))
    assert first["change"] == pytest.approx(100 * (result.models[0].error / np.mean(own) - 1))


def test_errors_of_datasets_agree_with_the_result(page):
    result = results.hostile()
    for line in page["datasets"]:
        assert line["in_use"] == pytest.approx(math.sqrt(result.coefficients[line["name"]].error))
        assert set(line["errors"]) == {"own", "cluster", "others", "pooled"}
    pooled = np.mean([line["errors"]["pooled"] ** 2 for line in page["datasets"]])
    assert pooled == pytest.approx(result.pooled.error)
    separate = np.mean([line["errors"]["own"] ** 2 for line in page["datasets"]])
    assert separate == pytest.approx(result.errors["separate"].error)


def test_the_tree_joins_all_leaves_and_never_turns_back(page):
    tree = page["tree"]
    K = len(tree["leaves"])
    assert len(tree["merges"]) == K - 1
    children = sorted(c for m in tree["merges"] for c in m["children"])
    assert children == list(range(2 * K - 2))
    heights = [math.inf] * K
    for merge in tree["merges"]:
        height = math.inf if merge["height"] is None else merge["height"]
        assert height <= min(heights[c] for c in merge["children"])
        heights.append(height)
    assert sum(m["joined"] for m in tree["merges"]) == K - 2


def test_the_map_agrees_with_compare():
    tables = make_clusters(sizes=(2, 2), n=50, p=3, distance=1.0).tables()
    result = conjoin.partition(tables, target="y")
    found = result.analysis.details.map
    names = list(result.labels)
    for i, (a,) in enumerate(found.groups):
        for j, (b,) in enumerate(found.groups):
            if i == j:
                assert math.isnan(found.gain[i, j])
                continue
            pair = conjoin.compare(tables[names[a]], tables[names[b]], target="y")
            assert found.gain[i, j] == pytest.approx(pair.gain, rel=1e-6)
            assert ("", "join", "apart", "undecided")[found.verdict[i, j]] == pair.verdict
            assert found.low[i, j] == pytest.approx(pair.interval[0], rel=0.05, abs=1e-3)


def test_many_datasets_are_reduced_on_the_map():
    page = describe(results.clusters(240))
    assert 6 <= len(page["map"]["groups"]) <= 40
    assert sum(group["size"] for group in page["map"]["groups"]) == 240
    assert len(page["tree"]["leaves"]) == len(page["map"]["groups"])
    assert len(page["datasets"]) == 240


def test_coefficients_have_intervals_and_small_datasets_have_none(page):
    facts = page["coefficients"]
    assert facts["without"] == 1
    tiny = facts["names"].index("tiny")
    for feature in facts["features"]:
        assert math.isnan(feature["value"][tiny])
        known = [k for k in range(5) if k != tiny]
        assert all(feature["low"][k] < feature["value"][k] < feature["high"][k] for k in known)
    assert facts["features"][-1]["name"] == "level"  # rows of all datasets have the same mean


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


def test_warnings():
    text = " ".join(describe(results.odd())["cautions"])
    assert "1 column is a sum of others" in text
    assert "wild: values very far from the others" in text
    assert "set 5: residuals more than three times as large" in text


def test_the_command_makes_the_same_result():
    result = results.hostile()
    found = commands(result)
    assert found["shell"] == "conjoin partition DATA --target y --report report.html"
    assert found["python"] == "conjoin.partition(data, target='y').report(\"report.html\")"
    tables = make_clusters(sizes=(2,), n=20, p=2).tables()
    other = conjoin.partition(tables, target="y", delta=0.2, random_state=3, strategy="pooled")
    assert commands(other)["shell"] == (
        "conjoin partition DATA --target y --delta 0.2 --seed 3 --strategy pooled "
        "--report report.html"
    )
    folds = conjoin.partition(tables, target="y", folds=5)
    assert "shell" not in commands(folds)
    assert "folds=5" in commands(folds)["python"]
    assert "folds=5" in render(describe(folds))  # a page without the shell's command


def test_settings_tell_files_but_no_folders_and_no_addresses(tmp_path):
    from conjoin.api.pipeline import _shown_source

    assert _shown_source(tmp_path / "a.csv") == ["a.csv"]
    assert _shown_source("postgresql://user:secret@host/db::table") == []
    assert _shown_source({"a": 1}) == []


def test_single_clusters_and_single_datasets():
    tables = make_clusters(sizes=(2,), n=40, p=2).tables()
    page = describe(conjoin.partition(tables, target="y", strategy="clusters"))
    assert page["verdict"].startswith("Train one model for all 2 datasets")
    assert page["clusters"][0]["shifts"] == []


def test_a_model_file_gives_the_same_page(tmp_path):
    result = results.hostile()
    result.save(tmp_path / "model.json")
    result.report(tmp_path / "live.html")
    conjoin.load(tmp_path / "model.json").report(tmp_path / "stored.html")
    live, stored = (tmp_path / f"{name}.html" for name in ("live", "stored"))
    assert live.read_text(encoding="utf-8") == stored.read_text(encoding="utf-8")


def test_a_model_file_without_details_says_so(tmp_path):
    import dataclasses

    result = results.hostile()
    result.save(tmp_path / "model.json")
    loaded = conjoin.load(tmp_path / "model.json")
    bare = dataclasses.replace(loaded.analysis, details=None)
    page = render(describe(dataclasses.replace(loaded, analysis=bare)))
    assert page.count("the model file was written without") == 3


def test_colours_go_to_the_largest_clusters():
    names = [["a"], ["b", "c"], ["d"]]
    assert colours(names) == [0, 1, 2]
    many = [["x"]] * 5 + [["a", "b"]] * 9
    found = colours(many)
    assert found[:5] == [8] * 5
    assert found[5:13] == list(range(8))
    assert found[13] == 8


def test_a_join_that_points_the_other_way_is_commented_on():
    tables = make_clusters(sizes=(2, 2), n=20, p=2, distance=0.6, random_state=0).tables()
    result = conjoin.partition(tables, target="y", method="bic")
    assert result.clusters == [["d1", "d2"], ["d3", "d4"]]
    for name in result.labels:
        against = result.explain(name)[0].gain < 0
        assert ("all datasets together" in summarize_dataset(result, name)["reason"]) == against
    assert {result.explain(name)[0].gain < 0 for name in result.labels} == {True, False}
