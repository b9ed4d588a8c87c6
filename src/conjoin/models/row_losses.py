"""Losses of rows from linear predictors in the units of the data, for every family.

Linear predictors (n, lines) and targets (n,) enter; losses (n,) leave: squared errors, log losses
of classes, half the deviance of counts.
"""

import numpy as np

from conjoin._typing import FloatArray
from conjoin.families import Response, softmax
from conjoin.models.glm_families import POISSON

LEAST_PROBABILITY = 1e-300  # in place of zero, whose logarithm is infinite


def row_losses(linear: FloatArray, target: FloatArray, response: Response) -> FloatArray:
    """Return the loss (n,) of linear predictors (n, lines)."""
    if response.classes:
        share = softmax(linear)[np.arange(len(target)), target.astype(int)]
        loss: FloatArray = -np.log(np.maximum(share, LEAST_PROBABILITY))
        return loss
    if response.family == "poisson":
        return POISSON.loss(target, linear[:, 0])
    squares: FloatArray = (target - linear[:, 0]) ** 2
    return squares
