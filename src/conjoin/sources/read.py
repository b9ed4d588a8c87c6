"""Files, folders and databases to one lazy table: no row is fetched here.

`open_source` turns what the user names into a relation of DuckDB, so a file larger than memory is
no obstacle. Files are stacked by column name; what they do not have in common is reported.
"""

import glob
import os
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import unquote

import duckdb
import pyarrow as pa

from conjoin._typing import AnyArray
from conjoin.errors import DataError, ReadError
from conjoin.sources.database import Database, find_database, open_database
from conjoin.sources.layout import (
    ENDINGS,
    INTEGERS,
    Layout,
    ending_of,
    find_layout,
    has_values,
    kind_of,
    missing_file,
    text_in,
)
from conjoin.sources.sql import (
    check_query,
    explain,
    query_error,
    quote_name,
    quote_text,
    without_password,
)
from conjoin.tables.schema import close_match

DATASET = "dataset"
FILE = "conjoin_file"
EXCEL_ENDINGS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods")
NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"
INTERRUPTED = "Query interrupted"  # what DuckDB makes of Ctrl-C
MOST_NAMES_SHOWN = 5
_ENDINGS_SHOWN = "a file ending in " + ", ".join(ENDINGS)

Paths = str | Path | Sequence[str | Path]


def is_source(value: object) -> bool:
    """Say whether a value names files or a database, one or several."""
    if isinstance(value, (str, Path)):
        return True
    return (
        isinstance(value, Sequence)
        and len(value) > 0
        and all(isinstance(one, (str, Path)) for one in value)
    )


@dataclass(frozen=True, eq=False)
class Source:
    """A table as named by the user, not read yet.

    Parameters
    ----------
    relation : duckdb.DuckDBPyRelation
        The rows, lazily; usable until the source is closed.
    by : tuple of str
        Columns that name the dataset of each row; empty where one table came without `by`.
    description : str
        What was opened, for messages; never holds a password.
    partial_columns : dict of str to list of str
        Columns that are not in every file, with the files (or datasets) that lack them; there
        the column is missing in all rows.
    connection : duckdb.DuckDBPyConnection
        Where the relation lives.
    at_close : tuple of str
        SQL that lets go of an attached database.
    file_names : tuple of str
        Names that files give to datasets; empty for a database.
    typeless : bool
        Whether the rows are of CSV files, where everything is written as text.
    """

    relation: duckdb.DuckDBPyRelation = field(repr=False)
    by: tuple[str, ...]
    description: str
    partial_columns: dict[str, list[str]] = field(default_factory=dict)
    connection: duckdb.DuckDBPyConnection = field(kw_only=True, repr=False)
    at_close: tuple[str, ...] = field(default=(), kw_only=True, repr=False)
    file_names: tuple[str, ...] = field(default=(), kw_only=True, repr=False)
    typeless: bool = field(default=False, kw_only=True, repr=False)

    def labelled(self, target: str) -> "Source":
        """Return the source with the words true and false of a target as truth values.

        In CSV files these are what true and false are written as, whatever the case.
        """
        types = dict(zip(self.relation.columns, map(str, self.relation.types)))
        if not self.typeless or types.get(target) != "VARCHAR":
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
        """Let go of files and databases; the relation is of no use afterwards."""
        for statement in self.at_close:
            self.connection.execute(statement)
        self.connection.close()

    def __enter__(self) -> "Source":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Run the relation inside: what DuckDB stumbles over becomes a `ReadError`."""
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


@dataclass(frozen=True)
class _File:
    """A file, and the folder or pattern's fixed part that it was found under."""

    path: Path
    root: Path

    @property
    def partitions(self) -> dict[str, str | None]:
        """Names and values of folders such as region=north between root and file."""
        parts = [p for p in self.path.relative_to(self.root).parent.parts if "=" in p]
        pairs = [part.split("=", 1) for part in parts]
        return {key: None if v == NO_PARTITION else unquote(v) for key, v in pairs}


def open_source(
    sources: Paths,
    *,
    by: str | Sequence[str] = (),
    query: str | None = None,
    connection: duckdb.DuckDBPyConnection | None = None,
) -> Source:
    """Open files, folders, patterns or a database as one lazy table.

    Several files without `by` are one dataset each, named by the file; with `by` they are parts
    of one table. Folders such as ``region=north/`` become columns, and name the dataset where
    `by` does not.

    Parameters
    ----------
    sources : path or sequence of paths
        CSV (.csv, .tsv, also .gz) and Parquet files, folders of them, patterns such as
        ``"data/*.csv"``; or one database: ``"shop.duckdb::sales"``, ``"shop.sqlite::sales"``,
        ``"postgresql://user@host/shop::public.sales"``. The table may be left out where the
        database has one only.
    by : str or sequence of str
        Columns that name the dataset of each row.
    query : str, optional
        A SELECT; files, or the table named after ``::``, are `data` in it. Without a table the
        query runs in the database (in SQLite's own dialect there).
    connection : duckdb.DuckDBPyConnection, optional
        Connection whose settings to share; it stays open when the source is closed.

    Raises
    ------
    ReadError
        If a file, folder or table cannot be read.
    DataError
        If `by` names no column, or a column is a number in one file and text in another.

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
        own = duckdb.connect(config={"python_enable_replacements": False})
    else:
        own = connection.cursor()
    try:
        databases = [found for source in named if (found := find_database(source))]
        if databases:
            return _open_table(own, databases[0], len(named), by, query)
        return _open_files(own, named, by, query)
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
    query: str | None,
) -> Source:
    if count > 1:
        raise ReadError(
            f"{database.shown!r} is a database and must be the only source ({count} were named); "
            "combine tables with query='SELECT ... UNION ALL SELECT ...'."
        )
    table = open_database(connection, database, query)
    relation = table.relation
    if query is not None and database.table is not None:
        relation = _run_query(connection, relation, query)
    _check_by(relation, by)
    return Source(relation, by, table.description, connection=connection, at_close=table.at_close)


def _open_files(
    connection: duckdb.DuckDBPyConnection,
    named: list[str | Path],
    by: tuple[str, ...],
    query: str | None,
) -> Source:
    files = _find_files(named)
    names = distinct_names([file.path for file in files])
    layouts = [find_layout(connection, file.path, set(by)) for file in files]
    partial = _partial_columns(layouts, names)
    layouts = _agree_on_types(connection, layouts, names, set(by))
    taken = {column.casefold() for layout in layouts for column in layout.columns}
    extra = _partition_columns(files, taken)
    found = by
    if not by and len(files) > 1 and not _are_parts(named):
        if not extra:
            extra[_free_name(DATASET, taken)] = [quote_text(name) for name in names]
        found = tuple(extra)
    file_column = _free_name(FILE, taken | {column.casefold() for column in extra})
    relation = connection.sql(_stack(layouts, extra, file_column))
    if query is not None:
        relation = _run_query(connection, relation, query)
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
        typeless=all(layout.reader == "read_csv" for layout in layouts),
    )


def _find_files(named: list[str | Path]) -> list[_File]:
    found = [pair for source in named for pair in _expand(source)]
    alone = [path.parent for path, root in found if root is None]
    common = Path(os.path.commonpath(alone)) if alone else Path()
    seen: set[Path] = set()
    for path, _ in found:
        if path in seen:
            raise ReadError(f"File {str(path)!r} is named twice; name it once.")
        seen.add(path)
    return [_File(path, common if root is None else root) for path, root in found]


def _expand(source: str | Path) -> list[tuple[Path, Path | None]]:
    """Return the files a source stands for, with the folder or pattern's fixed part, if any."""
    text = str(source)
    if re.match(r"[a-z][a-z0-9+]*:/", text):
        raise ReadError(
            f"Source {without_password(text)!r} is an address of a kind that is not read; expected "
            "a file, a folder or postgresql://...; download or export it first."
        )
    path = Path(os.path.abspath(os.path.expanduser(text)))
    try:
        str(path).encode()
        path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        if isinstance(source, str) and glob.has_magic(text):
            return _match(text, path)
        raise missing_file(path) from None
    except OSError as error:
        raise ReadError(
            f"{text!r} cannot be opened: {error.strerror}; allow reading it, or name another."
        ) from None
    if path.is_dir():
        files = _in_folder(path)
        if not files:
            raise _nothing_in(f"Folder {text!r}", [entry.name for entry in path.iterdir()])
        return [(file, path) for file in files]
    if ending_of(path.name) is None:
        raise _unknown_ending(path)
    return [(path, None)]


def _match(pattern: str, path: Path) -> list[tuple[Path, Path | None]]:
    fixed = [part for part in path.parents if not glob.has_magic(str(part))]
    matches = [Path(match) for match in sorted(glob.glob(str(path), recursive=True))]
    files: list[Path] = []
    for match in matches:
        if match.is_dir():
            files += _in_folder(match)
        elif ending_of(match.name):
            files.append(match)
    if not matches:
        raise ReadError(f"No file matches {pattern!r}; check the pattern and the folder.")
    if not files:
        raise _nothing_in(f"Pattern {pattern!r}", [match.name for match in matches])
    return [(file, fixed[0]) for file in dict.fromkeys(files)]


def _in_folder(folder: Path) -> list[Path]:
    """Return the tables of a folder, and of folders in it that name a value: region=north."""
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise ReadError(f"Folder {str(folder)!r} cannot be opened: {error.strerror}.") from None
    files: list[Path] = []
    for entry in entries:
        if entry.is_dir():
            files += _in_folder(entry) if "=" in entry.name else []
        elif ending_of(entry.name) and not entry.name.startswith((".", "_")):
            files.append(entry)
    return files


def _are_parts(named: list[str | Path]) -> bool:
    """Say whether the files are parts of one table: a folder named like one, as Spark writes."""
    return len(named) == 1 and os.path.isdir(named[0]) and ending_of(str(named[0])) is not None


def _nothing_in(what: str, names: list[str]) -> ReadError:
    held = f"it holds {_shown(sorted(names))}" if names else "it is empty"
    return ReadError(f"{what} has no table to read: {held}; expected {_ENDINGS_SHOWN}.")


def _unknown_ending(path: Path) -> ReadError:
    if path.name.lower().endswith(EXCEL_ENDINGS):
        return ReadError(
            f"File {path.name!r} has an unknown ending: spreadsheets are not read; export it as "
            "CSV or Parquet."
        )
    return ReadError(
        f"File {path.name!r} has an unknown ending; expected {_ENDINGS_SHOWN}, or a database."
    )


def dataset_name(path: str | Path) -> str:
    """Return the name a file gives to the dataset in it: its own, without the ending."""
    name = Path(path).name
    return name[: len(name) - len(ending_of(name) or "")] or name


def distinct_names(paths: Sequence[Path]) -> list[str]:
    """Return names of files, with as many folders in front as tell equal names apart.

    >>> distinct_names([Path("north/store_1.csv"), Path("south/store_1.csv"), Path("b.csv")])
    ['north/store_1', 'south/store_1', 'b']
    """
    names = [dataset_name(path) for path in paths]
    for name in {name for name in names if names.count(name) > 1}:
        group = [k for k, other in enumerate(names) if other == name]
        longer = _with_folders([paths[k] for k in group])
        for k, replacement in zip(group, longer):
            names[k] = replacement
    return names


def _with_folders(paths: list[Path]) -> list[str]:
    # Files that differ in the ending only keep it.
    for base in (dataset_name, lambda path: path.name):
        for depth in range(1, max(len(path.parts) for path in paths) + 1):
            names = ["/".join([*path.parts[-1 - depth : -1], base(path)]) for path in paths]
            if len(set(names)) == len(names):
                return names
    return [str(path) for path in paths]


def _partition_columns(files: list[_File], taken: set[str]) -> dict[str, list[str]]:
    """Return the values, as SQL, that folders such as region=north give to each file."""
    partitions = [file.partitions for file in files]
    keys = dict.fromkeys(key for values in partitions for key in values)
    columns = {}
    for key in keys:
        if key.casefold() in taken:
            continue
        values = [values.get(key) for values in partitions]
        whole = all(v is None or re.fullmatch(r"0|-?[1-9]\d{0,17}", v) for v in values)
        columns[key] = ["NULL" if v is None else v if whole else quote_text(v) for v in values]
    return columns


def _partial_columns(layouts: list[Layout], names: list[str]) -> dict[str, list[str]]:
    """Return the columns that some files lack, with the names of these files."""
    held = [{column.casefold() for column in layout.columns} for layout in layouts]
    spelled: dict[str, str] = {}
    for layout in layouts:
        for column in layout.columns:
            spelled.setdefault(column.casefold(), column)
    lacking = {
        column: [name for name, columns in zip(names, held) if key not in columns]
        for key, column in spelled.items()
    }
    return {column: without for column, without in lacking.items() if without}


def _agree_on_types(
    connection: duckdb.DuckDBPyConnection,
    layouts: list[Layout],
    names: list[str],
    by: set[str],
) -> list[Layout]:
    """Give every column one type in all files, or say why that cannot be."""
    found: dict[str, dict[int, str]] = {}
    for k, layout in enumerate(layouts):
        for column in layout.columns:
            found.setdefault(column.casefold(), {})[k] = column
    changes: list[dict[str, str]] = [{} for _ in layouts]
    for spelled in found.values():
        types = {k: layouts[k].columns[column] for k, column in spelled.items()}
        if len(set(types.values())) == 1:
            continue
        if len(_kinds(types)) > 1:
            # A column without any value has no type of its own.
            types = {
                k: t for k, t in types.items() if has_values(connection, layouts[k], spelled[k])
            }
        if len(_kinds(types)) > 1 and not by & set(spelled.values()):
            raise _conflict(connection, layouts, names, spelled, types)
        common = _common_type(set(types.values()))
        for k, column in spelled.items():
            # Dates keep the format found in their file; DuckDB stacks them with times.
            if k not in types or _kinds(types) != {"date"}:
                changes[k][column] = common
    return [layout.retyped(change) for layout, change in zip(layouts, changes)]


def _kinds(types: dict[int, str]) -> set[str]:
    return {kind_of(type_name) for type_name in types.values()}


def _common_type(types: set[str]) -> str:
    """Return one type for columns of one kind; names of datasets of two kinds become text."""
    if len(types) == 1:
        return next(iter(types))
    kinds = {kind_of(kind) for kind in types}
    if kinds == {"number"}:
        return "BIGINT" if types <= set(INTEGERS) else "DOUBLE"
    return "TIMESTAMP" if kinds == {"date"} else "VARCHAR"


def _conflict(
    connection: duckdb.DuckDBPyConnection,
    layouts: list[Layout],
    names: list[str],
    spelled: dict[int, str],
    types: dict[int, str],
) -> ReadError:
    column = next(iter(spelled.values()))
    places = []
    for kind in sorted(_kinds(types)):
        files = [k for k, type_name in types.items() if kind_of(type_name) == kind]
        place = f"{kind} in {_shown([names[k] for k in files])}"
        example = text_in(connection, layouts[files[0]], spelled[files[0]])
        places.append(place + (f" (such as {example!r})" if example and kind == "text" else ""))
    return ReadError(
        f"Column {column!r} is {' but '.join(places)}; give it one type in all files, or leave "
        "out the files that differ."
    )


def _stack(layouts: list[Layout], extra: dict[str, list[str]], file_column: str) -> str:
    """Return the SQL of all files under each other; those read alike share one call."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for k, layout in enumerate(layouts):
        groups.setdefault(layout.key, []).append(k)
    branches = []
    for group in groups.values():
        paths = [layouts[k].path for k in group]
        if not extra:
            branches.append(layouts[group[0]].scan(paths))
            continue
        rows = ", ".join(
            f"({', '.join([quote_text(str(layouts[k].path)), *(v[k] for v in extra.values())])})"
            for k in group
        )
        labels = ", ".join(quote_name(name) for name in [file_column, *extra])
        branches.append(
            f"SELECT * EXCLUDE ({quote_name(file_column)}) "
            f"FROM ({layouts[group[0]].scan(paths, file_column)}) "
            f"JOIN (VALUES {rows}) AS files({labels}) USING ({quote_name(file_column)})"
        )
    return " UNION ALL BY NAME ".join(f"({branch})" for branch in branches)


def _run_query(
    connection: duckdb.DuckDBPyConnection, relation: duckdb.DuckDBPyRelation, query: str
) -> duckdb.DuckDBPyRelation:
    """Return a query over the rows so far, which it knows as `data`."""
    check_query(query, connection)
    try:
        found = relation.query("data", query)
    except duckdb.Error as error:
        raise query_error(query, error) from None
    assert found is not None, "a SELECT gives a relation"
    return found


def _check_by(relation: duckdb.DuckDBPyRelation, by: tuple[str, ...]) -> None:
    for column in by:
        if column not in relation.columns:
            raise DataError(
                f"by={column!r} is not a column; {close_match(column, relation.columns)}"
            )


def _free_name(name: str, taken: set[str]) -> str:
    free = name
    count = 1
    while free.casefold() in taken:
        count += 1
        free = f"{name}_{count}"
    return free


def _description(named: list[str | Path], count: int) -> str:
    shown = [without_password(str(source)) for source in named]
    if len(shown) > 1:
        return f"{count} files ({_shown(shown)})"
    return repr(shown[0]) + (f" ({count} files)" if count > 1 else "")


def _shown(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:MOST_NAMES_SHOWN])
    more = len(names) - MOST_NAMES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def read_batches(relation: duckdb.DuckDBPyRelation, rows: int) -> Generator[pa.Table, None, None]:
    """Yield the rows of a relation, about so many at a time; close it to free the connection."""
    # Older versions of DuckDB know it by another name only.
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
    with read(rows) as reader:
        while True:
            try:
                batch = next(reader, None)
            except (pa.ArrowException, OSError) as error:  # DuckDB's own, as Arrow passes it on
                raise duckdb.InvalidInputException(str(error)) from None
            if batch is None:
                return
            if len(batch):
                yield pa.table(batch)


def read_columns(path: str | Path) -> dict[str, AnyArray]:
    """Read one file whole; missing entries are masked."""
    if os.path.isdir(path):
        raise ReadError(f"{str(path)!r} is a folder; pass a file.")
    with open_source(path) as source, source.reading():
        return dict(source.relation.fetchnumpy())
