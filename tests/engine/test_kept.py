"""Kept moments as a source of the engine; tests/api/test_update.py has the whole way."""

import numpy as np
import pytest

from conjoin.api.request import Request
from conjoin.engine.kept import keep, reduce_rows
from conjoin.errors import ArgumentError
from conjoin.tables.collect import collect


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    rows = {"s": ["a", "b"] * 40, "x": rng.normal(size=80), "y": rng.normal(size=80)}
    rows["y"][7] = 1e9
    return collect(rows, target="y", by="s")


def test_rows_with_gross_errors_are_found_before_they_are_gone(table):
    asked = {"target": "y", "learner": "linear", "folds": 4}
    found = reduce_rows(table, Request(**asked))
    assert len(found.outliers) == 1 and found.fewer.sizes == (40, 39)
    assert found.kept.sizes == (40, 40) and found.rows is None
    assert reduce_rows(table, Request(**asked, drop_outliers=False)).fewer is None


def test_folds_do_not_depend_on_other_rows(table):
    whole = keep(table, 4, 0)
    other = keep(table, 4, 0, few=True)
    assert np.array_equal(whole.n, other.n) and whole.batches == other.batches


def test_moments_that_are_too_large_for_a_file_are_refused(table, monkeypatch):
    monkeypatch.setattr("conjoin.engine.kept.MOST_BYTES", 100)
    with pytest.raises(ArgumentError, match="to the model file, more than"):
        reduce_rows(table, Request(target="y", learner="linear"))
