"""Rows that are not in memory, batch by batch: a sample of them, and work on all of them.

A lazy frame with the fold and the rank of every row enters (`engine.remote_folds`). A sample leaves
that depends on the values of rows alone, or what some work finds in each batch of rows. DuckDB and
Polars hand rows over in batches, Spark row by row; Dask does the work where the rows are.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

import narwhals as nw
import numpy as np
import pyarrow as pa

from conjoin._typing import FloatArray, IntArray
from conjoin.execution import stop_if_interrupted
from conjoin.sources.read import read_batches
from conjoin.tables.names import dataset_names

BATCH_ROWS = 200_000  # rows at once: some 100 MB with 50 columns, and still few calls

Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows: features (n, features), and target, weight, dataset, fold and rank of each."""

    X: FloatArray
    y: FloatArray
    w: FloatArray
    dataset: IntArray
    fold: IntArray
    rank: IntArray

    @classmethod
    def joined(cls, parts: list["Batch"]) -> "Batch":
        """Put batches one after the other."""
        names = ("X", "y", "w", "dataset", "fold", "rank")
        return cls(*(np.concatenate([getattr(one, name) for one in parts]) for name in names))

    def take(self, order: IntArray) -> "Batch":
        """Return rows by their numbers."""
        names = ("X", "y", "w", "dataset", "fold", "rank")
        return Batch(*(getattr(self, name)[order] for name in names))


@dataclass(frozen=True, eq=False)
class RemoteRows:
    """The rows of a table that stay where they are.

    Parameters
    ----------
    dealt : LazyFrame
        Columns `by`, x0.. (features, then the target), w, fold, rank and first.
    by : tuple of str
        Columns that name the dataset.
    features : int
        Number of features.
    position : mapping of str to int
        Number of every dataset.
    folds : int
        Number of folds.
    weight : float
        Mean weight of the rows.
    """

    dealt: nw.LazyFrame[Any]
    by: tuple[str, ...]
    features: int
    position: dict[str, int]
    folds: int
    weight: float

    def sample(self, period: int) -> Batch:
        """Return about one row in `period`; 1 means all.

        Rows are taken in runs of as many as there are folds, next to each other by rank, so that
        the folds of a dataset have the same number of rows. Every dataset starts elsewhere.
        """
        run = nw.col("rank").cast(nw.Int64) // self.folds + nw.col("first").cast(nw.Int64)
        chosen = self._columns(self.dealt.filter(run % period == 0))
        found = Batch.joined([self._batch(part) for part in _batches(chosen)])
        order = np.lexsort((found.w, found.rank, found.dataset))
        return found.take(np.asarray(order))

    def each(self, work: Callable[[Batch], Found]) -> Iterator[Found]:
        """Give what some work finds in every batch of all rows."""
        frame = self._columns(self.dealt)
        if frame.implementation.is_dask():
            yield from self._by_dask(frame, work)
            return
        for part in _batches(frame):
            stop_if_interrupted()
            yield work(self._batch(part))

    def _by_dask(self, frame: nw.LazyFrame[Any], work: Callable[[Batch], Found]) -> Iterator[Found]:
        """Do the work on every partition, in one go: rows are moved between partitions once."""
        import dask

        engine: Any = dask

        def of_part(part: Any) -> Found | None:
            return work(self._batch(nw.from_native(part, eager_only=True))) if len(part) else None

        parts: Any = frame.to_native()
        for found in engine.compute(*(engine.delayed(of_part)(one) for one in parts.to_delayed())):
            if found is not None:
                yield found

    def _columns(self, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        names = [f"x{j}" for j in range(self.features + 1)]
        whole = [nw.col(name).cast(nw.Int64) for name in ("fold", "rank")]
        return frame.select(*self.by, *names, "w", *whole)

    def _batch(self, part: nw.DataFrame[Any]) -> Batch:
        X = np.empty((len(part), self.features))
        for j in range(self.features):
            X[:, j] = part[f"x{j}"].to_numpy()
        y, w = (part[name].to_numpy().astype(np.float64) for name in (f"x{self.features}", "w"))
        names = dataset_names(part, self.by)
        dataset: IntArray = np.array([self.position[str(name)] for name in names], dtype=np.int64)
        fold, rank = (part[name].to_numpy().astype(np.int64) for name in ("fold", "rank"))
        return Batch(X, y, w / self.weight, dataset, fold, rank)


def _batches(frame: nw.LazyFrame[Any]) -> Iterator[nw.DataFrame[Any]]:
    """Yield the rows of a frame, some at a time."""
    native, engine = frame.to_native(), frame.implementation
    if engine.is_duckdb():
        parts: Iterator[Any] = read_batches(native, BATCH_ROWS)
    elif engine.is_polars() and hasattr(native, "collect_batches"):
        parts = native.collect_batches(chunk_size=BATCH_ROWS)
    elif engine.is_spark_like() and hasattr(native, "toLocalIterator"):
        parts = _of_spark(native)
    else:
        parts = iter([frame.collect("pyarrow").to_native()])
    for part in parts:
        if len(part):
            yield nw.from_native(part, eager_only=True)


def _of_spark(native: Any) -> Iterator[pa.Table]:
    """Yield rows of Spark, which come one by one."""
    rows = native.toLocalIterator(prefetchPartitions=True)
    while batch := list(islice(rows, BATCH_ROWS)):
        yield pa.Table.from_pylist([row.asDict() for row in batch])
