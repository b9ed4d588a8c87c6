"""Tables in databases: DuckDB and SQLite files, PostgreSQL servers.

The name of a database enters; a DuckDB relation leaves. Databases are opened for reading only.
DuckDB reads its own files and, with an extension that it downloads at first use, PostgreSQL; both
stay lazy. SQLite is read by Python's driver, in batches, into a temporary DuckDB table that may use
the disk. This needs no download. It also shows the types of all values before they are converted,
since one column of SQLite may mix types.
"""

import difflib
import importlib.util
import os
import re
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import duckdb
import numpy as np

from conjoin.errors import ReadError
from conjoin.sources.guard import Query, lock_sqlite
from conjoin.sources.layout import MISSING, missing_file
from conjoin.sources.sql import query_error, quote_name, quote_text, reason_of
from conjoin.text import quoted, without_secrets

DUCKDB_ENDINGS = (".duckdb", ".ddb", ".db")
SQLITE_ENDINGS = (".sqlite", ".sqlite3", ".db")
SQLITE_SIGNATURE = b"SQLite format 3\x00"
DUCKDB_SIGNATURE = b"DUCK"
# The name of a table follows the last '::'. It has no / @ [ or ], so that the :: in an address such
# as [::1], or in a password, is not taken for it.
TABLE = re.compile(r"::([^/@\[\]]+)$")
POSTGRES = re.compile(r"postgres(?:ql)?:/")
POSTGRES_EXTENSION = "postgres_scanner"
CONNECT_SECONDS = 10  # a server that does not answer by then is unreachable; libpq waits forever
ALIAS = "conjoin_source"  # name of an attached database, with a number
SYSTEM_SCHEMAS = ("information_schema", "pg_catalog")
MAIN_SCHEMAS = ("main", "public")
MOST_TABLES = 10  # in an error message: enough to choose from, still two lines
BATCH_ROWS = 100_000  # rows of SQLite in memory at a time: with 20 columns about 100 MB
# Values of arrays where SQLite has a null; `_insert` replaces them by NULL.
FILLERS = {"BIGINT": 0, "DOUBLE": 0.0, "VARCHAR": ""}


@dataclass(frozen=True)
class Database:
    """A database that the user named.

    Parameters
    ----------
    kind : str
        'duckdb', 'sqlite' or 'postgres'.
    address : str
        Path or connection string. It may hold a password and does not appear in messages.
    table : str or None
        Table, if one was named.
    label : str
        What messages call it: the path of a file, or the name of the database.
    """

    kind: str
    address: str = field(repr=False)
    table: str | None
    label: str


@dataclass(frozen=True)
class OpenTable:
    """A table or query of an open database, and the SQL that detaches the database."""

    relation: duckdb.DuckDBPyRelation
    description: str
    at_close: tuple[str, ...] = ()


# How PostgreSQL's client names a server in its messages, with its address.
SERVER = re.compile(r"(?:connection to )?server (?:at|on) \"[^\"]*\"(?: \([^)]*\))?(?:, port \d+)?")


def find_database(source: str | Path) -> Database | None:
    """Return the database that a source names; None if it is a file or folder of tables."""
    text = str(source)
    named = None if os.path.exists(text) else TABLE.search(text)
    address, table = (text[: named.start()], named[1]) if named else (text, None)
    if POSTGRES.match(text):
        # `Path` turns // into /.
        address = re.sub(r":/+", "://", address, count=1)
        return Database("postgres", address, table, without_secrets(address))
    path = Path(os.path.abspath(os.path.expanduser(address)))
    if not address.lower().endswith(DUCKDB_ENDINGS + SQLITE_ENDINGS) or path.is_dir():
        return None
    return Database(_kind_of_file(path), str(path), table, address)


def open_database(
    connection: duckdb.DuckDBPyConnection,
    database: Database,
    query: Query,
) -> OpenTable:
    """Open the named table, or else the query, or else the only table."""
    if database.table is not None:
        query = replace(query, text=None)
    if database.kind == "sqlite":
        return _open_sqlite(connection, database, query)
    return _open_attached(connection, database, query)


def _kind_of_file(path: Path) -> str:
    """Return "sqlite" or "duckdb", by the first bytes of a file."""
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except FileNotFoundError:
        raise missing_file(path) from None
    except OSError as error:
        raise ReadError(
            f"File {str(path)!r} cannot be opened: {error.strerror}; allow reading it."
        ) from None
    if start == SQLITE_SIGNATURE:
        return "sqlite"
    if start[8:12] == DUCKDB_SIGNATURE:
        return "duckdb"
    problem = "is not a DuckDB or SQLite database" if start else "is empty (0 bytes)"
    raise ReadError(f"File {path.name!r} {problem}, although its name says so; write it again.")


def _open_attached(
    connection: duckdb.DuckDBPyConnection,
    database: Database,
    query: Query,
) -> OpenTable:
    """Open a table or query of DuckDB or PostgreSQL."""
    [(before,)] = connection.execute("SELECT current_database()").fetchall()
    alias = _attach(connection, database)
    connection.execute(f"USE {quote_name(alias)}")
    at_close = (f"USE {quote_name(before)}", f"DETACH {quote_name(alias)}")
    try:
        query.lock()
        if query.text is not None:
            return OpenTable(query.run(), f"a query on {database.label!r}", at_close)
        tables = connection.execute(
            "SELECT table_schema, table_name FROM information_schema.tables "
            "WHERE table_catalog = ? ORDER BY ALL",
            [alias],
        ).fetchall()
        schema, name = _choose(database, [t for t in tables if t[0] not in SYSTEM_SCHEMAS])
        place = ".".join(quote_name(part) for part in (alias, schema, name))
        found = connection.sql(f"SELECT * FROM {place}")
        return OpenTable(found, f"table {name!r} of {database.label!r}", at_close)
    except BaseException:
        for statement in at_close:
            connection.execute(statement)
        raise


def _attach(connection: duckdb.DuckDBPyConnection, database: Database) -> str:
    """Attach a database for reading only and return its name in the connection."""
    address, options = database.address, "READ_ONLY"
    if database.kind == "postgres":
        _load_extension(connection, POSTGRES_EXTENSION)
        options = "TYPE postgres, READ_ONLY"
        if "connect_timeout" not in address:
            address += f"{'&' if '?' in address else '?'}connect_timeout={CONNECT_SECONDS}"
    used = {
        name
        for (name,) in connection.execute("SELECT database_name FROM duckdb_databases()").fetchall()
    }
    alias = next(a for k in range(len(used) + 1) if (a := f"{ALIAS}_{k}") not in used)
    try:
        connection.execute(f"ATTACH {quote_text(address)} AS {quote_name(alias)} ({options})")
    except duckdb.Error as error:
        raise _attach_error(database, address, error) from None
    return alias


def _attach_error(database: Database, address: str, error: duckdb.Error) -> ReadError:
    """Return the error for a database that cannot be opened, without parts of its password."""
    text = str(error)
    if "newer version of DuckDB" in text:
        return ReadError(
            f"Database {database.label!r} was written by a newer DuckDB than {duckdb.__version__}; "
            "upgrade duckdb, or export the table as Parquet."
        )
    if "Could not set lock" in text:
        return ReadError(
            f"Database {database.label!r} is open for writing in another program; close it there."
        )
    if database.kind == "duckdb":
        return ReadError(
            f"Database {database.label!r} cannot be opened: {reason_of(error)}; write it again."
        )
    told = SERVER.sub("the server", text.replace(address, database.label))
    reason = reason_of(duckdb.Error(told))
    # If a password is not escaped, a part of it may appear in the reason as a host or port.
    if any(part in reason for part in _secrets(address)):
        reason = "write / and @ in a password as %2F and %40"
    return ReadError(
        f"Database {database.label!r} cannot be opened: {reason}; check address, user and password."
    )


def _secrets(address: str) -> list[str]:
    """Return the parts of the passwords in an address."""
    found = re.findall(r"://[^:@]*:(.*)@|password=([^&]*)", address)
    return [part for pair in found for part in re.split(r"\W+", "/".join(pair)) if part]


def _load_extension(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    """Load an extension that is installed, or in a Python package, or else download it."""
    attempts = [f"LOAD {name}", f"INSTALL {name}; LOAD {name}"]
    spec = importlib.util.find_spec(f"duckdb_extension_{name}")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        file = f"{folder}/extensions/v{duckdb.__version__}/{name}.duckdb_extension"
        attempts.insert(1, f"LOAD {quote_text(file)}")
    for attempt in attempts:
        try:
            connection.execute(attempt)
            return
        except duckdb.Error:
            continue
    raise ReadError(
        f"PostgreSQL needs DuckDB's extension {name!r}, which is not installed and could not be "
        f"downloaded for DuckDB {duckdb.__version__}; run INSTALL {name} in DuckDB where there is "
        "a network, or export the table as CSV or Parquet."
    )


def _choose(database: Database, tables: list[tuple[str, str]]) -> tuple[str, str]:
    """Return schema and name of the table that the user means."""
    labels = {
        (name if schema in MAIN_SCHEMAS else f"{schema}.{name}"): (schema, name)
        for schema, name in tables
    }
    if not labels:
        raise ReadError(f"Database {database.label!r} has no tables; name another database.")
    wanted = database.table
    if wanted is None:
        if len(labels) == 1:
            return next(iter(labels.values()))
        names = quoted(list(labels), MOST_TABLES)
        raise ReadError(
            f"Database {database.label!r} has {len(labels)} tables: {names}; name one as "
            f"'{database.label}::{next(iter(labels))}', or pass query=."
        )
    fitting = [pair for pair in tables if wanted in (pair[1], ".".join(pair))]
    if wanted in labels:
        return labels[wanted]
    if len(fitting) == 1:
        return fitting[0]
    close = difflib.get_close_matches(wanted, labels, n=3)
    problem = "is in several schemas of" if fitting else "is not in"
    choice = quoted([".".join(pair) for pair in fitting] or close or list(labels), MOST_TABLES)
    raise ReadError(
        f"Table {wanted!r} {problem} database {database.label!r}; choose from {choice}."
    )


def _open_sqlite(
    connection: duckdb.DuckDBPyConnection,
    database: Database,
    query: Query,
) -> OpenTable:
    """Copy a table or query of SQLite into DuckDB."""
    address = Path(database.address).as_uri() + "?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True)) as source:
            source.text_factory = lambda text: text.decode(errors="replace")
            lock_sqlite(source)
            query.lock()
            if query.text is None:
                name = _choose(database, _sqlite_tables(source))[1]
                select = f"SELECT * FROM {quote_name(name)}"
                return _copy(connection, source, select, f"table {name!r} of {database.label!r}")
            select = query.text.rstrip().rstrip(";")
            try:
                source.execute(f"SELECT * FROM ({select}) LIMIT 0")
            except sqlite3.Error as error:
                raise query_error(query.text, error) from None
            return _copy(connection, source, select, f"a query on {database.label!r}")
    except sqlite3.Error as error:
        raise ReadError(
            f"Database {database.label!r} cannot be read: {reason_of(error)}; close other programs "
            "that use it, or write it again."
        ) from None


def _sqlite_tables(source: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return schema and name of all tables and views."""
    names = source.execute(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
        "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    ).fetchall()
    return [("main", name) for (name,) in names]


def _copy(
    connection: duckdb.DuckDBPyConnection, source: sqlite3.Connection, select: str, what: str
) -> OpenTable:
    """Copy the rows of a SELECT in SQLite, in batches, into a temporary table of DuckDB."""
    columns = [
        entry[0] for entry in source.execute(f"SELECT * FROM ({select}) LIMIT 0").description
    ]
    seen = [name.casefold() for name in columns]
    repeated = [name for name in columns if seen.count(name.casefold()) > 1]
    if repeated:
        raise ReadError(f"{what} has two columns named {repeated[0]!r}; rename one with AS.")
    types = _sqlite_types(source, select, columns)
    fields = ", ".join(f"{quote_name(name)} {kind}" for name, kind in zip(columns, types))
    table = quote_name(f"{ALIAS}_rows")
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {table} ({fields})")
    rows = source.execute(f"SELECT {_sqlite_values(columns, types)} FROM ({select})")
    while batch := rows.fetchmany(BATCH_ROWS):
        _insert(connection, table, types, batch)
    return OpenTable(connection.sql(f"SELECT * FROM {table}"), what)


def _sqlite_types(source: sqlite3.Connection, select: str, columns: list[str]) -> list[str]:
    """Return a type for each column by its values, since SQLite does not enforce its types."""
    missing = ", ".join(quote_text(text) for text in MISSING)
    tests = ", ".join(
        f"max(typeof({name}) = 'blob' OR (typeof({name}) = 'text' AND {name} NOT IN ({missing}))), "
        f"max(typeof({name}) = 'real'), max(typeof({name}) = 'integer')"
        for name in map(quote_name, columns)
    )
    found = source.execute(f"SELECT {tests} FROM ({select})").fetchone()
    types = []
    for text, real, whole in zip(found[::3], found[1::3], found[2::3]):
        types.append("VARCHAR" if text or not (real or whole) else "DOUBLE" if real else "BIGINT")
    return types


def _sqlite_values(columns: list[str], types: list[str]) -> str:
    """Return the columns to select: in numbers, texts such as 'NA' become null."""
    return ", ".join(
        f"CASE WHEN typeof({name}) = 'blob' THEN hex({name}) ELSE CAST({name} AS TEXT) END"
        if kind == "VARCHAR"
        else f"CASE WHEN typeof({name}) <> 'text' THEN {name} END"
        for name, kind in zip(map(quote_name, columns), types)
    )


def _insert(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    types: list[str],
    batch: list[tuple[object, ...]],
) -> None:
    """Append rows to a table: DuckDB reads numpy arrays much faster than single values."""
    arrays = {}
    for k, (kind, values) in enumerate(zip(types, zip(*batch))):
        absent = [value is None for value in values]
        filled = [FILLERS[kind] if value is None else value for value in values]
        dtype = {"BIGINT": np.int64, "DOUBLE": np.float64, "VARCHAR": object}[kind]
        arrays[f"value{k}"] = np.array(filled, dtype=dtype)
        arrays[f"absent{k}"] = np.array(absent)
    selected = ", ".join(
        f"CASE WHEN absent{k} THEN NULL ELSE value{k} END" for k in range(len(types))
    )
    connection.register("conjoin_batch", arrays)
    connection.execute(f"INSERT INTO {table} SELECT {selected} FROM conjoin_batch")
    connection.unregister("conjoin_batch")
