"""Expressions deal rows as `moments.folds` does in memory."""

import dask.dataframe as dd
import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

from conjoin.engine.remote_folds import RemoteFolds, kinds_of, place
from conjoin.engine.remote_rows import RemoteRows
from conjoin.moments.folds import TARGET, ColumnCells, deal_rows
from tests.moments.test_folds import copied


def columns():
    """Rows of two datasets, each given three times."""
    X, y, starts, _ = copied([40, 25], 3)
    X[:, 1] = np.round(X[:, 1])
    return X, y, starts


def dealing(data, names):
    frame = nw.from_native(data).lazy()
    X, y, _ = columns()
    A = np.column_stack([X, y])
    cells = tuple(ColumnCells.of(float(v.min()), float(v.max())) for v in A.T)
    means = frame.select(*(place(c, n).mean().alias(n) for c, n in zip(cells, names)))
    found = means.collect().to_dict(as_series=False)
    kinds = kinds_of(np.array([found[name][0] for name in names]))
    assert kinds[-1] == TARGET
    return RemoteFolds(frame, ["g0"], cells, kinds, 10, 0)


@pytest.mark.parametrize("engine", ["duckdb", "polars", "dask"])
def test_folds_and_copies_are_those_of_rows_in_memory(engine):
    X, y, starts = columns()
    expected = deal_rows(X, y, starts, 10, 0)
    names = ["x0", "x1", "x2", "x3"]
    frame = pd.DataFrame(np.column_stack([X, y]), columns=names)
    frame["g0"], frame["w"] = np.repeat(["a", "b"], np.diff(starts)), 1.0
    mixed = frame.assign(w=np.arange(1.0, len(y) + 1)).sample(frac=1, random_state=0)
    with duckdb.connect() as connection:
        made = {
            "duckdb": lambda: connection.from_df(mixed),
            "polars": lambda: pl.from_pandas(mixed).lazy(),
            "dask": lambda: dd.from_pandas(mixed.reset_index(drop=True), npartitions=3),
        }
        folds = dealing(made[engine](), names)
        together = folds.dealt(together=True).collect("pandas").to_native().sort_values("w")
        apart = folds.dealt(together=False).collect("pandas").to_native()
        assert folds.any_fine(65, 2)
        assert not folds.any_fine(10**6, 1)
    assert together["fold"].tolist() == expected.fold.tolist()
    assert together.groupby("g0")["copy"].sum().tolist() == expected.copies.tolist() == [80, 50]
    counts = apart.groupby(["g0", "fold"]).size().unstack()
    assert (counts.max(axis=1) - counts.min(axis=1)).max() <= 1


def test_rows_dealt_by_their_hash_can_be_sampled():
    """Very many rows are not ranked; a learner samples them all the same."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(4000, 4)), columns=["x0", "x1", "x2", "x3"])
    frame["g0"], frame["w"] = "a", 1.0
    cells = tuple(ColumnCells.of(-4.0, 4.0) for _ in range(4))
    kinds = kinds_of(np.arange(4.0))
    with duckdb.connect() as connection:
        data = nw.from_native(connection.from_df(frame)).lazy()
        dealt = RemoteFolds(data, ["g0"], cells, kinds, 5, 0).by_hash()
        found = RemoteRows(dealt, ("g0",), 3, {"a": 0}, 5, 1.0).sample(4)
    assert 850 < len(found.y) < 1150
    assert np.bincount(found.fold, minlength=5).min() > 150
