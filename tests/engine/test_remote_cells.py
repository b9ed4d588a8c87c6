"""Classes and counts of rows that stay with an engine: the answer of rows in memory."""

from importlib import import_module

import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose

import conjoin
from conjoin.engine import remote, remote_rows

pytestmark = pytest.mark.filterwarnings("ignore::conjoin.errors.ConjoinWarning")
ASKED = {"by": "shop", "learner": "linear", "folds": 5}


@pytest.fixture(scope="module")
def table():
    """Six shops in two clusters: two classes, three classes, counts, weights and a gap."""
    rng = np.random.default_rng(3)
    n, shop = 600, np.repeat(np.arange(6), 100)
    X = rng.standard_normal((n, 3))
    slope = np.where(shop < 3, 1.2, -1.2)
    eta = 0.3 + slope * X[:, 0] + 0.5 * X[:, 1]
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["kind"] = rng.choice(["u", "v"], n)
    frame["shop"] = np.char.add("shop ", shop.astype(str))
    frame["bought"] = np.where(rng.random(n) < 1 / (1 + np.exp(-eta)), "yes", "no")
    scores = np.column_stack([eta, -eta, np.zeros(n)]) + rng.gumbel(size=(n, 3))
    frame["choice"] = np.array(["low", "mid", "top"])[scores.argmax(axis=1)]
    frame["visits"] = rng.poisson(np.exp(0.5 + eta / 3))
    frame["size"] = rng.integers(1, 4, n).astype(float)
    frame.loc[::19, "c"] = np.nan
    return frame.sample(frac=1, random_state=0, ignore_index=True)


TARGETS = {
    "two classes": ("bought", {}),
    "three classes": ("choice", {}),
    "counts with weights": ("visits", {"family": "poisson", "weights": "size"}),
}


def columns(table, target, options):
    extra = [options["weights"]] if "weights" in options else []
    return table[["shop", "a", "b", "c", "kind", target, *extra]]


@pytest.fixture(scope="module")
def here(table):
    """Results of rows in memory, each computed once."""
    known = {}

    def result(case):
        if case not in known:
            target, options = TARGETS[case]
            known[case] = conjoin.partition(
                columns(table, target, options), target=target, **ASKED, **options
            )
        return known[case]

    return result


@pytest.fixture
def rows_stay(monkeypatch):
    """Have even small frames stay where they are, and come by in several batches."""
    monkeypatch.setattr(remote, "MOST_VALUES", -1)
    monkeypatch.setattr(remote_rows, "BATCH_ROWS", 200)

    def refuse(frame):
        raise AssertionError("rows were fetched")

    monkeypatch.setattr(import_module("conjoin.tables.collect"), "in_memory", refuse)


def assert_same(found, expected):
    assert found.clusters == expected.clusters
    for name, model in expected.coefficients.items():
        own = found.coefficients[name]
        assert_allclose(numbers(own), numbers(model), rtol=1e-6, atol=1e-6, err_msg=name)
        assert own.rows == model.rows
    for name, one in expected.errors.items():
        assert_allclose(found.errors[name].error, one.error, rtol=1e-6, err_msg=name)
    assert_allclose(list(found.weights.values()), list(expected.weights.values()), atol=1e-5)
    verdicts = [(one.left, one.right, one.verdict) for one in expected.ledger()]
    assert [(one.left, one.right, one.verdict) for one in found.ledger()] == verdicts


def numbers(model):
    """The numbers of a model; one of several classes has a line for each."""
    return [[one.intercept, *one.coef.values()] for one in getattr(model, "lines", [model])]


@pytest.mark.parametrize("case", TARGETS)
def test_duckdb(table, here, rows_stay, case):
    target, options = TARGETS[case]
    with duckdb.connect() as connection:
        relation = connection.from_df(columns(table, target, options))
        found = conjoin.partition(relation, target=target, **ASKED, **options)
    assert_same(found, here(case))  # verdicts are asked for when the connection is closed


def test_polars(table, here, rows_stay):
    lazy = pl.from_pandas(columns(table, "bought", {})).lazy()
    assert_same(conjoin.partition(lazy, target="bought", **ASKED), here("two classes"))


def test_dask(table, here, rows_stay):
    frame = dd.from_pandas(columns(table, "bought", {}), npartitions=3)
    assert_same(conjoin.partition(frame, target="bought", **ASKED), here("two classes"))


@pytest.mark.slow
def test_spark(table, here, rows_stay, spark):
    frame = spark.createDataFrame(columns(table, "bought", {}))
    assert_same(conjoin.partition(frame, target="bought", **ASKED), here("two classes"))
