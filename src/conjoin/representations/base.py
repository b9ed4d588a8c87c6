"""Representations learn features from rows; `Features` are the learned maps.

Rows with a target enter; a learned map and the features of the rows leave. Rows are sorted into a
canonical order before anything is learned, so the order of rows and datasets changes nothing. The
features come back in the order of the rows that entered. A map must treat each row by itself: every
map is tried on a few rows in two orders.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Self

import numpy as np

from conjoin._typing import AnyArray, FloatArray, IntArray, Progress
from conjoin.checks import check_choice
from conjoin.errors import ArgumentError, DataError
from conjoin.moments.resample import canonical_order
from conjoin.tables.frame import is_table

TASKS = ("regression", "classification")
# Rows on which a map is tried in two orders: enough that a map which mixes rows shows, few enough
# that the trial costs nothing beside learning.
PROBE_ROWS = 32
# Largest difference between the two orders, relative to the largest feature. Sums in single
# precision depend on their order, with relative errors around 1e-7 times the number of terms; a map
# that mixes rows differs by far more.
PROBE_TOLERANCE = 1e-4


class InputError(DataError):
    """A map cannot take rows of this shape; callers that know the columns add their names."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Checked rows in canonical order, to learn from.

    Parameters
    ----------
    X : array (n, ...)
        Inputs of the map.
    y : array (n,)
        Target; for classes the number of the class.
    weights : array (n,)
        Weights of the rows.
    classes : list or None
        The classes by number; None for a numeric target.
    order : array (n,)
        Position of each of these rows among the rows that entered.
    """

    X: FloatArray
    y: FloatArray
    weights: FloatArray
    classes: list[Any] | None
    order: IntArray


class Features(ABC):
    """A learned map from rows to features; `Representation.fit` returns one.

    A map of your own has `names` and a method `_map(X)` that returns an array (n, features).

    Attributes
    ----------
    names : tuple of str
        Names of the features.

    Examples
    --------
    >>> from conjoin.representations import Function
    >>> features = Function(abs).fit([[1.0, -2.0], [-3.0, 4.0]], [0.0, 1.0])
    >>> features.names, features.transform([[-5.0, 6.0]]).tolist()
    (('unit1', 'unit2'), [[5.0, 6.0]])
    """

    names: tuple[str, ...]

    def transform(self, X: Any) -> FloatArray:
        """Return the features of rows.

        Parameters
        ----------
        X : array (n, columns)
            Rows with the columns of fitting, in the same order.

        Returns
        -------
        array (n, features)

        Raises
        ------
        DataError
            If X is not an array of finite numbers, or the map returns something else than one
            line of finite numbers for each row.

        Examples
        --------
        >>> from conjoin.representations import Function
        >>> squares = Function(lambda X: X**2).fit([[1.0], [2.0]], [0.0, 1.0])
        >>> squares.transform([[3.0]]).tolist()
        [[9.0]]
        """
        rows = check_inputs(X)
        values = dense(self._map(rows))
        if values.shape == (len(rows),):
            raise DataError(
                f"The representation returned one value for each of {len(rows)} rows, an array of "
                "shape (rows,); return a column of shape (rows, 1), such as X[:, :1]."
            )
        if values.ndim != 2 or len(values) != len(rows):
            raise DataError(
                f"The representation returned an array of shape {values.shape} for {len(rows)} "
                "rows; expected one line of features for each row."
            )
        if values.shape[1] != len(self.names):
            raise DataError(
                f"The representation returned {values.shape[1]} features, but "
                f"{len(self.names)} when it was fitted."
            )
        values = _as_numbers(values)
        if not np.isfinite(values).all():
            raise DataError(
                "The representation returned values that are not finite; expected a finite number "
                "for every row. Limit what it computes, or choose another representation."
            )
        return values

    def named(self, inputs: Sequence[str], taken: Collection[str]) -> Self:
        """Return the same map with feature names made from the names of its input columns.

        Names in `taken` belong to other columns and are avoided. The default changes nothing.
        """
        return self

    @abstractmethod
    def _map(self, X: FloatArray) -> Any:
        """Return the features of checked rows (n, ...) as an array or a sparse matrix."""


class Representation(ABC):
    """A way to learn features from rows; learning does not change it.

    A representation of your own has a method `_fit(rows, progress)` that returns a `Features`.

    Attributes
    ----------
    task : "regression" or "classification"
        Whether the target is a number or a class. It matters only if features are learned from
        the target.

    Examples
    --------
    >>> from conjoin.representations import Function
    >>> isinstance(Function(abs), Representation), Function(abs).learns_from_target
    (True, False)
    """

    task: str = "regression"

    @property
    def learns_from_target(self) -> bool:
        """Whether the features depend on the target; errors on the same rows are then too low."""
        return True

    def describe(self) -> str:
        """Return a short text for reports."""
        return type(self).__name__

    def for_task(self, task: str) -> "Representation":
        """Return the same representation for another task, if it has a task."""
        if is_dataclass(self) and "task" in {one.name for one in fields(self)}:
            return replace(self, task=task)
        return self

    def fit(
        self, X: Any, y: Any, weights: Any = None, *, progress: Progress | None = None
    ) -> Features:
        """Learn features from the rows of all datasets together.

        Parameters
        ----------
        X : array (n, columns)
            Rows.
        y : array (n,)
            Target.
        weights : array (n,), optional
            Weights of the rows; by default all are 1.
        progress : callable, optional
            Called with the number of steps done and the number of all steps.

        Returns
        -------
        Features
            The learned map.

        Raises
        ------
        DataError
            If rows, target or weights cannot be used, or the map does not treat each row by itself.

        Examples
        --------
        >>> from conjoin.representations import Function
        >>> Function(abs).fit([[1.0], [-2.0]], [0.0, 1.0]).names
        ('unit1',)
        """
        return self._learn(self._sorted_rows(X, y, weights), progress)

    def fit_transform(
        self, X: Any, y: Any, weights: Any = None, *, progress: Progress | None = None
    ) -> tuple[Features, FloatArray]:
        """Learn features and return those of the same rows.

        Parameters
        ----------
        X, y, weights, progress
            As in `fit`.

        Returns
        -------
        (Features, array (n, features))
            The learned map, and the features in the order of X. They are computed in canonical
            order, so not even their last digit depends on the order of X.

        Raises
        ------
        DataError
            As in `fit`.

        Examples
        --------
        >>> from conjoin.representations import Function
        >>> _, values = Function(abs).fit_transform([[1.0], [-2.0]], [0.0, 1.0])
        >>> values.tolist()
        [[1.0], [2.0]]
        """
        rows = self._sorted_rows(X, y, weights)
        features = self._learn(rows, progress)
        return features, _restore_order(features.transform(rows.X), rows.order)

    @abstractmethod
    def _fit(self, rows: Rows, progress: Progress | None) -> Features:
        """Learn from rows in canonical order."""

    def _learn(self, rows: Rows, progress: Progress | None) -> Features:
        """Learn, and check that the map treats each row by itself."""
        features = self._fit(rows, progress)
        _check_rowwise(features, rows.X)
        return features

    def _sorted_rows(self, X: Any, y: Any, weights: Any) -> Rows:
        """Check rows and sort them into canonical order."""
        X = check_inputs(X)
        if len(X) == 0:
            raise DataError("There are no rows to learn a representation from.")
        target, classes = _check_target(y, len(X), self.task)
        w = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=np.float64)
        if w.shape != target.shape or not (np.isfinite(w).all() and (w >= 0).all() and w.any()):
            raise DataError(
                "weights cannot be used; expected one number for each row, finite, >= 0 and not "
                "all zero."
            )
        order = _order(X, target, w)
        return Rows(X[order], target[order], w[order], classes, order)


def transform_in_canonical_order(
    features: Features, X: FloatArray, y: FloatArray, weights: FloatArray
) -> FloatArray:
    """Return the features (n, features) of rows X; no digit depends on the order of the rows."""
    order = _order(X, y, weights)
    return _restore_order(features.transform(X[order]), order)


def _order(X: FloatArray, y: FloatArray, weights: FloatArray) -> IntArray:
    """Return the canonical order (n,) of rows X (n, ...)."""
    return canonical_order(np.column_stack([X.reshape(len(X), -1), weights]), y)


def _restore_order(values: FloatArray, order: IntArray) -> FloatArray:
    """Return sorted values (n, features) in the order that rows had before sorting."""
    unsorted = np.empty_like(values)
    unsorted[order] = values
    return unsorted


def unit_names(count: int) -> tuple[str, ...]:
    """Return the names unit1, unit2, ... for features without names of their own."""
    return tuple(f"unit{j + 1}" for j in range(count))


def free_names(names: Sequence[str], taken: Collection[str]) -> tuple[str, ...]:
    """Return names that are not taken; a name that is taken gets underscores at its end."""
    found = []
    for name in names:
        while name in taken:
            name += "_"
        found.append(name)
    return tuple(found)


def dense(values: Any) -> AnyArray:
    """Return an array, a sparse matrix or a frame as an array."""
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values)


def _as_numbers(values: AnyArray) -> FloatArray:
    """Return features (n, features) as real numbers; refuse others."""
    if values.dtype.kind == "c":
        raise DataError(
            "The representation returned complex numbers; return real ones, such as np.abs(...) "
            "or the real and the imaginary part as columns."
        )
    if values.dtype.kind not in "USMm":  # text may hold digits, and dates count days
        try:
            return values.astype(np.float64)
        except (TypeError, ValueError):
            pass
    example = str(values.flat[0]) if values.size else ""
    raise DataError(
        f"The representation returned values that are not numbers, such as {example!r}; return a "
        "number for every feature."
    )


def check_whole(name: str, value: Any, least: int) -> None:
    """Refuse a value that is not a whole number of at least `least`."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < least:
        raise ArgumentError(f"{name}={value!r} cannot be used; expected a whole number >= {least}.")


def check_inputs(X: Any) -> FloatArray:
    """Return rows (n, ...) as finite numbers; refuse tables, whose columns have names."""
    if is_table(X):
        raise DataError(
            "X is a table; expected an array of numbers with the encoded columns, in their order "
            "at fitting. For tables use result.predict, result.representation.transform or "
            "Embedding.transform, which find columns by name."
        )
    try:
        rows = np.ascontiguousarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            "X is not an array of numbers; use conjoin.representations.embed for tables with text "
            "or dates, which it encodes."
        ) from None
    if rows.ndim < 2:
        raise DataError(f"X has shape {rows.shape}; expected an array of rows and columns.")
    if not np.isfinite(rows).all():
        raise DataError("X has values that are missing or infinite; fill or drop them first.")
    return rows


def _check_target(y: Any, n: int, task: str) -> tuple[FloatArray, list[Any] | None]:
    """Return the target (n,) as numbers, and the classes by number if it has classes."""
    check_choice("task", task, TASKS)
    values = np.asarray(y)
    if values.shape != (n,):
        raise DataError(f"y has shape {values.shape}; expected one value for each of {n} rows.")
    if task == "classification":
        classes, codes = np.unique(values, return_inverse=True)
        if len(classes) < 2:
            raise DataError(f"y has only one class, {classes[0]!r}; expected two or more.")
        return codes.astype(np.float64), classes.tolist()
    try:
        target = values.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError("y is not numeric; choose task='classification' for classes.") from None
    if not np.isfinite(target).all():
        raise DataError("y has values that are missing or infinite; drop these rows first.")
    return target, None


def _check_rowwise(features: Features, X: FloatArray) -> None:
    """Refuse maps whose features of a row depend on other rows or on random numbers."""
    probe = X[np.unique(np.linspace(0, len(X) - 1, PROBE_ROWS).astype(int))]
    once = features.transform(probe)
    half = len(probe) // 2 + 1
    again = features.transform(probe[::-1][:half])
    expected = once[::-1][:half]
    limit = PROBE_TOLERANCE * float(np.abs(once).max(initial=0.0))
    if np.abs(again - expected).max(initial=0.0) > limit:
        raise DataError(
            "The representation returns other features for a row if the rows around it change, so "
            "features would not match their targets; expected a map that treats each row by "
            "itself, without random numbers."
        )
