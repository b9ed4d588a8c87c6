"""From tables to a `DatasetCollection`: every check on what comes in is made here.

One table with a column that names the dataset of a row, or a mapping of dataset names to tables.
Values must be numbers, all present and finite; what is not gets one sentence that names the column
and the value.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from conjoin._typing import AnyArray, FloatArray
from conjoin.errors import ConjoinWarning, DataError
from conjoin.tables.columns import Columns, is_table, to_columns
from conjoin.tables.dataset import DatasetCollection, natural_order

MOST_NAMES_SHOWN = 5


def collect(
    data: Any,
    *,
    target: str,
    by: str | None = None,
    features: Sequence[str] | None = None,
    weights: str | None = None,
) -> DatasetCollection:
    """Check tables and bring them into the form the mathematics takes."""
    target, by, features, weights = _check_names(target, by, features, weights)
    quick = _collect_clean(data, target, by, features, weights)
    if quick is not None:
        return quick
    tables = _split(data, by)
    if len(tables) < 2:
        found = f" ({next(iter(tables))!r})" if tables else ""
        source = f"column by={by!r} has one value" if by else "the mapping has one entry"
        raise DataError(
            f"There is only one dataset{found}: {source}; joining needs at least two."
            if tables
            else "There is no dataset: data has no rows."
        )
    names = natural_order(list(tables))
    for name in names:
        _check_target(tables[name], target, name)
    columns = _feature_names(tables, names, target, features, weights)
    blocks = [_rows(tables[name], columns, target, weights, name) for name in names]
    X = np.concatenate([block[0] for block in blocks])
    y = np.concatenate([block[1] for block in blocks])
    w = np.concatenate([block[2] for block in blocks])
    if np.ptp(y) == 0:
        raise DataError(
            f"Target {target!r} is {y[0]:g} in every row of every dataset; there is nothing to "
            "predict. Choose another target."
        )
    X, columns = _drop_constant(X, columns)
    starts = np.concatenate([[0], np.cumsum([len(block[1]) for block in blocks])])
    return DatasetCollection(tuple(names), tuple(columns), target, X, y, _relative(w), starts)


def _check_names(
    target: str, by: str | None, features: Sequence[str] | None, weights: str | None
) -> tuple[str, str | None, list[str] | None, str | None]:
    """Return the names as text; refuse those that cannot go together."""
    target = str(target)
    if by is not None:
        by = str(by)
    if by == target:
        raise DataError(f"by={by!r} is the target too; name the column of datasets with by.")
    if weights is not None and not isinstance(weights, str):
        raise DataError(
            f"weights is a {type(weights).__name__}; expected the name of a column of weights."
        )
    if features is None:
        return target, by, None, weights
    chosen = [features] if isinstance(features, str) else [str(column) for column in features]
    if not chosen:
        raise DataError("features is empty; name at least one column, or leave it out.")
    for column in (target, by, weights):
        if column in chosen:
            raise DataError(f"features names {column!r}, which is target, by or weights; drop it.")
    repeated = sorted({column for column in chosen if chosen.count(column) > 1})
    if repeated:
        raise DataError(f"features names {repeated[0]!r} twice; name it once.")
    return target, by, chosen, weights


def _collect_clean(
    data: Any, target: str, by: str | None, features: Sequence[str] | None, weights: str | None
) -> DatasetCollection | None:
    """Return the collection of one table in which nothing is amiss, without splitting it up.

    None where anything needs a closer look; the long way round then finds the words for it.
    """
    if by is None or (isinstance(data, Mapping) and any(is_table(v) for v in data.values())):
        return None
    columns = to_columns(data)
    chosen = (
        [c for c in columns if c not in (target, by, weights)] if features is None else features
    )
    needed = [*chosen, target, by, *([weights] if weights else [])]
    if not chosen or any(c not in columns for c in needed) or _missing(columns[by]).any():
        return None
    values = {c: columns[c] for c in needed if c != by}
    if any(
        v.dtype.kind not in "biuf" or isinstance(v, np.ma.MaskedArray) or not np.isfinite(v).all()
        for v in values.values()
    ):
        return None
    keys, codes = np.unique(columns[by], return_inverse=True)
    texts = [_name_of(key) for key in keys.tolist()]
    names = natural_order(texts)
    w: FloatArray = np.ones(len(codes))
    if weights is not None:
        w = values[weights].astype(np.float64)
    if len(set(texts)) < max(len(texts), 2) or (w <= 0).any() or np.ptp(values[target]) == 0:
        return None
    rank = {name: k for k, name in enumerate(names)}
    codes = np.array([rank[text] for text in texts])[codes]
    order = np.argsort(codes, kind="stable")
    rows = np.stack([values[c].astype(np.float64)[order] for c in chosen], axis=1)
    X, kept = _drop_constant(rows, list(chosen))
    starts = np.searchsorted(codes[order], np.arange(len(names) + 1))
    y = values[target].astype(np.float64)[order]
    w = _relative(w[order])
    return DatasetCollection(tuple(names), tuple(kept), target, X, y, w, starts)


def _split(data: Any, by: str | None) -> dict[str, Columns]:
    """Return the columns of each dataset under its name."""
    if isinstance(data, Mapping) and data and all(is_table(value) for value in data.values()):
        if by is not None:
            raise DataError(
                f"by={by!r} names a column, but data is a mapping of dataset names to tables; "
                "leave by out, or pass one table."
            )
        return _named_tables(data)
    columns = to_columns(data)
    if not columns:
        raise DataError("data is empty; pass a frame with rows, or a mapping of names to frames.")
    if by is None:
        raise DataError(
            "by is missing: data is one table, so by=... must name the column that says which "
            f"dataset a row belongs to; columns are {_shown(list(columns))}."
        )
    if by not in columns:
        raise DataError(f"by={by!r} is not a column; columns are {_shown(list(columns))}.")
    return _split_by(columns, by)


def _named_tables(data: Mapping[Any, Any]) -> dict[str, Columns]:
    tables: dict[str, Columns] = {}
    for key, value in data.items():
        name = str(key)
        if name in tables:
            raise DataError(
                f"Two datasets are named {name!r} (names are compared as text); rename one."
            )
        tables[name] = to_columns(value, f"dataset {name!r}")
        if not any(len(column) for column in tables[name].values()):
            raise DataError(f"Dataset {name!r} is empty; leave it out or give it rows.")
    return tables


def _split_by(columns: Columns, by: str) -> dict[str, Columns]:
    names = columns[by]
    missing = _missing(names)
    if missing.any():
        raise DataError(
            f"Column by={by!r} has no name in row {int(np.argmax(missing))} "
            f"({int(missing.sum())} such rows); drop these rows or name their dataset."
        )
    text = np.array([_name_of(value) for value in names.tolist()], dtype=object).astype(str)
    found, codes = np.unique(text, return_inverse=True)
    order = np.argsort(codes, kind="stable")
    cuts = np.searchsorted(codes[order], np.arange(1, len(found)))
    rest = {name: column for name, column in columns.items() if name != by}
    return {
        str(name): {column: values[rows] for column, values in rest.items()}
        for name, rows in zip(found, np.split(order, cuts))
    }


def _name_of(value: Any) -> str:
    """Return a value as a dataset's name; 3.0 from a column with gaps is still dataset 3."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _check_target(columns: Columns, target: str, name: str) -> None:
    if target not in columns:
        raise DataError(
            f"target={target!r} is not a column of dataset {name!r}; columns are "
            f"{_shown(list(columns))}."
        )


def _feature_names(
    tables: dict[str, Columns],
    names: Sequence[str],
    target: str,
    features: Sequence[str] | None,
    weights: str | None,
) -> list[str]:
    """Return the feature columns, which every dataset must have."""
    aside = {target, weights}
    if features is None:
        shared = [c for c in tables[names[0]] if all(c in tables[n] for n in names)]
        features = [column for column in shared if column not in aside]
        everything = {c for n in names for c in tables[n]} - aside
        lost = sorted(everything - set(features))
        if features and lost:
            raise DataError(
                f"Columns {_shown(lost)} are not in every dataset; name the columns to use with "
                "features=[...], or add the missing ones."
            )
    if not features:
        raise DataError(
            f"The datasets share no column besides the target {target!r}; give them common "
            "feature columns."
        )
    for name in names:
        absent = [column for column in features if column not in tables[name]]
        if absent:
            raise DataError(
                f"Dataset {name!r} lacks column {absent[0]!r}; drop it from features or add it."
            )
    return list(features)


def _rows(
    columns: Columns, features: Sequence[str], target: str, weights: str | None, name: str
) -> tuple[FloatArray, FloatArray, FloatArray]:
    X = np.stack([_numbers(columns[c], c, name) for c in features], axis=1)
    y = _numbers(columns[target], target, name)
    if weights is None:
        return X, y, np.ones(len(y))
    if weights not in columns:
        raise DataError(f"weights={weights!r} is not a column of dataset {name!r}.")
    w = _numbers(columns[weights], weights, name)
    if (w < 0).any() or not w.any():
        raise DataError(
            f"Weights {weights!r} of dataset {name!r} must be >= 0 and not all zero; "
            f"the smallest is {w.min():g}."
        )
    kept = w > 0
    return X[kept], y[kept], w[kept]


def _relative(weights: FloatArray) -> FloatArray:
    """Scale weights to mean one: they are relative, their unit means nothing."""
    return weights / weights.mean()


def _numbers(values: AnyArray, column: str, name: str) -> FloatArray:
    """Return a column as finite float64, or say what is in the way."""
    missing = _missing(values)
    if missing.any():
        raise DataError(
            f"Column {column!r} lacks {int(missing.sum())} of {len(missing)} values in dataset "
            f"{name!r} (first in its row {int(np.argmax(missing))}); fill or drop them first."
        )
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        text = next(value for value in values.tolist() if not _is_number(value))
        raise DataError(
            f"Column {column!r} holds {str(text)!r} in dataset {name!r}, which is not a number; "
            "encode it or leave the column out with features=[...]."
        ) from None
    if values.dtype.kind in "mM":
        raise DataError(
            f"Column {column!r} holds dates in dataset {name!r}; turn them into numbers or leave "
            "the column out with features=[...]."
        )
    if not np.isfinite(numbers).all():
        raise DataError(
            f"Column {column!r} has an infinite value in dataset {name!r} "
            f"(its row {int(np.argmin(np.isfinite(numbers)))}); correct or drop the row."
        )
    return numbers


def _missing(values: AnyArray) -> np.ndarray:
    """Say where a value is absent: None, NaN, NaT or a masked entry."""
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.getmaskarray(values) | _missing(values.data)
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind == "O":
        return np.array([value is None or value != value for value in values.tolist()], dtype=bool)
    return np.zeros(len(values), dtype=bool)


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _drop_constant(X: FloatArray, features: list[str]) -> tuple[FloatArray, list[str]]:
    """Leave out columns with one value in all datasets: they say nothing beside the intercept."""
    constant = np.ptp(X, axis=0) == 0
    if constant.all():
        raise DataError(
            f"Columns {_shown(features)} are constant over all datasets; there is no feature to "
            "learn from. Add a column that varies."
        )
    if constant.any():
        dropped = [name for name, is_constant in zip(features, constant) if is_constant]
        warnings.warn(
            f"Left out, since they have one value in all datasets: {_shown(dropped)}.",
            ConjoinWarning,
            stacklevel=4,
        )
    kept = [name for name, is_constant in zip(features, constant) if not is_constant]
    return X[:, ~constant], kept


def _shown(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:MOST_NAMES_SHOWN])
    more = len(names) - MOST_NAMES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown
