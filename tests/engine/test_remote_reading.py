"""Which rows stay where they are, and errors that are those of rows in memory."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

import conjoin
from conjoin.api.request import Request
from conjoin.engine import remote
from conjoin.engine.remote_reading import reduce_lazy, rows_stay_remote
from conjoin.tables.frame import to_frame
from conjoin.tables.roles import Roles

pytestmark = pytest.mark.filterwarnings("ignore::conjoin.errors.ConjoinWarning")
ROLES = Roles.of("bought", "shop", None, None)
REQUEST = Request(target="bought", by="shop")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(600, 2)), columns=["a", "b"])
    frame["shop"] = np.repeat(["u", "v", "w"], 200)
    return frame.assign(bought=np.where(frame["a"] + rng.normal(size=600) > 0, "yes", " "))


@pytest.fixture
def rows_stay(monkeypatch):
    monkeypatch.setattr(remote, "MOST_VALUES", -1)


def test_many_rows_stay(table, monkeypatch):
    lazy = to_frame(pl.from_pandas(table).lazy())
    assert not rows_stay_remote(lazy)
    assert rows_stay_remote(lazy, sample_rows=500)
    monkeypatch.setattr(remote, "MOST_VALUES", 2000)
    assert rows_stay_remote(lazy)


def test_blank_text_is_no_class(table, rows_stay):
    """Rows without a class are left out, so one class is left here."""
    with pytest.raises(conjoin.ConjoinError, match="one class in all rows, 'yes'"):
        conjoin.partition(
            pl.from_pandas(table).lazy(), target="bought", by="shop", learner="linear"
        )


def test_boosted_trees_of_classes_need_rows_in_memory(table, rows_stay, monkeypatch):
    lazy = pl.from_pandas(table.replace(" ", "no")).lazy()
    monkeypatch.setattr("conjoin.engine.learner_choice.AUTO_LEARNS", True)
    with pytest.warns(conjoin.errors.ConjoinWarning, match="600 rows are too many; models are"):
        found = reduce_lazy(lazy, ROLES, REQUEST, alone=False)
    assert found is not None and found.cells is not None
    monkeypatch.setattr(remote, "MOST_VALUES", 600 * 4)
    assert reduce_lazy(lazy, ROLES, replace(REQUEST, engine="dask"), alone=False) is None


def test_errors_of_classes_are_those_of_rows_in_memory(table, rows_stay):
    frame = table
    many = np.array([f"c{k}" for k in range(len(frame))])
    cases = [
        ({"bought": "yes"}, {}, "Target 'bought' has one class in all rows, 'yes'"),
        ({"bought": many}, {}, "Target 'bought' has 600 classes in 600 rows"),
        ({"bought": np.arange(600).astype(str)}, {}, "holds numbers written as text"),
        ({"bought": -1.0 * (many == "c3")}, {"family": "poisson"}, "which cannot be negative"),
    ]
    for change, options, words in cases:
        lazy = pl.from_pandas(frame.assign(**change)).lazy()
        with pytest.raises(conjoin.ConjoinError, match=words):
            conjoin.partition(lazy, target="bought", by="shop", learner="linear", **options)
