"""Prediction of tables in files, batch by batch, so that a file may be larger than memory.

A partition and files enter; one file with all columns and the prediction is written. The
predictions are those of `Partition.predict`, by the same `Predictor`.
"""

import warnings
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from conjoin._typing import FloatArray, Progress
from conjoin.api.request import PredictionOptions
from conjoin.errors import ConjoinWarning, DataError
from conjoin.result.intervals import Intervals
from conjoin.result.partition import Partition
from conjoin.result.predictor import Noticed
from conjoin.sources.read import Source, open_source, read_batches
from conjoin.sources.write import write_batches
from conjoin.tables.frame import in_memory, to_frame
from conjoin.tables.names import DATASET, dataset_names
from conjoin.text import quoted

BATCH_ROWS = 200_000  # rows at once: some 100 MB with 50 columns, and still few calls
PREDICTION = "prediction"  # name of the new column
LOW, HIGH, SET = "prediction_low", "prediction_high", "prediction_set"  # of intervals
PROBABILITY = "probability_"  # before the name of a class
MODEL = "model"  # name of the column that says which model a row got

_Batch = tuple[pa.Table, FloatArray, list[str | None]]


def predict_source(
    model: Partition,
    sources: Sequence[str | Path],
    output: Path,
    options: PredictionOptions | None = None,
    *,
    query: str | None = None,
    unsafe_query: bool = False,
    by: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> tuple[int, list[str]]:
    """Write all columns of the sources and the prediction; return the rows and the new columns.

    The first new column is "prediction". For classes that is the most likely one, and
    "probability_<class>" is the probability of each. With `interval` its ends follow, or the set
    of classes as text. The last is "model", which says whether a row
    got the model of its dataset or another (`result.predictor.SOURCES`). A name that is taken gets
    an underscore.

    If the models were fitted to many files, one dataset each, files name datasets here too.
    Columns `by` name them where they are called otherwise than at fitting. What `Partition.predict`
    would warn of is said once, at the end.
    """
    options = options or PredictionOptions()
    opened = open_source(sources, by=tuple(by or ()), query=query, unsafe_query=unsafe_query)
    with opened as source, source.reading():
        columns = _new_columns(model, source.relation.columns, options)
        name_column = None if by else find_names(model, source)
        named = tuple(by or model.schema.roles.by)
        rows = _Rows(model, source, name_column, options, named)
        places = rows.places() if options.on_unseen == "nearest" else {}
        with closing(rows.predicted(columns, places, progress)) as tables:
            written = write_batches(output, tables)
        rows.warn()
    return written, columns


def _new_columns(model: Partition, taken: Sequence[str], options: PredictionOptions) -> list[str]:
    """Return names for prediction, class probabilities, interval and model; none is taken."""
    found: list[str] = []
    ends = [] if options.interval is None else [SET] if model.classes else [LOW, HIGH]
    for name in (PREDICTION, *(f"{PROBABILITY}{label}" for label in model.classes), *ends, MODEL):
        while name in taken or name in found:
            name += "_"
        found.append(name)
    return found


def find_names(model: Partition, source: Source) -> str | None:
    """Return the column, or the one name, that says which dataset rows belong to.

    None if the columns that named datasets at fitting are there.
    """
    by, columns = model.schema.roles.by, source.relation.columns
    absent = [name for name in by if name not in columns]
    if not absent:
        return None
    # Files name datasets if they did at fitting, or if their names are known all the same.
    by_file = len(by) == 1 and (
        by[0].startswith(DATASET)
        or any(name in model.labels or name in model.added for name in source.file_names)
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
    """Rows of a source, as often as they are needed, and what was noticed in them."""

    model: Partition
    source: Source
    name_column: str | None
    options: PredictionOptions
    by: tuple[str, ...]
    noticed: Noticed = field(default_factory=Noticed)

    def batches(self) -> Generator[_Batch, None, None]:
        """Yield rows of the table, rows of features, and the names of their datasets."""
        schema, what = self.model.schema, self.source.description
        dates = self._date_formats  # before the reader: a connection answers one query at a time
        with closing(read_batches(self.source.relation, BATCH_ROWS)) as tables:
            for table in tables:
                frame = in_memory(to_frame(table))
                rows = schema.encode(frame, what, dates)
                names = self._names(table, frame)
                yield table, self.model.schema.extend(rows, names), names

    @cached_property
    def _date_formats(self) -> dict[str, str]:
        """How dates are written as text: the same in all batches."""
        frame = to_frame(self.source.relation)
        return self.model.schema.date_formats(frame, self.source.description)

    def _names(self, table: pa.Table, frame: object) -> list[str | None]:
        if self.name_column is None:
            return dataset_names(frame, self.by)
        if not self.name_column:
            return [self.source.file_names[0]] * len(table)
        names: list[str | None] = table.column(self.name_column).to_pylist()
        return names

    def places(self) -> dict[str, int]:
        """Return the nearest cluster of each dataset not seen at fitting, from all its rows."""
        sums: dict[str, FloatArray] = {}
        counts: dict[str, int] = {}
        for _, rows, names in self.batches():
            rows, noticed = self.model.predictor.notice(rows, names, self.options)
            for name in noticed.unseen:
                own = rows[np.array([other == name for other in names])]
                sums[name] = sums.get(name, 0.0) + own.sum(axis=0)
                counts[name] = counts.get(name, 0) + len(own)
        nearest = self.model.analysis.placement.nearest
        return {name: nearest(sums[name][np.newaxis] / counts[name]) for name in sums}

    def predicted(
        self, columns: Sequence[str], places: dict[str, int], progress: Progress | None
    ) -> Generator[pa.Table, None, None]:
        """Yield the rows with their predictions; `places` are the clusters of unseen datasets."""
        total = int(self.source.relation.aggregate("count(*)").fetchall()[0][0])
        with closing(self.batches()) as batches:
            for table, rows, names in batches:
                found = self.model.predictor.predict(rows, names, self.options, places)
                sources = self.model.predictor.sources(names, self.options.on_unseen)
                ends = self._intervals(found.linear, names)
                new = [*self._new_values(found.linear), *ends, pa.array(sources, pa.string())]
                for column, values in zip(columns, new, strict=True):
                    table = table.append_column(column, values)
                yield table
                self.noticed += found.noticed
                if progress is not None:
                    progress(self.noticed.rows, total)

    def _new_values(self, linear: FloatArray) -> list[pa.Array]:
        """Return predictions, and probabilities of classes, from linear predictors."""
        predictor = self.model.predictor
        if not self.model.classes:
            return [pa.array(predictor.targets(linear))]
        P = predictor.probabilities(linear)
        likely = self._labels.take(pa.array(np.argmax(P, axis=1)))
        return [likely, *(pa.array(np.ascontiguousarray(column)) for column in P.T)]

    def _intervals(self, linear: FloatArray, names: list[str | None]) -> list[pa.Array]:
        """Return the ends of intervals, or sets of classes as text, if they were asked for."""
        if self.options.interval is None:
            return []
        found = self.model.intervals(linear, names, self.options.interval)
        if isinstance(found, Intervals):
            return [pa.array(found.low), pa.array(found.high)]
        labels = [str(label) for label in self.model.classes]
        texts = ["; ".join(labels[j] for j in np.flatnonzero(row)) for row in found.sets]
        return [pa.array(texts, pa.string())]

    @cached_property
    def _labels(self) -> pa.Array:
        """The classes, in the one type that a file needs."""
        try:
            return pa.array(self.model.classes)
        except pa.ArrowException:
            return pa.array([str(label) for label in self.model.classes])

    def warn(self) -> None:
        """Warn of what a reader of the predictions should know."""
        for sentence in (
            self.noticed.unseen_sentence(self.options.on_unseen),
            self.noticed.nameless_sentence(),
            self.noticed.beyond_sentence(),
        ):
            if sentence is not None:
                warnings.warn(sentence, ConjoinWarning, stacklevel=4)
