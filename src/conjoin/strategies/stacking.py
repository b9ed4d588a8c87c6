"""Weights of an average of predictions, from their errors on held-out rows.

Predictions of held-out rows enter; non-negative weights that sum to one leave. They minimise the
loss of the weighted mean on the held-out rows (stacking: Wolpert 1992, Breiman 1996). Choosing the
best prediction would be one corner of that; an average of two that err differently is better than
both.

==========  ====================================================================  ============
symbol      meaning                                                               shape
==========  ====================================================================  ============
e_is        error of prediction s at held-out row i                               (n, S)
c_i         how much row i counts; sums to one                                    (n,)
H_u         sum of c_i e_i e_i' over the rows of unit u                           (U, S, S)
v           weights: minimise v' (sum of H_u) v, v >= 0, sum of v = 1             (S,)
==========  ====================================================================  ============

With few rows the minimum is a matter of luck. So the weights are averaged over `RESAMPLES` draws of
units with replacement: predictions between which the rows cannot decide share their weight. A unit
is a dataset, with few datasets a fold of a dataset. A likelihood is minimised by Newton's method:
its errors are working residuals around the average, which is then moved (`NEWTON_STEPS`).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import nnls

from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.families import Response, softmax
from conjoin.moments.made import slices
from conjoin.moments.resample import stream

# Newton steps for the weights of a likelihood, from the equal average on; more change little.
NEWTON_STEPS = 4
# Draws of units. The mean of 40 weights has a standard error of a sixth of their spread.
RESAMPLES = 40
# How closely weights sum to one: the constraint counts this many times the largest error.
FIRM = 1e4
# Share of the trace that is added to the diagonal, so that equal predictions share their weight.
RIDGE = 1e-6
# Least curvature of a row's loss, so that a row that is predicted with certainty does not divide
# by zero.
LEAST_CURVATURE = 1e-3
LARGEST_LOG = 30.0  # of a count; larger ones would overflow when squared


def cross_products(errors: FloatArray, counts: FloatArray, unit: IntArray) -> FloatArray:
    """Return H_u (U, S, S) of errors (n, S), row weights (n,) and units (n,)."""
    return _cross_products(lambda s: errors[:, s], errors.shape[1], counts, unit)


def _cross_products(
    error: Callable[[int], FloatArray], S: int, counts: FloatArray, unit: IntArray
) -> FloatArray:
    """Do the same where `error` returns the errors (n,) of one of S predictions."""
    U = int(unit.max(initial=-1)) + 1
    found = np.zeros((U, S, S))
    for s in range(S):
        own = counts * error(s)
        for t in range(s, S):
            found[:, s, t] = np.bincount(unit, own * error(t), minlength=U)
            found[:, t, s] = found[:, s, t]
    return found


@dataclass(frozen=True, eq=False)
class Kept:
    """Some rows (n,) of predictions, each (N, lines), taken when one is asked for."""

    predictions: Sequence[FloatArray]
    rows: "BoolArray | slice"

    def __len__(self) -> int:
        """Return the number of predictions."""
        return len(self.predictions)

    def __getitem__(self, s: int) -> FloatArray:
        """Return one prediction (n, lines)."""
        return self.predictions[s][self.rows]

    def __array__(self, dtype: Any = None, copy: Any = None) -> FloatArray:
        """Return all of them (S, n, lines)."""
        return np.stack([self[s] for s in range(len(self))])

    def mean(self, weights: FloatArray) -> FloatArray:
        """Return their mean (n, lines) by weights (S,)."""
        found: FloatArray = np.tensordot(weights, np.asarray(self), axes=1)
        return found


def find_weights(
    linear: "FloatArray | Kept",
    target: FloatArray,
    response: Response,
    counts: FloatArray,
    unit: IntArray,
    seed: int,
) -> FloatArray:
    """Return the weights (S,) of linear predictors (S, n, lines) of held-out rows.

    `counts` (n,) is how much every row counts, `unit` (n,) what is resampled together.
    """
    if response.family == "gaussian":  # many rows: no more errors than two columns at a time
        H = _cross_products(lambda s: target - linear[s][:, 0], len(linear), counts, unit)
        return stacked_weights(H, seed)
    linear = np.asarray(linear)
    lines = linear.shape[2] if response.classes else 1
    c: FloatArray = np.repeat(counts, lines)
    u: IntArray = np.repeat(unit, lines)
    weights = None
    for _ in range(NEWTON_STEPS):
        errors = working_errors(linear, target, response, weights)
        weights = stacked_weights(cross_products(errors, c, u), seed)
    assert weights is not None  # there is at least one step
    return weights


def find_weights_in_parts(
    predictions: Sequence[FloatArray],
    target: FloatArray,
    counts: FloatArray,
    unit: IntArray,
    kept: BoolArray,
    seed: int,
) -> FloatArray:
    """Do the same for numbers, with the rows (n,) that are kept of predictions (n, 1).

    Of many rows, some are gone through at a time, so that there are no copies of all of them.
    """
    H = np.zeros((int(unit.max(initial=-1, where=kept)) + 1, len(predictions), len(predictions)))
    for part in slices(len(target)):
        own = kept[part]
        y, some = target[part][own], [one[part][own][:, 0] for one in predictions]
        found = cross_products(
            y[:, None] - np.stack(some, axis=1), counts[part][own], unit[part][own]
        )
        H[: len(found)] += found
    return stacked_weights(H, seed)


def stacked_weights(H: FloatArray, seed: int) -> FloatArray:
    """Return the weights (S,) from cross-products of units (U, S, S), averaged over resamples.

    >>> e = np.tile([[1.0, 0.1], [-1.0, 0.1]], (20, 1))
    >>> stacked_weights(cross_products(e, np.ones(40), np.arange(40)), seed=0).round(1)
    array([0., 1.])
    """
    U = len(H)
    rng = stream(seed, "stacking", str(U))
    draws = [np.bincount(rng.integers(U, size=U), minlength=U) for _ in range(RESAMPLES)]
    weights = np.mean([_on_simplex(np.tensordot(draw, H, axes=1)) for draw in draws], axis=0)
    found: FloatArray = weights / weights.sum()
    return found


def share_of_total(total: FloatArray) -> float:
    """Return how far to go from a plain prediction towards a better one, between 0 and 1.

    `total` (U,) is by how much the loss of each unit falls. With G its sum and s the standard error
    of G over units, the share is G / s between 0 and 1: a gain of one standard error is taken
    entirely, half of one half-way, and a loss not at all. (G^2 / (G^2 + s^2) was worse on small
    tables.)

    >>> share_of_total(np.array([2.2, 1.8]))
    1.0
    """
    total = total / 2.0 ** np.frexp(np.abs(total).max())[1]  # gains of 1e240 have no squares
    G, U = float(total.sum()), len(total)
    error = math.sqrt(U * float(np.var(total, ddof=1))) if U > 1 else 0.0
    return G / error if 0 < G < error else float(G > 0)


def _on_simplex(H: FloatArray) -> FloatArray:
    """Minimise v'Hv over non-negative weights that sum to one."""
    S, trace = len(H), float(np.trace(H))
    if not trace > 0:
        return np.full(S, 1 / S)
    root = np.linalg.cholesky(H / trace + RIDGE * np.eye(S)).T
    A = np.vstack([root, np.full((1, S), FIRM)])
    found, _ = nnls(A, np.append(np.zeros(S), FIRM))
    weights: FloatArray = found / found.sum()
    return weights


def working_errors(
    linear: FloatArray, target: FloatArray, response: Response, weights: FloatArray | None = None
) -> FloatArray:
    """Return errors (n L, S) of linear predictors (S, n, lines), whose squares are the loss.

    For numbers these are residuals. A likelihood has the residuals of a Newton step around the
    average by `weights` (S,), by default the mean, times the root of the curvature there; rows of
    several lines have an error for each line.
    """
    if response.family == "gaussian":
        found: FloatArray = target[:, None] - linear[..., 0].T
        return found
    middle = linear.mean(axis=0) if weights is None else np.tensordot(weights, linear, axes=1)
    if response.classes:
        probability = softmax(middle)
        own = np.eye(len(response.classes))[target.astype(int)]
        if middle.shape[1] == 1:
            probability, own = probability[:, 1:], own[:, 1:]
        curvature = np.maximum(probability * (1 - probability), LEAST_CURVATURE)
        residual = own - probability
    else:
        mean = np.exp(np.clip(middle, -LARGEST_LOG, LARGEST_LOG))
        curvature = np.maximum(mean, LEAST_CURVATURE)
        residual = target[:, None] - mean
    errors = (residual / curvature - (linear - middle)) * np.sqrt(curvature)
    return errors.reshape(len(linear), -1).T
