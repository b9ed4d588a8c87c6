"""Gross errors in rows that stay where they are."""

import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose

import conjoin
from conjoin.datasets import make_clusters
from conjoin.engine import remote
from conjoin.engine.remote_wild import Column, far_columns

pytestmark = pytest.mark.filterwarnings("ignore::conjoin.errors.ConjoinWarning")


@pytest.fixture(scope="module")
def table():
    tables = make_clusters(sizes=(2, 2), n=150, p=3, distance=2.0).tables()
    found = pd.concat([pd.DataFrame(t).assign(store=name) for name, t in tables.items()])
    return found.reset_index(drop=True)


@pytest.fixture(autouse=True)
def rows_stay(monkeypatch):
    monkeypatch.setattr(remote, "MOST_VALUES", -1)


def frames(table):
    yield pl.from_pandas(table).lazy()
    yield dd.from_pandas(table, npartitions=3)


def check(result, expected):
    assert result.clusters == expected.clusters == [["d1", "d2"], ["d3", "d4"]]
    assert_allclose(result.errors["auto"].error, expected.errors["auto"].error)
    (one,) = result.outliers
    assert (one.row, one.dataset, one.column, one.value) == (None, "d1", "y", 99999999.0)
    assert result.notices[0].startswith("Without a row of d1 (y 99,999,999): 2 clusters, RMSE ")
    assert "Row numbers" not in result.notices[0]


def test_a_wrong_target_is_found_by_every_engine(table):
    expected = conjoin.partition(table.drop(index=41), target="y", by="store")
    wrong = table.copy()
    wrong.loc[41, "y"] = 99999999.0
    for frame in frames(wrong):
        check(conjoin.partition(frame, target="y", by="store"), expected)
    with duckdb.connect() as connection:
        relation = connection.from_df(wrong)
        check(conjoin.partition(relation, target="y", by="store"), expected)
        kept = conjoin.partition(relation, target="y", by="store", drop_outliers=False)
        assert len(kept.clusters) != 2
        assert "kept as asked" in kept.notices[0]
        left = conjoin.partition(relation, target="y", by="store", drop_outliers=True)
        assert left.clusters == expected.clusters
        robust = conjoin.partition(relation, target="y", by="store", robust=True)
        assert robust.outliers[0].row == 42  # the rows are in memory


def test_ordinary_rows_have_none(table):
    rng = np.random.default_rng(0)
    skewed = table.assign(x1=np.exp(2 * rng.normal(size=len(table))), y=np.exp(table["y"]))
    result = conjoin.partition(pl.from_pandas(skewed).lazy(), target="y", by="store")
    assert result.outliers == ()


def test_columns_within_their_spread_are_not_looked_at():
    ends = np.array([-3.0, -3.0]), np.array([3.0, 3000.0])
    columns = [Column(0, "a"), Column(1, "b")]
    assert far_columns(columns, *ends, np.zeros(2), np.ones(2)) == [columns[1]]
    assert far_columns(columns, *ends, np.zeros(2), np.zeros(2)) == []
