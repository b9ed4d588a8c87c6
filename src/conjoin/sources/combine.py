"""Several files as one table: one type for each column, and the SQL that stacks the files.

The layouts of files enter; layouts with agreeing types, columns that only some files have, columns
from folder names such as region=north, and one SELECT over all files leave.
"""

import re

import duckdb

from conjoin.errors import ReadError
from conjoin.sources.find import FoundFile
from conjoin.sources.layout import INTEGERS, Layout, has_values, kind_of, text_in
from conjoin.sources.sql import quote_name, quote_text
from conjoin.text import quoted

# Whole numbers that fit into BIGINT and keep their spelling: 007 stays text.
WHOLE_NUMBER = re.compile(r"0|-?[1-9]\d{0,17}")


def partition_columns(files: list[FoundFile], taken: set[str]) -> dict[str, list[str]]:
    """Return the columns that folders such as region=north add: a SQL value for each file.

    Columns that the files have already (`taken`, in lower case) are not added.
    """
    partitions = [file.partitions for file in files]
    keys = dict.fromkeys(key for values in partitions for key in values)
    columns = {}
    for key in keys:
        if key.casefold() in taken:
            continue
        values = [values.get(key) for values in partitions]
        whole = all(v is None or WHOLE_NUMBER.fullmatch(v) for v in values)
        columns[key] = ["NULL" if v is None else v if whole else quote_text(v) for v in values]
    return columns


def partial_columns(layouts: list[Layout], names: list[str]) -> dict[str, list[str]]:
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


def agree_on_types(
    connection: duckdb.DuckDBPyConnection,
    layouts: list[Layout],
    names: list[str],
    by: set[str],
) -> list[Layout]:
    """Return the layouts with one type for each column in all files.

    A column that is a number in one file and text in another raises an error, unless it names
    datasets (`by`).
    """
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
    """Return one type for columns of one kind; dataset names of different kinds become text."""
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
    """Return the error for a column of different kinds, with the files of each kind."""
    column = next(iter(spelled.values()))
    places = []
    for kind in sorted(_kinds(types)):
        files = [k for k, type_name in types.items() if kind_of(type_name) == kind]
        place = f"{kind} in {quoted([names[k] for k in files])}"
        example = text_in(connection, layouts[files[0]], spelled[files[0]])
        places.append(place + (f" (such as {example!r})" if example and kind == "text" else ""))
    return ReadError(
        f"Column {column!r} is {' but '.join(places)}; give it one type in all files, or leave "
        "out the files that differ."
    )


def stack_files(layouts: list[Layout], extra: dict[str, list[str]], file_column: str) -> str:
    """Return the SQL that stacks all files; files of the same layout share one call.

    `extra` holds columns to add, with a SQL value for each file. `file_column` is a free name for
    the path of a row's file, by which these values are joined.
    """
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


def free_name(name: str, taken: set[str]) -> str:
    """Return a name, with a number at its end if it is taken; `taken` is in lower case."""
    free = name
    count = 1
    while free.casefold() in taken:
        count += 1
        free = f"{name}_{count}"
    return free
