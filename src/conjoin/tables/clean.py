"""The short way for clean tables: numbers only, nothing missing, names without gaps.

A table or a mapping of tables enters; a `DatasetCollection` leaves, or None if anything needs a
closer look. The long way (`tables.collect`) gives the same numbers and has the error messages. The
short way saves the copy into one Arrow table and the queries on its columns.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import pyarrow as pa

from conjoin._typing import AnyArray, FloatArray, IntArray
from conjoin.errors import DataError
from conjoin.families import Response, classify
from conjoin.tables.assemble import EncodedRows, assemble, positions_inside
from conjoin.tables.columns import Columns, to_columns
from conjoin.tables.dataset import DatasetCollection
from conjoin.tables.encoding import Flag, Number
from conjoin.tables.frame import is_mapping_of_tables
from conjoin.tables.names import is_utf8, names_and_codes, natural_order
from conjoin.tables.roles import Roles
from conjoin.tables.schema import Schema
from conjoin.tables.stack import is_text

# Columns (rows,) by name, names of datasets, and the position of every row's dataset (rows,).
CleanRows: TypeAlias = tuple[Columns, list[str], IntArray]
# Names of features, features (rows, features), which of them are true/false, other columns by name.
CleanColumns: TypeAlias = tuple[list[str], FloatArray, list[bool], Columns]


def collect_clean(
    data: Any, roles: Roles, fewest: int, family: str, blocks: bool = False
) -> DatasetCollection | None:
    """Return the collection of a clean table or mapping of tables; None if data is not clean.

    With `blocks` each dataset is a file, and rows are counted inside it.
    """
    found = clean_rows(data, roles)
    counted = blocks or is_mapping_of_tables(data)
    return None if found is None else of_clean_rows(found, roles, fewest, family, counted)


def of_clean_rows(
    rows: CleanRows, roles: Roles, fewest: int, family: str, blocks: bool
) -> DatasetCollection:
    """Return the collection of clean rows, whose columns are used up."""
    columns, names, codes = rows
    used = roles.feature_columns(columns)
    X, flags = np.empty((len(codes), len(used))), []
    for j, c in enumerate(used):
        column = columns.pop(c)  # so that a copy is free again before the next is made
        X[:, j] = column
        flags.append(column.dtype.kind == "b")
    return of_clean_columns((used, X, flags, columns), names, codes, roles, fewest, family, blocks)


def of_clean_columns(
    clean: CleanColumns,
    names: list[str],
    codes: IntArray,
    roles: Roles,
    fewest: int,
    family: str,
    blocks: bool = False,
) -> DatasetCollection:
    """Return the collection of features (rows, features) and of columns with another role."""
    used, X, flags, columns = clean
    target = columns[roles.target]
    with np.errstate(over="ignore", invalid="ignore"):  # `assemble` replaces a mean beyond doubles
        means = X.mean(axis=0)
    encodings = tuple(
        Flag(c) if flag else Number(c, float(mean)) for c, flag, mean in zip(used, flags, means)
    )
    y: FloatArray = target.astype(np.float64)
    response = Response()
    if family == "logistic" or (family == "auto" and target.dtype.kind == "b"):
        y, response = classify(target, roles.target)
    elif family == "poisson":
        response = Response(family)
    w = columns[roles.weights].astype(np.float64) if roles.weights else None
    schema = Schema(roles, encodings, response=response)
    positions = positions_inside(codes) if blocks else np.arange(len(y))
    return assemble(EncodedRows(X, y, w, names, codes, positions), schema, fewest)


def clean_rows(data: Any, roles: Roles) -> CleanRows | None:
    """Return columns, dataset names and the dataset of every row; None if data is not clean."""
    if roles.category or roles.time or roles.repeat:
        return None
    if is_mapping_of_tables(data):
        return None if roles.by else _clean_tables(data, roles)
    if len(roles.by) != 1 or not _has_clean_types(data, roles):
        return None
    names = None
    if (
        isinstance(data, pa.Table)
        and roles.by[0] in data.column_names
        and is_text(data.schema.field(roles.by[0]).type)
    ):
        # Names stay in Arrow: one Python object per row would take longer than all the rest.
        names = data.column(roles.by[0])
        data = data.drop_columns([roles.by[0]])
        if names.null_count:
            return None
    try:
        columns = to_columns(data)
    except DataError:
        return None
    by = columns.pop(roles.by[0], None) if names is None else names
    if by is None or (names is None and not _are_plain_names(by)):
        return None
    if not _is_clean(columns, roles):
        return None
    try:
        return columns, *names_and_codes([by])
    except UnicodeEncodeError:
        return None


def _clean_tables(data: Mapping[Any, Any], roles: Roles) -> CleanRows | None:
    """Do the same for a mapping of tables; all must have the same columns in the same order."""
    tables: dict[str, Columns] = {}
    first: list[str] | None = None
    for name, table in data.items():
        try:
            columns = to_columns(table)
        except DataError:
            return None
        first = list(columns) if first is None else first
        if str(name) in tables or list(columns) != first or not _is_clean(columns, roles):
            return None
        if not is_utf8(str(name)):
            return None
        tables[str(name)] = columns
    names = natural_order(list(tables))
    sizes = [len(tables[name][roles.target]) for name in names]
    needed = [*roles.feature_columns(tables[names[0]]), *roles.aside]
    stacked = {c: np.concatenate([tables[name][c] for name in names]) for c in needed}
    return stacked, names, np.repeat(np.arange(len(names)), sizes)


def _has_clean_types(data: Any, roles: Roles) -> bool:
    """Say whether the types of a frame are all numbers, before any value is read."""
    if isinstance(data, Mapping):
        return True
    try:
        types = nw.from_native(data, eager_only=True).schema
    except (TypeError, nw.exceptions.NarwhalsError):
        return False
    used = types if roles.features is None else [*roles.aside, *roles.features]
    return all(
        c in types and (types[c].is_numeric() or types[c] == nw.Boolean)
        for c in used
        if c not in roles.by and c not in roles.ignore
    )


def _is_clean(columns: Columns, roles: Roles) -> bool:
    """Say whether features, target and weights are finite numbers."""
    used = roles.feature_columns(columns)
    needed = [*used, roles.target, *([roles.weights] if roles.weights else [])]
    if not used or any(c not in columns or not len(columns[c]) for c in (*needed, *roles.ignore)):
        return False
    return all(
        columns[c].dtype.kind in "biuf"
        and not isinstance(columns[c], np.ma.MaskedArray)
        and np.isfinite(columns[c]).all()
        for c in needed
    )


def _are_plain_names(values: AnyArray) -> bool:
    """Say whether a column of names is text or numbers, none of them missing."""
    if isinstance(values, np.ma.MaskedArray):
        return False
    if values.dtype.kind == "f":
        return not np.isnan(values).any()
    if values.dtype.kind == "O":
        return all(type(value) is str for value in values.tolist())
    return values.dtype.kind in "biuU"
