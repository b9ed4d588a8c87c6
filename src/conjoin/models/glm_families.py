"""Distributions of classes and counts: their loss, its derivatives, and class probabilities.

Enters: targets y and linear predictors eta of rows. Leaves: the loss of each row and its first and
second derivative by eta. `family_of` finds the distribution that belongs to a `Response`.

==========  ====================================================================  ============
symbol      meaning                                                               shape
==========  ====================================================================  ============
m           linear predictors of a row: 1, or the number of classes less one
eta         linear predictors; without the last axis where m = 1                  (K, n, m)
g           derivative of the loss of a row by eta: predicted mean less y         (K, n, m)
v           second derivative                                                     (K, n, m, m)
V           contrasts of C classes, orthonormal and orthogonal to ones; m = C-1   (C, m)
==========  ====================================================================  ============

**Classes.** The scores of C classes are V eta, so no class is the reference. V keeps lengths.
A ridge on the coefficients of eta is therefore the ridge on the classes' own coefficients, and the
fit equals the usual symmetric multinomial regression. Two classes are `BERNOULLI`; its coefficients
are log-odds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import xlogy

from conjoin._typing import FloatArray
from conjoin.families import Response

# exp overflows above 709.78; 1 / (1 + exp(700)) is about 1e-304, still an ordinary number.
LARGEST_EXPONENT = 700.0
# Above this eta (a mean of 1e13) the Poisson mean grows linearly, so that a step that is too long
# cannot overflow. Real counts stay far below; a smaller bound would bend fits of large counts.
LARGEST_COUNT_LOG = 30.0
# Below this eta (a mean of 1e-87) the variance stays what it is: Pearson's statistic divides by it.
LEAST_COUNT_LOG = -200.0


class RowDerivatives(NamedTuple):
    """Derivatives of the loss by eta at every row: g and v of the module's table.

    For m = 1 both have the shape of eta, (K, n); else (K, n, m) and (K, n, m, m).
    """

    gradient: FloatArray
    curvature: FloatArray

    def total_curvature(self) -> FloatArray:
        """Return the curvature of each row (K, n), summed over its linear predictors."""
        v = self.curvature
        trace: FloatArray = v if v.ndim == 2 else np.trace(v, axis1=-2, axis2=-1)
        return trace


@dataclass(frozen=True)
class GlmFamily:
    """A distribution with its canonical link; the loss is minus the log-likelihood, up to y.

    Both functions take y (..., n) and eta, (..., n) for m = 1, else (..., n, m). `loss` returns
    (..., n). `m` is the number of linear predictors. `free_dispersion` says whether the variance of
    rows may differ from that of the distribution by a common factor, as it may for counts.
    """

    name: str
    m: int
    loss: Callable[[FloatArray, FloatArray], FloatArray]
    derivatives: Callable[[FloatArray, FloatArray], RowDerivatives]
    free_dispersion: bool = False

    def __reduce__(self) -> Any:
        """Pickle by name: the multinomial functions are closures, which pickle refuses."""
        if self.name == "multinomial":
            return multinomial, (self.m + 1,)
        return _by_name, (self.name,)


def _by_name(name: str) -> GlmFamily:
    """Return the family with one linear predictor that has this name."""
    return {"bernoulli": BERNOULLI, "poisson": POISSON}[name]


def _bernoulli_loss(y: FloatArray, eta: FloatArray) -> FloatArray:
    """Return the log loss (..., n) of two classes."""
    loss: FloatArray = np.log1p(np.exp(-np.abs(eta))) + np.maximum(eta, 0.0) - y * eta
    return loss


def _bernoulli(y: FloatArray, eta: FloatArray) -> RowDerivatives:
    """Return the derivatives of the log loss of two classes."""
    mean = _logistic(eta)
    return RowDerivatives(mean - y, mean * (1 - mean))


def _logistic(eta: FloatArray) -> FloatArray:
    """Return 1 / (1 + exp(-eta)) in one array, without overflow."""
    mean = np.minimum(-eta, LARGEST_EXPONENT)
    np.exp(mean, out=mean)
    mean += 1
    return np.divide(1, mean, out=mean)


def _poisson_loss(y: FloatArray, eta: FloatArray) -> FloatArray:
    """Return half the deviance (..., n); it is never negative, so ratios of errors make sense."""
    beyond = np.maximum(eta - LARGEST_COUNT_LOG, 0.0)
    loss: FloatArray = np.exp(eta - beyond) * (1 + beyond * (1 + beyond / 2)) - y * eta
    return loss + (xlogy(y, y) - y)


def _poisson(y: FloatArray, eta: FloatArray) -> RowDerivatives:
    """Return the derivatives of half the deviance."""
    beyond = np.maximum(eta - LARGEST_COUNT_LOG, 0.0)
    variance = np.exp(np.maximum(eta - beyond, LEAST_COUNT_LOG))
    return RowDerivatives(variance * (1 + beyond) - y, variance)


BERNOULLI = GlmFamily("bernoulli", 1, _bernoulli_loss, _bernoulli)
POISSON = GlmFamily("poisson", 1, _poisson_loss, _poisson, free_dispersion=True)


def contrasts(classes: int) -> FloatArray:
    """Return V (C, m), m = C - 1: Helmert's contrasts, each class against the mean of those before.

    >>> contrasts(3).round(3)
    array([[-0.707, -0.408],
           [ 0.707, -0.408],
           [ 0.   ,  0.816]])
    """
    before = np.arange(1.0, classes)
    V = np.where(np.arange(classes)[:, None] < before, -1.0, 0.0)
    V[np.arange(1, classes), np.arange(classes - 1)] = before
    scaled: FloatArray = V / np.sqrt(before * (before + 1))
    return scaled


def multinomial(classes: int) -> GlmFamily:
    """Return the family of C = 3 or more classes; y holds the class number, 0 to C-1."""
    V = contrasts(classes)
    products = (V[:, :, None] * V[:, None, :]).reshape(classes, -1)

    def loss(y: FloatArray, eta: FloatArray) -> FloatArray:
        scores = _class_scores(V, eta)
        largest = scores.max(axis=0)
        total = np.log(np.exp(scores - largest).sum(axis=0))
        own = np.take_along_axis(scores, y.astype(np.intp).reshape(1, -1), axis=0)[0]
        value: FloatArray = (total + largest - own).reshape(y.shape)
        return value

    def derivatives(y: FloatArray, eta: FloatArray) -> RowDerivatives:
        probability = _softmax(_class_scores(V, eta))
        q = V.T @ probability
        curvature = (products.T @ probability).reshape(classes - 1, *q.shape)
        curvature -= q[:, None] * q
        q -= V.T[:, y.astype(np.intp).ravel()]
        return RowDerivatives(
            np.moveaxis(q.reshape(-1, *y.shape), 0, -1),
            np.moveaxis(curvature.reshape(*eta.shape[-1:] * 2, *y.shape), (0, 1), (-2, -1)),
        )

    return GlmFamily("multinomial", classes - 1, loss, derivatives)


def _class_scores(V: FloatArray, eta: FloatArray) -> FloatArray:
    """Return scores (C, N) of all rows; with classes in front, sums over them run along rows."""
    scores: FloatArray = V @ eta.reshape(-1, V.shape[1]).T
    return scores


def _softmax(scores: FloatArray) -> FloatArray:
    """Return the probability of each class (C, N) for scores (C, N)."""
    probability = scores - scores.max(axis=0)
    np.exp(probability, out=probability)
    probability /= probability.sum(axis=0)
    return probability


def probabilities(family: GlmFamily, eta: FloatArray) -> FloatArray:
    """Return the probability of each class (..., n, C) at linear predictors eta.

    >>> probabilities(BERNOULLI, np.array([0.0]))
    array([[0.5, 0.5]])
    """
    if family.m == 1:
        return np.stack([_logistic(-eta), _logistic(eta)], axis=-1)
    probability = _softmax(_class_scores(contrasts(family.m + 1), eta))
    return np.moveaxis(probability.reshape(-1, *eta.shape[:-1]), 0, -1)


def family_of(response: Response) -> GlmFamily | None:
    """Return the distribution of a target; None for numbers, which least squares fits.

    >>> family_of(Response("logistic", ("no", "yes"))).name
    'bernoulli'
    >>> family_of(Response()) is None
    True
    """
    if response.family == "gaussian":
        return None
    if response.family == "poisson":
        return POISSON
    return BERNOULLI if len(response.classes) == 2 else multinomial(len(response.classes))
