"""Rows that are not in memory, batch by batch: a sample of them, and work on all of them.

A lazy frame with the fold and the rank of every row enters (`engine.remote_folds`). A sample leaves
that depends on the values of rows alone, or what some work finds in each batch of rows. DuckDB and
Polars hand rows over in batches; Dask and Spark do the work where the rows are, and only what it
found travels.
"""

import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import narwhals as nw
import numpy as np
import pyarrow as pa

from conjoin._typing import FloatArray, IntArray
from conjoin.errors import warn_caller
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
        chosen = self.columns(self.dealt.filter(run % period == 0))
        found = Batch.joined([self.reader(part) for part in _batches(chosen)])
        order = np.lexsort((found.w, found.rank, found.dataset))
        return found.take(np.asarray(order))

    def each(self, work: Callable[[Batch], Found]) -> Iterator[Found]:
        """Give what some work finds in every batch of all rows."""
        frame = self.columns(self.dealt)
        if frame.implementation.is_dask():
            yield from _by_dask(frame.to_native(), self.reader, work)
        elif frame.implementation.is_pyspark():
            yield from _by_spark(frame, self.reader, work)
        else:
            yield from _here(frame, self.reader, work)

    @property
    def reader(self) -> "Reader":
        """What turns rows of an engine into batches, wherever they are."""
        return Reader(self.by, self.features, self.position, self.weight)

    def columns(self, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Return the columns that batches are made of."""
        names = [f"x{j}" for j in range(self.features + 1)]
        whole = [nw.col(name).cast(nw.Int64) for name in ("fold", "rank")]
        return frame.select(*self.by, *names, "w", *whole)


@dataclass(frozen=True)
class Reader:
    """Turns rows of an engine into a batch; fields as in `RemoteRows`."""

    by: tuple[str, ...]
    features: int
    position: dict[str, int]
    weight: float

    def __call__(self, part: nw.DataFrame[Any]) -> Batch:
        """Return the rows as arrays."""
        X = np.empty((len(part), self.features))
        for j in range(self.features):
            X[:, j] = part[f"x{j}"].to_numpy()
        y, w = (part[name].to_numpy().astype(np.float64) for name in (f"x{self.features}", "w"))
        names = dataset_names(part, self.by)
        dataset: IntArray = np.array([self.position[str(name)] for name in names], dtype=np.int64)
        fold, rank = (part[name].to_numpy().astype(np.int64) for name in ("fold", "rank"))
        return Batch(X, y, w / self.weight, dataset, fold, rank)


def _here(
    frame: nw.LazyFrame[Any], read: Reader, work: Callable[[Batch], Found]
) -> Iterator[Found]:
    """Do the work in this process, batch by batch."""
    for part in _batches(frame):
        stop_if_interrupted()
        yield work(read(part))


def _by_dask(frame: Any, read: Reader, work: Callable[[Batch], Found]) -> Iterator[Found]:
    """Do the work on every partition, in one go: rows are moved between partitions once."""
    import dask

    engine: Any = dask

    def of_part(part: Any) -> Found | None:
        return work(read(nw.from_native(part, eager_only=True))) if len(part) else None

    for found in engine.compute(*(engine.delayed(of_part)(one) for one in frame.to_delayed())):
        if found is not None:
            yield found


def _by_spark(
    frame: nw.LazyFrame[Any], read: Reader, work: Callable[[Batch], Found]
) -> Iterator[Found]:
    """Do the work on the executors of Spark; here, batch by batch, if they lack what it needs."""
    from pyspark.errors import PySparkException

    if not spark_can_work(frame.to_native()):
        yield from _here(frame, read, work)
        return
    try:
        rows = _mapped(frame.to_native(), lambda table: work(read(table)))
    except (PySparkException, pickle.PicklingError) as error:
        _warn_of_workers(error)
        yield from _here(frame, read, work)
        return
    for row in rows:
        yield pickle.loads(bytes(row["found"]))


def spark_can_work(native: Any) -> bool:
    """Say whether the executors of Spark have conjoin; it is tried once for each session."""
    from pyspark.errors import PySparkException

    session = native.sparkSession
    if session not in _ABLE:
        try:
            _mapped(native.limit(1), _try_names)
            _ABLE[session] = True
        except PySparkException as error:
            _warn_of_workers(error)
            _ABLE[session] = False
    return _ABLE[session]


_ABLE: "WeakKeyDictionary[Any, bool]" = WeakKeyDictionary()


def _try_names(table: nw.DataFrame[Any]) -> int:
    """Work that needs no more than conjoin."""
    return len(table)


def _mapped(native: Any, work: Callable[[nw.DataFrame[Any]], Any]) -> Any:
    """Return what some work finds in the parts of a Spark frame, pickled."""

    def of_parts(parts: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in _longer(parts):
            found = pickle.dumps(work(nw.from_native(table, eager_only=True)))
            yield pa.RecordBatch.from_pydict({"found": pa.array([found], pa.binary())})

    return native.mapInArrow(of_parts, "found binary").collect()


def _warn_of_workers(error: Exception) -> None:
    lines = [line.strip() for line in str(error).splitlines() if "Error: " in line]
    reason = f" ({lines[-1][:120]})" if lines else ""
    warn_caller(
        f"Spark's workers cannot do the work{reason}, so rows come here in batches, which is "
        "slower. Install conjoin for their Python, which PYSPARK_PYTHON names."
    )


def _longer(parts: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Put short batches together, up to `BATCH_ROWS` rows."""
    waiting: list[pa.RecordBatch] = []
    for part in parts:
        waiting += [part] if part.num_rows else []
        if sum(one.num_rows for one in waiting) >= BATCH_ROWS:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting)


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
