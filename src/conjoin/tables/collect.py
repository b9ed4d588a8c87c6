"""From tables to a `DatasetCollection`: every check on rows that come in is made here.

One table with columns that name the dataset of a row, or a mapping of dataset names to tables.
Tables of clean numbers take a short way; all others are put into one Arrow table, their columns
looked at (`schema.learn`) and encoded. What cannot be used gets one sentence that names the column
and the value.
"""

import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from conjoin._typing import AnyArray, FloatArray, IntArray
from conjoin.errors import ArgumentError, ConjoinWarning, DataError
from conjoin.tables.columns import Columns, to_columns
from conjoin.tables.dataset import DatasetCollection, natural_order
from conjoin.tables.encoding import Date, Flag, LeftOut, Number, present
from conjoin.tables.frame import Frame, fitted, in_memory, is_table, to_frame
from conjoin.tables.schema import (
    Roles,
    Schema,
    check_missing,
    check_roles,
    complete,
    learn,
    shown,
)

DATASET = "dataset"
SEPARATOR = " | "
COLUMN_CHOICES = ("intersect", "impute")
MOST_SINGLE_ROWS = 20  # datasets that may all have one row
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
) -> DatasetCollection:
    """Check tables and bring them into the form the mathematics takes."""
    roles = Roles.of(target, by, features, weights)
    return collect_rows(data, roles, missing=missing, columns=columns)


def collect_rows(
    data: Any,
    roles: Roles,
    *,
    missing: str = "indicator",
    columns: str | None = None,
    fewest: int = 2,
) -> DatasetCollection:
    """Do the same for columns whose roles are known; `fewest` datasets are needed."""
    check_missing(missing)
    _check_choice(columns)
    if _is_tables(data) and len(data) < fewest:
        raise DataError(
            f"There is only one dataset ({str(next(iter(data)))!r}): the mapping has one entry; "
            "joining needs at least two."
        )
    clean = _clean_columns(data, roles)
    if clean is not None:
        return _of_clean(*clean, roles, fewest)
    frame, roles = one_frame(data, roles, columns)
    if isinstance(frame, nw.LazyFrame):
        frame = fetch(frame, roles)
    return _of_frame(frame, roles, missing, fewest)


def one_frame(data: Any, roles: Roles, columns: str | None = None) -> tuple[Frame, Roles]:
    """Return one frame of all rows, and the roles with the columns that name datasets."""
    _check_choice(columns)
    if _is_tables(data):
        if roles.by:
            raise DataError(
                f"by={roles.by[0]!r} names a column, but data is a mapping of dataset names to "
                "tables; leave by out, or pass one table."
            )
        return _stack(data, roles, columns)
    wanted = {*roles.features, *_aside(roles)} if roles.features else None
    frame = to_frame(data, wanted=wanted)
    names = frame.collect_schema().names()
    if not names:
        raise DataError("data is empty; pass a frame with rows, or a mapping of names to frames.")
    if not roles.by:
        raise DataError(
            "by is missing: data is one table, so by=... must name the column that says which "
            f"dataset a row belongs to; columns are {shown(names)}."
        )
    check_roles(roles, names)
    return frame, roles


def _check_choice(columns: str | None) -> None:
    if columns not in (None, *COLUMN_CHOICES):
        raise ArgumentError(f"columns={columns!r} is unknown; expected 'intersect' or 'impute'.")


def _is_tables(data: Any) -> bool:
    """Say whether data are a mapping of dataset names to tables."""
    if not isinstance(data, Mapping) or not data:
        return False
    examples = {type(value): value for value in data.values()}
    return all(is_table(value) for value in examples.values())


def _aside(roles: Roles) -> list[str]:
    """Return the columns with a role other than that of a feature."""
    return [*roles.by, roles.target, *([roles.weights] if roles.weights else [])]


def fetch(frame: nw.LazyFrame[Any], roles: Roles) -> nw.DataFrame[Any]:
    """Bring the columns that are needed into memory."""
    if roles.features is not None:
        frame = frame.select(*_aside(roles), *roles.features)
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
    try:
        columns = to_columns(data)
    except DataError:
        return None
    by = columns.pop(roles.by[0], None)
    if by is None or not _are_plain_names(by) or not _is_clean(columns, roles):
        return None
    try:
        return columns, *_names_and_codes([by])
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
        if not _is_valid(str(name)):
            return None
        tables[str(name)] = columns
    names = natural_order(list(tables))
    sizes = [len(tables[name][roles.target]) for name in names]
    needed = [*_feature_columns(tables[names[0]], roles), *_aside(roles)]
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
    used = types if roles.features is None else [*_aside(roles), *roles.features]
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
    columns: Columns, names: list[str], codes: IntArray, roles: Roles, fewest: int
) -> DatasetCollection:
    used = _feature_columns(columns, roles)
    X = np.stack([columns[c].astype(np.float64) for c in used], axis=1)
    encodings = tuple(
        Flag(c) if columns[c].dtype.kind == "b" else Number(c, float(mean))
        for c, mean in zip(used, X.mean(axis=0))
    )
    y = columns[roles.target].astype(np.float64)
    w = columns[roles.weights].astype(np.float64) if roles.weights else None
    return _assemble(X, y, w, names, codes, Schema(roles, encodings), fewest)


# --- any other table -----------------------------------------------------------------------------


def _of_frame(
    frame: nw.DataFrame[Any], roles: Roles, missing: str, fewest: int
) -> DatasetCollection:
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


def _with_null_names(frame: nw.DataFrame[Any], roles: Roles) -> nw.DataFrame[Any]:
    """Return a frame in which names that are not a number (NaN) are missing."""
    types = frame.collect_schema()
    numbers = [nw.col(c).fill_nan(None) for c in roles.by if types[c].is_float()]
    return frame.with_columns(*numbers) if numbers else frame


def _datasets(frame: nw.DataFrame[Any], roles: Roles) -> tuple[list[str], IntArray]:
    return _names_and_codes([frame.get_column(name).to_native() for name in roles.by])


def _gone(frame: nw.DataFrame[Any], kept: nw.DataFrame[Any], roles: Roles) -> str:
    """Say which datasets have no row left."""
    if len(kept) == len(frame):
        return ""
    named = frame.drop_nulls(list(roles.by))
    after = set(_datasets(kept, roles)[0])
    gone = [name for name in _datasets(named, roles)[0] if name not in after]
    return f"; nothing is left of {shown(gone)}" if gone else ""


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
        example = f" such as {found[0]!r}" if found else ""
        raise DataError(
            f"{role}={name!r} is not numeric: its type is {types[name]}, with values{example}; "
            "choose a column of numbers."
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
    kept = frame.filter(known_rows(roles))
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
    w = np.ones(len(y)) if w is None else w[order] / w.mean()
    return DatasetCollection(tuple(names), schema, X[order][:, varying], y[order], w, starts)


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
            f"Columns {shown(features)} are constant over all datasets; there is no feature to "
            "learn from. Add a column that varies."
        )
    dropped = [name for name, is_constant in zip(features, constant) if is_constant]
    told = [name for name in dropped if name in schema.columns]
    if told:
        warnings.warn(
            f"Left out, since they have one value in all datasets: {shown(told)}.",
            ConjoinWarning,
            stacklevel=6,
        )
    return schema.without(dropped), ~constant


def _names_and_codes(by: Sequence[Any]) -> tuple[list[str], IntArray]:
    """Return the names of datasets in natural order, and the position of every row's dataset."""
    codes = np.zeros(len(by[0]), dtype=np.int64)
    texts: list[list[str]] = []
    for values in by:
        keys, inverse = _unique(values)
        texts.append(keys)
        codes = codes * len(keys) + inverse
    found, codes = np.unique(codes, return_inverse=True)
    labels = [_label(code, texts) for code in found.tolist()]
    names = natural_order(sorted(set(labels)))
    refuse_twins(labels)
    rank = {name: k for k, name in enumerate(names)}
    return names, np.array([rank[label] for label in labels], dtype=np.int64)[codes]


def refuse_twins(labels: Sequence[str]) -> None:
    """Refuse names that are the same once the values of several columns are joined."""
    if len(set(labels)) < len(labels):
        twice = min(name for name in labels if labels.count(name) > 1)
        raise DataError(
            f"Two datasets are named {twice!r}, once their names are joined by {SEPARATOR!r}; "
            "rename one, or name datasets by one column."
        )


def _unique(values: Any) -> tuple[list[str], IntArray]:
    """Return the names in an array of numpy or Arrow, and the position of each row's name."""
    if isinstance(values, pa.ChunkedArray):
        found = values.combine_chunks()
        if not pa.types.is_dictionary(found.type):
            found = found.dictionary_encode()
        return [name_of(key) for key in found.dictionary.to_pylist()], found.indices.to_numpy()
    if values.dtype.kind == "O":
        return _unique(pa.chunked_array([pa.array(values)]))
    keys, inverse = np.unique(values, return_inverse=True)
    return [name_of(key) for key in keys.tolist()], inverse


def _label(code: int, texts: Sequence[Sequence[str]]) -> str:
    parts = []
    for keys in reversed(texts):
        code, position = divmod(code, len(keys))
        parts.append(keys[position])
    return SEPARATOR.join(reversed(parts))


def name_of(value: Any) -> str:
    """Return a value as a dataset's name; 3.0 from a column with gaps is still dataset 3."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _are_plain_names(values: AnyArray) -> bool:
    """Say whether a column of names is text or numbers, none of them missing."""
    if isinstance(values, np.ma.MaskedArray):
        return False
    if values.dtype.kind == "f":
        return not np.isnan(values).any()
    if values.dtype.kind == "O":
        return all(type(value) is str for value in values.tolist())
    return values.dtype.kind in "biuU"


# --- many tables ---------------------------------------------------------------------------------


def _stack(data: Mapping[Any, Any], roles: Roles, columns: str | None) -> tuple[Frame, Roles]:
    """Put tables one below the other, with a column that names them."""
    wanted = None if roles.features is None else {*roles.features, *_aside(roles)}
    tables: dict[str, pa.Table] = {}
    for key, value in data.items():
        name = str(key)
        if not _is_valid(name):
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
    everything = dict.fromkeys(c for t in tables.values() for c in t.column_names)
    dropped = settle_columns(_lacking(tables, everything), roles, columns, set(everything))
    free = DATASET
    while free in everything:
        free += "_"
    parts = [
        table.append_column(free, pa.repeat(name, len(table)))
        for name, table in _aligned(tables, dropped, roles).items()
    ]
    stacked = pa.concat_tables(parts, promote_options="default")
    features = roles.features and tuple(c for c in roles.features if c not in dropped)
    return nw.from_native(stacked, eager_only=True), Roles(
        roles.target, (free,), features, roles.weights
    )


def _is_valid(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


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
    for role, column in (("target", roles.target), ("weights", roles.weights)):
        if column is not None and column not in columns:
            raise DataError(
                f"{role}={column!r} is not a column of dataset {name!r}; columns are "
                f"{shown(columns)}."
            )


def settle_columns(
    lacking: Mapping[str, Sequence[str]],
    roles: Roles,
    columns: str | None,
    everything: set[str],
) -> set[str]:
    """Return the columns to drop, of those that some datasets lack; refuse without a choice."""
    if roles.features is not None:
        lacking = {c: lacking[c] for c in lacking if c in roles.features}
    shared = everything - set(lacking) - {roles.target, roles.weights, *roles.by}
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
        f"Columns {shown(sorted(lacking))} are not in every dataset ({without[0]!r} lacks "
        f"{column!r}); choose columns='intersect' to leave them out, columns='impute' to fill them "
        "in, or name the columns to use with features=[...]."
    )


def _aligned(
    tables: Mapping[str, pa.Table], dropped: Collection[str], roles: Roles
) -> dict[str, pa.Table]:
    """Bring every column to one type in all datasets; refuse where it is of different kinds."""
    seen: dict[str, tuple[str, str]] = {}
    types: dict[str, set[Any]] = {}
    for name, table in tables.items():
        for column, values in zip(table.column_names, table.columns):
            if column in dropped or values.null_count == len(values):
                continue  # a column without values has any type
            kind = _kind(values.type)
            first = seen.setdefault(column, (kind, name))
            types.setdefault(column, set()).add(values.type)
            if first[0] != kind:
                next_step = (
                    "give it numbers everywhere"
                    if column in _aside(roles)
                    else "make it one type, or leave it out with features=[...]"
                )
                raise DataError(
                    f"Column {column!r} is {first[0]} in dataset {first[1]!r} and {kind} in "
                    f"dataset {name!r}; {next_step}."
                )
    common = {c: _common_type(seen[c][0], found) for c, found in types.items()}
    aligned = {}
    for name, table in tables.items():
        kept = [c for c in table.column_names if c not in dropped]
        columns = [_cast(table.column(c), common.get(c, pa.float64())) for c in kept]
        aligned[name] = pa.table(columns, names=kept)
    return aligned


def _kind(dtype: Any) -> str:
    if _is_text(dtype):
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


def _is_text(dtype: Any) -> bool:
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
