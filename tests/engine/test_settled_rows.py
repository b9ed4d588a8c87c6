"""Rows that are gone through many times are all there, wherever they were put."""

import dask.dataframe as dd
import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import pytest

from conjoin.engine import remote_rows
from conjoin.engine.remote_rows import Batch, RemoteRows
from conjoin.engine.settled_rows import FiledRows, settle_rows


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    n = 130
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=["x0", "x1", "x2"])
    frame["g0"], frame["w"] = rng.permutation(np.repeat(["a", "b", "c"], [70, 50, 10])), 2.0
    frame["rank"], frame["first"], frame["fold"] = np.arange(n), 0, np.arange(n) % 4
    return frame


def settled(native):
    position = {"a": 0, "b": 1, "c": 2}
    rows = RemoteRows(nw.from_native(native).lazy(), ("g0",), 2, position, 4, 2.0)
    return settle_rows(rows, (70, 50, 10))


def assert_all_there(rows, frame):
    found = Batch.joined(list(rows.each(lambda batch: batch)))
    again = Batch.joined(list(rows.each(lambda batch: batch)))  # as often as it is asked for
    assert len(again.y) == len(found.y) == len(frame)
    mine = np.column_stack([found.X, found.y, found.dataset, found.fold, found.w])
    codes = frame["g0"].map({"a": 0, "b": 1, "c": 2})
    theirs = np.column_stack([frame[["x0", "x1", "x2"]], codes, frame["fold"], frame["w"] / 2])
    order = [np.lexsort(one.T) for one in (mine, theirs)]
    np.testing.assert_array_equal(mine[order[0]], theirs[order[1]])


def test_rows_of_duckdb_are_in_a_file_sorted_by_dataset(frame, monkeypatch):
    monkeypatch.setattr(remote_rows, "BATCH_ROWS", 40)
    with duckdb.connect() as connection:
        rows = settled(connection.from_df(frame))
    assert isinstance(rows, FiledRows)  # and the connection is closed
    assert_all_there(rows, frame)
    sizes = list(rows.each(lambda batch: len(batch.y)))
    assert sizes == [40, 40, 40, 10]
    whole = Batch.joined(list(rows.each(lambda batch: batch)))
    assert (np.diff(whole.dataset) >= 0).all()


def test_rows_of_dask_are_in_a_folder(frame):
    assert_all_there(settled(dd.from_pandas(frame, npartitions=3)), frame)
