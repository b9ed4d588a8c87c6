"""Fitted models as users get them: plain values in the units of the data, which predict rows.

Coefficients in working coordinates enter (`model_of`), a `LinearFit` or `LogisticFit` leaves. Rows
of features enter its `predict`, predictions leave.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from conjoin._typing import AnyArray, FloatArray
from conjoin.errors import DataError, warn_caller
from conjoin.families import Label, Response, expected, most_likely, softmax
from conjoin.models.glm_families import contrasts
from conjoin.moments import Basis
from conjoin.tables.columns import to_columns
from conjoin.tables.frame import is_table
from conjoin.text import quoted

Limits: TypeAlias = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class LinearFit:
    """A linear model: prediction = intercept + sum of coefficient * column.

    Parameters
    ----------
    intercept : float
        Prediction where all columns are zero.
    coef : mapping of column to float
        What a unit of each column adds.
    rows : int
        Rows that it was fitted to.
    error : float
        Estimated error on new rows, averaged over the datasets that use the model: mean squared
        error, for counts half the mean deviance. Infinite if there are too few rows to say.
    limits : mapping of column to (float, float), optional
        Range of each column over all training rows, widened by its own width on either side. A
        value beyond it is predicted as at the limit: no row supports the line there.
    family : "gaussian" or "poisson"
        For "poisson" the line is the logarithm of the expected count.

    Examples
    --------
    >>> LinearFit(1.0, {"x": 2.0}, rows=50, error=0.1).predict({"x": [0.0, 3.0]})
    array([1., 7.])
    """

    intercept: float
    coef: Mapping[str, float]
    rows: int
    error: float
    limits: Limits = field(default_factory=dict, repr=False)
    family: str = field(default="gaussian", repr=False)

    def predict(self, X: Any, *, limit: bool = True) -> FloatArray:
        """Predict rows.

        Parameters
        ----------
        X : frame, mapping of columns, or array (rows, columns)
            Columns are found by name; those of an array come in the order of `coef`.
        limit : bool, default True
            Whether columns are kept within `limits`. False allows extrapolation beyond them.

        Returns
        -------
        array (rows,)

        Raises
        ------
        DataError
            If X lacks a column, or has missing or infinite values.
        """
        return expected(_linear_predictors(self, X, limit), Response(self.family))

    @property
    def lines(self) -> tuple["LinearFit", ...]:
        """The linear predictors of the model: itself."""
        return (self,)


@dataclass(frozen=True)
class LogisticFit:
    """A logistic regression.

    Parameters
    ----------
    classes : tuple of labels
        The classes, in the order of `predict_proba`.
    lines : tuple of LinearFit
        Two classes have one line, the log-odds of the second class. More classes have one line
        each; they sum to zero, and probabilities are proportional to their exponentials.
    rows : int
        Rows that it was fitted to.
    error : float
        Estimated log loss on new rows, averaged over the datasets that use the model.

    Examples
    --------
    >>> line = LinearFit(0.0, {"x": 1.0}, rows=50, error=0.5)
    >>> model = LogisticFit(("no", "yes"), (line,), rows=50, error=0.5)
    >>> model.predict_proba({"x": [0.0, 2.0]}).round(2).tolist()
    [[0.5, 0.5], [0.12, 0.88]]
    >>> model.predict({"x": [-1.0, 2.0]}).tolist()
    ['no', 'yes']
    """

    classes: tuple[Label, ...]
    lines: tuple[LinearFit, ...]
    rows: int
    error: float

    @property
    def intercept(self) -> float | dict[str, float]:
        """Intercept of the log-odds; with more than two classes by class."""
        if len(self.lines) == 1:
            return self.lines[0].intercept
        return {str(label): line.intercept for label, line in zip(self.classes, self.lines)}

    @property
    def coef(self) -> dict[str, float]:
        """Coefficients by column; with more than two classes by "class: column"."""
        if len(self.lines) == 1:
            return dict(self.lines[0].coef)
        return {
            f"{label}: {column}": value
            for label, line in zip(self.classes, self.lines)
            for column, value in line.coef.items()
        }

    @property
    def limits(self) -> Limits:
        """How far beyond the training rows the lines are followed, as in `LinearFit`."""
        return self.lines[0].limits

    def predict_proba(self, X: Any, *, limit: bool = True) -> FloatArray:
        """Return the probability of each class (rows, classes); arguments as in `LinearFit`."""
        return softmax(_linear_predictors(self, X, limit))

    def predict(self, X: Any, *, limit: bool = True) -> AnyArray:
        """Return the most likely class of each row (rows,); arguments as in `LinearFit`."""
        return most_likely(self.predict_proba(X, limit=limit), self.classes)


Fit: TypeAlias = LinearFit | LogisticFit


def model_of(
    beta: FloatArray,
    basis: Basis,
    response: Response,
    features: Sequence[str],
    rows: int,
    error: float,
    limits: Limits,
) -> Fit:
    """Return a model in the units of the data, from coefficients (p,) in working coordinates."""
    intercept, slopes = lines_of(beta, basis, response)
    return fit_of_lines(intercept, slopes, response, features, rows, error, limits)


def lines_of(beta: FloatArray, basis: Basis, response: Response) -> tuple[FloatArray, FloatArray]:
    """Return intercepts (..., lines) and slopes (..., lines, features) in the units of the data.

    Coefficients (..., p) in working coordinates enter; those of C > 2 classes are contrasts.
    """
    C = len(response.classes)
    if C > 2:
        scores = beta.reshape(*beta.shape[:-1], -1, C - 1) @ contrasts(C).T
        return basis.to_original(np.swapaxes(scores, -1, -2))
    intercept, slopes = basis.to_original(beta)
    return np.asarray(intercept)[..., None], slopes[..., None, :]


def fit_of_lines(
    intercept: FloatArray,
    slopes: FloatArray,
    response: Response,
    features: Sequence[str],
    rows: int,
    error: float,
    limits: Limits,
) -> Fit:
    """Return a model from intercepts (lines,) and slopes (lines, features)."""
    kind = "gaussian" if response.classes else response.family
    lines = tuple(
        LinearFit(float(one), dict(zip(features, map(float, own))), rows, error, limits, kind)
        for one, own in zip(intercept, slopes)
    )
    return LogisticFit(response.classes, lines, rows, error) if response.classes else lines[0]


def _linear_predictors(fit: Fit, X: Any, limit: bool) -> FloatArray:
    """Return the values of a model's lines (rows, lines); warn of rows beyond the limits."""
    rows = check_rows(X, list(fit.lines[0].coef))
    if limit and fit.limits:
        rows, beyond = limited(rows, fit.limits)
        if beyond.any():
            warn_caller(beyond_limits(beyond, fit.limits))
    return linear_predictors(fit, rows)


def linear_predictors(fit: Fit, rows: FloatArray) -> FloatArray:
    """Return the values of a model's lines (rows, lines) at rows of features."""
    coef = np.array([list(line.coef.values()) for line in fit.lines])
    return rows @ coef.T + np.array([line.intercept for line in fit.lines])


def limited(rows: FloatArray, limits: Limits) -> tuple[FloatArray, AnyArray]:
    """Return rows brought within the limits of their columns, and which values were beyond."""
    low, high = np.array(list(limits.values())).reshape(-1, 2).T
    beyond = (rows < low) | (rows > high)
    return np.clip(rows, low, high) if beyond.any() else rows, beyond


def beyond_limits(beyond: AnyArray, limits: Limits) -> str:
    """Say how many rows lie beyond the limits, from which values (rows, columns) do."""
    return beyond_sentence(
        int(beyond.any(axis=1).sum()), len(beyond), list(limits)[int(np.argmax(beyond.sum(axis=0)))]
    )


def beyond_sentence(count: int, rows: int, column: str) -> str:
    """Say how many rows lie beyond the limits, most often in one column."""
    return (
        f"{count:,} of {rows:,} rows lie far outside the training range (by more than its width), "
        f"most often in column {column!r}; they are predicted as at that limit. limit=False allows "
        "extrapolation."
    )


def _numbers(values: Any, what: str) -> FloatArray:
    """Return values as numbers; `what` names them in the message if they are none."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        text = str(error).rstrip(".")
        raise DataError(f"{what} does not hold numbers ({text}); pass numbers.") from None


def check_rows(X: Any, features: Sequence[str]) -> FloatArray:
    """Return rows as an array whose columns are the features."""
    if is_table(X):
        columns = to_columns(X, "X")
        absent = [name for name in features if name not in columns]
        if absent:
            raise DataError(f"X lacks column {absent[0]!r}; the model needs {quoted(features)}.")
        rows = np.stack([_numbers(columns[name], repr(name)) for name in features], axis=1)
    else:
        rows = np.atleast_2d(_numbers(X, "X"))
    if rows.ndim > 2:
        raise DataError(f"X has {rows.ndim} dimensions; expected rows and columns.")
    if rows.shape[1] != len(features):
        raise DataError(
            f"X has {rows.shape[1]} columns, but the model has {len(features)} features: "
            f"{quoted(features)}; pass a frame to have columns found by name."
        )
    if not np.isfinite(rows).all():
        raise DataError("X has missing or infinite values; fill or drop these rows first.")
    return rows
