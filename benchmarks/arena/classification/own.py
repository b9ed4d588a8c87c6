"""conjoin on the classification side: its probabilities, and the best average of strategies.

A fitted `conjoin.Partition` and a task enter; probabilities of the test rows leave, one column for
every class of the training rows in sorted order.
"""

import warnings

import numpy as np
from scipy.special import logsumexp, softmax

import conjoin
from benchmarks.arena.classification.measure import SMALLEST, training_classes
from benchmarks.arena.data import ArenaSet, FloatArray, Split, Task, row_weights
from benchmarks.arena.hindsight import least_loss
from benchmarks.arena.side import used_columns


def predict(result: conjoin.Partition, strategy: str, task: Task) -> FloatArray:
    """Return conjoin's probabilities of the test rows under one strategy."""
    X = task.X_test[:, used_columns(result)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", conjoin.ConjoinWarning)
        answer = result.using(strategy).predict_proba(X, task.groups_test.astype(str))
    return np.asarray(answer)[:, np.argsort(np.array(result.classes).astype(str))]


def best_average(data: ArenaSet, split: Split, probabilities: FloatArray) -> FloatArray:
    """Return the average (test rows, classes) of strategies with the least log loss on test rows.

    Strategies are averaged as in `auto`: by their coefficients, hence by logarithms of their
    probabilities.

    Parameters
    ----------
    data, split
        The set and its split.
    probabilities : array (S, n, C)
        Probabilities of S strategies for the n test rows.
    """
    logs = np.log(np.clip(probabilities, SMALLEST, 1.0))
    classes = training_classes(data, split).astype(str)
    seen = (data.y[split.test].astype(str)[:, None] == classes).astype(np.float64)
    known = seen.any(axis=1)
    share = row_weights(data.groups[split.test][known])
    weights = best_weights(logs[:, known], seen[known], share)
    return np.asarray(softmax(np.tensordot(weights, logs, axes=1), axis=1))


def best_weights(logs: FloatArray, seen: FloatArray, share: FloatArray) -> FloatArray:
    """Return the weights (S,) of strategies with the least mean log loss.

    An average of coefficients is an average of log probabilities, up to a constant of the row.

    Parameters
    ----------
    logs : array (S, n, C)
        Logarithms of the probabilities of rows.
    seen : array (n, C)
        One in the column of a row's class.
    share : array (n,)
        How much the loss of each row counts.

    Examples
    --------
    >>> import numpy as np
    >>> good, bad = np.log([[0.9, 0.1]]), np.log([[0.1, 0.9]])
    >>> best_weights(np.stack([good, bad]), np.array([[1.0, 0.0]]), np.ones(1)).round(2).tolist()
    [1.0, 0.0]
    """

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        scores = np.tensordot(weights, logs, axes=1)
        total = logsumexp(scores, axis=1)
        value = share @ (total - np.sum(seen * scores, axis=1))
        push = share[:, None] * (np.exp(scores - total[:, None]) - seen)
        return float(value), np.tensordot(logs, push, axes=2)

    return least_loss(loss, len(logs))
