"""From tables to a `DatasetCollection`: every check on rows that come in is made here.

One table with columns that name the dataset of a row, or a mapping of dataset names to tables.
Tables of clean numbers take a short way; all others are put into one Arrow table, their columns
looked at (`schema.learn`) and encoded. What cannot be used gets one sentence that names the column
and the value.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from conjoin._typing import AnyArray, FloatArray, IntArray
from conjoin.errors import ArgumentError, ConjoinWarning, DataError
from conjoin.families import Response, check_counts, check_family, classify
from conjoin.tables.columns import Columns, to_columns
from conjoin.tables.dataset import DatasetCollection, natural_order
from conjoin.tables.encoding import Date, Flag, LeftOut, Number, present
from conjoin.tables.frame import Frame, fitted, in_memory, is_table, to_frame
from conjoin.tables.names import SEPARATOR, is_valid, names_and_codes
from conjoin.tables.schema import (
    Roles,
    Schema,
    check_missing,
    check_roles,
    complete,
    learn,
)
from conjoin.tables.stack import is_text, stack
from conjoin.text import quoted

COLUMN_CHOICES = ("intersect", "impute")
MOST_SINGLE_ROWS = 2000  # datasets that may all have one row
LARGEST = 1e150  # number whose square is still one


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
) -> DatasetCollection:
    """Check tables and bring them into the form the mathematics takes."""
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
) -> DatasetCollection:
    """Do the same for columns whose roles are known; `fewest` datasets are needed.

    `family` "auto" takes text and booleans for classes, numbers for numbers. Weights are
    `relative`, in mean one, unless they are to be taken as they are.
    """
    collection = _collected(data, roles, missing, columns, fewest, family)
    mean = collection.weights.mean()
    if roles.weights is None or not relative or mean == 1:
        return collection
    return replace(collection, weights=collection.weights / mean)


def _collected(
    data: Any, roles: Roles, missing: str, columns: str | None, fewest: int, family: str
) -> DatasetCollection:
    """Collect rows with their weights as they are."""
    check_family(family)
    check_missing(missing)
    check_choice(columns)
    if _is_tables(data) and len(data) < fewest:
        raise DataError(
            f"There is only one dataset ({str(next(iter(data)))!r}): the mapping has one entry; "
            "joining needs at least two."
        )
    clean = _clean_columns(data, roles)
    if clean is not None:
        return _of_clean(*clean, roles, fewest, family)
    frame, roles = one_frame(data, roles, columns)
    if isinstance(frame, nw.LazyFrame):
        frame = fetch(frame, roles)
        clean = _clean_columns(frame.to_native(), roles)
        if clean is not None:
            return _of_clean(*clean, roles, fewest, family)
    return _of_frame(frame, roles, missing, fewest, family)


def one_frame(data: Any, roles: Roles, columns: str | None = None) -> tuple[Frame, Roles]:
    """Return one frame of all rows, and the roles with the columns that name datasets."""
    check_choice(columns)
    if _is_tables(data):
        if roles.by:
            raise DataError(
                f"by={roles.by[0]!r} names a column, but data is a mapping of dataset names to "
                "tables; leave by out, or pass one table."
            )
        return stack(data, roles, columns)
    wanted = {*roles.features, *roles.aside} if roles.features else None
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


def check_choice(columns: str | None) -> None:
    """Refuse a way to treat columns that some datasets lack."""
    if columns not in (None, *COLUMN_CHOICES):
        raise ArgumentError(f"columns={columns!r} is unknown; expected 'intersect' or 'impute'.")


def _is_tables(data: Any) -> bool:
    """Say whether data are a mapping of dataset names to tables."""
    if not isinstance(data, Mapping) or not data:
        return False
    examples = {type(value): value for value in data.values()}
    return all(is_table(value) for value in examples.values())


def fetch(frame: nw.LazyFrame[Any], roles: Roles) -> nw.DataFrame[Any]:
    """Bring the columns that are needed into memory."""
    if roles.features is not None:
        frame = frame.select(*roles.aside, *roles.features)
    return in_memory(frame)


# --- clean numbers, the short way ----------------------------------------------------------------


def _clean_columns(data: Any, roles: Roles) -> tuple[Columns, list[str], IntArray] | None:
    """Return columns, dataset names and the dataset of every row, where nothing is amiss.

    None where anything needs a closer look; the long way round then finds the words for it.
    """
    if _is_tables(data):
        return None if roles.by else _clean_tables(data, roles)
    if len(roles.by) != 1 or not _may_be_clean(data, roles):
        return None
    names = None
    if (
        isinstance(data, pa.Table)
        and roles.by[0] in data.column_names
        and is_text(data.schema.field(roles.by[0]).type)
    ):
        # Names stay Arrow's: a Python object for each of very many rows takes longer than the rest.
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


def _clean_tables(
    data: Mapping[Any, Any], roles: Roles
) -> tuple[Columns, list[str], IntArray] | None:
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
        if not is_valid(str(name)):
            return None
        tables[str(name)] = columns
    names = natural_order(list(tables))
    sizes = [len(tables[name][roles.target]) for name in names]
    needed = [*_feature_columns(tables[names[0]], roles), *roles.aside]
    stacked = {c: np.concatenate([tables[name][c] for name in names]) for c in needed}
    return stacked, names, np.repeat(np.arange(len(names)), sizes)


def _may_be_clean(data: Any, roles: Roles) -> bool:
    """Say whether all columns of a frame are numbers by their types, before any is looked at."""
    if isinstance(data, Mapping):
        return True
    try:
        types = nw.from_native(data, eager_only=True).schema
    except (TypeError, nw.exceptions.NarwhalsError):
        return False
    aside = {*roles.by}
    used = types if roles.features is None else [*roles.aside, *roles.features]
    return all(
        c in types and (types[c].is_numeric() or types[c] == nw.Boolean)
        for c in used
        if c not in aside
    )


def _is_clean(columns: Columns, roles: Roles) -> bool:
    used = _feature_columns(columns, roles)
    needed = [*used, roles.target, *([roles.weights] if roles.weights else [])]
    if not used or any(c not in columns or not len(columns[c]) for c in needed):
        return False
    return all(
        columns[c].dtype.kind in "biuf"
        and not isinstance(columns[c], np.ma.MaskedArray)
        and np.isfinite(columns[c]).all()
        for c in needed
    )


def _feature_columns(columns: Columns, roles: Roles) -> list[str]:
    aside = (roles.target, *roles.by, roles.weights)
    return [c for c in columns if c not in aside] if roles.features is None else [*roles.features]


def _of_clean(
    columns: Columns, names: list[str], codes: IntArray, roles: Roles, fewest: int, family: str
) -> DatasetCollection:
    used = _feature_columns(columns, roles)
    X = np.stack([columns[c].astype(np.float64) for c in used], axis=1)
    encodings = tuple(
        Flag(c) if columns[c].dtype.kind == "b" else Number(c, float(mean))
        for c, mean in zip(used, X.mean(axis=0))
    )
    target = columns[roles.target]
    y: FloatArray = target.astype(np.float64)
    response = Response()
    if family == "logistic" or (family == "auto" and target.dtype.kind == "b"):
        y, response = classify(target, roles.target)
    elif family == "poisson":
        response = Response(family)
    w = columns[roles.weights].astype(np.float64) if roles.weights else None
    schema = Schema(roles, encodings, response=response)
    return _assemble(X, y, w, names, codes, schema, fewest)


# --- any other table -----------------------------------------------------------------------------


def _of_frame(
    frame: nw.DataFrame[Any], roles: Roles, missing: str, fewest: int, family: str
) -> DatasetCollection:
    frame, response = _with_coded_target(frame, roles, family)
    frame = fitted(_with_null_names(frame, roles), set(frame.columns) - set(roles.by))
    check_target(frame, roles)
    frame = _with_known_rows(frame, roles)
    schema = learn(frame, roles, missing)
    if missing == "drop":
        kept = frame.filter(complete(schema))
        if not len(kept):
            raise DataError(
                "Every row has a missing value, so missing='drop' leaves none; choose "
                "missing='indicator' or name complete columns with features=[...]."
            )
        reason = "a value is missing in them" + _gone(frame, kept, roles)
        tell_dropped(len(frame) - len(kept), len(frame), reason)
        frame, schema = kept, learn(kept, roles, missing)
    tell(schema)
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
    return _assemble(X, y, w, names, codes, schema, fewest)


def _with_coded_target(
    frame: nw.DataFrame[Any], roles: Roles, family: str
) -> tuple[nw.DataFrame[Any], Response]:
    """Return a frame whose target is a number: of its class, where it has classes."""
    kind = frame.collect_schema()[roles.target]
    if not has_classes(kind, family):
        return frame, Response("poisson" if family == "poisson" else "gaussian")
    values = frame.get_column(roles.target)
    plain = values.to_numpy() if kind.is_numeric() else np.array(values.to_list(), dtype=object)
    codes, response = classify(plain, roles.target)
    column = nw.new_series(roles.target, codes, nw.Float64, backend=frame.implementation)
    return frame.with_columns(column), response


def has_classes(kind: Any, family: str) -> bool:
    """Say whether a target of this type is one of classes."""
    words = kind in (nw.String, nw.Categorical, nw.Enum, nw.Boolean)
    return family == "logistic" or (family == "auto" and words)


def _with_null_names(frame: nw.DataFrame[Any], roles: Roles) -> nw.DataFrame[Any]:
    """Return a frame in which names that are not a number (NaN) are missing."""
    types = frame.collect_schema()
    numbers = [nw.col(c).fill_nan(None) for c in roles.by if types[c].is_float()]
    return frame.with_columns(*numbers) if numbers else frame


def _datasets(frame: nw.DataFrame[Any], roles: Roles) -> tuple[list[str], IntArray]:
    return names_and_codes([frame.get_column(name).to_native() for name in roles.by])


def _gone(frame: nw.DataFrame[Any], kept: nw.DataFrame[Any], roles: Roles) -> str:
    """Say which datasets have no row left."""
    if len(kept) == len(frame):
        return ""
    named = frame.drop_nulls(list(roles.by))
    after = set(_datasets(kept, roles)[0])
    gone = [name for name in _datasets(named, roles)[0] if name not in after]
    return f"; nothing is left of {quoted(gone)}" if gone else ""


def check_target(frame: Frame, roles: Roles) -> None:
    """Refuse a target, or weights, that are no numbers, and names that are no single values."""
    types = frame.collect_schema()
    for column in roles.by:
        if types[column].is_nested():
            raise DataError(
                f"by={column!r} is of type {types[column]}; choose a column of text or numbers."
            )
    for role, name in (("target", roles.target), ("weights", roles.weights)):
        if name is None or types[name].is_numeric() or types[name] == nw.Boolean:
            continue
        values: Any = frame.select(name).drop_nulls().head(1)
        if isinstance(values, nw.LazyFrame):
            values = values.collect()
        found = values.get_column(name).to_list()
        if not found:
            raise DataError(
                f"{role}={name!r} is missing in all rows; there is nothing to learn from."
            )
        raise DataError(
            f"{role}={name!r} is not numeric: its type is {types[name]}, with values such as "
            f"{found[0]!r}; choose a column of numbers."
        )


def known_rows(roles: Roles) -> nw.Expr:
    """Return an expression that says where target, names and weights are all there."""
    there = ~present(nw.col(roles.target)).is_null()
    if roles.weights:
        there = there & ~present(nw.col(roles.weights)).is_null()
    for name in roles.by:
        there = there & ~nw.col(name).is_null()
    return there


def _with_known_rows(frame: nw.DataFrame[Any], roles: Roles) -> nw.DataFrame[Any]:
    """Leave out rows without a target or a name, and say so."""
    if not len(frame):
        raise DataError("There is no dataset: data has no rows.")
    known = frame.select(known_rows(roles).alias("known")).get_column("known")
    if known.all():
        return frame
    kept = frame.filter(known)
    gone = _gone(frame, kept, roles) if len(kept) else ""
    tell_unknown(len(frame) - len(kept), len(frame), roles, gone)
    return kept


def tell_unknown(dropped: int, rows: int, roles: Roles, gone: str = "") -> None:
    """Say how many rows have no target or name, or refuse if all have none."""
    needed = (roles.target, *roles.by, *([roles.weights] if roles.weights else []))
    words = " or ".join(repr(name) for name in needed)
    if dropped == rows:
        raise DataError(f"In all {rows} rows {words} is missing; there is nothing to learn from.")
    tell_dropped(dropped, rows, f"{words} is missing in them{gone}")


def tell_dropped(dropped: int, rows: int, reason: str) -> None:
    """Say how many rows are left out, and why."""
    if dropped:
        warnings.warn(
            f"{dropped:,} of {rows:,} rows are left out, since {reason}.",
            ConjoinWarning,
            stacklevel=5,
        )


def tell(schema: Schema) -> None:
    """Warn of columns that are left out and say how dates are used."""
    left_out = [e for e in schema.encodings if isinstance(e, LeftOut)]
    if left_out:
        reasons = "; ".join(f"{e.name!r} ({e.reason})" for e in left_out[:3])
        more = f" and {len(left_out) - 3} more" if len(left_out) > 3 else ""
        warnings.warn(f"Columns left out: {reasons}{more}.", ConjoinWarning, stacklevel=5)
    for e in schema.encodings:
        if isinstance(e, Date):
            warnings.warn(f"Column {e.name!r} is a {e.describe()}.", ConjoinWarning, stacklevel=5)


def _floats(frame: nw.DataFrame[Any], name: str) -> FloatArray:
    values: FloatArray = frame.get_column(name).cast(nw.Float64).to_numpy().astype(np.float64)
    return values


def _assemble(
    X: FloatArray,
    y: FloatArray,
    w: FloatArray | None,
    names: list[str],
    codes: IntArray,
    schema: Schema,
    fewest: int,
) -> DatasetCollection:
    """Sort rows by dataset, after the last checks."""
    if w is not None:
        X, y, w, codes = _weighted(X, y, w, names, codes, schema)
    check_names(names, len(y), schema.roles, fewest)
    response = schema.response
    if response.family == "poisson":
        check_counts(y, schema.roles.target)
    if response.classes and np.ptp(y) == 0:
        raise DataError(
            f"Target {schema.roles.target!r} has one class in all rows, "
            f"{response.classes[int(y[0])]!r}; there is nothing to tell apart. Choose another "
            "target."
        )
    if np.ptp(y) == 0:
        raise DataError(
            f"Target {schema.roles.target!r} is {y[0]:g} in every row of every dataset; there is "
            "nothing to predict. Choose another target."
        )
    low, high = X.min(axis=0), X.max(axis=0)
    refuse_huge(
        (*schema.features, schema.roles.target),
        np.append(np.maximum(-low, high), np.abs(y).max()),
    )
    schema, varying = drop_constant(schema, low == high)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(len(names) + 1))
    w = np.ones(len(y)) if w is None else w[order]
    X = X[order] if varying.all() else X[order][:, varying]
    return DatasetCollection(tuple(names), schema, X, y[order], w, starts)


def refuse_huge(names: Sequence[str], largest: FloatArray) -> None:
    """Refuse columns whose values cannot be squared."""
    if largest.max() > LARGEST:
        name = names[int(np.argmax(largest))]
        raise DataError(
            f"Column {name!r} has values up to {largest.max():g}, which cannot be squared; use a "
            f"larger unit, such that they are below {LARGEST:g}."
        )


def check_names(names: Sequence[str], rows: int, roles: Roles, fewest: int = 2) -> None:
    """Refuse collections of which no dataset can be told from another."""
    by = SEPARATOR.join(roles.by)
    if len(names) < fewest:
        raise DataError(
            f"There is only one dataset ({names[0]!r}): by={by!r} has one value; joining needs at "
            "least two."
        )
    if len(names) == rows > MOST_SINGLE_ROWS:
        raise DataError(
            f"Each of the {rows:,} datasets has a single row (by={by!r}), so none can be told from "
            "another; name the column of datasets with by, not one that numbers the rows."
        )


def _weighted(
    X: FloatArray,
    y: FloatArray,
    w: FloatArray,
    names: list[str],
    codes: IntArray,
    schema: Schema,
) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
    """Leave out rows of weight zero; refuse weights that are none."""
    largest = np.zeros(len(names))
    np.maximum.at(largest, codes, w)
    bad = (largest <= 0) | (np.bincount(codes, w < 0, minlength=len(names)) > 0)
    if np.isinf(largest).any():
        raise DataError(
            f"Weights {schema.roles.weights!r} of dataset {names[int(np.argmax(largest))]!r} are "
            "infinite in a row; correct or drop the row."
        )
    if bad.any():
        k = int(np.argmax(bad))
        raise DataError(
            f"Weights {schema.roles.weights!r} of dataset {names[k]!r} must be >= 0 and not all "
            f"zero; the smallest is {w[codes == k].min():g}."
        )
    kept = w > 0
    return X[kept], y[kept], w[kept], codes[kept]


def drop_constant(schema: Schema, constant: AnyArray) -> tuple[Schema, AnyArray]:
    """Leave out features with one value in all rows: they say nothing beside the intercept."""
    features = schema.features
    if constant.all():
        raise DataError(
            f"Columns {quoted(features)} are constant over all datasets; there is no feature to "
            "learn from. Add a column that varies."
        )
    dropped = [name for name, is_constant in zip(features, constant) if is_constant]
    told = [name for name in dropped if name in schema.columns]
    if told:
        warnings.warn(
            f"Left out, since they have one value in all datasets: {quoted(told)}.",
            ConjoinWarning,
            stacklevel=6,
        )
    return schema.without(dropped), ~constant


def _are_plain_names(values: AnyArray) -> bool:
    """Say whether a column of names is text or numbers, none of them missing."""
    if isinstance(values, np.ma.MaskedArray):
        return False
    if values.dtype.kind == "f":
        return not np.isnan(values).any()
    if values.dtype.kind == "O":
        return all(type(value) is str for value in values.tolist())
    return values.dtype.kind in "biuU"
