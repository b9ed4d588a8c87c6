"""From tables to a `DatasetCollection`.

One table with columns that name the dataset of a row enters, or a mapping of dataset names to
tables. Tables of clean numbers take a short way (`tables.clean`). All others become one Arrow
table; `tables.learn` finds a rule for each column and `Schema` applies it. Data that cannot be used
raise an error that names the column and the value.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pyarrow.compute as pc

from conjoin._typing import FloatArray, IntArray
from conjoin.errors import DataError
from conjoin.families import Response
from conjoin.tables.assemble import EncodedRows, assemble, positions_inside
from conjoin.tables.batches import StoredColumns, collect_batches
from conjoin.tables.checks import (
    check_choices,
    check_target,
    classify_target,
    known_rows,
    lost_datasets,
    no_rows,
    warn_columns,
    warn_dropped_rows,
    warn_unknown_rows,
)
from conjoin.tables.clean import clean_rows, collect_clean, of_clean_rows
from conjoin.tables.frame import (
    Frame,
    in_memory,
    is_mapping_of_tables,
    to_frame,
    with_castable_types,
)
from conjoin.tables.learn import learn
from conjoin.tables.names import names_and_codes
from conjoin.tables.order import read_order
from conjoin.tables.roles import Roles, check_roles
from conjoin.tables.schema import Schema, complete_rows
from conjoin.tables.stack import stack
from conjoin.text import quoted

if TYPE_CHECKING:
    from conjoin.tables.dataset import DatasetCollection


def collect(
    data: Any,
    *,
    target: str,
    by: str | Sequence[str] | None = None,
    features: Sequence[str] | None = None,
    weights: str | None = None,
    missing: str = "indicator",
    columns: str | None = None,
    family: str = "auto",
) -> "DatasetCollection":
    """Return the checked rows of all datasets as arrays.

    Parameters
    ----------
    data : frame, or mapping of names to frames
        One table with a column `by` that names the dataset of each row, or one table per dataset.
    target : str
        Column to predict.
    by : str or sequence of str, optional
        Columns that name the dataset; needed if data is one table.
    features : sequence of str, optional
        Columns to use; by default all without another role.
    weights : str, optional
        Column of row weights; by default all rows weigh the same.
    missing : "indicator" (default), "median", "drop" or "raise"
        How to treat missing values of features.
    columns : "intersect" or "impute", optional
        How to treat columns that only some datasets have; by default they raise an error.
    family : "auto" (default), "gaussian", "logistic" or "poisson"
        What the target is.

    Returns
    -------
    DatasetCollection

    Raises
    ------
    ArgumentError
        If `missing`, `columns` or `family` is unknown.
    DataError
        If a column is not there or cannot be used.

    Examples
    --------
    >>> table = {"store": ["a", "a", "b", "b"], "price": [1, 2, 3, 4], "sales": [9, 7, 8, 5]}
    >>> collection = collect(table, target="sales", by="store")
    >>> collection.names, collection.features, collection.sizes
    (('a', 'b'), ('price',), (2, 2))
    """
    roles = Roles.of(target, by, features, weights)
    return collect_rows(data, roles, missing=missing, columns=columns, family=family)


def collect_rows(
    data: Any,
    roles: Roles,
    *,
    missing: str = "indicator",
    columns: str | None = None,
    fewest: int = 2,
    family: str = "auto",
    relative: bool = True,
    blocks: bool = False,
) -> "DatasetCollection":
    """Do the same for columns whose roles are known; at least `fewest` datasets are needed.

    `family` "auto" treats text and booleans as classes, numbers as numbers. If `relative`, weights
    are divided by their mean. With `blocks` each dataset is a file, and rows are counted inside it.
    """
    check_choices(missing, columns, family)
    collection = _collect(data, roles, missing, columns, fewest, family, blocks=blocks)
    mean = collection.weights.mean()
    if roles.weights is None or not relative or mean == 1:
        return collection
    return replace(collection, weights=collection.weights / mean)


def _collect(
    data: Any,
    roles: Roles,
    missing: str,
    columns: str | None,
    fewest: int,
    family: str,
    *,
    blocks: bool,
) -> "DatasetCollection":
    """Collect rows with their weights as they are."""
    if is_mapping_of_tables(data) and len(data) < fewest:
        raise DataError(
            f"There is only one dataset ({str(next(iter(data)))!r}): the mapping has one entry; "
            "joining needs at least two."
        )
    if isinstance(data, StoredColumns):
        found = None if blocks else collect_batches(data, roles, fewest, family)
        if found is not None:
            return found
        data = data.table
    clean = collect_clean(data, roles, fewest, family, blocks)
    if clean is not None:
        return clean
    blocks = blocks or is_mapping_of_tables(data)
    frame, roles = one_frame(data, roles, columns)
    if isinstance(frame, nw.LazyFrame):
        frame = fetch(frame, roles)
        rows = clean_rows(frame.to_native(), roles)
        if rows is not None:
            del frame  # the rows are copies, so that memory holds them once
            return of_clean_rows(rows, roles, fewest, family, blocks)
    return _of_frame(frame, roles, missing, fewest, family, blocks=blocks)


def one_frame(data: Any, roles: Roles, columns: str | None = None) -> tuple[Frame, Roles]:
    """Return one frame of all rows, and the roles with the columns that name datasets."""
    if is_mapping_of_tables(data):
        if roles.by:
            raise DataError(
                f"by={roles.by[0]!r} names a column, but data is a mapping of dataset names to "
                "tables; leave by out, or pass one table."
            )
        return stack(data, roles, columns)
    wanted = {*roles.features, *roles.needed} if roles.features else None
    frame = to_frame(data, wanted=wanted)
    names = frame.collect_schema().names()
    if not names:
        raise DataError("data is empty; pass a frame with rows, or a mapping of names to frames.")
    if not roles.by:
        raise DataError(
            "by is missing: data is one table, so by=... must name the column that says which "
            f"dataset a row belongs to; columns are {quoted(names)}."
        )
    check_roles(roles, names)
    return frame, roles


def fetch(frame: nw.LazyFrame[Any], roles: Roles) -> nw.DataFrame[Any]:
    """Bring the columns that are needed into memory."""
    if roles.features is not None:
        frame = frame.select(*dict.fromkeys((*roles.needed, *roles.features)))
    return in_memory(frame)


def has_classes(dtype: Any, family: str) -> bool:
    """Say whether a target of this narwhals type is a target of classes."""
    words = dtype in (nw.String, nw.Categorical, nw.Enum, nw.Boolean)
    return family == "logistic" or (family == "auto" and words)


def _of_frame(
    frame: nw.DataFrame[Any],
    roles: Roles,
    missing: str,
    fewest: int,
    family: str,
    *,
    blocks: bool,
) -> "DatasetCollection":
    positions = _positions(frame, roles, blocks)
    frame, response = _with_coded_target(frame, roles, family)
    frame = with_castable_types(_with_null_names(frame, roles), set(frame.columns) - set(roles.by))
    check_target(frame, roles)
    frame, positions = _with_known_rows(frame, roles, positions)
    schema = learn(frame, roles, missing)
    if missing == "drop":
        frame, positions = _with_complete_rows(frame, schema, positions)
        schema = learn(frame, roles, missing)
    warn_columns(schema)
    schema = replace(schema, response=response)
    X = schema.encode(frame, "data")
    y = _floats(frame, roles.target)
    names, codes = _datasets(frame, roles)
    if not np.isfinite(y).all():
        name = names[codes[int(np.argmin(np.isfinite(y)))]]
        raise DataError(
            f"Target {roles.target!r} is infinite in a row of dataset {name!r}; correct or drop "
            "the row."
        )
    w = _floats(frame, roles.weights) if roles.weights else None
    order = read_order(frame, roles)
    return assemble(EncodedRows(X, y, w, names, codes, positions, order), schema, fewest)


def _positions(frame: nw.DataFrame[Any], roles: Roles, blocks: bool) -> IntArray:
    """Return the place of every row in its table; with `blocks` each dataset is a table."""
    if not blocks or not len(frame):
        return np.arange(len(frame))
    codes = np.zeros(len(frame), dtype=np.int64)
    for name in roles.by:
        column = frame.get_column(name).to_native().combine_chunks()
        found = pc.dictionary_encode(column, null_encoding="encode")
        codes = codes * len(found.dictionary) + found.indices.to_numpy()
    return positions_inside(codes)


def _with_coded_target(
    frame: nw.DataFrame[Any], roles: Roles, family: str
) -> tuple[nw.DataFrame[Any], Response]:
    """Return the frame with a numeric target: if it has classes, the number of the class."""
    dtype = frame.collect_schema()[roles.target]
    if not has_classes(dtype, family):
        return frame, Response("poisson" if family == "poisson" else "gaussian")
    values = frame.get_column(roles.target)
    plain = values.to_numpy() if dtype.is_numeric() else np.array(values.to_list(), dtype=object)
    codes, response = classify_target(plain, roles.target, text=not dtype.is_numeric())
    column = nw.new_series(roles.target, codes, nw.Float64, backend=frame.implementation)
    return frame.with_columns(column), response


def _with_null_names(frame: nw.DataFrame[Any], roles: Roles) -> nw.DataFrame[Any]:
    """Return the frame with dataset names that are NaN as missing."""
    types = frame.collect_schema()
    numbers = [nw.col(c).fill_nan(None) for c in roles.by if types[c].is_float()]
    return frame.with_columns(*numbers) if numbers else frame


def _with_known_rows(
    frame: nw.DataFrame[Any], roles: Roles, positions: IntArray
) -> tuple[nw.DataFrame[Any], IntArray]:
    """Leave out rows without a target, dataset name or weight, with a warning."""
    if not len(frame):
        raise no_rows()
    known = frame.select(known_rows(roles).alias("known")).get_column("known")
    if known.all():
        return frame, positions
    kept = frame.filter(known)
    lost = _lost_datasets(frame, kept, roles) if len(kept) else ""
    warn_unknown_rows(len(frame) - len(kept), len(frame), roles, lost)
    return kept, positions[known.to_numpy().astype(bool)]


def _with_complete_rows(
    frame: nw.DataFrame[Any], schema: Schema, positions: IntArray
) -> tuple[nw.DataFrame[Any], IntArray]:
    """Leave out rows in which a feature is missing, with a warning."""
    complete = frame.select(complete_rows(schema).alias("complete")).get_column("complete")
    kept = frame.filter(complete)
    if not len(kept):
        raise DataError(
            "Every row has a missing value, so missing='drop' leaves none; choose "
            "missing='indicator' or name complete columns with features=[...]."
        )
    if len(kept) < len(frame):
        lost = _lost_datasets(frame, kept, schema.roles)
        warn_dropped_rows(len(frame) - len(kept), len(frame), "a feature is missing", lost)
    return kept, positions[complete.to_numpy().astype(bool)]


def _lost_datasets(frame: nw.DataFrame[Any], kept: nw.DataFrame[Any], roles: Roles) -> str:
    named = frame.drop_nulls(list(roles.by))
    return lost_datasets(_datasets(named, roles)[0], _datasets(kept, roles)[0])


def _datasets(frame: nw.DataFrame[Any], roles: Roles) -> tuple[list[str], IntArray]:
    return names_and_codes([frame.get_column(name).to_native() for name in roles.by])


def _floats(frame: nw.DataFrame[Any], name: str) -> FloatArray:
    values: FloatArray = frame.get_column(name).cast(nw.Float64).to_numpy().astype(np.float64)
    return values
