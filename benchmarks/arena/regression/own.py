"""conjoin on the regression side: its predictions, other partition methods, best average.

A fitted `conjoin.Partition` and a task enter; predictions of the test rows leave.
"""

import warnings

import numpy as np

import conjoin
from benchmarks.arena.data import ArenaSet, FloatArray, Split, Task, row_weights
from benchmarks.arena.hindsight import least_loss
from benchmarks.arena.side import used_columns

# conjoin's name of the method that joins by unbiased risk (Mallows' Cp). The stored results call
# this contestant "mallows"; this is the only place that connects the two names.
UNBIASED_RISK = "risk"

# The paper's algorithm takes 1,000 resamples; 200 keep a fit with 24 groups at about a minute.
_PAPER: dict[str, object] = {"method": "tuned", "resamples": 200, "overparametrised": True}

# Contestant in the stored results, and the arguments of `conjoin.partition` that make it.
METHODS: dict[str, dict[str, object]] = {
    "chow": {"method": "chow"},
    "bic": {"method": "bic"},
    "kmeans": {"method": "kmeans"},
    "mallows": {"method": UNBIASED_RISK},
    "paper-signed": _PAPER,
    "paper-literal": {**_PAPER, "rule": "literal"},
}


def predict(result: conjoin.Partition, strategy: str, task: Task) -> FloatArray:
    """Return conjoin's predictions of the test rows under one strategy."""
    chosen = result.using(strategy)
    groups = task.groups_test.astype(str)
    X = task.X_test[:, used_columns(result)]
    prediction = np.empty(len(groups))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", conjoin.ConjoinWarning)
        for name in np.unique(groups):
            rows = groups == name
            prediction[rows] = chosen.predict(X[rows], name)
    return prediction


def best_average(data: ArenaSet, split: Split, predictions: FloatArray) -> FloatArray:
    """Return the average (test rows,) of strategies that has the least error on the test rows.

    Parameters
    ----------
    data, split
        The set and its split.
    predictions : array (S, n)
        Predictions of S strategies for the n test rows.
    """
    y = data.y[split.test].astype(np.float64)
    weights = best_weights(predictions, y, row_weights(data.groups[split.test]))
    return np.asarray(weights @ predictions)


def best_weights(predictions: FloatArray, y: FloatArray, share: FloatArray) -> FloatArray:
    """Return the weights (S,) of predictions (S, n) with the least mean squared error.

    `share` (n,) is how much the loss of each row counts. Weights are not negative and add up to 1.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([1.0, 2.0])
    >>> best_weights(np.array([y + 1, y - 1]), y, np.full(2, 0.5)).round(2).tolist()
    [0.5, 0.5]
    """
    scale = float(share @ (y - share @ y) ** 2)  # makes the loss free of the target's units
    scale = scale if scale > 0 else 1.0

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        residual = weights @ predictions - y
        value = float(share @ residual**2) / scale
        return value, 2 * (predictions @ (share * residual)) / scale

    return least_loss(loss, len(predictions))
