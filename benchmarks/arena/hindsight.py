"""Averages of conjoin's strategies with weights that are chosen on the test rows.

`least_loss` finds weights, given the loss of an average; each side says what an average and its
loss are. `benchmarks.arena.ceiling` uses them to bound what a better choice could bring.
"""

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from benchmarks.arena.data import FloatArray


def least_loss(
    loss: Callable[[FloatArray], tuple[float, FloatArray]], strategies: int
) -> FloatArray:
    """Return the weights (S,), positive and with sum 1, that have the least loss.

    Parameters
    ----------
    loss : callable
        Returns the loss of weights (S,) and its gradient (S,).
    strategies : int
        Number S of strategies.
    """

    def objective(theta: FloatArray) -> tuple[float, FloatArray]:
        weights = softmax(theta)
        value, gradient = loss(weights)
        return value, weights * (gradient - weights @ gradient)

    found = minimize(objective, np.zeros(strategies), jac=True, method="L-BFGS-B")
    return np.asarray(softmax(found.x))
