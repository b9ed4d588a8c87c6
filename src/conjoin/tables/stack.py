"""Several tables, each one dataset, stacked into one frame with a column that names the dataset.

A mapping of names to tables enters; one frame and its roles leave. Columns that only some tables
have are dropped, filled with missing values or refused, as the argument `columns` says. Types of
one column are brought together, or an error names the two datasets where they differ.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import pyarrow as pa

from conjoin.errors import DataError
from conjoin.tables.frame import Frame, in_memory, to_frame
from conjoin.tables.names import DATASET, is_utf8
from conjoin.tables.roles import Roles
from conjoin.text import quoted


def stack(data: Mapping[Any, Any], roles: Roles, columns: str | None) -> tuple[Frame, Roles]:
    """Return one frame of all tables, and the roles with the column that names the dataset."""
    tables = _read_tables(data, roles)
    everything = dict.fromkeys(c for t in tables.values() for c in t.column_names)
    dropped = columns_to_drop(_lacking(tables, everything), roles, columns, set(everything))
    by = DATASET
    while by in everything:
        by += "_"
    parts = [
        table.append_column(by, pa.repeat(name, len(table)))
        for name, table in _aligned(tables, dropped, roles).items()
    ]
    stacked = pa.concat_tables(parts, promote_options="default")
    features = roles.features and tuple(c for c in roles.features if c not in dropped)
    category, ignore = (
        tuple(c for c in names if c not in dropped) for names in (roles.category, roles.ignore)
    )
    found = replace(roles, by=(by,), features=features, category=category, ignore=ignore)
    return nw.from_native(stacked, eager_only=True), found


def _read_tables(data: Mapping[Any, Any], roles: Roles) -> dict[str, pa.Table]:
    """Return every table in memory, by name, with the columns that may be used."""
    wanted = None if roles.features is None else {*roles.features, *roles.needed}
    tables: dict[str, pa.Table] = {}
    for key, value in data.items():
        name = str(key)
        if not is_utf8(name):
            raise DataError(f"The name of dataset {name!r} is not valid text; rename it.")
        if name in tables:
            raise DataError(
                f"Two datasets are named {name!r} (names are compared as text); rename one."
            )
        table = in_memory(to_frame(value, f"dataset {name!r}", wanted)).to_native()
        if not len(table):
            raise DataError(f"Dataset {name!r} is empty; leave it out or give it rows.")
        _check_dataset(table.column_names, roles, name)
        if wanted is not None:
            table = table.select([c for c in table.column_names if c in wanted])
        tables[name] = table
    return tables


def _lacking(tables: Mapping[str, pa.Table], everything: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the columns that some datasets lack, with these datasets."""
    lacking: dict[str, list[str]] = {}
    for name, table in tables.items():
        if len(names := set(table.column_names)) < len(everything):
            for column in everything:
                if column not in names:
                    lacking.setdefault(column, []).append(name)
    return lacking


def _check_dataset(columns: Sequence[str], roles: Roles, name: str) -> None:
    """Raise an error if a table lacks a column that has a role."""
    for role in ("target", "weights", "time", "repeat"):
        column = getattr(roles, role)
        if column is not None and column not in columns:
            raise DataError(
                f"{role}={column!r} is not a column of dataset {name!r}; columns are "
                f"{quoted(columns)}."
            )


def columns_to_drop(
    lacking: Mapping[str, Sequence[str]],
    roles: Roles,
    columns: str | None,
    everything: set[str],
) -> set[str]:
    """Return the columns to drop because some datasets lack them.

    `lacking` holds these columns with the datasets that lack them, `everything` all columns. If
    `columns` is None and there are such columns, an error asks for a choice.
    """
    if roles.features is not None:
        lacking = {c: lacking[c] for c in lacking if c in roles.features}
    aside = (*roles.ignore, roles.time, roles.repeat)
    lacking = {c: names for c, names in lacking.items() if c not in aside}
    shared = everything - set(lacking) - {roles.target, roles.weights, roles.repeat, *roles.by}
    if not shared and (roles.features is None or columns == "intersect"):
        raise DataError(
            f"The datasets share no column besides the target {roles.target!r}; give them common "
            "feature columns."
        )
    if not lacking or columns == "impute":
        return set()
    if columns == "intersect":
        return set(lacking)
    column, without = next(iter(sorted(lacking.items())))
    raise DataError(
        f"Columns {quoted(sorted(lacking))} are not in every dataset ({without[0]!r} lacks "
        f"{column!r}); choose columns='intersect' to leave them out, columns='impute' to fill them "
        "in, or name the columns to use with features=[...]."
    )


def _aligned(
    tables: Mapping[str, pa.Table], dropped: Collection[str], roles: Roles
) -> dict[str, pa.Table]:
    """Return the tables without dropped columns, each column with one type in all datasets."""
    types = _common_types(tables, dropped, roles)
    aligned = {}
    for name, table in tables.items():
        kept = [c for c in table.column_names if c not in dropped]
        # A column without values in all datasets has no type yet.
        columns = [_cast(table.column(c), types.get(c, pa.float64())) for c in kept]
        aligned[name] = pa.table(columns, names=kept)
    return aligned


def _common_types(
    tables: Mapping[str, pa.Table], dropped: Collection[str], roles: Roles
) -> dict[str, Any]:
    """Return one type for each column; raise an error if two datasets differ in its kind."""
    first_seen: dict[str, tuple[str, str]] = {}  # kind, and the first dataset with it
    types: dict[str, set[Any]] = {}
    for name, table in tables.items():
        for column, values in zip(table.column_names, table.columns):
            if column in dropped or values.null_count == len(values):
                continue  # a column without values fits any type
            kind = _kind(values.type)
            first_kind, first = first_seen.setdefault(column, (kind, name))
            types.setdefault(column, set()).add(values.type)
            if first_kind != kind:
                next_step = (
                    "give it one type everywhere"
                    if column in roles.aside
                    else "make it one type, or leave it out with features=[...]"
                )
                raise DataError(
                    f"Column {column!r} is {_kind_in_words(tables[first], column)} in dataset "
                    f"{first!r} and {_kind_in_words(table, column)} in dataset {name!r}; "
                    f"{next_step}."
                )
    return {c: _common_type(first_seen[c][0], found) for c, found in types.items()}


def _kind(dtype: Any) -> str:
    """Return the kind of a type, in words; types of one kind can be stacked."""
    if is_text(dtype):
        return "text"
    if pa.types.is_timestamp(dtype) and dtype.tz is not None:
        return f"a date in time zone {dtype.tz}"
    if pa.types.is_date(dtype) or pa.types.is_timestamp(dtype):
        return "a date"
    if any(test(dtype) for test in (pa.types.is_integer, pa.types.is_floating)):
        return "a number"
    if pa.types.is_decimal(dtype) or pa.types.is_boolean(dtype):
        return "a number"
    return f"of type {dtype}"


def _kind_in_words(table: pa.Table, column: str) -> str:
    """Return the kind for a message; true/false stacks with numbers but is not called one."""
    dtype = table.column(column).type
    return "true/false" if pa.types.is_boolean(dtype) else _kind(dtype)


def is_text(dtype: Any) -> bool:
    """Say whether an Arrow type is text."""
    return any(
        test(dtype)
        for test in (
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_string_view,
            pa.types.is_dictionary,
        )
    )


def _common_type(kind: str, types: set[Any]) -> Any:
    """Return one type that holds the values of all types of one kind."""
    if kind == "text":
        return pa.large_string()
    if len(types) == 1:
        return next(iter(types))
    if kind == "a number":
        return pa.float64()
    zone = next((t.tz for t in types if pa.types.is_timestamp(t)), None)
    return pa.timestamp("us", zone)


def _cast(values: pa.ChunkedArray, dtype: Any) -> pa.ChunkedArray:
    if values.type == dtype:
        return values
    if values.null_count == len(values):
        return pa.chunked_array([pa.nulls(len(values), dtype)])
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    return values.cast(dtype, safe=False)
