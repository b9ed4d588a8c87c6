"""`partition`: the same answer whatever the form of the input, and everything in the result."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import conjoin
from conjoin import execution
from conjoin.datasets import make_clusters
from conjoin.grouping import agglomerative
from conjoin.models import effort
from tests.helpers import table


def long_frame(tables):
    return pd.concat(
        [pd.DataFrame(columns).assign(store=name) for name, columns in tables.items()],
        ignore_index=True,
    )


@pytest.mark.parametrize("rule", ["signed", "literal"])
def test_partition_keeps_clusters_labels_and_the_ledger(rule):
    stores = make_clusters(sizes=(2, 1), n=250, p=3, distance=2.0)
    result = conjoin.partition(
        stores.tables(), target="y", method="tuned", rule=rule, resamples=300
    )
    assert sorted(sum(result.clusters, [])) == ["d1", "d2", "d3"]
    for i, cluster in enumerate(result.clusters):
        assert all(result.labels[name] == i for name in cluster)
    assert len(result.models) == len(result.clusters)
    assert all(step.score.score <= 1 for step in result.ledger())
    if rule == "signed":
        assert result.clusters == [["d1", "d2"], ["d3"]]


@pytest.mark.parametrize("method", ["tuned", "bound", "direct"])
def test_pandas_polars_and_mappings_give_the_same_answer(method):
    tables = make_clusters(sizes=(2, 2), n=120, p=3, distance=1.0).tables()
    frame = long_frame(tables)
    options = {"target": "y", "method": method, "random_state": 3}
    results = [
        conjoin.partition(tables, **options),
        conjoin.partition({k: pd.DataFrame(v) for k, v in tables.items()}, **options),
        conjoin.partition({k: pl.DataFrame(v) for k, v in tables.items()}, **options),
        conjoin.partition(frame, by="store", **options),
        conjoin.partition(pl.from_pandas(frame), by="store", **options),
    ]
    assert all(result.clusters == results[0].clusters for result in results)
    scores = [[step.score.score for step in result.ledger()] for result in results]
    assert all(score == scores[0] for score in scores)


@pytest.mark.parametrize("method", ["tuned", "bound"])
def test_row_order_and_order_of_datasets_change_nothing(method):
    tables = make_clusters(sizes=(2, 2), n=100, p=3, distance=0.7).tables()
    rng = np.random.default_rng(0)
    shuffled = {}
    for name in reversed(tables):
        order = rng.permutation(100)
        shuffled[name] = {c: v[order] for c, v in tables[name].items()}
    one, two = (conjoin.partition(t, target="y", method=method) for t in (tables, shuffled))
    assert one.clusters == two.clusters
    for a, b in zip(one.ledger(), two.ledger()):
        assert a.score.score == pytest.approx(b.score.score, rel=1e-6)


def test_adding_a_dataset_leaves_the_scores_of_the_others_as_they_were():
    criterion = conjoin.Tuned(resamples=200)
    tables = make_clusters(sizes=(1, 1), n=150, p=3, distance=0.5).tables()
    pair = conjoin.partition(tables, target="y", method=criterion, intercept=False)
    more = {**tables, "z": {k: v + 50.0 for k, v in tables["d1"].items()}}
    three = conjoin.partition(more, target="y", method=criterion, intercept=False)
    first = next(step for step in three.ledger() if step.right == ("d2",) or step.right == ("z",))
    if first.right == ("d2",):
        assert first.score.score == pytest.approx(pair.ledger()[0].score.score)
    assert {"d1", "d2", "z"} == set(three.labels)


moment_methods = st.sampled_from(["direct", "bound"])


def scores(result):
    return [(step.left, step.right, step.joined) for step in result.ledger()]


@settings(max_examples=15)
@given(
    st.integers(0, 10_000), moment_methods, st.floats(0.01, 100), st.sampled_from([0.0, 0.2, 1.0])
)
def test_change_of_features_and_scale_of_target_leave_decisions(seed, method, scale, d):
    rng = np.random.default_rng(seed)
    beta = rng.standard_normal(3)
    change = rng.standard_normal((3, 3)) + 3 * np.eye(3)
    offset = rng.standard_normal(3)
    plain, changed = {}, {}
    for k, name in enumerate("abc"):
        X = rng.standard_normal((40, 3))
        y = X @ (beta + k * d) + rng.standard_normal(40)
        plain[name] = table(X, y)
        changed[name] = table(X @ change + offset, scale * y + 3)
    options = {"target": "y", "method": method}
    if method == "bound":
        options["resamples"] = 50
    one, two = (conjoin.partition(t, **options) for t in (plain, changed))
    assert scores(one) == scores(two)
    for a, b in zip(one.ledger(), two.ledger()):
        assert a.score.score == pytest.approx(b.score.score, rel=1e-6, abs=1e-9)


@settings(max_examples=10)
@given(st.integers(0, 10_000))
def test_renaming_datasets_permutes_the_result(seed):
    stores = make_clusters(sizes=(2, 1), n=60, p=3, distance=1.5, random_state=seed)
    tables = stores.tables()
    names = {"d1": "north", "d2": "south", "d3": "west"}
    renamed = {names[k]: v for k, v in tables.items()}
    oracle = stores.oracle(draws=50)
    other = conjoin.Oracle(
        {names[k]: v for k, v in oracle.truth.items()},
        oracle.sigma2,
        {names[k]: v for k, v in oracle.known.items()},
        50,
    )
    one = conjoin.partition(tables, target="y", method=oracle)
    two = conjoin.partition(renamed, target="y", method=other)
    assert [[names[n] for n in cluster] for cluster in one.clusters] == two.clusters


def test_default_result_has_everything():
    stores = make_clusters(sizes=(2, 2), n=60, p=3, distance=2.0)
    result = conjoin.partition(stores.tables(), target="y")
    assert result.strategy == "auto"
    assert result.clusters == [["d1", "d2"], ["d3", "d4"]]
    assert {"separate", "pooled", "clusters", "intercept", "partial", "mixture", "auto"} <= set(
        result.errors
    )
    assert min(e.behind for n, e in result.errors.items() if n not in ("clusters", "plain")) == 0
    assert sum(result.weights.values()) == pytest.approx(1)
    assert {v.joined for v in result.ledger()} == {True, False}
    assert all(v.verdict in ("join", "apart", "undecided") for v in result.ledger())
    assert len(result.ledger()) == len(result.analysis.steps)
    assert result.cluster_cost == pytest.approx(
        result.errors["clusters, searched again"].error / result.errors["auto"].error - 1
    )
    model = result.coefficients["d1"]
    X = stores.X["d1"][:3]
    assert_allclose(result.predict(X, "d1"), model.predict(X))
    exact = stores.population_error("d1", list(model.coef.values()), model.intercept)
    assert exact < 1.3


@pytest.mark.parametrize("strategy", ["separate", "pooled", "clusters", "partial", "best"])
def test_strategies_by_name_and_by_using(strategy):
    tables = make_clusters(sizes=(2, 2), n=40, p=2, distance=1.0).tables()
    result = conjoin.partition(tables, target="y", strategy=strategy)
    other = conjoin.partition(tables, target="y").using(strategy)
    assert result.strategy == other.strategy
    for name in tables:
        assert result.coefficients[name].coef == pytest.approx(other.coefficients[name].coef)
    if strategy == "clusters":
        for cluster, model in zip(result.clusters, result.models):
            assert result.coefficients[cluster[0]].coef == model.coef


@pytest.mark.parametrize("method", ["auto", "evidence", "risk", "validated", "bic", "chow"])
def test_partitions_do_not_depend_on_the_order_of_rows_or_datasets(method):
    tables = make_clusters(sizes=(3, 2), n=40, p=3, distance=0.8, random_state=3).tables()
    rng = np.random.default_rng(0)
    shuffled = {}
    for name in reversed(tables):
        order = rng.permutation(40)
        shuffled[name] = {c: v[order] for c, v in tables[name].items()}
    one, two = (conjoin.partition(t, target="y", method=method) for t in (tables, shuffled))
    assert one.clusters == two.clusters
    for name in tables:
        assert one.coefficients[name].coef == pytest.approx(two.coefficients[name].coef, rel=1e-5)


def test_every_row_counts_or_every_dataset_counts():
    tables = make_clusters(sizes=(1, 1, 1), n=(20, 40, 200), p=2, distance=1.0).tables()
    by_dataset = conjoin.partition(tables, target="y")
    by_row = conjoin.partition(tables, target="y", weigh_by="rows")
    separate = [by_row.using("separate").coefficients[f"d{k}"].error for k in (1, 2, 3)]
    assert by_dataset.errors["separate"].error == pytest.approx(np.mean(separate))
    weighted = np.average(separate, weights=[20, 40, 200])
    assert by_row.errors["separate"].error == pytest.approx(weighted)


def test_datasets_of_one_row_fewer_rows_than_columns_and_constant_columns():
    rng = np.random.default_rng(0)
    tables = {}
    for name, n in (("one", 1), ("three", 3), ("many", 80), ("more", 60), ("flat", 30)):
        X = rng.standard_normal((n, 5))
        if name == "flat":
            X[:, 2] = 1.5
        tables[name] = table(X, X.sum(axis=1) + 0.5 * rng.standard_normal(n))
    result = conjoin.partition(tables, target="y")
    for model in result.coefficients.values():
        assert list(model.coef.values()) == pytest.approx([1.0] * 5, abs=0.5)
    pair = conjoin.compare(tables["one"], tables["three"], target="y")
    assert pair.verdict == "undecided"


def test_a_wild_value_and_a_rare_flag_do_not_spoil_the_models():
    rng = np.random.default_rng(1)
    tables = {}
    for k in range(8):
        X = rng.standard_normal((40, 3))
        X[:, 2] = 0.0
        X[0, 2] = float(k < 2)  # a flag seen in two rows of all
        X[1, 1] = 500.0 if k == 0 else X[1, 1]
        tables[f"s{k}"] = table(X, X[:, 0] + rng.standard_normal(40))
    result = conjoin.partition(tables, target="y", drop_outliers=False)
    for model in result.coefficients.values():
        assert abs(model.coef["x0"] - 1) < 0.5
        assert abs(model.coef["x2"]) < 2.0


def test_predict_finds_columns_by_name():
    tables = make_clusters(sizes=(1, 1), n=30, p=3).tables()
    result = conjoin.partition(tables, target="y")
    frame = pd.DataFrame(tables["d1"])
    expected = result.predict(frame[["x1", "x2", "x3"]].to_numpy(), "d1")
    assert_allclose(result.predict(frame, "d1"), expected)
    assert_allclose(result.predict(frame[["x3", "y", "x1", "x2"]], "d1"), expected)
    assert_allclose(result.predict(pl.DataFrame(tables["d1"]), "d1"), expected)
    for name, X, message in (
        ("d9", frame, "Dataset 'd9' was not there at fitting"),
        ("d1", frame[["x1"]], "X lacks column 'x2'"),
        ("d1", np.ones((2, 2)), "X has 2 columns, but the model has 3"),
        ("d1", np.full((1, 3), np.nan), "X has missing or infinite values"),
    ):
        with pytest.raises(conjoin.ConjoinError, match=message):
            result.predict(X, name, on_unseen="raise")


def test_best_is_the_strategy_with_the_least_validated_error():
    tables = make_clusters(sizes=(3, 3), n=40, p=3, distance=1.0).tables()
    result = conjoin.partition(tables, target="y", strategy="best")
    others = {name: e.error for name, e in result.errors.items() if name != "auto"}
    others["clusters"] = others.pop("clusters, searched again")
    assert result.strategy == min(others, key=others.get)


def test_two_datasets_of_one_row():
    tables = {"a": {"x": [1.0], "y": [2.0]}, "b": {"x": [2.0], "y": [3.0]}}
    result = conjoin.partition(tables, target="y")
    assert np.isfinite(list(result.coefficients["a"].coef.values())).all()


def test_without_an_intercept_there_is_no_random_intercept():
    tables = make_clusters(sizes=(2, 2), n=40, p=3).tables()
    result = conjoin.partition(tables, target="y", intercept=False)
    assert "intercept" not in result.weights
    assert result.coefficients["d1"].intercept == 0


def test_far_outside_the_training_rows_a_line_is_not_followed():
    result = conjoin.partition(make_clusters(sizes=(2, 1), n=80, p=2).tables(), target="y")
    model = result.coefficients["d1"]
    low, high = model.limits["x1"]
    at_limit = model.predict({"x1": [high], "x2": [0.0]})
    with pytest.warns(conjoin.ConjoinWarning, match="1 of 2 rows lie far outside.*'x1'"):
        beyond = model.predict({"x1": [high + 1000, 0.0], "x2": [0.0, 0.0]})
    assert beyond[0] == at_limit[0]
    free = model.predict({"x1": [high + 1000], "x2": [0.0]}, limit=False)
    assert free[0] == pytest.approx(at_limit[0] + 1000 * model.coef["x1"])
    assert low < -2 and high > 2


def test_very_many_datasets_give_the_same_bits_for_any_threads_and_order(monkeypatch):
    """The paths for very many datasets, on few: rounds of joins, variances from a part."""
    monkeypatch.setattr(agglomerative, "MOST_ONE_BY_ONE", 20)
    monkeypatch.setattr(effort, "MOST_FOR_VARIANCES", 40)
    monkeypatch.setattr(effort, "LEAST_SHARED", 0)
    rng = np.random.default_rng(0)
    store = np.repeat(np.arange(80), 20)
    x = rng.normal(size=(len(store), 3))
    y = np.sum(x * rng.normal(size=(4, 3))[store % 4], axis=1) + rng.normal(size=len(store))
    table = {"store": store.astype(str), "y": y, **{f"x{j}": x[:, j] for j in range(3)}}
    order = np.argsort(rng.permutation(80)[store], kind="stable")  # datasets, not their rows
    shuffled = {name: values[order] for name, values in table.items()}
    found = []
    for data, processors in ((table, 1), (shuffled, 2)):
        monkeypatch.setattr(execution, "_processors", lambda count=processors: count)
        found.append(conjoin.partition(data, target="y", by="store", learner="linear"))
    one, two = found
    assert one.labels == two.labels
    assert {n: e.error for n, e in one.errors.items()} == {
        n: e.error for n, e in two.errors.items()
    }


def test_files_in_any_order_give_the_same_bits(tmp_path):
    """A dataset is in one file here; rows of one in several files would keep their order."""
    tables = make_clusters(sizes=(2, 2), n=40, p=2, distance=2.0).tables()
    files = []
    for name, columns in tables.items():
        files.append(tmp_path / f"{name}.parquet")
        pd.DataFrame({**columns, "store": name}).to_parquet(files[-1])
    found = []
    for paths in (files, [files[i] for i in (2, 0, 3, 1)]):
        one = conjoin.partition(paths, target="y", by="store", learner="linear")
        coefficients = {name: model.coef for name, model in one.coefficients.items()}
        found.append((one.labels, coefficients, {n: e.error for n, e in one.errors.items()}))
    assert found[0] == found[1]
