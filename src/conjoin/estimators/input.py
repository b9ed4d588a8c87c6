"""What estimators take as X and groups, as one Arrow table with named columns.

Frames, arrays and names of datasets enter; one Arrow table leaves. Frames keep columns of any type,
and columns are found by name. Columns of arrays are found by position; they are named x0, x1, and
so on, or by `feature_names`.
The dataset of a row is named in a column of X (`by`) or in an array beside it (`groups`).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from scipy.sparse import issparse
from sklearn.utils.validation import _check_sample_weight, check_consistent_length

from conjoin._typing import AnyArray, FloatArray
from conjoin.errors import ArgumentError, ConjoinError, DataError
from conjoin.tables.frame import as_doubles, is_table, to_frame
from conjoin.tables.names import DATASET
from conjoin.text import quoted

ONLY = "all"  # name of the single dataset if the user names none


@dataclass(frozen=True)
class Layout:
    """How X looked at fitting.

    Parameters
    ----------
    columns : tuple of str
        Names of its columns.
    positions : bool
        Whether it was an array, so that columns are found by position.
    source : "by", "groups" or "none"
        Where the names of datasets came from.
    """

    columns: tuple[str, ...]
    positions: bool
    source: str


class WrongTypeError(DataError, TypeError):
    """A value of a type that cannot be a number; scikit-learn's checks ask for a `TypeError`."""


@contextmanager
def scikit_checks() -> Iterator[None]:
    """Turn what scikit-learn's checks raise into a `DataError` of the same words, on one line.

    Its checks add up all numbers; sums beyond doubles are no fault of them.
    """
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except ConjoinError:
        raise
    except (TypeError, ValueError) as error:
        text = " ".join(str(error).split()).rstrip(".;")
        kind = WrongTypeError if isinstance(error, TypeError) else DataError
        raise kind(f"{text}; correct or drop these rows before the call.") from error


def row_weights(sample_weight: Any, y: AnyArray) -> FloatArray:
    """Return the weights of rows (rows,); some of them are above zero."""
    with scikit_checks():
        given = np.asarray(sample_weight)
        if given.dtype.kind == "c":
            raise DataError("sample_weight holds complex numbers; expected real numbers >= 0.")
        given = as_doubles(given)
        bad = ~np.isfinite(given) | (given < 0)
        if bad.any():
            raise DataError(
                f"sample_weight is {given[bad][0]:g} in {int(bad.sum())} of {given.size} rows; "
                "expected finite numbers >= 0. Rows of weight 0 are left out."
            )
        weights: FloatArray = _check_sample_weight(
            given if given.ndim else float(given), y, dtype=np.float64
        )
    if not weights.any():
        raise DataError("sample_weight is zero in every row; give some row a weight.")
    return weights


def dtype_of(source: str) -> str | None:
    """Return the type that scikit-learn checks arrays for; beside names of datasets any type."""
    return "numeric" if source == "none" else None


def is_frame(X: Any) -> bool:
    """Say whether X has named columns; a sparse matrix has none, though some are mappings."""
    return is_table(X) and not issparse(X)


def to_arrow(X: Any) -> pa.Table:
    """Return a frame as an Arrow table."""
    frame = to_frame(X, "X")
    if isinstance(frame, nw.LazyFrame):
        raise DataError("X is a lazy frame, whose rows have no order to match y; collect it first.")
    return frame.to_native()


def known_columns(X: Any, table: pa.Table) -> Any:
    """Return a pandas or Arrow table, whose columns every version of scikit-learn can read."""
    return X if hasattr(X, "iloc") else table


def arrow_of_array(X: AnyArray, names: Sequence[str], by: Sequence[str]) -> pa.Table:
    """Return an array (rows, columns) as a table.

    In an array of text all columns become numbers, except those that name datasets.
    """
    columns = dict(zip(names, X.T))
    if X.dtype.kind in "US":
        for name in names:
            if name in by:
                continue
            try:
                columns[name] = columns[name].astype(np.float64)
            except ValueError as error:
                raise DataError(
                    f"Column {name!r} of X is text ({error}); pass a frame or an array of objects "
                    "to have text encoded."
                ) from None
    return to_frame(columns, "X").to_native()


def by_columns(by: Any, columns: Sequence[str], *, positions: bool) -> tuple[str, ...]:
    """Return the names of the columns that `by` gives by name or position."""
    wanted = list(by) if isinstance(by, (list, tuple, np.ndarray)) else [by]
    if by is None:
        return ()
    if not wanted:
        raise ArgumentError("by is empty; name a column, or leave it out and pass groups=...")
    if not positions:
        return tuple(str(one) for one in wanted)
    found = []
    for one in wanted:
        if isinstance(one, str) and one in columns:
            found.append(one)
            continue
        if isinstance(one, bool) or not isinstance(one, Integral):
            raise ArgumentError(
                f"by={one!r} is no position, but X is an array, whose columns have no names; pass "
                "a whole number such as by=0, feature_names=[...], or a frame."
            )
        if not -len(columns) <= int(one) < len(columns):
            raise ArgumentError(f"by={one} is no column of X, which has {len(columns)} columns.")
        found.append(columns[int(one)])
    return tuple(found)


def array_columns(count: int, names: Sequence[str] | None) -> list[str]:
    """Return the names of an array's columns: those given, or x0, x1 and so on."""
    if names is None:
        return [f"x{j}" for j in range(count)]
    found = [str(name) for name in names]
    if len(found) != count or len(set(found)) != count:
        raise ArgumentError(
            f"feature_names has {len(set(found))} different names, but X has {count} columns; "
            "give one name for each column."
        )
    return found


def with_names(
    table: pa.Table, layout: Layout, by: Any, groups: Any
) -> tuple[pa.Table, tuple[str, ...]]:
    """Return the table with the columns that name datasets, and their names."""
    if layout.source == "by":
        names = by_columns(by, layout.columns, positions=layout.positions)
        check_there(names, layout.columns)
        return table, names
    name = free_name(DATASET if groups is None else "groups", table.column_names)
    return with_column(table, name, names_of_rows(groups, table)), (name,)


def check_there(by: Sequence[str], columns: Sequence[str]) -> None:
    """Refuse columns of `by` that the table lacks."""
    for name in by:
        if name not in columns:
            raise DataError(
                f"X lacks column {name!r}, which by names as that of the datasets; columns are "
                f"{quoted(columns)}."
            )


def names_of_rows(groups: Any, table: pa.Table) -> Any:
    """Return the name of each row's dataset (rows,)."""
    if groups is None:
        return [ONLY] * len(table)
    with scikit_checks():
        check_consistent_length(table, groups)
    return groups


def with_column(table: pa.Table, name: str, values: Any) -> pa.Table:
    """Return the table with one more column, in place of one of that name."""
    column = to_frame({name: values}, "X").to_native().column(name)
    if name in table.column_names:
        table = table.drop_columns([name])
    return table.append_column(name, column)


def free_name(name: str, taken: Sequence[str]) -> str:
    """Return a name that no column has."""
    while name in taken:
        name += "_"
    return name


def refuse_text(y: Any) -> None:
    """Refuse a target of words where numbers are predicted."""
    first = next(iter(np.ravel(np.asarray(y, dtype=object))[:1]), None)
    if isinstance(first, str) and not first.strip().lstrip("+-").replace(".", "", 1).isdigit():
        raise DataError(
            f"y holds text, such as {first!r}, but JoinRegressor predicts numbers; use "
            "JoinClassifier for classes."
        )


def plain_parameter(name: str, value: Any) -> Any:
    """Return a parameter as a value that a file can hold."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain_parameter(name, one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ArgumentError(
        f"{name}={value!r} cannot be saved in a file; choose one by name, or save result_, which "
        "predicts the same."
    )
