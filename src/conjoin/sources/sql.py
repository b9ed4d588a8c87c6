"""SQL for DuckDB: quoted names and texts in, readable errors out.

Names, texts and paths enter and leave as SQL; errors of DuckDB enter and leave as a `ReadError`
that names the file, the line and the next step.
"""

import re
from collections.abc import Iterable
from pathlib import Path

import duckdb

from conjoin.errors import ReadError
from conjoin.text import without_secrets

LONGEST_QUERY = 500  # characters of a query in a message; generated ones can have thousands

# Parts of DuckDB's error messages about CSV files.
CSV_LINE = re.compile(r"CSV Error on Line: (\d+)")
CSV_FILE = re.compile(r"^  file = (.*)$", re.MULTILINE)
CSV_COUNT = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")
CSV_VALUE = re.compile(r"converting column \"(.*)\"\. Could not convert string \"(.*)\" to '(.*)'")


def quote_name(name: str) -> str:
    """Return a column or table name as SQL."""
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """Return a text as SQL."""
    return "'" + text.replace("'", "''") + "'"


def quote_list(texts: Iterable[str]) -> str:
    """Return texts as a SQL list."""
    return "[" + ", ".join(quote_text(text) for text in texts) + "]"


def quote_path(path: Path) -> str:
    """Return a path as SQL; its *, ? and [ are not read as a pattern."""
    return quote_text(as_pattern(path))


def as_pattern(path: Path) -> str:
    """Return the pattern that only this path matches.

    >>> as_pattern(Path("a[1].csv"))
    'a[[]1].csv'
    """
    return re.sub(r"([\[*?])", r"[\1]", str(path))


def shown_query(query: str) -> str:
    """Return a query for a message: without secrets, and cut if it is very long."""
    text = without_secrets(query)
    return text if len(text) <= LONGEST_QUERY else f"{text[:LONGEST_QUERY]}..."


def query_error(query: str, error: Exception) -> ReadError:
    """Return the error for a query that does not run."""
    text = f"query={shown_query(query)!r} cannot be run: {reason_of(error)}"
    if isinstance(error, duckdb.PermissionException) or "not authorized" in str(error):
        return ReadError(
            f"{text}; a query reads the given data only. If it must read other files, allow it "
            "with unsafe_query=True."
        )
    return ReadError(f"{text}; correct the query.")


def reason_of(error: Exception) -> str:
    """Return the first sentence of an error, without its class and without passwords."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    first = re.sub(r"^[A-Z]\w*(?: \w+)? Error: ", "", lines[0]) if lines else "no reason given"
    if len(lines) > 1 and lines[1].startswith(("Did you mean", "Candidate bindings")):
        first = f"{first.rstrip('!')} ({lines[1].rstrip('?')})"
    return without_secrets(first).rstrip(".!")


def explain(error: duckdb.Error, what: str) -> ReadError:
    """Return the error for a file or table that cannot be read; `what` names it.

    If the error is about a row of a CSV file, the file's name comes from DuckDB's message.
    """
    text = str(error)
    file = CSV_FILE.search(text)
    if file:
        what = f"File {Path(file[1]).name!r}"
    line = CSV_LINE.search(text)
    at = f"{what}, line {line[1]}," if line else what
    if counts := CSV_COUNT.search(text):
        return ReadError(
            f"{at} has {counts[2]} values where the header names {counts[1]} columns; "
            "correct that line."
        )
    if value := CSV_VALUE.search(text):
        return ReadError(
            f"{at} holds {value[2]!r} in column {value[1]!r}, which is {value[3]} in earlier "
            "rows; correct that value."
        )
    if "unterminated quote" in text:
        return ReadError(f"{at} opens a quote that is never closed; correct that line.")
    if "not utf-8" in text or "not latin-1" in text:
        return ReadError(f"{what} is neither UTF-8 nor Latin-1 text; save it as UTF-8.")
    if "GZIP" in text:
        return ReadError(f"{what} is damaged or incomplete (gzip); write it again.")
    if "CSV Parser state machine" in text or "sniffing file" in text:
        return ReadError(
            f"{what} is not regular CSV: quotes or line endings are mixed; write it again."
        )
    return ReadError(f"{what} cannot be read: {reason_of(error)}; correct it or write it again.")
