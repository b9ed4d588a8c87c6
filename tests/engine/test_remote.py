"""The same numbers wherever the rows are: every engine is really started."""

from importlib import import_module

import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose

import conjoin
from conjoin.engine import remote

pytestmark = pytest.mark.filterwarnings("ignore::conjoin.errors.ConjoinWarning")


def messy_table(n=1500):
    """Numbers with gaps, flags, categories, dates, a missing target and uneven datasets."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "store": rng.choice(["a", "b", "c", "d"], n, p=[0.5, 0.3, 0.15, 0.05]),
            "price": 100 + 3 * rng.standard_normal(n),
            "staff": rng.integers(0, 9, n),
            "promo": rng.random(n) < 0.3,
            "kind": rng.choice(["u", "v", "w"], n, p=[0.6, 0.3, 0.1]),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 700, n), "D"),
            "size": rng.integers(1, 4, n).astype(float),
        }
    )
    slope = np.where(frame["store"].isin(["a", "b"]), 1.0, 0.2)
    frame["sales"] = 0.5 * frame["price"] + slope * frame["staff"] + 2 * frame["promo"]
    frame["sales"] += rng.standard_normal(n)
    frame.loc[rng.random(n) < 0.1, "price"] = np.nan
    frame.loc[5:9, "sales"] = np.nan
    return frame


@pytest.fixture(scope="module")
def table():
    return messy_table()


@pytest.fixture(scope="module")
def expected(table):
    return figures(conjoin.partition(table, target="sales", by="store"))


def figures(result):
    """All numbers a result stands for, and what cannot differ at all."""
    models = [*result.coefficients.values(), *result.models, result.pooled]
    numbers = [[m.intercept, *m.coef.values(), m.error] for m in models]
    errors = [[e.error, e.behind] for e in result.errors.values()]
    exact = (result.clusters, result.features, result.columns, [m.rows for m in models])
    return np.array(numbers), np.array(errors), list(result.weights.values()), exact


def assert_same(result, expected):
    numbers, errors, weights, exact = figures(result)
    assert_allclose(numbers, expected[0], rtol=1e-8, atol=1e-10)
    assert_allclose(errors, expected[1], rtol=1e-8, atol=1e-10)
    assert_allclose(weights, expected[2], rtol=1e-8, atol=1e-10)
    assert exact[0] == expected[3][0]
    assert exact[1] == expected[3][1]
    assert exact[3] == expected[3][3]


@pytest.fixture
def rows_stay(monkeypatch):
    """Have even small frames stay where they are."""
    monkeypatch.setattr(remote, "MOST_VALUES", -1)
    monkeypatch.setattr(import_module("conjoin.tables.collect"), "in_memory", refuse)


def refuse(frame):
    raise AssertionError("rows were fetched")


def test_polars_in_memory(table, expected):
    assert_same(conjoin.partition(pl.from_pandas(table), target="sales", by="store"), expected)


def test_arrow(table, expected):
    arrow = pl.from_pandas(table).to_arrow()
    assert_same(conjoin.partition(arrow, target="sales", by="store"), expected)


def test_polars_lazy(table, expected, rows_stay):
    lazy = pl.from_pandas(table).lazy()
    assert_same(conjoin.partition(lazy, target="sales", by="store"), expected)


def test_duckdb(table, expected, rows_stay):
    with duckdb.connect() as connection:
        relation = connection.from_df(table)
        assert_same(conjoin.partition(relation, target="sales", by="store"), expected)


def test_dask(table, expected, rows_stay):
    frame = dd.from_pandas(table, npartitions=3)
    assert_same(conjoin.partition(frame, target="sales", by="store"), expected)


@pytest.mark.slow
def test_spark(table, expected, rows_stay, spark):
    frame = spark.createDataFrame(table)
    assert_same(conjoin.partition(frame, target="sales", by="store"), expected)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_files(table, expected, tmp_path, suffix):
    from conjoin.sources.read import open_source

    path = tmp_path / f"sales{suffix}"
    if suffix == ".parquet":
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False)
    with open_source([path], by=["store"]) as source:
        assert_same(conjoin.partition(source.relation, target="sales", by="store"), expected)


OPTIONS = {
    "weights": {"weights": "size"},
    "no intercept": {"intercept": False, "features": ["staff", "promo"]},
    "several columns name the dataset": {"by": ["store", "promo"]},
    "rows with missing values left out": {"missing": "drop"},
    "median without indicator": {"missing": "median"},
    "errors weighed by rows": {"weigh_by": "rows"},
    "fewer folds, another seed": {"folds": 5, "random_state": 3},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_options_give_the_same_numbers_where_rows_stay(table, options, monkeypatch):
    options = {"target": "sales", "by": "store", **options}
    expected = figures(conjoin.partition(table, **options))
    monkeypatch.setattr(remote, "MOST_VALUES", -1)
    with duckdb.connect() as connection:
        assert_same(conjoin.partition(connection.from_df(table), **options), expected)


def test_errors_are_the_same_where_rows_stay(table, rows_stay, monkeypatch):
    monkeypatch.setattr(import_module("conjoin.tables.checks"), "MOST_SINGLE_ROWS", 1000)
    cases = [
        (table.assign(sales=1.0), "Target 'sales' is 1 in every row"),
        (table.assign(sales=np.nan), "'sales' or 'store' is missing in all 1,500 rows"),
        (table.assign(sales=table["sales"].map(lambda x: [x])), "target='sales' is not numeric"),
        (table.assign(store="a"), "There is only one dataset"),
        (table.assign(store=range(len(table))), "Each of the 1,495 datasets has a single row"),
        (table.assign(price=np.inf), "Column 'price' has an infinite value"),
        (table.iloc[:0], "data has no rows"),
    ]
    for frame, message in cases:
        with pytest.raises(conjoin.ConjoinError, match=message):
            conjoin.partition(pl.from_pandas(frame).lazy(), target="sales", by="store")


def test_methods_that_need_rows_fetch_them(table):
    lazy = pl.from_pandas(table[["store", "staff", "promo", "sales"]]).lazy()
    options = {"target": "sales", "by": "store", "method": "direct", "strategy": "clusters"}
    expected = conjoin.partition(table[["store", "staff", "promo", "sales"]], **options)
    assert conjoin.partition(lazy, **options).clusters == expected.clusters


def copies_table(times=3):
    """Rows that are given several times, in another order."""
    frame = messy_table(200).dropna(subset=["sales"])
    return pd.concat([frame] * times).sample(frac=1, random_state=0, ignore_index=True)


def flags_table():
    """Rows that are equal by chance, since every column has few values."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (300, 3)).astype(float), columns=["a", "b", "c"])
    frame["sales"] = frame["a"] + rng.integers(0, 3, 300)
    return frame.assign(store=rng.choice(["u", "v"], 300))


ELSEWHERE = {
    "duckdb": lambda frame, connection: connection.from_df(frame),
    "polars": lambda frame, _: pl.from_pandas(frame).lazy(),
    "dask": lambda frame, _: dd.from_pandas(frame, npartitions=3),
}


@pytest.mark.parametrize("engine", ELSEWHERE)
def test_copies_of_rows_are_found_everywhere(engine, rows_stay):
    for frame, copies in ((copies_table(), 390), (flags_table(), 0)):
        # Robust verdicts have fewer degrees of freedom where rows are elsewhere.
        asked = {"target": "sales", "by": "store", "family": "gaussian", "verdict": "gaussian"}
        here = conjoin.partition(frame, **asked)
        assert here.analysis.copies == copies
        with duckdb.connect() as connection:
            data = ELSEWHERE[engine](frame, connection)
            found = conjoin.partition(data, **asked)
        assert found.analysis.copies == copies
        assert_same(found, figures(here))


@pytest.mark.slow
def test_spark_finds_copies_of_rows(rows_stay, spark):
    frame = copies_table(2)
    asked = {"target": "sales", "by": "store", "verdict": "gaussian"}
    here = conjoin.partition(frame, **asked)
    found = conjoin.partition(spark.createDataFrame(frame), **asked)
    assert found.analysis.copies == here.analysis.copies == 195
    assert_same(found, figures(here))
