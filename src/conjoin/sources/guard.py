"""Queries that can only read, on connections that can only see the data they were given.

A query enters; the rows that it selects leave, or it is refused. DuckDB counts
``WITH w AS (COPY ... TO 'file') SELECT ...`` as a SELECT, so the parsed query is searched for parts
that write. The lock is the second line of defence: no other file can be opened, no extension
loaded, no setting changed, whatever a query or a view of a database asks for.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from conjoin.errors import ReadError
from conjoin.sources.sql import as_pattern, query_error, quote_list, shown_query

# Parts of a parsed query that only read. All others write: COPY, INSERT, UPDATE, DELETE.
READING = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}
# What SQLite may do for a query: read, call functions, and repeat a WITH RECURSIVE.
SQLITE_READING = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}


def check_query(query: str, connection: duckdb.DuckDBPyConnection) -> None:
    """Raise an error if a query is not exactly one SELECT that changes nothing."""
    try:
        statements = connection.extract_statements(query)
    except duckdb.Error as error:
        raise query_error(query, error) from None
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise ReadError(
            f"query={shown_query(query)!r} is not one SELECT; write a single SELECT statement."
        )
    [(text,)] = connection.execute("SELECT json_serialize_sql(?)", [query]).fetchall()
    parsed = json.loads(text)
    if parsed.get("error"):
        raise ReadError(
            f"query={shown_query(query)!r} cannot be checked ({parsed.get('error_message')}); "
            "write it as a plain SELECT, or allow it with unsafe_query=True."
        )
    writing = sorted(set(_nodes(parsed)) - READING)
    if writing:
        word = writing[0].split("_")[0]
        raise ReadError(
            f"query={shown_query(query)!r} writes (it contains {word}); write a SELECT that only "
            "reads, or allow it with unsafe_query=True."
        )


def _nodes(parsed: Any) -> Iterator[str]:
    """Yield the types of all query nodes of a parsed query."""
    if isinstance(parsed, dict):
        kind = parsed.get("type")
        if isinstance(kind, str) and kind.endswith("_NODE"):
            yield kind
        parsed = list(parsed.values())
    if isinstance(parsed, list):
        for part in parsed:
            yield from _nodes(part)


@dataclass(frozen=True)
class Query:
    """What a user wants to run on the given data, and how far it is trusted.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Where it runs.
    text : str or None
        The query, if there is one.
    unsafe : bool
        Whether it may do more than read the given data.
    shared : bool
        Whether the connection is the user's own, which is not locked.
    """

    connection: duckdb.DuckDBPyConnection
    text: str | None
    unsafe: bool = False
    shared: bool = False

    def lock(self, files: Iterable[Path] = ()) -> None:
        """Close the connection to everything but attached databases and the given files."""
        if self.unsafe or self.shared:
            return
        # DuckDB compares the name as it stands in the SQL, which is a pattern, and the file's own.
        names = {name for path in files for name in (str(path), as_pattern(path))}
        self.connection.execute(f"SET allowed_paths = {quote_list(sorted(names))}")
        self.connection.execute("SET autoinstall_known_extensions = false")
        self.connection.execute("SET autoload_known_extensions = false")
        self.connection.execute("SET enable_external_access = false")
        self.connection.execute("SET lock_configuration = true")

    def run(self, data: duckdb.DuckDBPyRelation | None = None) -> duckdb.DuckDBPyRelation:
        """Return the rows of the query; a relation is its table `data`."""
        assert self.text is not None
        if not self.unsafe:
            check_query(self.text, self.connection)
        found: duckdb.DuckDBPyRelation | None
        try:
            if data is None:
                found = self.connection.sql(self.text)
            else:
                found = data.query("data", self.text)
        except duckdb.Error as error:
            raise query_error(self.text, error) from None
        if found is None:
            raise query_error(self.text, ValueError("it returns no rows"))
        return found


def lock_sqlite(connection: sqlite3.Connection) -> None:
    """Let a connection to SQLite read and do nothing else."""

    def allowed(action: int, *_: Any) -> int:
        return sqlite3.SQLITE_OK if action in SQLITE_READING else sqlite3.SQLITE_DENY

    connection.set_authorizer(allowed)
