"""Prediction of tables in files, batch by batch: a file larger than memory is no obstacle."""

import warnings
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from conjoin._typing import AnyArray, FloatArray, Progress
from conjoin.errors import ArgumentError, ConjoinWarning, DataError
from conjoin.families import expected, softmax
from conjoin.result.fits import values_of
from conjoin.result.partition import ON_UNSEEN, Partition
from conjoin.sources.read import DATASET, Source, open_source, read_batches
from conjoin.sources.write import write_batches
from conjoin.tables.frame import in_memory, to_frame
from conjoin.tables.names import dataset_names
from conjoin.text import quoted

BATCH_ROWS = 200_000
PREDICTION = "prediction"
PROBABILITY = "probability_"  # before the name of a class

_Batch = tuple[pa.Table, FloatArray, list[str | None]]


def predict_source(
    model: Partition,
    sources: Sequence[str | Path],
    output: Path,
    *,
    on_unseen: str = "pooled",
    query: str | None = None,
    progress: Progress | None = None,
) -> tuple[int, list[str]]:
    """Write all columns of the sources and the prediction; return rows and the new columns' names.

    The new column is "prediction"; where the target is a class, that is the most likely one, and
    "probability_<class>" is the probability of each. A name that is taken gets an underscore more.

    Where models were fitted to many files, each a dataset, files name datasets here too. The
    predictions are those of `Partition.predict` on all rows at once; what it would warn of is said
    once, at the end.
    """
    if on_unseen not in ON_UNSEEN:
        raise ArgumentError(
            f"on_unseen={on_unseen!r} is unknown; expected one of {', '.join(ON_UNSEEN)}."
        )
    with open_source(sources, query=query) as source, source.reading():
        columns = _new_columns(model, source.relation.columns)
        rows = _Rows(model, source, _find_names(model, source))
        places = rows.nearest() if on_unseen == "nearest" else {}
        with closing(rows.predicted(columns, on_unseen, places, progress)) as tables:
            written = write_batches(output, tables)
        rows.tell(on_unseen)
    return written, columns


def _new_columns(model: Partition, taken: Sequence[str]) -> list[str]:
    """Return names for the prediction and the probabilities of classes that are not taken."""
    found: list[str] = []
    for name in (PREDICTION, *(f"{PROBABILITY}{label}" for label in model.classes)):
        while name in taken or name in found:
            name += "_"
        found.append(name)
    return found


def _find_names(model: Partition, source: Source) -> str | None:
    """Return the column, or the one name, that says which dataset rows belong to.

    None where the columns that named datasets at fitting are there.
    """
    by, columns = model.schema.roles.by, source.relation.columns
    absent = [name for name in by if name not in columns]
    if not absent:
        return None
    # Files name datasets where they did at fitting, and where their names are known all the same.
    by_file = len(by) == 1 and (
        by[0].startswith(DATASET) or any(name in model.labels for name in source.file_names)
    )
    if by_file and len(source.by) == 1:
        return source.by[0]
    if by_file and len(source.file_names) == 1:
        return ""
    raise DataError(
        f"{source.description} lacks column {absent[0]!r}, which names the dataset of a row; add "
        f"it. Columns are {quoted(columns)}."
    )


@dataclass
class _Rows:
    """Rows of a source, as often as they are needed, and what was seen in them."""

    model: Partition
    source: Source
    name_column: str | None
    unseen: set[str] = field(default_factory=set)
    nameless: int = 0
    beyond: int = 0
    done: int = 0
    beyond_by_column: FloatArray | None = None

    def batches(self) -> Generator[_Batch, None, None]:
        """Yield rows, their features within the models' limits, and the names of datasets."""
        with closing(read_batches(self.source.relation, BATCH_ROWS)) as tables:
            for table in tables:
                frame = in_memory(to_frame(table))
                rows = self.model.schema.encode(frame, self.source.description)
                yield table, self._limited(rows), self._names(table, frame)

    def _names(self, table: pa.Table, frame: object) -> list[str | None]:
        if self.name_column is None:
            return dataset_names(frame, self.model.schema.roles.by)
        if not self.name_column:
            return [self.source.file_names[0]] * len(table)
        names: list[str | None] = table.column(self.name_column).to_pylist()
        return names

    def _limited(self, rows: FloatArray) -> FloatArray:
        limits = self.model.pooled.limits
        if not limits:
            return rows
        low, high = np.array(list(limits.values())).reshape(-1, 2).T
        beyond = (rows < low) | (rows > high)
        self.beyond += int(beyond.any(axis=1).sum())
        counts = beyond.sum(axis=0).astype(np.float64)
        self.beyond_by_column = (
            counts if self.beyond_by_column is None else self.beyond_by_column + counts
        )
        return np.clip(rows, low, high)

    def nearest(self) -> dict[str, int]:
        """Return the cluster of each dataset not seen at fitting, from all of its rows."""
        sums: dict[str, FloatArray] = {}
        counts: dict[str, int] = {}
        for _, rows, names in self.batches():
            for name in self._unseen_in(names):
                own = rows[_are(name, names)]
                sums[name] = sums.get(name, 0.0) + own.sum(axis=0)
                counts[name] = counts.get(name, 0) + len(own)
        self.beyond, self.beyond_by_column = 0, None
        place = self.model.analysis.placement.nearest
        return {name: place(sums[name][np.newaxis] / counts[name]) for name in sums}

    def predicted(
        self,
        columns: Sequence[str],
        on_unseen: str,
        places: dict[str, int],
        progress: Progress | None,
    ) -> Generator[pa.Table, None, None]:
        """Yield the rows with columns more; `places` are the clusters of unseen datasets."""
        total = int(self.source.relation.aggregate("count(*)").fetchall()[0][0])
        with closing(self.batches()) as batches:
            for table, rows, names in batches:
                self.nameless += sum(name is None for name in names)
                asked = names
                if on_unseen != "raise":
                    self.unseen |= self._unseen_in(names)
                    asked = [None if name in self.unseen else name for name in names]
                scores = self.model.scores_encoded(rows, asked, on_unseen="raise", limit=False)
                for name in set(names) & places.keys():
                    own = _are(name, names)
                    scores[own] = values_of(self.model.models[places[str(name)]], rows[own])
                for column, values in zip(columns, self._new_values(scores)):
                    table = table.append_column(column, values)
                yield table
                self.done += len(table)
                if progress is not None:
                    progress(self.done, total)

    def _new_values(self, scores: FloatArray) -> list[pa.Array]:
        """Return predictions, and probabilities of classes, from values of the models' lines."""
        if not self.model.classes:
            return [pa.array(expected(scores, self.model.schema.response))]
        P = softmax(scores)
        likely = self._labels.take(pa.array(np.argmax(P, axis=1)))
        return [likely, *(pa.array(np.ascontiguousarray(column)) for column in P.T)]

    @cached_property
    def _labels(self) -> pa.Array:
        """The classes, in the one type that a file needs."""
        try:
            return pa.array(self.model.classes)
        except pa.ArrowException:
            return pa.array([str(label) for label in self.model.classes])

    def _unseen_in(self, names: Iterable[str | None]) -> set[str]:
        return {name for name in set(names) if name is not None and name not in self.model.labels}

    def tell(self, on_unseen: str) -> None:
        """Warn of what a reader of the predictions should know."""
        if self.unseen:
            model = "pooled model" if on_unseen == "pooled" else "model of the nearest cluster"
            many = len(self.unseen) > 1
            _warn(
                f"{len(self.unseen):,} {'datasets were' if many else 'dataset was'} not there at "
                f"fitting ({quoted(sorted(self.unseen))}); {'they get' if many else 'it gets'} the "
                f"{model}."
            )
        if self.nameless:
            _warn(
                f"{self.nameless:,} of {self.done:,} rows name no dataset; they get the pooled "
                "model."
            )
        if self.beyond and self.beyond_by_column is not None:
            column = list(self.model.pooled.limits)[int(np.argmax(self.beyond_by_column))]
            _warn(
                f"{self.beyond:,} of {self.done:,} rows lie further outside the training rows than "
                f"these are wide, most often in column {column!r}; they are predicted as at that "
                "limit."
            )


def _are(name: str | None, names: Sequence[str | None]) -> AnyArray:
    return np.array([other == name for other in names])


def _warn(message: str) -> None:
    warnings.warn(message, ConjoinWarning, stacklevel=4)
