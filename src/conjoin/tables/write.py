"""Tables to files, whole or not at all."""

import tempfile
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from conjoin.errors import ArgumentError

ENDINGS = (".csv", ".csv.gz", ".parquet")


def check_output(path: Path) -> None:
    """Refuse a file that cannot be written before the work is done."""
    if not path.name.lower().endswith(ENDINGS):
        raise ArgumentError(
            f"Output {path.name!r} has an unknown ending; expected one of {', '.join(ENDINGS)}."
        )
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise ArgumentError(
            f"Output {str(path)!r} cannot be written: name a file in a folder that exists."
        )


def write_batches(path: Path, batches: Iterable[pa.Table]) -> int:
    """Write tables one after the other into one file and return the number of rows.

    An interruption leaves the old file, or none, but no half of one.
    """
    folder = path.absolute().parent
    with tempfile.TemporaryDirectory(dir=folder, prefix=f".{path.name}.") as temporary:
        part = Path(temporary) / path.name
        rows = 0
        writer: Any = None
        try:
            for batch in batches:
                if writer is None:
                    writer = _open(part, batch.schema)
                writer.write_table(batch.cast(writer.schema) if rows else batch)
                rows += len(batch)
        finally:
            if writer is not None:
                writer.close()
        if writer is None:
            raise ArgumentError("There are no rows to predict; nothing was written.")
        part.replace(path)
    return rows


def _open(path: Path, schema: pa.Schema) -> "_Writer":
    return _Writer(path, schema)


class _Writer(AbstractContextManager["_Writer"]):
    """A CSV or Parquet file that takes tables."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        name = path.name.lower()
        self.schema = schema
        self._stream: Any = None
        if name.endswith(".parquet"):
            self._writer: Any = pa.parquet.ParquetWriter(path, schema)
            return
        compression = "gzip" if name.endswith(".gz") else None
        self._stream = pa.output_stream(str(path), compression=compression)
        self._writer = pa.csv.CSVWriter(self._stream, schema)

    def write_table(self, table: pa.Table) -> None:
        """Append rows."""
        self._writer.write_table(table)

    def close(self) -> None:
        """Finish the file."""
        self._writer.close()
        if self._stream is not None:
            self._stream.close()

    def __exit__(self, *exception: object) -> None:
        self.close()
