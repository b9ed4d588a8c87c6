"""Moments that an engine forms for later updates are those of rows in memory."""

import duckdb
import numpy as np
import pandas as pd

import conjoin
from conjoin.engine import remote


def test_kept_moments_are_the_same_wherever_rows_are(monkeypatch):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"store": ["a", "b"] * 60, "x": rng.normal(9, 2, 120)})
    table["y"] = table["x"] + rng.normal(size=120)
    asked = {"target": "y", "by": "store", "learner": "linear", "folds": 3, "keep_moments": True}
    here = conjoin.partition(table, **asked).analysis.kept
    monkeypatch.setattr(remote, "MOST_VALUES", -1)
    with duckdb.connect() as connection:
        there = conjoin.partition(connection.from_df(table), **asked).analysis.kept
    assert here.batches == there.batches and np.array_equal(here.n, there.n)
    basis = here.basis(intercept=True)
    assert np.allclose(here.moments(basis).G, there.moments(basis).G, atol=1e-9)
