"""Sums of batches are those of a query."""

import duckdb
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import conjoin
from conjoin.engine import remote, remote_batches, remote_sums
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


def test_rows_of_few_values_are_dealt_in_turn():
    assert folds.is_balanced(np.array([100, 101, 99]))
    assert not folds.is_balanced(np.array([100, 150, 50]))
