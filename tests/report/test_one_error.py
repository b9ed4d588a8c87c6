"""A model has one error wherever it is shown: every number that appears twice is compared.

On synthetic and real tables: errors of strategies, clusters, datasets and the pooled model, their
percentages and intervals, in `result.errors`, the models, `--json`, the facts of the page,
`explain`, the printed tables and the sentences.
"""

import math
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import conjoin
from conjoin.cli import show
from conjoin.cli.show import show_dataset, show_partition
from conjoin.datasets import load_seoul_bikes, make_clusters
from conjoin.report.facts import dataset_facts, facts
from conjoin.report.html import render
from conjoin.report.strategies import plain_name
from conjoin.strategies import SEARCHED
from tests.report import results
from tests.report.test_faces import Tables, agree, printed_tables

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "bench"


@cache
def one_cluster():
    return conjoin.partition(make_clusters(sizes=(5,), n=40, p=3).tables(), target="y")


@cache
def by_rows():
    tables = make_clusters(sizes=(3, 3), n=(20, 40, 60, 80, 100, 30), p=3, distance=1.0).tables()
    return conjoin.partition(tables, target="y", weigh_by="rows")


@cache
def bikes():
    return conjoin.partition(load_seoul_bikes(), target="rented_bikes", by="hour")


@cache
def real(path, target, by):
    if not (SHARED / path).exists():
        pytest.skip("the shared data are not here")
    return conjoin.partition(SHARED / path, target=target, by=by)


CASES = {
    "numbers": results.hostile,
    "classes": lambda: results.choices(2),
    "counts": results.counts,
    "many": lambda: results.clusters(30),
    "one cluster": one_cluster,
    "weighed by rows": by_rows,
    "bikes": bikes,
    "sleepstudy": lambda: real("sleepstudy/sleepstudy.csv", "Reaction", "Subject"),
    "radon": lambda: real("radon-minnesota/radon_minnesota.csv", "log.radon", "county.name"),
}


@pytest.fixture(params=CASES)
def result(request):
    return CASES[request.param]()


def weights_of(result):
    weights = result.analysis.study.weights
    return dict(zip(result.labels, weights))


def mean_error(result, names, errors):
    weights = weights_of(result)
    return np.average([errors[name] for name in names], weights=[weights[name] for name in names])


def test_strategies_have_the_mean_error_of_their_models(result):
    for name, estimate in result.errors.items():
        if name == SEARCHED:
            continue
        errors = {n: model.error for n, model in result.using(name).coefficients.items()}
        assert estimate.error == pytest.approx(mean_error(result, errors, errors), rel=1e-9), name


def test_clusters_and_the_pooled_model_have_the_error_of_their_strategies(result):
    clusters = result.using("clusters").coefficients
    for members, model in zip(result.clusters, result.models):
        for name in members:
            assert clusters[name].coef == pytest.approx(model.coef)
        errors = {name: clusters[name].error for name in members}
        assert model.error == pytest.approx(mean_error(result, members, errors), rel=1e-9)
    pooled = result.using("pooled").coefficients
    assert result.pooled.error == pytest.approx(result.errors["pooled"].error, rel=1e-9)
    assert all(model.coef == pytest.approx(result.pooled.coef) for model in pooled.values())
    if len(result.clusters) == 1:
        assert SEARCHED not in result.errors
        assert result.errors["clusters"].error == result.errors["pooled"].error


def test_columns_of_datasets_are_strategies(result):
    details = result.analysis.details.errors
    same = {"cluster": "clusters", "all": "pooled"}
    for key, strategy in same.items():
        models = result.using(strategy).coefficients
        for k, (name, model) in enumerate(models.items()):
            assert details[key][k] == pytest.approx(model.error, rel=1e-9), (key, name)


def test_facts_have_the_errors_of_the_result(result):
    found = facts(result, details=True)
    for name, line in found["strategies"].items():
        assert line["error"] == result.errors[name].error
    for one, page, model in zip(found["clusters"], found["details"]["clusters"], result.models):
        assert one["error"] == model.error
        own = dict(zip(result.labels, result.analysis.details.errors["own"]))
        used = {n: m.error for n, m in result.coefficients.items()}
        shown = math.sqrt if result.family == "gaussian" else float
        assert page["own"] == pytest.approx(shown(mean_error(result, one["datasets"], own)))
        assert page["in_use"] == pytest.approx(shown(mean_error(result, one["datasets"], used)))
        assert page["change"] == pytest.approx(100 * (one["shown"] / page["own"] - 1))
    for name, line in found["datasets"].items():
        explained = dataset_facts(result, name)
        assert line["error"] == explained["models"]["in_use"]["error"]
        if "scores" in line:
            assert line["scores"]["log_loss"] == pytest.approx(line["error"])
        page = found["details"]["datasets"][name]
        for key, shown in page["models"].items():
            assert explained["models"][key]["shown"] == shown
        own = explained["models"]["own"]["error"]
        assert own == result.analysis.details.errors["own"][list(result.labels).index(name)]
        if len(result.clusters[result.labels[name]]) == 1:
            alone = result.models[result.labels[name]].error
            assert own == explained["models"]["cluster"]["error"] == pytest.approx(alone, rel=1e-9)


def test_sentences_have_the_numbers_of_the_tables(result):
    found = facts(result)
    lines, text = found["strategies"], found["verdict"]
    advised = found["advice"]
    name = plain_name(lines) if advised == "clusters" else advised
    line, over = lines[name], found["improvements"][name]["over"]
    short = found["measure"]["shown"]
    said = re.search(rf"{short} ([\d.e+-]+) \(90 % interval ([\d.e+-]+) to ([\d.e+-]+)", text)
    expected = (line["shown"], *line["interval"])
    assert [float(x.rstrip(".")) for x in said.groups()] == pytest.approx(expected, rel=6e-4)
    for other, words in (("separate", "separate models"), ("pooled", "one model for all")):
        ratio = 100 * (line["shown"] / lines[other]["shown"] - 1)
        assert over[other]["percent"] == pytest.approx(ratio, abs=1e-6)
        percent = re.search(rf"([\d.,]+) % (lower|higher) than with [\d,]* ?{words}", text)
        if percent and abs(ratio) > 0.05:
            assert float(percent[1].replace(",", "")) == pytest.approx(abs(ratio), abs=0.051)
            assert (percent[2] == "lower") == (ratio < 0)


def test_tables_that_are_printed_have_the_numbers_of_the_page(result, capsys, monkeypatch):
    monkeypatch.setattr(show, "PLAIN_WIDTH", 400)
    monkeypatch.setattr(show, "MOST_CLUSTERS_SHOWN", 1000)
    show_partition(result)
    terminal = capsys.readouterr().out
    found = facts(result, details=True)
    page = Tables(render(found))
    title = f"Strategies ('{found['strategy']}' is used)"
    printed = {row["strategy"]: row for row in printed_tables(terminal)[title]}
    shown = {row["strategy"]: row for row in page["strategies"]}
    for name, line in found["strategies"].items():
        head = next(h for h in printed[name] if h.startswith(("error", "log loss", "half dev")))
        agree((name, head), line["shown"], printed[name][head], shown[name][head])
    rows = printed_tables(terminal)["Clusters, one model each"]
    for one, row, cells in zip(found["clusters"], rows, page["cluster-table"], strict=True):
        head = next(h for h in row if h.startswith(("error", "log loss", "half dev")))
        agree(one["number"], one["shown"], row[head], cells["cluster's model"])
    name = next(iter(found["datasets"]))
    show_dataset(dataset_facts(result, name))
    errors = printed_tables(capsys.readouterr().out)["Errors on its held-out rows"]
    cells = next(row for row in page["dataset-table"] if row["dataset"] == name)
    for row in errors:
        words, text = row.values()
        head = "in use" if words.startswith("in use") else words
        agree((name, head), text, cells[head])
