import duckdb
import narwhals as nw
import numpy as np
import pyarrow as pa
import pytest

from conjoin.engine import remote_rows
from conjoin.engine.remote_rows import Batch, RemoteRows


@pytest.fixture
def rows(monkeypatch):
    """Sixty rows of two datasets that are handed over 25 at a time."""
    monkeypatch.setattr(remote_rows, "BATCH_ROWS", 25)
    n, rank = 60, np.repeat(np.arange(30), 2)
    table = pa.table(
        {
            "g0": np.tile(["a", "b"], 30), "x0": rank * 1.0, "x1": -rank * 1.0,
            "w": np.full(n, 2.0),
            "rank": rank, "fold": rank % 5, "first": np.tile([0, 1], 30),
        }
    )  # fmt: skip
    with duckdb.connect() as connection:
        frame = nw.from_native(connection.from_arrow(table))
        yield RemoteRows(frame, ("g0",), 1, {"a": 0, "b": 1}, 5, 2.0)


def test_a_sample_has_whole_runs_of_folds_from_every_dataset(rows):
    found = rows.sample(3)
    for k, first in ((0, 0), (1, 1)):
        rank = found.rank[found.dataset == k]
        expected = [r for r in range(30) if (r // 5 + first) % 3 == 0]
        assert rank.tolist() == expected
        assert np.bincount(found.fold[found.dataset == k]).tolist() == [2] * 5
    assert len(rows.sample(1).y) == 60


def test_all_rows_come_by_in_batches(rows):
    seen = list(rows.each(lambda batch: batch))
    whole = Batch.joined(seen)
    assert sum(len(one.y) for one in seen) == 60
    assert np.array_equal(whole.X[:, 0], -whole.y)
    assert set(whole.w.tolist()) == {1.0}  # weights are relative
    assert np.bincount(whole.dataset).tolist() == [30, 30]
