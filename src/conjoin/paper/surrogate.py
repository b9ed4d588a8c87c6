r"""Losses and the estimator of the paper's appendix "Classification".

Rows, classes and parameters enter; losses, subgradients and fitted parameters leave.

======  =========================================================================  ==========
symbol  meaning                                                                    shape
======  =========================================================================  ==========
X       features, rows x_i; a column of ones only if the caller puts one there     (n, p)
y       classes 0 .. C-1 (the paper counts from 1)                                 (n,)
beta    true parameters; in practice a ridge fit, see below                        (C, p)
b       parameters being trained (the paper's beta with a hat)                     (C, p)
lam     weight of the ridge term, lambda
gamma   width of the ramp g_gamma, at most the margin gamma0
eta     step sizes eta[k]                                                          (K,)
l_lam   cross entropy with ridge term, -log softmax(b x)_y + lam/2 sum_c |b_c|^2
l_lg    surrogate: sum_c |beta_c - b_c||x| - sum_c t_c g_gamma(s t_c)
        + log sum_c exp(b_c'x) + lam/2 sum_c |b_c|^2, with t_c = beta_c'x
s       +1 as printed (sign "literal"), -1 by default (sign "flipped")
======  =========================================================================  ==========

Sign. Assumption 1 gives the true class the *smallest* score: beta_c'x < 0, and > gamma0 for the
other classes. But softmax predicts the class with the largest score. "flipped" requires
beta_c'x > 0, and < -gamma0 for the others, so that a small loss means a correct prediction.
"literal" keeps what is printed. The ramp does not contain b: the sign changes the value of the
loss, never its subgradient.

Plug-in. The surrogate contains the true beta, which is unknown. `plug_in` replaces it by the
minimiser of the cross entropy with the same ridge term (negated for the literal sign). With the
flipped sign, that plug-in also minimises the surrogate on one dataset
(docs/classification-bounds.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from scipy.optimize import minimize

from conjoin._typing import FloatArray, IntArray
from conjoin.errors import ArgumentError

Sign: TypeAlias = Literal["flipped", "literal"]
ORIENTATION: dict[str, int] = {"flipped": -1, "literal": 1}
STEPS = 1000  # the paper leaves K open; as many as the iterations of Algorithm 2
# Limits and tolerances of the ridge fit, far below what any bound shows. The fit is convex and
# smooth; the limits only guard against an endless loop.
MOST_ITERATIONS, MOST_EVALUATIONS = 10_000, 20_000
VALUE_TOLERANCE, GRADIENT_TOLERANCE = 1e-16, 1e-9


def orientation(sign: Sign) -> int:
    """Return s, the sign of a score inside the ramp: -1 for "flipped", 1 for "literal"."""
    if sign not in ORIENTATION:
        raise ArgumentError(f"sign={sign!r} is unknown; expected 'flipped' or 'literal'.")
    return ORIENTATION[sign]


def step_sizes(steps: int = STEPS) -> FloatArray:
    """Return eta[k] = 1/k for k = 1 .. steps, the paper's example."""
    return 1.0 / np.arange(1, steps + 1)


def log_sum_exp(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log sum_c exp(scores_c) for each row (n,), and the softmax of each row (n, C)."""
    top = np.max(scores, axis=1, keepdims=True)
    weights = np.exp(scores - top)
    total = np.sum(weights, axis=1, keepdims=True)
    return (top + np.log(total))[:, 0], weights / total


def cross_entropy(b: FloatArray, X: FloatArray, y: IntArray, lam: float) -> float:
    """Return the mean over rows of l_lam, the cross entropy with ridge term.

    Examples
    --------
    >>> round(cross_entropy(np.zeros((4, 2)), np.eye(2), np.array([0, 3]), lam=1.0), 4)
    1.3863
    """
    return cross_entropy_and_gradient(b, X, y, lam)[0]


def cross_entropy_and_gradient(
    b: FloatArray, X: FloatArray, y: IntArray, lam: float
) -> tuple[float, FloatArray]:
    """Return the mean over rows of l_lam and its gradient (C, p) in b."""
    scores, rows = X @ b.T, np.arange(len(y))
    total, excess = log_sum_exp(scores)
    excess[rows, y] -= 1
    value = np.mean(total - scores[rows, y]) + lam / 2 * np.sum(b**2)
    return float(value), excess.T @ X / len(y) + lam * b


def ramp(t: FloatArray, gamma: float) -> FloatArray:
    """Return g_gamma(t): 1 below 0, 0 above gamma, and linear in between."""
    value: FloatArray = np.clip(1 - t / gamma, 0.0, 1.0)
    return value


def ramp_term(beta: FloatArray, X: FloatArray, gamma: float, sign: Sign = "flipped") -> FloatArray:
    """Return the part of l_lg without b, -sum_c t_c g_gamma(s t_c), for each row (n,)."""
    t = X @ beta.T
    rows: FloatArray = -np.sum(t * ramp(orientation(sign) * t, gamma), axis=1)
    return rows


def surrogate_rows(
    b: FloatArray,
    beta: FloatArray,
    X: FloatArray,
    lam: float,
    gamma: float,
    sign: Sign = "flipped",
) -> FloatArray:
    """Return l_lg for each row (n,); classes enter only through beta."""
    pull = np.linalg.norm(beta - b, axis=1).sum() * np.linalg.norm(X, axis=1)
    ridge = lam / 2 * np.sum(b**2)
    rows: FloatArray = pull + ramp_term(beta, X, gamma, sign) + log_sum_exp(X @ b.T)[0] + ridge
    return rows


def surrogate_loss(
    b: FloatArray,
    beta: FloatArray,
    X: FloatArray,
    lam: float,
    gamma: float,
    sign: Sign = "flipped",
) -> float:
    """Return the empirical surrogate loss, the mean of l_lg over rows."""
    return float(np.mean(surrogate_rows(b, beta, X, lam, gamma, sign)))


def loss_and_subgradient(
    b: FloatArray, beta: FloatArray, X: FloatArray, mean_norm: float, lam: float
) -> tuple[float, FloatArray]:
    """Return the mean of l_lg without its ramp term, and a subgradient (C, p) in b.

    The gradient of |beta_c - b_c| is (b_c - beta_c)/|b_c - beta_c|; the paper prints its negative.
    Where b_c = beta_c, 0 is a subgradient of it and is used. Neither gamma nor the sign enters.
    """
    away = b - beta
    length = np.linalg.norm(away, axis=1, keepdims=True)
    unit = np.divide(away, length, out=np.zeros_like(away), where=length > 0)
    total, probability = log_sum_exp(X @ b.T)
    value = mean_norm * np.sum(length) + np.mean(total) + lam / 2 * np.sum(b**2)
    return float(value), mean_norm * unit + probability.T @ X / len(X) + lam * b


@dataclass(frozen=True, eq=False)
class SubgradientFit:
    """The parameters of the best subgradient step, and the losses of all steps.

    Attributes
    ----------
    b : array, shape (C, p)
        Parameters with the smallest loss among the K steps.
    s : int
        Their step, counted from 1.
    losses : array, shape (K,)
        Loss at every step, summed over the datasets.
    """

    b: FloatArray
    s: int
    losses: FloatArray

    @property
    def loss(self) -> float:
        """The smallest loss of all steps."""
        return float(self.losses[self.s - 1])


def subgradient_estimator(
    samples: Sequence[tuple[FloatArray, FloatArray]],
    lam: float,
    gamma: float,
    eta: FloatArray | None = None,
    start: FloatArray | None = None,
    sign: Sign = "flipped",
) -> SubgradientFit:
    """Minimise the sum over datasets of empirical surrogate losses by the subgradient method.

    A step is `b[k+1] = b[k] - eta[k] g[k]` with g[k] a subgradient at b[k]. (The paper once writes
    b[k-1].)

    Parameters
    ----------
    samples : sequence of (X, beta)
        One pair for the estimator on a single dataset, two for the joint one.
    lam : float
        Weight of the ridge term.
    gamma : float
        Width of the ramp.
    eta : array, shape (K,), optional
        Step sizes; 1/k for 1,000 steps by default.
    start : array, shape (C, p), optional
        b[1]; zeros by default.
    sign : {"flipped", "literal"}, default "flipped"
        Sign of the scores inside the ramp.

    Returns
    -------
    SubgradientFit

    Raises
    ------
    ArgumentError
        If `sign` is unknown.

    Examples
    --------
    >>> X, beta = np.array([[1.0], [-1.0]]), np.array([[0.5], [-0.5]])
    >>> fit = subgradient_estimator([(X, beta)], lam=0.1, gamma=1.0)
    >>> bool(np.abs(fit.b - beta).max() < 0.01)
    True
    """
    eta = step_sizes() if eta is None else eta
    b = np.zeros_like(samples[0][1]) if start is None else start
    norms = [float(np.mean(np.linalg.norm(X, axis=1))) for X, _ in samples]
    fixed = sum(float(np.mean(ramp_term(beta, X, gamma, sign))) for X, beta in samples)
    losses = np.empty(len(eta))
    best, s = b, 1
    for k, step in enumerate(eta):
        parts = [
            loss_and_subgradient(b, beta, X, norm, lam) for (X, beta), norm in zip(samples, norms)
        ]
        losses[k] = fixed + sum(value for value, _ in parts)
        if losses[k] < losses[s - 1]:
            best, s = b, k + 1
        b = b - step * sum(subgradient for _, subgradient in parts)
    return SubgradientFit(best, s, losses)


def ridge_fit(X: FloatArray, y: IntArray, C: int, lam: float) -> FloatArray:
    """Return the minimiser (C, p) of the cross entropy with ridge term."""
    shape = (C, X.shape[1])

    def value(flat: FloatArray) -> tuple[float, FloatArray]:
        loss, gradient = cross_entropy_and_gradient(flat.reshape(shape), X, y, lam)
        return loss, gradient.ravel()

    options = {
        "maxiter": MOST_ITERATIONS,
        "maxfun": MOST_EVALUATIONS,
        "ftol": VALUE_TOLERANCE,
        "gtol": GRADIENT_TOLERANCE,
    }
    start = np.zeros(C * X.shape[1])
    fit = minimize(value, start, jac=True, method="L-BFGS-B", options=options)
    b: FloatArray = fit.x.reshape(shape)
    return b


def plug_in(X: FloatArray, y: IntArray, C: int, lam: float, sign: Sign = "flipped") -> FloatArray:
    """Return the ridge fit (C, p) that replaces the true beta, negated for the literal sign.

    As printed, the true class has the smallest score; the ridge fit gives it the largest.
    """
    return -orientation(sign) * ridge_fit(X, y, C, lam)
