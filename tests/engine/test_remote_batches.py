"""Sums of batches are those of a query."""

import duckdb
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import conjoin
from conjoin import execution
from conjoin.engine import remote, remote_batches, remote_frame, remote_sums
from conjoin.moments import folds


@pytest.mark.parametrize("weights", [None, "w"])
def test_very_many_rows_give_the_answer_of_rows_in_memory(monkeypatch, weights):
    rng = np.random.default_rng(0)
    n = 2000
    table = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"])
    table["w"] = rng.uniform(1, 2, n)
    table["store"], table["part"] = rng.choice(["x", "y"], n), rng.integers(0, 2, n)
    table["y"] = table["a"] * (1 + table["part"]) + rng.normal(size=n)
    for module in (remote_sums, folds):
        monkeypatch.setattr(module, "LARGE_ROWS", 1000)
    monkeypatch.setattr(remote_batches, "BATCH", 2048)
    asked = {"target": "y", "by": ["store", "part"], "features": ["a", "b"], "weights": weights}
    expected = conjoin.partition(table, **asked, learner="linear", folds=4)
    monkeypatch.setattr(remote, "MOST_VALUES", -1)
    with duckdb.connect() as connection:
        found = conjoin.partition(connection.from_df(table), **asked, learner="linear", folds=4)
    assert found.clusters == expected.clusters
    for name, error in expected.errors.items():
        assert_allclose(found.errors[name].error, error.error, rtol=1e-8)
    for name, model in expected.coefficients.items():
        assert_allclose(
            list(found.coefficients[name].coef.values()), list(model.coef.values()), atol=1e-8
        )


def far_from_zero():
    """Three datasets whose columns are a million standard deviations away from zero."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame(1e6 + rng.normal(size=(3000, 3)), columns=["a", "b", "y"])
    table["store"] = rng.choice(["x", "y", "z"], 3000)
    table["y"] += (table["a"] - 1e6) * (1 + (table["store"] == "x"))
    return table


def test_offsets_of_a_million_deviations_keep_their_digits(monkeypatch):
    table = far_from_zero()
    for module in (remote_sums, folds):
        monkeypatch.setattr(module, "LARGE_ROWS", 1000)
    asked = {"target": "y", "by": "store", "learner": "linear", "folds": 4}
    expected = conjoin.partition(table, **asked)
    monkeypatch.setattr(remote, "MOST_VALUES", -1)
    with duckdb.connect() as connection:
        found = conjoin.partition(connection.from_df(table), **asked)
    for name, model in expected.coefficients.items():
        assert_allclose(
            list(found.coefficients[name].coef.values()), list(model.coef.values()), rtol=1e-8
        )


def test_sums_have_the_same_bits_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(remote_sums, "LARGE_ROWS", 1000)
    monkeypatch.setattr(remote, "MOST_VALUES", -1)
    monkeypatch.setattr(remote_batches, "BATCH", 2048)
    found = []
    for processors in (1, 2):
        monkeypatch.setattr(execution, "_processors", lambda count=processors: count)
        with duckdb.connect(config={"threads": processors}) as connection:
            rows = connection.from_df(far_from_zero())
            one = conjoin.partition(rows, target="y", by="store", learner="linear", folds=4)
            found.append([model.coef for model in one.coefficients.values()])
    assert found[0] == found[1]


def test_cells_of_few_and_of_many_rows_have_the_same_sums(monkeypatch):
    A = np.random.default_rng(0).normal(size=(4, 50))
    starts = np.array([0, 1, 7, 50])
    expected = np.stack([A[:, i:j] @ A[:, i:j].T for i, j in zip(starts[:-1], starts[1:])])
    for limit in (0, 10**9):
        monkeypatch.setattr(remote_batches, "CALL", limit)
        assert_allclose(remote_batches._products(A, starts), expected, atol=1e-12)


def test_many_columns_are_summed_in_batches(monkeypatch):
    rng = np.random.default_rng(0)
    n, p = 900, 8
    table = pd.DataFrame(rng.normal(size=(n, p)), columns=[f"c{j}" for j in range(p)])
    table["store"] = rng.choice(["x", "y", "z"], n)
    table["y"] = table["c0"] * (1 + (table["store"] == "x")) + rng.normal(size=n)
    table = pd.concat([table, table.iloc[:100]])  # copies stay in one fold
    asked = {"target": "y", "by": "store", "learner": "linear", "folds": 4, "verdict": "gaussian"}
    expected = conjoin.partition(table, **asked)
    monkeypatch.setattr(remote, "MOST_VALUES", -1)
    monkeypatch.setattr(remote, "MANY_FEATURES", 5)
    monkeypatch.setattr(remote_batches, "BATCH", 256)
    with duckdb.connect() as connection:
        found = conjoin.partition(connection.from_df(table), **asked)
    assert found.clusters == expected.clusters
    assert found.analysis.copies == expected.analysis.copies == 100
    for name, error in expected.errors.items():
        assert_allclose(found.errors[name].error, error.error, rtol=1e-8)


def test_sums_that_no_memory_holds_are_refused(monkeypatch):
    table = pd.DataFrame({"a": np.arange(40.0) ** 0.5, "store": ["x", "y"] * 20})
    table["y"] = table["a"] ** 2
    monkeypatch.setattr(remote, "MOST_VALUES", -1)
    monkeypatch.setattr(remote_frame, "memory_bytes", lambda: 1000.0)
    words = "Sums of products of 2 columns in 2 datasets and 10 folds take 0.0 GB"
    with duckdb.connect() as connection, pytest.raises(conjoin.ConjoinError, match=words):
        conjoin.partition(connection.from_df(table), target="y", by="store", learner="linear")


def test_rows_of_few_values_are_dealt_in_turn():
    assert folds.is_balanced(np.array([100, 101, 99]))
    assert not folds.is_balanced(np.array([100, 150, 50]))
