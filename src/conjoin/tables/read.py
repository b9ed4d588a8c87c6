"""Files to columns, through DuckDB: CSV (also .gz) and Parquet."""

from pathlib import Path

import duckdb

from conjoin.errors import ReadError
from conjoin.tables.columns import Columns

READERS = {
    ".csv": "read_csv",
    ".csv.gz": "read_csv",
    ".parquet": "read_parquet",
}


def read_columns(path: str | Path) -> Columns:
    """Read one file whole."""
    path = Path(path)
    if not path.exists():
        raise ReadError(f"File {str(path)!r} does not exist; check the path.")
    if path.is_dir():
        raise ReadError(f"{str(path)!r} is a folder; pass a file.")
    suffix = next((s for s in READERS if path.name.lower().endswith(s)), None)
    if suffix is None:
        raise ReadError(
            f"File {path.name!r} has an unknown ending; expected one of {', '.join(READERS)}."
        )
    if path.stat().st_size == 0:
        raise ReadError(f"File {path.name!r} is empty (0 bytes); write it again.")
    with duckdb.connect() as connection:
        try:
            relation = connection.sql(f"SELECT * FROM {READERS[suffix]}(?)", params=[str(path)])
            return dict(relation.fetchnumpy())
        except duckdb.Error as error:
            reason = str(error).splitlines()[0]
            raise ReadError(f"File {path.name!r} cannot be read: {reason}") from None


def dataset_name(path: str | Path) -> str:
    """Return the name a file gives to the dataset in it."""
    name = Path(path).name
    suffix = next((s for s in READERS if name.lower().endswith(s)), "")
    return name[: len(name) - len(suffix)] if suffix else name
