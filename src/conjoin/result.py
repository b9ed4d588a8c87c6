"""What users get back: frozen objects with plain values in the units of their data."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from conjoin._typing import FloatArray
from conjoin.errors import ConjoinWarning, DataError
from conjoin.grouping import Merge
from conjoin.tables.columns import is_table, to_columns


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
        Estimated mean squared error on new rows, averaged over the datasets it serves; infinite
        where there are too few rows to tell.
    limits : mapping of column to (float, float)
        Range of a column over all training rows, widened by its own width on either side. A value
        beyond it is predicted as at the limit: there a line says nothing, and one wild value would
        give a wild prediction.
    """

    intercept: float
    coef: Mapping[str, float]
    rows: int
    error: float
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict, repr=False)

    def predict(self, X: Any, *, limit: bool = True) -> FloatArray:
        """Predict rows: a frame or mapping by column names, an array in the order of `coef`.

        With limit=False lines go on beyond `limits`.
        """
        rows = _rows(X, list(self.coef))
        if limit and self.limits:
            rows = limited(rows, self.limits)
        prediction: FloatArray = rows @ np.array(list(self.coef.values()))
        return prediction + self.intercept


@dataclass(frozen=True)
class Comparison:
    """Whether two datasets should be joined, how sure that is, and why.

    Parameters
    ----------
    verdict : "join", "apart" or "undecided"
        What is shown at level `delta`, with unequal noise allowed: "join" is wrong with
        probability at most delta for the gain given the rows' features, "apart" for the gain
        expected over new ones.
    join : bool
        The point decision of the method: `score` is above `threshold`.
    gain : float
        Estimated fall of the out-of-sample error when the two are joined (mean squared error,
        averaged over the two).
    interval : (float, float)
        For the gain; each end holds with confidence 1 - delta.
    delta : float
    rows_to_settle : float or None
        For an undecided pair: by what factor both datasets would have to grow for a verdict; None
        if a thousandfold would not do.
    score, threshold : float
        The method's score of the pair.
    phi, psi : float
        The two sides of the paper's inequality (nan for methods without them); for
        method="tuned" their medians over the final resamples.
    alpha : float
        The value that stands for log(1/delta) in phi and psi.
    method : str
    fit_a, fit_b, fit_joined : LinearFit
        The two separate models and the joint one, on all rows.
    error_separate, error_joined : float
        Estimated out-of-sample error, averaged over the two datasets, of the separate models and
        of the joint one.
    """

    verdict: str
    join: bool
    gain: float
    interval: tuple[float, float]
    delta: float
    rows_to_settle: float | None
    score: float
    threshold: float
    phi: float
    psi: float
    alpha: float
    method: str
    fit_a: LinearFit
    fit_b: LinearFit
    fit_joined: LinearFit
    error_separate: float
    error_joined: float


@dataclass(frozen=True)
class Estimate:
    """Validated error of a strategy.

    Parameters
    ----------
    error : float
        Mean squared error on left-out rows, averaged over datasets.
    behind : float
        How much larger that is than the best strategy's.
    standard_error : float
        Standard error of `behind`, from differences paired by dataset (by dataset and fold where
        datasets are fewer than eight); 0 for the best strategy itself.
    """

    error: float
    behind: float
    standard_error: float


@dataclass(frozen=True)
class MergeVerdict:
    """One line of the ledger: two groups of datasets and what is known of joining them.

    `verdict`, `gain` and `interval` are as in `Comparison`; the level holds for a pair chosen
    beforehand, not for the best of many, so read them as a guide here. Ledgers of more than 200
    steps leave the intervals out (nan).
    """

    left: tuple[str, ...]
    right: tuple[str, ...]
    joined: bool
    verdict: str
    gain: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class Partition:
    """Which datasets to train together, and what each way of sharing them is worth.

    Parameters
    ----------
    clusters : list of lists of str
        Dataset names, clusters in the order of their first dataset.
    labels : mapping of dataset name to int
        Position of its cluster in `clusters`.
    models : list of LinearFit
        One model a cluster, fitted to all its rows.
    strategy : str
        The strategy behind `coefficients`.
    coefficients : mapping of dataset name to LinearFit
        The model of each dataset under the strategy; `error` is its validated error.
    method, grouping : str
        What found the clusters.
    features : tuple of str
        Columns used.
    """

    clusters: list[list[str]]
    labels: dict[str, int]
    models: list[LinearFit]
    strategy: str
    coefficients: dict[str, LinearFit] = field(repr=False)
    method: str
    grouping: str
    features: tuple[str, ...]
    _weights: Callable[[], dict[str, float]] = field(repr=False, compare=False)
    _errors: Callable[[], dict[str, Estimate]] = field(repr=False, compare=False)
    _history: Callable[[], tuple[Merge, ...]] = field(repr=False, compare=False)
    _verdicts: Callable[[tuple[Merge, ...]], tuple[MergeVerdict, ...]] = field(
        repr=False, compare=False
    )
    _using: "Callable[[str], Partition]" = field(repr=False, compare=False)

    def using(self, strategy: str) -> "Partition":
        """Return the same result with the models of another strategy; nothing is fitted again."""
        return self._using(strategy)

    @cached_property
    def weights(self) -> dict[str, float]:
        """Shares of the strategies in "auto"."""
        return self._weights()

    @cached_property
    def errors(self) -> dict[str, Estimate]:
        """Validated error of every strategy; for "clusters" with the partition found anew.

        Where a partition cannot be found anew from part of the rows (the paper's methods, a ready
        criterion, "validated") it is kept as it is, which flatters "clusters".
        """
        return self._errors()

    @cached_property
    def history(self) -> tuple[Merge, ...]:
        """The steps to the clusters: joins, and the best joins that were refused."""
        return self._history()

    @cached_property
    def verdicts(self) -> tuple[MergeVerdict, ...]:
        """The ledger: a verdict on every step of the history."""
        return self._verdicts(self.history)

    @property
    def cluster_cost(self) -> float:
        """By what share the error of hard clusters exceeds that of "auto"; negative if lower."""
        return self.errors["clusters"].error / self.errors["auto"].error - 1

    def predict(self, name: str, X: Any) -> FloatArray:
        """Predict rows of one dataset under the strategy: a frame, or an array (n, features)."""
        if str(name) not in self.coefficients:
            known = list(self.coefficients)
            raise DataError(
                f"Dataset {name!r} was not there at fitting; known are {known[:5]}"
                f"{' and more' if len(known) > 5 else ''}."
            )
        return self.coefficients[str(name)].predict(X)


def limited(rows: FloatArray, limits: Mapping[str, tuple[float, float]]) -> FloatArray:
    """Return rows with values brought to the limits of their columns; warn where there were any."""
    low, high = np.array(list(limits.values())).reshape(-1, 2).T
    beyond = (rows < low) | (rows > high)
    if not beyond.any():
        return rows
    column = list(limits)[int(np.argmax(beyond.sum(axis=0)))]
    warnings.warn(
        f"{int(beyond.any(axis=1).sum())} of {len(rows)} rows lie further outside the training "
        f"rows than these are wide, most often in column {column!r}; they are predicted as at that "
        "limit (limit=False lets lines go on).",
        ConjoinWarning,
        stacklevel=4,
    )
    return np.clip(rows, low, high)


def _rows(X: Any, features: list[str]) -> FloatArray:
    """Return rows as an array whose columns are the features."""
    if is_table(X):
        columns = to_columns(X, "X")
        absent = [name for name in features if name not in columns]
        if absent:
            raise DataError(f"X lacks column {absent[0]!r}; the model needs {features}.")
        rows = np.stack([np.asarray(columns[name], dtype=np.float64) for name in features], axis=1)
    else:
        rows = np.atleast_2d(np.asarray(X, dtype=np.float64))
    if rows.shape[1] != len(features):
        raise DataError(
            f"X has {rows.shape[1]} columns, but the model has {len(features)}: {features}; pass "
            "a frame to have columns found by name."
        )
    if not np.isfinite(rows).all():
        raise DataError("X has missing or infinite values; fill or drop these rows first.")
    return rows
