"""Fitted models as users get them: plain values in the units of their data, which predict rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from conjoin._typing import AnyArray, FloatArray
from conjoin.errors import DataError, warn_caller
from conjoin.families import Label, Response, expected, most_likely, softmax
from conjoin.tables.columns import to_columns
from conjoin.tables.frame import is_table
from conjoin.text import quoted


@dataclass(frozen=True)
class LinearFit:
    """A linear model: prediction = intercept + sum of coef * column.

    Parameters
    ----------
    intercept : float
    coef : mapping of column to float
    rows : int
        Rows it was fitted to.
    error : float
        Estimated error on new rows, averaged over the datasets it serves: mean squared error, for
        counts half the mean deviance. Infinite where there are too few rows to tell.
    limits : mapping of column to (float, float)
        Range of a column over all training rows, widened by its own width on either side. A value
        beyond it is predicted as at the limit: there a line says nothing, and one wild value would
        give a wild prediction.
    family : "gaussian" or "poisson"
        For "poisson" the line is the logarithm of the expected count.
    """

    intercept: float
    coef: Mapping[str, float]
    rows: int
    error: float
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict, repr=False)
    family: str = field(default="gaussian", repr=False)

    def predict(self, X: Any, *, limit: bool = True) -> FloatArray:
        """Predict rows: a frame or mapping by column names, an array in the order of `coef`.

        With limit=False lines go on beyond `limits`.
        """
        scores = _scores(self, [self], X, limit)
        return expected(scores, Response(self.family))

    @property
    def lines(self) -> tuple["LinearFit", ...]:
        """The lines the model is made of: itself."""
        return (self,)


@dataclass(frozen=True)
class LogisticFit:
    """A logistic regression.

    Parameters
    ----------
    classes : tuple of labels
    lines : tuple of LinearFit
        For two classes one, the log-odds of the second. For more one a class, in sum zero:
        probabilities are proportional to the exponentials of their values.
    rows : int
        Rows it was fitted to.
    error : float
        Estimated log loss on new rows, averaged over the datasets it serves.
    """

    classes: tuple[Label, ...]
    lines: tuple[LinearFit, ...]
    rows: int
    error: float

    @property
    def intercept(self) -> float | dict[str, float]:
        """Of the log-odds of the second class; for more than two classes one a class."""
        if len(self.lines) == 1:
            return self.lines[0].intercept
        return {str(label): line.intercept for label, line in zip(self.classes, self.lines)}

    @property
    def coef(self) -> dict[str, float]:
        """Coefficients by column; for more than two classes by "class: column"."""
        if len(self.lines) == 1:
            return dict(self.lines[0].coef)
        return {
            f"{label}: {column}": value
            for label, line in zip(self.classes, self.lines)
            for column, value in line.coef.items()
        }

    @property
    def limits(self) -> Mapping[str, tuple[float, float]]:
        """How far from the training rows lines are followed, as in `LinearFit`."""
        return self.lines[0].limits

    def predict_proba(self, X: Any, *, limit: bool = True) -> FloatArray:
        """Return the probability of each class (rows, classes)."""
        return softmax(_scores(self, self.lines, X, limit))

    def predict(self, X: Any, *, limit: bool = True) -> AnyArray:
        """Return the most likely class of each row."""
        return most_likely(self.predict_proba(X, limit=limit), self.classes)


Fit: TypeAlias = LinearFit | LogisticFit


def _scores(fit: Fit, lines: Sequence[LinearFit], X: Any, limit: bool) -> FloatArray:
    """Return the values of lines (rows, lines)."""
    rows = check_rows(X, list(lines[0].coef))
    if limit and fit.limits:
        rows = limited(rows, fit.limits)
    return values_of(fit, rows)


def values_of(fit: Fit, rows: FloatArray) -> FloatArray:
    """Return the values of a model's lines (rows, lines) at rows of features."""
    lines = fit.lines
    coef = np.array([list(line.coef.values()) for line in lines])
    return rows @ coef.T + np.array([line.intercept for line in lines])


def limited(rows: FloatArray, limits: Mapping[str, tuple[float, float]]) -> FloatArray:
    """Return rows with values brought to the limits of their columns; warn where there were any."""
    low, high = np.array(list(limits.values())).reshape(-1, 2).T
    beyond = (rows < low) | (rows > high)
    if not beyond.any():
        return rows
    column = list(limits)[int(np.argmax(beyond.sum(axis=0)))]
    warn_caller(
        f"{int(beyond.any(axis=1).sum())} of {len(rows)} rows lie further outside the training "
        f"rows than these are wide, most often in column {column!r}; they are predicted as at that "
        "limit (limit=False lets lines go on)."
    )
    return np.clip(rows, low, high)


def check_rows(X: Any, features: Sequence[str]) -> FloatArray:
    """Return rows as an array whose columns are the features."""
    if is_table(X):
        columns = to_columns(X, "X")
        absent = [name for name in features if name not in columns]
        if absent:
            raise DataError(f"X lacks column {absent[0]!r}; the model needs {quoted(features)}.")
        rows = np.stack([np.asarray(columns[name], dtype=np.float64) for name in features], axis=1)
    else:
        rows = np.atleast_2d(np.asarray(X, dtype=np.float64))
    if rows.shape[1] != len(features):
        raise DataError(
            f"X has {rows.shape[1]} columns, but the model has {len(features)} features: "
            f"{quoted(features)}; pass a frame to have columns found by name."
        )
    if not np.isfinite(rows).all():
        raise DataError("X has missing or infinite values; fill or drop these rows first.")
    return rows
