"""Files, folders and databases as one lazy table: `open_source`.

Names of files, or of a database table, enter; a `Source` with a DuckDB relation leaves. No row is
fetched on opening, so files may be larger than memory. Files are stacked by column name, and the
source lists the columns that only some files have.
"""

import os
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import duckdb
import pyarrow as pa

from conjoin._typing import AnyArray
from conjoin.errors import DataError, ReadError
from conjoin.moments.made import MOST_AT_ONCE
from conjoin.sources.combine import (
    agree_on_types,
    free_name,
    partial_columns,
    partition_columns,
    stack_files,
)
from conjoin.sources.database import Database, find_database, open_database
from conjoin.sources.find import distinct_names, find_files, is_folder_of_parts
from conjoin.sources.guard import Query
from conjoin.sources.layout import find_layout
from conjoin.sources.sql import explain, quote_name, quote_text
from conjoin.tables.batches import StoredColumns
from conjoin.tables.names import DATASET
from conjoin.tables.roles import close_match
from conjoin.text import quoted, without_secrets

FILE = "conjoin_file"  # column with the path of a row's file, inside one query
INTERRUPTED = "Query interrupted"  # text of the error that DuckDB raises after Ctrl-C

Paths = str | Path | Sequence[str | Path]


def is_source(value: object) -> bool:
    """Say whether a value names one or several files, or a database.

    >>> is_source("sales.csv"), is_source(["a.csv", "b.csv"]), is_source({"x": [1]})
    (True, True, False)
    """
    if isinstance(value, (str, Path)):
        return True
    return (
        isinstance(value, Sequence)
        and len(value) > 0
        and all(isinstance(one, (str, Path)) for one in value)
    )


@dataclass(frozen=True, eq=False)
class Source:
    """A table in files or in a database that is open but not read yet.

    Parameters
    ----------
    relation : duckdb.DuckDBPyRelation
        The rows, not fetched yet; it can be used until the source is closed.
    by : tuple of str
        Columns that name the dataset of each row; empty for one table without `by`.
    description : str
        What was opened, for messages; it never holds a password.
    partial_columns : dict of str to list of str
        Columns that are not in every file, with the files that lack them. In the rows of these
        files the column is missing.
    connection : duckdb.DuckDBPyConnection
        Connection of the relation.
    at_close : tuple of str
        SQL that detaches a database.
    file_names : tuple of str
        Names of datasets that come from file names; empty for a database.
    from_csv : bool
        Whether all files are CSV, where every value is written as text.
    in_columns : bool
        Whether it is one file that stores columns apart and is read as it is.
    """

    relation: duckdb.DuckDBPyRelation = field(repr=False)
    by: tuple[str, ...]
    description: str
    partial_columns: dict[str, list[str]] = field(default_factory=dict)
    connection: duckdb.DuckDBPyConnection = field(kw_only=True, repr=False)
    at_close: tuple[str, ...] = field(default=(), kw_only=True, repr=False)
    file_names: tuple[str, ...] = field(default=(), kw_only=True, repr=False)
    from_csv: bool = field(default=False, kw_only=True, repr=False)
    in_columns: bool = field(default=False, kw_only=True, repr=False)

    def without(self, dropped: Collection[str]) -> duckdb.DuckDBPyRelation:
        """Return the rows without some columns."""
        names = [quote_name(name) for name in self.relation.columns if name not in dropped]
        return self.relation.project(", ".join(names))

    def with_boolean_target(self, target: str) -> "Source":
        """Return the source with a boolean target if its texts are only true and false.

        This holds for CSV files, which have no other way to write a boolean.
        """
        types = dict(zip(self.relation.columns, map(str, self.relation.types)))
        if not self.from_csv or types.get(target) != "VARCHAR":
            return self
        name = quote_name(target)
        word = f"lower(trim({name}))"
        other = f"{name} IS NOT NULL AND {word} NOT IN ('true', 'false')"
        if self.relation.filter(other).limit(1).fetchall():
            return self
        return replace(
            self, relation=self.relation.project(f"* REPLACE ({word} = 'true' AS {name})")
        )

    def close(self) -> None:
        """Close files and databases; the relation cannot be used afterwards."""
        for statement in self.at_close:
            self.connection.execute(statement)
        self.connection.close()

    def __enter__(self) -> "Source":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Turn errors of DuckDB inside the block into a `ReadError`."""
        try:
            yield
        except duckdb.InterruptException:
            raise KeyboardInterrupt from None
        except duckdb.Error as error:
            raise explain(error, self.description) from None
        except RuntimeError as error:
            if str(error) == INTERRUPTED:
                raise KeyboardInterrupt from None
            raise


def open_source(
    sources: Paths,
    *,
    by: str | Sequence[str] = (),
    query: str | None = None,
    unsafe_query: bool = False,
    connection: duckdb.DuckDBPyConnection | None = None,
    settings: Mapping[str, str] | None = None,
) -> Source:
    """Return files, folders, patterns or a database table as one lazy table.

    Without `by`, each of several files is one dataset, named after the file. With `by`, the files
    are parts of one table. Folders such as ``region=north/`` become columns; without `by` they
    name the dataset.

    Parameters
    ----------
    sources : path or sequence of paths
        CSV (.csv, .tsv, also .gz) and Parquet files, folders of them, patterns such as
        ``"data/*.csv"``; or one database: ``"shop.duckdb::sales"``, ``"shop.sqlite::sales"``,
        ``"postgresql://user@host/shop::public.sales"``. The table may be left out if the
        database has only one.
    by : str or sequence of str, default ()
        Columns that name the dataset of each row.
    query : str, optional
        A SELECT. The files, or the table named after ``::``, are its table `data`. If the database
        is named without a table, the query runs in the database (for SQLite, in its dialect).
    unsafe_query : bool, default False
        Whether the query may read other files, load extensions and write. By default it may only
        read the given data: DuckDB is locked before it runs.
    connection : duckdb.DuckDBPyConnection, optional
        Connection whose settings to share; it stays open when the source is closed, and it is not
        locked. By default a new connection.
    settings : mapping of str to str, optional
        Settings of a new connection, such as its memory limit.

    Returns
    -------
    Source

    Raises
    ------
    ReadError
        If a file, folder or table cannot be read.
        Also if a column is a number in one file and text in another.
    DataError
        If `by` names a column that does not exist.

    Examples
    --------
    >>> from conjoin.datasets import seoul_bikes_path
    >>> with open_source(seoul_bikes_path(), by="hour") as source:
    ...     source.relation.count("*").fetchall()
    [(8465,)]
    """
    named = [sources] if isinstance(sources, str | Path) else list(sources)
    by = (by,) if isinstance(by, str) else tuple(by)
    if not named:
        raise ReadError("No file was named; name a file, a folder, a pattern or a database.")
    if connection is None:
        own = duckdb.connect(config={"python_enable_replacements": False, **(settings or {})})
        own.execute("SET enable_progress_bar = false")  # it writes where --json does
    else:
        own = connection.cursor()
    asked = Query(own, query, unsafe_query, shared=connection is not None)
    try:
        databases = [found for source in named if (found := find_database(source))]
        if databases:
            return _open_table(own, databases[0], len(named), by, asked)
        return _open_files(own, named, by, asked)
    except duckdb.Error as error:
        own.close()
        raise explain(error, _description(named, len(named))) from None
    except BaseException:
        own.close()
        raise


def _open_table(
    connection: duckdb.DuckDBPyConnection,
    database: Database,
    count: int,
    by: tuple[str, ...],
    query: Query,
) -> Source:
    """Open a table or query of the only database among `count` sources."""
    if count > 1:
        raise ReadError(
            f"{database.label!r} is a database and must be the only source ({count} were named); "
            "combine tables with query='SELECT ... UNION ALL SELECT ...'."
        )
    table = open_database(connection, database, query)
    relation = table.relation
    if query.text is not None and database.table is not None:
        relation = query.run(relation)
    _check_by(relation, by)
    return Source(relation, by, table.description, connection=connection, at_close=table.at_close)


def _open_files(
    connection: duckdb.DuckDBPyConnection,
    named: list[str | Path],
    by: tuple[str, ...],
    query: Query,
) -> Source:
    """Open files as one table; without `by`, several files are one dataset each."""
    files = find_files(named)
    names = distinct_names([file.path for file in files])
    layouts = [find_layout(connection, file.path, set(by)) for file in files]
    partial = partial_columns(layouts, names)
    layouts = agree_on_types(connection, layouts, names, set(by))
    taken = {column.casefold() for layout in layouts for column in layout.columns}
    extra = partition_columns(files, taken)
    found = by
    if not by and len(files) > 1 and not is_folder_of_parts(named):
        if not extra:
            extra[free_name(DATASET, taken)] = [quote_text(name) for name in names]
        found = tuple(extra)
    file_column = free_name(FILE, taken | {column.casefold() for column in extra})
    relation = connection.sql(stack_files(layouts, extra, file_column))
    query.lock([file.path for file in files])
    if query.text is not None:
        relation = query.run(relation)
        if not by and not set(found) <= set(relation.columns):
            found = ()
    _check_by(relation, found)
    return Source(
        relation,
        found,
        _description(named, len(files)),
        partial,
        connection=connection,
        file_names=tuple(names),
        from_csv=all(layout.reader == "read_csv" for layout in layouts),
        in_columns=query.text is None and [one.reader for one in layouts] == ["read_parquet"],
    )


def _check_by(relation: duckdb.DuckDBPyRelation, by: tuple[str, ...]) -> None:
    """Raise an error if `by` names a column that does not exist."""
    for column in by:
        if column not in relation.columns:
            raise DataError(
                f"by={column!r} is not a column; {close_match(column, relation.columns)}"
            )


def _description(named: list[str | Path], count: int) -> str:
    """Return the sources for messages, without passwords."""
    texts = [without_secrets(str(source)) for source in named]
    if len(texts) > 1:
        return f"{count} files ({quoted(texts)})"
    return repr(texts[0]) + (f" ({count} files)" if count > 1 else "")


def read_batches(relation: duckdb.DuckDBPyRelation, rows: int) -> Generator[pa.Table, None, None]:
    """Yield the rows of a relation, `rows` at a time; close it to free the connection.

    DuckDB's own batches are longer with one thread than with two. Sums by batch would then have
    other last digits, so batches are cut here.
    """
    waiting: list[pa.RecordBatch] = []
    count = 0
    with closing(_batches_of_duckdb(relation, rows)) as batches:
        for batch in batches:
            while count + len(batch) >= rows:
                rest = rows - count
                # pa.table would load pandas
                yield pa.Table.from_batches([*waiting, batch.slice(0, rest)])
                batch, waiting, count = batch.slice(rest), [], 0
            if len(batch):
                waiting.append(batch)
                count += len(batch)
    if waiting:
        yield pa.Table.from_batches(waiting)


def _batches_of_duckdb(
    relation: duckdb.DuckDBPyRelation, rows: int
) -> Generator[pa.RecordBatch, None, None]:
    """Yield the rows of a relation in the batches that DuckDB makes."""
    # Older versions of DuckDB only have the second method.
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
    with read(rows) as reader:
        while True:
            try:
                batch = next(reader, None)
            except (pa.ArrowException, OSError) as error:  # an error of DuckDB, passed on by Arrow
                raise duckdb.InvalidInputException(str(error)) from None
            if batch is None:
                return
            yield batch


def stored_columns(relation: duckdb.DuckDBPyRelation) -> StoredColumns | None:
    """Return what reads some columns of a file without the others; None if it has few rows."""
    [(count,)] = relation.count("*").fetchall()
    if count <= MOST_AT_ONCE:
        return None

    def read(names: Sequence[str], rows: int) -> Iterator[pa.Table]:
        return read_batches(relation.project(", ".join(map(quote_name, names))), rows)

    # Older versions of DuckDB only have the second method.
    none = relation.limit(0)
    schema = (getattr(none, "to_arrow_table", None) or none.fetch_arrow_table)().schema
    return StoredColumns(relation, schema, int(count), read)


def read_columns(path: str | Path) -> dict[str, AnyArray]:
    """Return all columns of one file in memory; missing entries are masked."""
    if os.path.isdir(path):
        raise ReadError(f"{str(path)!r} is a folder; pass a file.")
    with open_source(path) as source, source.reading():
        return dict(source.relation.fetchnumpy())
