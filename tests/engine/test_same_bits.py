"""The answer has the same bits for one thread and for two, and for rows and files in any order."""

import json

import duckdb
import numpy as np
import pandas as pd
import pytest

import conjoin
from conjoin import execution
from conjoin.engine import remote, remote_batches, remote_rows, remote_sums
from conjoin.moments import folds
from conjoin.sources.read import read_batches

pytestmark = pytest.mark.filterwarnings("ignore::conjoin.errors.ConjoinWarning")
FEATURES = ["a", "b", "c", "kind", "store"]
LINES = {"learner": "linear", "by": "store", "folds": 4}
CASES = {
    "lines": ([*FEATURES, "y"], {"target": "y"}),
    "weights": ([*FEATURES, "y", "w"], {"target": "y", "weights": "w"}),
    "kept moments": ([*FEATURES, "y"], {"target": "y", "keep_moments": True}),
    "equal rows by chance": (["tens", "kind", "store", "visits"], {"target": "visits"}),
    "their weights": (
        ["tens", "kind", "store", "visits", "w"],
        {"target": "visits", "weights": "w"},
    ),
    "classes": ([*FEATURES, "bought"], {"target": "bought"}),
    "counts": ([*FEATURES, "visits"], {"target": "visits", "family": "poisson"}),
}


@pytest.fixture(scope="module")
def table():
    """Five stores in two clusters, with a gap, weights, classes and counts."""
    rng = np.random.default_rng(0)
    n = 8000
    table = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    table["c"] = table["c"] * 3 + 1000
    table["kind"], table["store"] = rng.choice(["u", "v"], n), rng.choice(list("pqrst"), n)
    table["w"], table["tens"] = rng.uniform(1, 2, n), table["a"].round(1)
    slope = np.where(table["store"].isin(["p", "q"]), 1, -1)
    table["y"] = table["a"] * slope + 0.2 * table["c"] + rng.normal(size=n)
    table["bought"] = np.where(table["y"] - 200 + rng.logistic(size=n) > 0, "yes", "no")
    table["visits"] = rng.poisson(np.exp(0.3 * table["a"] * slope))
    table.loc[::17, "b"] = np.nan
    return table


@pytest.fixture(scope="module")
def files(table, tmp_path_factory):
    """The rows in two files, and shuffled in five: each file has rows of all stores."""
    folder = tmp_path_factory.mktemp("rows")

    def write(rows, parts, name):
        paths = [str(folder / f"{name}{k}.parquet") for k in range(parts)]
        for k, path in enumerate(paths):  # DuckDB reads short groups of rows in many threads
            rows.iloc[k::parts].to_parquet(path, index=False, row_group_size=500)
        return paths

    shuffled = table.sample(frac=1, random_state=1)
    return write(table, 2, "first"), write(shuffled, 5, "second")[::-1]


@pytest.fixture
def answer(monkeypatch, tmp_path):
    """What a run with some threads finds: the model file, errors and verdicts."""

    def run(files, columns, asked, threads):
        monkeypatch.setattr(execution, "_processors", lambda: threads)
        with duckdb.connect(config={"threads": threads}) as connection:
            rows = connection.read_parquet(files).project(", ".join(columns))
            found = conjoin.partition(rows, **LINES | asked)
            verdicts = [(one.left, one.right, one.verdict, one.p_value) for one in found.ledger()]
            found.save(tmp_path / "model.json")
        model = json.loads((tmp_path / "model.json").read_text())
        return model, {name: one.error for name, one in found.errors.items()}, verdicts

    return run


@pytest.mark.parametrize("place", ["memory", "duckdb"])
@pytest.mark.parametrize("case", CASES)
def test_threads_and_the_order_of_rows_and_files(monkeypatch, files, answer, case, place):
    if place == "duckdb":
        monkeypatch.setattr(remote, "MOST_VALUES", -1)
    expected = answer(files[0], *CASES[case], threads=1)
    assert answer(files[0], *CASES[case], threads=2) == expected
    assert answer(files[1], *CASES[case], threads=2) == expected


@pytest.mark.parametrize("option", ["time", "repeat"])
def test_rows_in_time_and_of_persons(table, option):
    rng = np.random.default_rng(2)
    given = table[["a", "c", "store", "y"]].head(1000)
    given = given.assign(when=rng.integers(0, 300, 1000), who=rng.integers(0, 90, 1000).astype(str))
    asked = LINES | {"target": "y", option: {"time": "when", "repeat": "who"}[option]}
    found = []
    for rows in (given, given.sample(frac=1, random_state=1)):
        one = conjoin.partition(rows, **asked)
        ledger = [(pair.left, pair.right, pair.p_value) for pair in one.ledger()]
        found.append(({name: error.error for name, error in one.errors.items()}, ledger))
    assert found[0] == found[1]


@pytest.mark.learner
@pytest.mark.parametrize("place", ["memory", "duckdb"])
def test_boosted_trees(monkeypatch, files, answer, place):
    asked = {"target": "y", "learner": "auto"}
    if place == "duckdb":
        monkeypatch.setattr(remote, "MOST_VALUES", -1)
        asked["sample_rows"] = 3000
    columns = ["a", "kind", "store", "y"]
    expected = answer(files[0], columns, asked, threads=1)
    assert answer(files[1], columns, asked, threads=2) == expected


@pytest.mark.parametrize("case", ["lines", "kept moments", "classes"])
def test_threads_of_very_many_rows(monkeypatch, files, answer, case):
    for module in (remote_sums, folds):
        monkeypatch.setattr(module, "LARGE_ROWS", 1000)
    monkeypatch.setattr(remote, "MOST_VALUES", -1)
    monkeypatch.setattr(remote_batches, "BATCH", 3000)
    monkeypatch.setattr(remote_rows, "BATCH_ROWS", 700)
    expected = answer(files[0], *CASES[case], threads=1)
    assert answer(files[0], *CASES[case], threads=2) == expected


def test_files_that_name_their_dataset(table, tmp_path):
    kept = table[["store", "a", "c", "y"]]
    for name, rows in kept.groupby("store"):
        rows = rows.drop(columns="store")
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
        (tmp_path / "other").mkdir(exist_ok=True)
        rows[::-1].to_csv(tmp_path / "other" / f"{name}.csv", index=False)
    paths = [
        [str(one / f"{name}.csv") for name in "pqrst"] for one in (tmp_path, tmp_path / "other")
    ]
    first, second = (
        conjoin.partition(some, target="y", learner="linear", folds=4)
        for some in (paths[0], paths[1][::-1])
    )
    assert second.clusters == first.clusters
    coefs = [[one.coef for one in found.coefficients.values()] for found in (first, second)]
    assert coefs[0] == coefs[1]


def test_batches_have_the_same_rows_for_any_number_of_threads(files):
    found = []
    for threads in (1, 2):
        with duckdb.connect(config={"threads": threads}) as connection:
            rows = connection.read_parquet(files[0]).filter("a < 0.5").project("a")
            found.append([len(one) for one in read_batches(rows, 700)])
    assert found[0] == found[1]
    assert set(found[0][:-1]) == {700}
