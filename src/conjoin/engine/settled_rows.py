"""Rows that are gone through many times: put where a pass needs neither a sort nor a search.

`RemoteRows` enter, whose folds an engine deals by sorting; what leaves has the same `each`. Rows of
DuckDB and Polars go to a temporary file of numbers, one dataset after another. Dask keeps its
partitions in the memory of the workers; without workers it writes them to a temporary folder. Spark
keeps them on the disks of its executors. At no time are all rows in the memory of this process.
"""

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

import narwhals as nw
import numpy as np

from conjoin._typing import FloatArray
from conjoin.engine import remote_rows
from conjoin.engine.remote_rows import Batch, RemoteRows
from conjoin.execution import stop_if_interrupted

Found = TypeVar("Found")
BYTES = 8  # of a number


class Passable(Protocol):
    """Rows that work can go through, again and again."""

    def each(self, work: Callable[[Batch], Found]) -> Iterator[Found]:
        """Give what some work finds in every batch of all rows."""


def settle_rows(rows: RemoteRows, sizes: Sequence[int]) -> Passable:
    """Return the same rows where they are quick to go through; `sizes` are those of datasets."""
    engine = rows.dealt.implementation
    native: Any = rows.columns(rows.dealt).to_native()
    if engine.is_pyspark() and remote_rows.spark_can_work(native):
        from pyspark import StorageLevel

        return replace(rows, dealt=nw.from_native(native.persist(StorageLevel.DISK_ONLY)))
    if engine.is_dask():
        kept = native.persist() if _has_workers() else None
        return replace(rows, dealt=nw.from_native(kept)) if kept is not None else _written(rows)
    return FiledRows(rows, sizes)


def _has_workers() -> bool:
    """Say whether Dask computes in processes of its own."""
    try:
        from distributed import default_client
    except ImportError:
        return False
    client: Any = default_client  # it has no types
    try:
        return client() is not None
    except ValueError:
        return False


def _written(rows: RemoteRows) -> RemoteRows:
    """Return rows of Dask from a temporary folder, which is there as long as they are."""
    import dask.dataframe as frames

    engine: Any = frames
    native: Any = rows.columns(rows.dealt).to_native()
    folder = tempfile.mkdtemp(prefix="conjoin-")
    native.to_parquet(folder, write_index=False)
    found = replace(rows, dealt=nw.from_native(engine.read_parquet(folder)))
    weakref.finalize(found, shutil.rmtree, folder, ignore_errors=True)
    return found


class FiledRows:
    """Rows in a temporary file, sorted by dataset: features, target, weight and fold of each.

    The file has no name, so it is gone with the process, however that ends.
    """

    def __init__(self, rows: RemoteRows, sizes: Sequence[int]) -> None:
        self.features = rows.features
        self.starts = np.append(0, np.cumsum(np.asarray(sizes, dtype=np.int64)))
        file = tempfile.TemporaryFile(prefix="conjoin-")  # noqa: SIM115 (closed with the rows)
        self._file: Any = file
        weakref.finalize(self, file.close)
        following = self.starts[:-1].copy()
        for batch in rows.each(lambda one: one):
            order = np.argsort(batch.dataset, kind="stable")
            table = np.column_stack([batch.X, batch.y, batch.w, batch.fold])[order]
            present, first = np.unique(batch.dataset[order], return_index=True)
            for k, part in zip(present.tolist(), np.split(table, first[1:])):
                self._file.seek(int(following[k]) * table.shape[1] * BYTES)
                self._file.write(np.ascontiguousarray(part, dtype=np.float64).tobytes())
                following[k] += len(part)
        self._file.flush()

    def each(self, work: Callable[[Batch], Found]) -> Iterator[Found]:
        """Give what some work finds in every batch of all rows, one dataset after another."""
        total, step = int(self.starts[-1]), remote_rows.BATCH_ROWS
        for begin in range(0, total, step):
            stop_if_interrupted()
            yield work(self._rows(begin, min(begin + step, total)))

    def _rows(self, begin: int, end: int) -> Batch:
        width = self.features + 3
        self._file.seek(begin * width * BYTES)
        held = self._file.read((end - begin) * width * BYTES)
        table: FloatArray = np.frombuffer(held, dtype=np.float64).reshape(-1, width)
        X, (y, w, fold) = table[:, :-3], table[:, -3:].T
        places = np.arange(begin, end)
        dataset = np.searchsorted(self.starts, places, side="right") - 1
        inside = places - self.starts[dataset]
        return Batch(X, y, w, dataset, fold.astype(np.int64), inside)
