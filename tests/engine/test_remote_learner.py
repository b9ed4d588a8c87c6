"""A learner for rows that stay where they are: the same numbers as in memory."""

import re
import warnings

import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

import conjoin
from conjoin.engine import curves, learner_clusters, learning, remote, remote_rows
from conjoin.errors import ArgumentError

pytestmark = [
    pytest.mark.learner,
    pytest.mark.filterwarnings("ignore::conjoin.errors.ConjoinWarning"),
]
QUICK = conjoin.Boosting(rounds=40, leaves=8)


@pytest.fixture(scope="module")
def bent_table():
    """Ten shops of 250 rows: numbers with gaps, a category, weights, a target that bends."""
    rng = np.random.default_rng(0)
    n = 2500
    shop = np.repeat(np.arange(10), 250)
    table = pd.DataFrame(
        {
            "shop": np.char.add("shop ", shop.astype(str)),
            "price": rng.normal(10, 1, n),
            "size": rng.uniform(-2, 2, n),
            "kind": rng.choice(["food", "toys"], n),
        }
    )
    mean = 3 * np.abs(table["price"] - 10) + (shop % 2) * table["size"]
    table["sales"] = mean + (table["kind"] == "toys") + rng.normal(0, 0.5, n)
    table.loc[::17, "price"] = np.nan
    return table.sample(frac=1, random_state=1)


@pytest.fixture(autouse=True)
def as_with_many_rows(monkeypatch):
    """Do in memory what is done for many rows: nothing nested, no models of single datasets."""
    monkeypatch.setattr(learning, "FEW_ROWS", 0)
    monkeypatch.setattr(learning, "MOST_SEPARATE", 0)
    monkeypatch.setattr(learner_clusters, "MOST_ROWS", 0)
    monkeypatch.setattr(remote_rows, "BATCH_ROWS", 700)


def in_duckdb(table, monkeypatch, **options):
    monkeypatch.setattr(remote, "MOST_VALUES", -1)
    with duckdb.connect() as connection:
        relation = connection.from_arrow(pa.Table.from_pandas(table, preserve_index=False))
        options = {"learner": QUICK, **options}
        return conjoin.partition(relation, target="sales", by="shop", **options)


@pytest.fixture(scope="module")
def here(bent_table):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learning, "FEW_ROWS", 0)
        patch.setattr(learning, "MOST_SEPARATE", 0)
        patch.setattr(learner_clusters, "MOST_ROWS", 0)
        patch.setattr(curves, "MOST_OPERATIONS", 0)
        return conjoin.partition(bent_table, target="sales", by="shop", learner=QUICK)


def test_all_rows_as_sample_give_the_numbers_of_rows_in_memory(bent_table, here, monkeypatch):
    there = in_duckdb(bent_table, monkeypatch)
    assert there.learner == here.learner == "boosting"
    assert there.notices == here.notices == []
    assert there.clusters == here.clusters
    assert list(there.errors) == list(here.errors)
    for name, one in here.errors.items():
        assert_allclose(there.errors[name].error, one.error, rtol=1e-8, err_msg=name)
    assert_allclose(list(there.weights.values()), list(here.weights.values()), atol=1e-8)
    new = bent_table.head(50)
    assert_allclose(there.predict(new), here.predict(new), rtol=1e-8)
    unseen = new.assign(shop="new shop")
    assert_allclose(there.predict(unseen), here.predict(unseen), rtol=1e-8)
    one, other = (result.analysis.placement for result in (here, there))
    assert_allclose(other.centre, one.centre, rtol=1e-5, atol=1e-7)
    assert_allclose(other.columns, one.columns)


@pytest.mark.parametrize("engine", ["dask", "polars"])
def test_other_engines_give_the_same(bent_table, here, monkeypatch, engine):
    monkeypatch.setattr(remote, "MOST_VALUES", -1)
    make = {
        "dask": lambda t: dd.from_pandas(t, npartitions=3),
        "polars": lambda t: pl.from_pandas(t).lazy(),
    }
    there = conjoin.partition(make[engine](bent_table), target="sales", by="shop", learner=QUICK)
    for name in ("linear", "corrected", "residual", "learner named", "auto"):
        assert_allclose(there.errors[name].error, here.errors[name].error, rtol=1e-8, err_msg=name)


@pytest.mark.slow
def test_spark_gives_the_same(bent_table, here, monkeypatch, spark):
    monkeypatch.setattr(remote, "MOST_VALUES", -1)
    frame = spark.createDataFrame(bent_table)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Spark's workers")  # they predict, and no row comes here
        there = conjoin.partition(frame, target="sales", by="shop", learner=QUICK)
    for name in ("linear", "corrected", "residual", "learner named", "auto"):
        assert_allclose(there.errors[name].error, here.errors[name].error, rtol=1e-8, err_msg=name)


def test_a_sample_teaches_and_all_rows_judge(bent_table, here, monkeypatch, tmp_path):
    found = in_duckdb(bent_table, monkeypatch, sample_rows=1300)
    assert len(found.notices) == 1
    assert re.search(r"trained on 1,2\d\d of 2,500 rows", found.notices[0])
    # Errors of lines are those of all rows, errors of trees a little higher.
    assert_allclose(found.errors["linear"].error, here.errors["linear"].error, rtol=1e-8)
    for name in ("learner named", "auto"):
        ratio = found.errors[name].error / here.errors[name].error
        assert 0.97 < ratio < 1.35, name
    turned = in_duckdb(bent_table[::-1], monkeypatch, sample_rows=1300)
    assert_allclose(turned.errors["auto"].error, found.errors["auto"].error, rtol=1e-9)
    found.save(tmp_path / "model.json")
    back = conjoin.load(tmp_path / "model.json")
    assert back.notices == found.notices
    assert_allclose(back.predict(bent_table.head(9)), found.predict(bent_table.head(9)))


def test_sampled_rows_are_predicted_by_models_that_have_not_seen_them(bent_table, monkeypatch):
    rng = np.random.default_rng(2)
    noise = bent_table.assign(sales=rng.normal(size=len(bent_table)))
    deep = conjoin.Boosting(rounds=60, leaves=64, least_rows=2)
    found = in_duckdb(noise, monkeypatch, learner=deep, sample_rows=1300)
    assert found.errors["learner named"].error > 1.0
    assert found.errors["auto"].error == pytest.approx(1.0, abs=0.06)


def test_rows_in_memory_are_not_sampled(bent_table):
    with pytest.raises(ArgumentError, match="sample_rows=2000 is for files"):
        conjoin.partition(bent_table, target="sales", by="shop", sample_rows=2000)
    with pytest.raises(ArgumentError, match="sample_rows=5"):
        conjoin.partition(bent_table, target="sales", by="shop", sample_rows=5)


def test_small_datasets_keep_lines(bent_table, monkeypatch):
    many = bent_table.assign(shop=np.arange(len(bent_table)) // 25)
    assert in_duckdb(many, monkeypatch, learner="boosting").learner == "linear"
