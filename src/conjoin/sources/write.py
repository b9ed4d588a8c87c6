"""Tables to CSV or Parquet files, written completely or not at all.

Batches of rows enter; a file stands when `write_batches` returns.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from conjoin.errors import ArgumentError, DataError
from conjoin.files import check_writable, replacing

ENDINGS = (".csv", ".csv.gz", ".parquet")


def check_output(path: Path) -> None:
    """Raise an error if a file cannot be written, before the work is done."""
    if not path.name.lower().endswith(ENDINGS):
        raise ArgumentError(
            f"Output {path.name!r} has an unknown ending; expected one of {', '.join(ENDINGS)}."
        )
    check_writable(path, f"Output {str(path)!r}")


def write_batches(path: Path, batches: Iterable[pa.Table]) -> int:
    """Write tables one after the other into one file and return the number of rows.

    If anything fails, an old file stays as it is.
    """
    try:
        with replacing(path) as part:
            return _write(part, batches)
    except OSError as error:
        raise ArgumentError(
            f"Output {str(path)!r} cannot be written ({error.strerror or error}); name a file that "
            "you may write to, where there is room."
        ) from None


def _write(path: Path, batches: Iterable[pa.Table]) -> int:
    rows = 0
    writer: _Writer | None = None
    try:
        for batch in batches:
            if writer is None:
                writer = _Writer(path, batch.schema)
            writer.write(batch)
            rows += len(batch)
    finally:
        if writer is not None:
            writer.close()
    if writer is None:
        raise ArgumentError("There are no rows to predict; nothing was written.")
    return rows


class _Writer:
    """An open CSV or Parquet file for tables of one schema."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        name = path.name.lower()
        self._name = path.name
        self.schema = schema
        self._stream: Any = None
        if name.endswith(".parquet"):
            self._writer: Any = pa.parquet.ParquetWriter(path, schema)
            return
        check_csv_types(schema, path.name)
        compression = "gzip" if name.endswith(".gz") else None
        self._stream = pa.output_stream(str(path), compression=compression)
        self._writer = pa.csv.CSVWriter(self._stream, schema)

    def write(self, table: pa.Table) -> None:
        """Append rows."""
        try:
            self._writer.write_table(table.cast(self.schema))
        except pa.ArrowException as error:
            raise DataError(
                f"A value cannot be written to {self._name!r} ({str(error).splitlines()[0]}); "
                "write another kind of file, or leave the column out with query."
            ) from None

    def close(self) -> None:
        """Finish the file."""
        self._writer.close()
        if self._stream is not None:
            self._stream.close()


def check_csv_types(schema: pa.Schema, name: str) -> None:
    """Raise an error if a column has a type that CSV cannot hold, such as a list."""
    for column in schema:
        try:
            pa.csv.write_csv(
                pa.table({column.name: pa.nulls(1, column.type)}), pa.BufferOutputStream()
            )
        except pa.ArrowException:
            raise DataError(
                f"Column {column.name!r} of type {column.type} cannot be written to {name!r}; "
                "write a .parquet file, or leave the column out with query."
            ) from None
