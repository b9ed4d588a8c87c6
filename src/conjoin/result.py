"""What users get back: frozen objects with plain values in the units of their data."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from conjoin._typing import FloatArray
from conjoin.grouping import Merge


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
        Estimated mean squared error on new rows, averaged over the datasets it was fitted to;
        infinite where there are too few rows to tell.
    """

    intercept: float
    coef: Mapping[str, float]
    rows: int
    error: float

    def predict(self, X: FloatArray) -> FloatArray:
        """Predict rows of an array whose columns are in the order of `coef`."""
        prediction: FloatArray = np.asarray(X) @ np.array(list(self.coef.values()))
        return prediction + self.intercept


@dataclass(frozen=True)
class Comparison:
    """Whether two datasets should be joined, and why.

    Parameters
    ----------
    join : bool
        The decision: `score` is above `threshold`.
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

    join: bool
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
class Partition:
    """Which datasets to train together.

    Parameters
    ----------
    clusters : list of lists of str
        Dataset names, clusters in the order of their first dataset.
    labels : mapping of dataset name to int
        Position of its cluster in `clusters`.
    history : tuple of Merge
        The steps taken, each with the two groups of names and the criterion's result.
    models : list of LinearFit
        One model a cluster, fitted to all its rows.
    method, grouping : str
    features : tuple of str
        Columns used.
    """

    clusters: list[list[str]]
    labels: dict[str, int]
    history: tuple[Merge, ...]
    models: list[LinearFit]
    method: str
    grouping: str
    features: tuple[str, ...]
