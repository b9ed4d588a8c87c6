"""Prediction of tables in files, batch by batch: a file larger than memory is no obstacle."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from conjoin._typing import Progress
from conjoin.errors import ArgumentError
from conjoin.result import ON_UNSEEN, Partition
from conjoin.tables.read import Source, open_source
from conjoin.tables.write import write_batches

BATCH_ROWS = 200_000


def predict_source(
    model: Partition,
    sources: Sequence[str | Path],
    output: Path,
    *,
    on_unseen: str = "pooled",
    query: str | None = None,
    progress: Progress | None = None,
) -> tuple[int, str]:
    """Write all columns of the sources and the prediction; return rows and the new column's name.

    Where models were fitted to many files, each a dataset, files name datasets here too.
    """
    if on_unseen not in ON_UNSEEN:
        raise ArgumentError(
            f"on_unseen={on_unseen!r} is unknown; expected one of {', '.join(ON_UNSEEN)}."
        )
    with open_source(sources, query=query) as source, source.reading():
        known = list(source.relation.columns)
        column = "prediction"
        while column in known:
            column += "_"
        rows = write_batches(output, _predicted(model, source, column, on_unseen, progress))
    return rows, column


def _predicted(
    model: Partition, source: Source, column: str, on_unseen: str, progress: Progress | None
) -> Iterator[pa.Table]:
    total = int(source.relation.aggregate("count(*)").fetchall()[0][0])
    done = 0
    by = model.schema.roles.by
    for batch in source.relation.fetch_arrow_reader(BATCH_ROWS):
        table = pa.table(batch)
        # One file of many: its own name stands for the dataset.
        named = not set(by) <= set(table.column_names) and len(by) == len(source.by) == 1
        names = table.column(source.by[0]).to_pylist() if named else None
        prediction = model.predict(table, names, on_unseen=on_unseen)
        yield table.append_column(column, pa.array(prediction))
        done += len(table)
        if progress is not None:
            progress(done, total)
