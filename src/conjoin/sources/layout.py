"""How to read one file: format, columns and their types.

A path enters; a `Layout` leaves, which gives the SQL that reads the file. This module decides what
DuckDB would otherwise guess without a word. The separator comes from the header line, so a ragged
file cannot become a single column of text. Repeated names raise an error. An unnamed first column,
the row numbers that pandas and R write, is left out.
"""

import codecs
import csv
import difflib
import gzip
import itertools
import os
import re
import zlib
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from conjoin.errors import ReadError
from conjoin.sources.sql import explain, quote_list, quote_name, quote_path, quote_text
from conjoin.text import without_secrets

CSV_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
PARQUET_ENDINGS = (".parquet", ".pq")
ENDINGS = CSV_ENDINGS + PARQUET_ENDINGS

# Texts that stand for a missing value in CSV files and in SQLite.
MISSING = (
    "", "NA", "N/A", "n/a", "#N/A", "<NA>", "None", "?", "-", ".", "nan", "NaN", "null", "NULL",
)  # fmt: skip
# Types that a CSV column may have. Dates and yes/no stay text here: `tables.learn` reads them, as
# it does for any other frame.
CANDIDATES = ("BIGINT", "DOUBLE", "VARCHAR")
SEPARATORS = (",", ";", "\t", "|")
# Start of a file that is decoded for header, separator and encoding: 1 MB. It must hold the comment
# lines and the header; an encoding that shows later is found by the sniffer.
HEAD_BYTES = 1 << 20
# The sniffer of DuckDB holds what it looks at in memory. Of files above this size it sees only the
# first rows. Whole numbers are then read as decimals, in case a decimal follows further down.
WHOLE_FILE_BYTES = 200_000_000
GZIP_RATIO = 5  # assumed size of CSV text per compressed byte; it only decides if a file is sampled
SAMPLE_ROWS = 500_000  # rows that the sniffer sees of a large file: some 50 MB at 100 bytes a row

ROW_NUMBERS = re.compile(r"|Unnamed: 0(\.\d+)*|__index_level_\d+__")
CONTROL_BYTES = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
SIGNATURES = {
    b"\x1f\x8b": "is compressed with gzip; name it .csv.gz",
    b"PK\x03\x04": "is a zip archive or an Excel workbook; export it as CSV or Parquet",
    b"PAR1": "is a Parquet file; name it .parquet",
    b"\xfe\xff": "is UTF-16 text of the big-endian kind; save it as UTF-8",
}
INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")


@dataclass(frozen=True)
class Layout:
    """How to read one file.

    Parameters
    ----------
    path : Path
        The file, as an absolute path.
    reader : str
        Function of DuckDB that reads it: read_csv or read_parquet.
    stored : dict of str to str
        All columns of the file, with the type that the reader gives them.
    columns : dict of str to str
        The columns that are used, with their types.
    options : str, default ""
        Further arguments of the reader, as SQL.
    """

    path: Path
    reader: str
    stored: dict[str, str]
    columns: dict[str, str]
    options: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        """Files with the same key can be read by one call."""
        return (self.reader, self.options, *self.stored.items(), *self.columns.items())

    def retyped(self, changes: dict[str, str]) -> "Layout":
        """Return the layout with other types for some columns."""
        columns = {name: changes.get(name, kind) for name, kind in self.columns.items()}
        if self.reader == "read_parquet":
            return replace(self, columns=columns)
        return replace(self, columns=columns, stored={**self.stored, **columns})

    def scan(self, paths: list[Path] | None = None, file_column: str | None = None) -> str:
        """Return the SQL of a SELECT over this file, or over all files of the same key."""
        files = ", ".join(quote_path(path) for path in paths or [self.path])
        selected = [
            quote_name(name)
            if self.stored[name] == kind
            else f"CAST({quote_name(name)} AS {kind}) AS {quote_name(name)}"
            for name, kind in self.columns.items()
        ]
        options = self.options
        if self.reader == "read_csv":
            fields = ", ".join(f"{quote_text(n)}: {quote_text(k)}" for n, k in self.stored.items())
            options += f", auto_detect=false, columns={{{fields}}}"
        if file_column is not None:
            options += f", filename={quote_text(file_column)}"
            selected.append(quote_name(file_column))
        return (
            f"SELECT {', '.join(selected)} "
            f"FROM {self.reader}([{files}], hive_partitioning=false{options})"
        )


def ending_of(name: str) -> str | None:
    """Return the ending that marks a file as a table, the longest that fits, or None."""
    fitting = [ending for ending in ENDINGS if name.lower().endswith(ending)]
    return max(fitting, key=len, default=None)


def missing_file(path: Path) -> ReadError:
    """Return the error for a file that does not exist, with similar names in its folder."""
    name = without_secrets(str(path))
    if not path.parent.is_dir():
        return ReadError(f"File {name!r} does not exist, nor does its folder; check the path.")
    close = difflib.get_close_matches(path.name, os.listdir(path.parent), n=3)
    hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else "; check the path."
    return ReadError(f"File {name!r} does not exist{hint}")


def kind_of(type_name: str) -> str:
    """Return the kind of a DuckDB type: number, text, date, true/false or its own name."""
    if type_name in INTEGERS or type_name.startswith(("DECIMAL", "FLOAT", "DOUBLE")):
        return "number"
    if type_name in ("UBIGINT", "HUGEINT", "UHUGEINT"):
        return "number"
    if type_name == "VARCHAR" or type_name.startswith("ENUM"):
        return "text"
    if type_name.startswith(("DATE", "TIMESTAMP")):
        return "date"
    return "true/false" if type_name == "BOOLEAN" else type_name


def find_layout(connection: duckdb.DuckDBPyConnection, path: Path, exact: set[str]) -> Layout:
    """Return the layout of a file; whole numbers in `exact` columns never become decimals."""
    ending = ending_of(path.name)
    assert ending is not None, "callers offer files of known endings only"
    try:
        if path.stat().st_size == 0:
            raise ReadError(f"File {path.name!r} is empty (0 bytes); write it again.")
        if ending in PARQUET_ENDINGS:
            return _parquet_layout(connection, path)
        return _CsvFile(connection, path, ending).layout(exact)
    except PermissionError:
        raise ReadError(
            f"File {str(path)!r} cannot be opened: permission denied; allow reading it."
        ) from None
    except OSError as error:
        raise ReadError(
            f"File {str(path)!r} cannot be opened: {error.strerror}; check the file."
        ) from None


def _parquet_layout(connection: duckdb.DuckDBPyConnection, path: Path) -> Layout:
    """Return the layout of a Parquet file, whose columns and types are stored in it."""
    with path.open("rb") as file:
        start = file.read(4)
        file.seek(-min(4, path.stat().st_size), os.SEEK_END)
        end = file.read(4)
    if (start, end) != (b"PAR1", b"PAR1"):
        problem = "is damaged or incomplete" if start == b"PAR1" else "is not a Parquet file"
        raise ReadError(f"File {path.name!r} cannot be read: it {problem}; write it again.")
    source = quote_path(path)
    try:
        relation = connection.sql(f"FROM read_parquet({source}, hive_partitioning=false)")
        stored = dict(zip(relation.columns, map(str, relation.types)))
        names = {n for (n,) in _rows(connection, f"SELECT name FROM parquet_schema({source})")}
        [(rows,)] = _rows(connection, f"SELECT num_rows FROM parquet_file_metadata({source})")
    except duckdb.Error as error:
        raise explain(error, f"File {path.name!r}") from None
    renamed = [name for name in stored if name not in names]
    if renamed:
        repeated = re.sub(r"(_\d+)$", "", renamed[0])
        raise ReadError(f"File {path.name!r} has two columns named {repeated!r}; rename one.")
    columns = {n: kind for n, kind in stored.items() if not ROW_NUMBERS.fullmatch(n)}
    if not rows or not columns:
        raise ReadError(
            f"File {path.name!r} has no {'rows' if columns else 'columns'}; leave it out or write "
            "it again."
        )
    return Layout(path, "read_parquet", stored, columns)


def _rows(connection: duckdb.DuckDBPyConnection, sql: str) -> list[tuple[object, ...]]:
    return connection.execute(sql).fetchall()


class _CsvFile:
    """A CSV file on its way to a layout: the start of its text, then the result of the sniffer."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path, ending: str) -> None:
        self.connection = connection
        self.path = path
        self.what = f"File {path.name!r}"
        self.zipped = ending.endswith(".gz")
        head = self._read_head()
        self.whole = len(head) <= HEAD_BYTES
        self.encoding, text = self._decode(head)
        self.lines = re.split(r"\r\n|\n|\r", text)
        self.skip = self._lines_before_header()
        self.separator = "\t" if ending.startswith(".tsv") else self._find_separator()
        self.header = [cell.strip() for cell in self._first_record(self.skip, self.separator)]
        self.used = self._find_used()

    def layout(self, exact: set[str]) -> Layout:
        """Return the layout; whole numbers in `exact` columns never become decimals."""
        self._check_header()
        names = [name if self.used[i] else f"unnamed {i}" for i, name in enumerate(self.header)]
        types, options = self._sniff(names)
        if self._sampled:
            types = {
                name: "DOUBLE" if kind in INTEGERS and name not in exact else kind
                for name, kind in types.items()
            }
        columns = {n: types[n] for i, n in enumerate(names) if self.used[i]}
        found = Layout(self.path, "read_csv", types, columns, options)
        self._check_unnamed_tail(found, names)
        return found

    def _read_head(self) -> bytes:
        """Return the first bytes, decompressed; raise an error if they are not text."""
        try:
            with gzip.open(self.path) if self.zipped else self.path.open("rb") as file:
                head = file.read(HEAD_BYTES + 1)
                # Read to the end: some versions of DuckDB accept an incomplete gzip stream.
                while self.zipped and not self._sampled and file.read(HEAD_BYTES):
                    pass
        except gzip.BadGzipFile:
            raise ReadError(
                f"{self.what} is not compressed with gzip, although its name ends in .gz; rename "
                "or compress it."
            ) from None
        except (EOFError, zlib.error):
            raise ReadError(
                f"{self.what} is damaged or incomplete (gzip); write it again."
            ) from None
        for signature, problem in SIGNATURES.items():
            if head.startswith(signature):
                raise ReadError(f"{self.what} {problem}.")
        if not head.startswith(codecs.BOM_UTF16_LE) and CONTROL_BYTES.search(head):
            raise ReadError(f"{self.what} is not text; export the table as CSV in UTF-8.")
        return head

    def _decode(self, head: bytes) -> tuple[str, str]:
        """Return the encoding and the decoded text."""
        if head.startswith(codecs.BOM_UTF16_LE):
            return "utf-16", head[: len(head) // 2 * 2].decode("utf-16", errors="replace")
        try:
            decoder = codecs.getincrementaldecoder("utf-8-sig")()
            return "utf-8", decoder.decode(head, final=self.whole)
        except UnicodeDecodeError:
            return "latin-1", head.decode("latin-1")

    def _lines_before_header(self) -> int:
        """Return the number of blank and comment lines at the top."""
        for i, line in enumerate(self.lines):
            if line.strip() and not (line.startswith("#") and self._is_comment(i)):
                return i
        raise ReadError(f"{self.what} has no header line; its first line must name the columns.")

    def _is_comment(self, i: int) -> bool:
        """Say whether a line with '#' is a comment: a header has as many fields as the next."""
        following = self.lines[i + 1] if i + 1 < len(self.lines) else ""
        return not any(
            self.lines[i].count(separator) == following.count(separator) > 0
            for separator in SEPARATORS
        )

    def _find_separator(self) -> str:
        """Return the separator that splits header and next line alike, or else the header most."""

        def fit(separator: str) -> tuple[bool, int]:
            fields = len(self._first_record(self.skip, separator))
            following = len(self._first_record(self.skip + 1, separator))
            return (fields == following > 1, fields)

        return max(SEPARATORS, key=fit)

    def _first_record(self, start: int, separator: str) -> list[str]:
        """Return the fields of the record that starts at a line."""
        lines = (f"{line}\n" for line in itertools.islice(self.lines, start, None))
        records = csv.reader(lines, delimiter=separator)
        try:
            return next(records, [])
        except csv.Error:
            raise ReadError(
                f"{self.what} is not regular CSV in its first lines; correct or write it again."
            ) from None

    def _check_header(self) -> None:
        """Raise an error if the header is missing or incomplete, or if no row follows it."""
        named = [name for i, name in enumerate(self.header) if self.used[i]]
        if not named:
            raise ReadError(f"{self.what} names no column in its first line; add a header.")
        inner = [i for i in range(len(self.header) - 1) if self.used[i] and not self.header[i]]
        if inner:
            raise ReadError(
                f"{self.what} has no name for column {inner[0] + 1} in its header; name it."
            )
        self._check_repeats(named)
        counted = [str(i) for i in range(len(named))]
        if all(_is_number(name) for name in named) and named != counted:
            raise ReadError(
                f"{self.what} has no header: its first line holds numbers ({named[0]!r}, ...); "
                "add a line with the names of the columns."
            )
        if self.whole and not any(line.strip() for line in self.lines[self.skip + 1 :]):
            raise ReadError(f"{self.what} has a header but no rows; leave it out or add rows.")

    def _check_repeats(self, named: list[str]) -> None:
        """Raise an error if two names are equal; DuckDB ignores upper and lower case."""
        seen: dict[str, str] = {}
        for name in named:
            other = seen.get(name.casefold())
            if other == name:
                raise ReadError(f"{self.what} has two columns named {name!r}; rename one of them.")
            if other is not None:
                raise ReadError(
                    f"{self.what} has columns {other!r} and {name!r}, which differ in case only; "
                    "rename one of them."
                )
            seen[name.casefold()] = name

    def _find_used(self) -> list[bool]:
        """Say which columns are used: not leading row numbers, not the empty end of 'a,b,'."""
        leading = itertools.takewhile(ROW_NUMBERS.fullmatch, self.header)
        first = sum(1 for _ in leading)
        last = len(self.header) - (not self.header[-1])
        return [first <= i < last for i in range(len(self.header))]

    def _check_unnamed_tail(self, found: Layout, names: list[str]) -> None:
        """Raise an error if a last column without a name holds values."""
        if self.header[-1] or len(self.header) == 1:
            return
        tail = replace(found, columns={names[-1]: found.stored[names[-1]]})
        if has_values(self.connection, tail, names[-1]):
            raise ReadError(f"{self.what} has no name for its last column in its header; name it.")

    @property
    def _sampled(self) -> bool:
        """Whether the file is so large that its types come from the first rows."""
        size = self.path.stat().st_size * (GZIP_RATIO if self.zipped else 1)
        return size > WHOLE_FILE_BYTES

    def _sniff(self, names: list[str]) -> tuple[dict[str, str], str]:
        """Return types and options; a decimal comma is tried if commas do not separate columns."""
        try:
            types, options = self._sniff_with(names, self.encoding, "")
        except duckdb.Error as error:
            if self.encoding != "utf-8" or "not utf-8" not in str(error):
                raise self._diagnosis(names, error) from None
            self.encoding = "latin-1"
            try:
                types, options = self._sniff_with(names, self.encoding, "")
            except duckdb.Error as other:
                raise self._diagnosis(names, other) from None
        if self.separator != "," and "VARCHAR" in types.values():
            comma = self._sniff_with(names, self.encoding, ", decimal_separator=','")
            if _count_numbers(comma[0]) > _count_numbers(types):
                return comma
        return types, options

    def _sniff_with(self, names: list[str], encoding: str, more: str) -> tuple[dict[str, str], str]:
        """Return the types that DuckDB finds with an encoding and further options."""
        options = self._options(encoding) + more
        sample = SAMPLE_ROWS if self._sampled else -1
        [(fields,)] = self.connection.execute(
            f"SELECT Columns FROM sniff_csv({quote_path(self.path)}{options}, "
            f"sample_size={sample}, names={quote_list(names)}, "
            f"auto_type_candidates={quote_list(CANDIDATES)})"
        ).fetchall()
        types = {field["name"]: field["type"] for field in fields}
        if list(types) != names:
            raise duckdb.InvalidInputException("sniffing file: another number of columns")
        return types, options

    def _options(self, encoding: str) -> str:
        """Return the options of read_csv as SQL."""
        # A space often follows the separator: ' NA' is missing just as 'NA'.
        missing = [*MISSING, *(f" {text}" for text in MISSING)]
        return (
            f", delim={quote_text(self.separator)}, quote='\"', escape='\"', comment='', "
            f"header=true, skip={self.skip}, nullstr={quote_list(missing)}, "
            f"encoding={quote_text(encoding)}"
        )

    def _diagnosis(self, names: list[str], error: duckdb.Error) -> ReadError:
        """Return the error with its line: the sniffer has none, reading as text finds it."""
        stored = dict.fromkeys(names, "VARCHAR")
        plain = Layout(self.path, "read_csv", stored, stored, self._options(self.encoding))
        try:
            self.connection.execute(f"SELECT count(*) FROM ({plain.scan()})").fetchall()
        except duckdb.Error as named:
            return explain(named, self.what)
        return explain(error, self.what)


def has_values(connection: duckdb.DuckDBPyConnection, layout: Layout, column: str) -> bool:
    """Say whether a column of a file has at least one value."""
    name = quote_name(column)
    found = _rows(connection, f"SELECT 1 FROM ({layout.scan()}) WHERE {name} IS NOT NULL LIMIT 1")
    return bool(found)


def text_in(connection: duckdb.DuckDBPyConnection, layout: Layout, column: str) -> str | None:
    """Return a value of a column that is not a number, or None."""
    name = quote_name(column)
    found = _rows(
        connection,
        f"SELECT {name} FROM ({layout.scan()}) WHERE {name} IS NOT NULL AND "
        f"NOT coalesce(isfinite(TRY_CAST({name} AS DOUBLE)), false) LIMIT 1",
    )
    return str(found[0][0]) if found else None


def _count_numbers(types: dict[str, str]) -> int:
    return sum(kind_of(kind) == "number" for kind in types.values())


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
