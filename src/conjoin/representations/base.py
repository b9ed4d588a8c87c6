"""What a representation is: a way to learn features from rows, and the features learned.

Rows are put in an order of their own before anything is learned, so that the order in which they
(or their datasets) arrive changes nothing; what comes back is in the order in which they came.
Features must belong to their rows: every map is tried on a few rows in two orders.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Self

import numpy as np

from conjoin._typing import AnyArray, FloatArray, IntArray, Progress
from conjoin.errors import ArgumentError, DataError
from conjoin.moments.resample import canonical_order
from conjoin.tables.frame import is_table

TASKS = ("regression", "classification")
PROBE_ROWS = 32
PROBE_TOLERANCE = 1e-4  # of the largest value; single precision adds up in the order it likes


class InputError(DataError):
    """Rows that a map cannot take as they are; who knows their columns can say more."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows to learn from.

    Parameters
    ----------
    X : array (n, ...)
    y : array (n,)
        Target; of classes their numbers.
    weights : array (n,)
    classes : list, optional
        The classes by number, if the target is one.
    order : array (n,)
        Row numbers, as they came, of these rows.
    """

    X: FloatArray
    y: FloatArray
    weights: FloatArray
    classes: list[Any] | None
    order: IntArray


class Features(ABC):
    """A learned map from rows to features.

    Attributes
    ----------
    names : tuple of str
        Of the features.
    """

    names: tuple[str, ...]

    def transform(self, X: Any) -> FloatArray:
        """Return the features (n, features) of rows X (n, columns), row by row."""
        rows = check_inputs(X)
        values = dense(self._map(rows))
        if values.shape == (len(rows),):
            raise DataError(
                f"The representation gave one value for each of {len(rows)} rows, an array of "
                "shape (rows,); make it a column, of shape (rows, 1), such as X[:, :1]."
            )
        if values.ndim != 2 or len(values) != len(rows):
            raise DataError(
                f"The representation gave an array of shape {values.shape} for {len(rows)} rows; "
                "expected one line of features for each row."
            )
        if values.shape[1] != len(self.names):
            raise DataError(
                f"The representation gave {values.shape[1]} features, but {len(self.names)} at "
                "fitting."
            )
        values = _as_numbers(values)
        if not np.isfinite(values).all():
            raise DataError(
                "The representation gave values that are not finite; it must give a finite number "
                "for every row, so limit what it computes or choose another one."
            )
        return values

    def named(self, inputs: Sequence[str], taken: Collection[str]) -> Self:
        """Return the same with names from those of its columns, if it knows such.

        Names in `taken` mean something else.
        """
        return self

    @abstractmethod
    def _map(self, X: FloatArray) -> Any:
        """Return the features of checked rows, as an array or a sparse matrix."""


class Representation(ABC):
    """A way to learn features; itself unchanged by learning.

    Attributes
    ----------
    task : "regression" or "classification"
        What the target is; only representations that learn from it care.
    """

    task: str = "regression"

    @property
    def learns_from_target(self) -> bool:
        """Whether the target has a say, so that errors on the same rows would be too low."""
        return True

    def describe(self) -> str:
        """Return a few words for a report."""
        return type(self).__name__

    def for_task(self, task: str) -> "Representation":
        """Return the same for a target that is a number or a class, where that matters."""
        if is_dataclass(self) and "task" in {one.name for one in fields(self)}:
            return replace(self, task=task)
        return self

    def fit(
        self, X: Any, y: Any, weights: Any = None, *, progress: Progress | None = None
    ) -> Features:
        """Learn from rows X (n, columns) with target y (n,), all datasets together.

        `weights` (n,) say how much each row counts; `progress` is told the steps done and in all.
        """
        return self._learn(self._rows(X, y, weights), progress)

    def fit_transform(
        self, X: Any, y: Any, weights: Any = None, *, progress: Progress | None = None
    ) -> tuple[Features, FloatArray]:
        """Return the features learned, and their values (n, features) in the order of X.

        Values are formed in the rows' own order, so that they do not depend, to the last digit, on
        the order given.
        """
        rows = self._rows(X, y, weights)
        features = self._learn(rows, progress)
        return features, _as_they_came(features.transform(rows.X), rows.order)

    @abstractmethod
    def _fit(self, rows: Rows, progress: Progress | None) -> Features:
        """Learn from rows in their own order."""

    def _learn(self, rows: Rows, progress: Progress | None) -> Features:
        features = self._fit(rows, progress)
        _check_rowwise(features, rows.X)
        return features

    def _rows(self, X: Any, y: Any, weights: Any) -> Rows:
        """Check rows and put them in their own order."""
        X = check_inputs(X)
        if len(X) == 0:
            raise DataError("There are no rows to learn a representation from.")
        target, classes = _check_target(y, len(X), self.task)
        w = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=np.float64)
        if w.shape != target.shape or not (np.isfinite(w).all() and (w >= 0).all() and w.any()):
            raise DataError(
                "weights must be one number for each row, finite, >= 0 and not all zero."
            )
        order = _own_order(X, target, w)
        return Rows(X[order], target[order], w[order], classes, order)


def transform_in_own_order(
    features: Features, X: FloatArray, y: FloatArray, weights: FloatArray
) -> FloatArray:
    """Return the features of rows that do not depend, to the last digit, on their order."""
    order = _own_order(X, y, weights)
    return _as_they_came(features.transform(X[order]), order)


def _own_order(X: FloatArray, y: FloatArray, weights: FloatArray) -> IntArray:
    return canonical_order(np.column_stack([X.reshape(len(X), -1), weights]), y)


def _as_they_came(values: FloatArray, order: IntArray) -> FloatArray:
    unsorted = np.empty_like(values)
    unsorted[order] = values
    return unsorted


def unit_names(count: int) -> tuple[str, ...]:
    """Return names for features that have none of their own."""
    return tuple(f"unit{j + 1}" for j in range(count))


def free_names(names: Sequence[str], taken: Collection[str]) -> tuple[str, ...]:
    """Return names none of which is taken; those that are get a line at their end."""
    found = []
    for name in names:
        while name in taken:
            name += "_"
        found.append(name)
    return tuple(found)


def dense(values: Any) -> AnyArray:
    """Return an array of what may be a sparse matrix or a frame."""
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values)


def _as_numbers(values: AnyArray) -> FloatArray:
    if values.dtype.kind == "c":
        raise DataError(
            "The representation gave complex numbers; let it give real ones, such as np.abs(...) "
            "or the real and the imaginary part as columns."
        )
    if values.dtype.kind not in "USMm":  # text may hold digits, and dates count days
        try:
            return values.astype(np.float64)
        except (TypeError, ValueError):
            pass
    example = str(values.flat[0]) if values.size else ""
    raise DataError(
        f"The representation gave values that are no numbers, such as {example!r}; let it give a "
        "number for every feature."
    )


def check_whole(name: str, value: Any, least: int) -> None:
    """Refuse what is no whole number of at least `least`."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < least:
        raise ArgumentError(f"{name}={value!r} cannot be used; expected a whole number >= {least}.")


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Refuse a value that is none of the choices."""
    if value not in choices:
        raise ArgumentError(
            f"{name}={value!r} is unknown; expected one of {', '.join(map(str, choices))}."
        )


def check_inputs(X: Any) -> FloatArray:
    """Return rows (n, ...) as finite numbers; tables, whose columns have names, are refused."""
    if is_table(X):
        raise DataError(
            "X is a table, but this takes rows as the map does: an array of numbers, its columns "
            "encoded and in the order they had at fitting; for tables use result.predict, "
            "result.representation.transform or Embedding.transform, which go by name."
        )
    try:
        rows = np.ascontiguousarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            "X is no array of numbers; a representation of a table with other columns is made by "
            "conjoin.representations.embed."
        ) from None
    if rows.ndim < 2:
        raise DataError(f"X has shape {rows.shape}; expected rows and columns.")
    if not np.isfinite(rows).all():
        raise DataError("X has values that are missing or infinite; fill or drop them first.")
    return rows


def _check_target(y: Any, n: int, task: str) -> tuple[FloatArray, list[Any] | None]:
    check_choice("task", task, TASKS)
    values = np.asarray(y)
    if values.shape != (n,):
        raise DataError(f"y has shape {values.shape}, but X has {n} rows; expected one for each.")
    if task == "classification":
        classes, codes = np.unique(values, return_inverse=True)
        if len(classes) < 2:
            raise DataError(f"y has one class only, {classes[0]!r}; there is nothing to learn.")
        return codes.astype(np.float64), classes.tolist()
    try:
        target = values.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError("y is not numeric; choose task='classification' for classes.") from None
    if not np.isfinite(target).all():
        raise DataError("y has values that are missing or infinite; drop these rows first.")
    return target, None


def _check_rowwise(features: Features, X: FloatArray) -> None:
    """Refuse maps in which a row's features depend on the rows around it, or on chance."""
    probe = X[np.unique(np.linspace(0, len(X) - 1, PROBE_ROWS).astype(int))]
    once = features.transform(probe)
    half = len(probe) // 2 + 1
    again = features.transform(probe[::-1][:half])
    expected = once[::-1][:half]
    limit = PROBE_TOLERANCE * float(np.abs(once).max(initial=0.0))
    if np.abs(again - expected).max(initial=0.0) > limit:
        raise DataError(
            "The representation gives a row other features when the rows around it change, so "
            "features and target would get out of step; it must treat every row by itself, without "
            "chance."
        )
