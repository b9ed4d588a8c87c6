"""The regression method of the paper, written out on rows.

A slow twin for testing: every matrix the paper names is formed explicitly, up to the square ones
with a row and a column for each observation, and every expectation is a plain loop. Nothing here
is rearranged for speed or for numerical comfort; columns should be of similar size and far from
collinear.

==============  ==================================================================  =============
symbol          meaning                                                             shape
==============  ==================================================================  =============
X1, y1          rows of dataset 1 (likewise 2)                                      (n1, p), (n1,)
Xc, yc          rows of dataset 1 above those of dataset 2                          (n1+n2, p)
G1, G2, Gc      X'X of dataset 1, of dataset 2, of both                             (p, p)
W1, W2          second moment E[x x'] of an unseen row of each dataset              (p, p)
Z1, Z2          Gc^-1 G1 and Gc^-1 G2                                               (p, p)
A0, B0          constants of Theorem 1: joining helps iff A0 sigma^2 > delta'B0     scalar, (p, p)
                delta, delta the difference of the true coefficients
d               difference of the two separate least squares fits                   (p,)
X0, y0          block diagonal of X1 and X2; y1 above y2                            (n1+n2, 2p)
C               [I -I]                                                              (p, 2p)
A               X0 (X0'X0)^-1 C'                                                    (n1+n2, p)
M               A (A'A)^-1 A'                                                       (n1+n2, n1+n2)
H               X0 (X0'X0)^-1 X0'                                                   (n1+n2, n1+n2)
D, B            square roots: D'D = {G1^-1 + G2^-1}^-1 and B'B = B0                 (p, p)
Sigma           X0 (X0'X0)^-1 C' B'B C (X0'X0)^-1 X0'                               (n1+n2, n1+n2)
n0              n1 + n2 - p                                                         scalar
s2c             residual sum of squares of the joint fit over n0                    scalar
==============  ==================================================================  =============
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Rounding leaves the null directions of X'X at about 1e-16 of its largest eigenvalue, which is
# too close to the default cut-off of the pseudoinverse.
PINV_CUTOFF = 1e-12


def fit(X: Array, y: Array) -> Array:
    """Fit least squares by the formula (X'X)^-1 X'y.

    Parameters
    ----------
    X : array of shape (n, p)
        Design matrix of full column rank.
    y : array of shape (n,)
        Responses.

    Returns
    -------
    array of shape (p,)
        Coefficients.
    """
    return np.linalg.inv(X.T @ X) @ X.T @ y


def moore_penrose(X: Array, y: Array) -> Array:
    """Fit by the Moore-Penrose formula (X'X)^+ X'y, also where n < p.

    Parameters
    ----------
    X : array of shape (n, p)
        Design matrix of any rank.
    y : array of shape (n,)
        Responses.

    Returns
    -------
    array of shape (p,)
        The shortest of all coefficient vectors with the least residual sum of squares.
    """
    return _pinv(X.T @ X) @ X.T @ y


def noise(X1: Array, y1: Array, X2: Array, y2: Array) -> float:
    """Estimate the noise variance from the residuals of the joint fit.

    Parameters
    ----------
    X1, y1, X2, y2 : arrays
        Rows of the two datasets.

    Returns
    -------
    float
        (|y1 - X1 b|^2 + |y2 - X2 b|^2) / (n1 + n2 - p), with b fitted on all rows.
    """
    n1, p = X1.shape
    n2 = X2.shape[0]
    betac = fit(np.vstack([X1, X2]), np.concatenate([y1, y2]))
    r1 = y1 - X1 @ betac
    r2 = y2 - X2 @ betac
    return float((r1 @ r1 + r2 @ r2) / (n1 + n2 - p))


def noise_by_projection(X1: Array, y1: Array, X2: Array, y2: Array) -> float:
    """Estimate the same noise variance as a quadratic form in the stacked responses.

    Parameters
    ----------
    X1, y1, X2, y2 : arrays
        Rows of the two datasets.

    Returns
    -------
    float
        y0'(I - H + M)y0 / (n1 + n2 - p).
    """
    n1, p = X1.shape
    n2 = X2.shape[0]
    y0 = np.concatenate([y1, y2])
    return float(y0 @ joint_residual_projection(X1, X2) @ y0 / (n1 + n2 - p))


def joint_residual_projection(X1: Array, X2: Array) -> Array:
    """Form I - H + M, which takes stacked responses to the residuals of the joint fit.

    Parameters
    ----------
    X1, X2 : arrays of shape (n1, p) and (n2, p)
        Design matrices.

    Returns
    -------
    array of shape (n1 + n2, n1 + n2)
        A symmetric idempotent matrix of trace n1 + n2 - p.
    """
    X0 = block_design(X1, X2)
    K = np.linalg.inv(X0.T @ X0)
    C = contrast(X1.shape[1])
    A = X0 @ K @ C.T
    M = A @ np.linalg.inv(A.T @ A) @ A.T
    H = X0 @ K @ X0.T
    return np.eye(X0.shape[0]) - H + M


def block_design(X1: Array, X2: Array) -> Array:
    """Put two designs on the diagonal of one matrix, X0.

    Parameters
    ----------
    X1, X2 : arrays of shape (n1, p) and (n2, p)
        Design matrices.

    Returns
    -------
    array of shape (n1 + n2, 2p)
        X1 at the upper left, X2 at the lower right, zeros elsewhere.
    """
    n1, p = X1.shape
    n2 = X2.shape[0]
    return np.block([[X1, np.zeros((n1, p))], [np.zeros((n2, p)), X2]])


def contrast(p: int) -> Array:
    """Form C = [I -I], which takes two stacked coefficient vectors to their difference.

    Parameters
    ----------
    p : int
        Number of columns of a design.

    Returns
    -------
    array of shape (p, 2p)
        The contrast matrix.
    """
    return np.hstack([np.eye(p), -np.eye(p)])


def error_spread(X1: Array, X2: Array, B0: Array) -> Array:
    """Form Sigma, the matrix of |B(d - delta)|^2 as a quadratic form in the stacked noise.

    Parameters
    ----------
    X1, X2 : arrays of shape (n1, p) and (n2, p)
        Design matrices.
    B0 : array of shape (p, p)
        Symmetric, positive semidefinite.

    Returns
    -------
    array of shape (n1 + n2, n1 + n2)
        Sigma = X0 (X0'X0)^-1 C' B'B C (X0'X0)^-1 X0'.
    """
    X0 = block_design(X1, X2)
    K = np.linalg.inv(X0.T @ X0)
    C = contrast(X1.shape[1])
    B = _root(B0)
    return X0 @ K @ C.T @ B.T @ B @ C @ K @ X0.T


def design_constants(
    W1: Array, W2: Array, samples: Sequence[tuple[Array, Array]]
) -> tuple[float, Array]:
    """Compute A0 and B0 of Theorem 1, expectations being averages over given designs.

    Parameters
    ----------
    W1, W2 : arrays of shape (p, p)
        Second moments of unseen rows.
    samples : sequence of pairs of arrays
        Design matrices (X1, X2), a pair for each repetition.

    Returns
    -------
    A0 : float
        tr(W1 E[G1^-1 - Gc^-1] + W2 E[G2^-1 - Gc^-1]).
    B0 : array of shape (p, p)
        E[Z1'W2 Z1] + E[Z2'W1 Z2].
    """
    p = W1.shape[0]
    mean_G1_inv, mean_G2_inv, mean_Gc_inv = np.zeros((p, p)), np.zeros((p, p)), np.zeros((p, p))
    mean_Z1_W2_Z1, mean_Z2_W1_Z2 = np.zeros((p, p)), np.zeros((p, p))
    for X1, X2 in samples:
        Xc = np.vstack([X1, X2])
        Gc_inv = np.linalg.inv(Xc.T @ Xc)
        Z1 = Gc_inv @ X1.T @ X1
        Z2 = Gc_inv @ X2.T @ X2
        mean_G1_inv += np.linalg.inv(X1.T @ X1) / len(samples)
        mean_G2_inv += np.linalg.inv(X2.T @ X2) / len(samples)
        mean_Gc_inv += Gc_inv / len(samples)
        mean_Z1_W2_Z1 += Z1.T @ W2 @ Z1 / len(samples)
        mean_Z2_W1_Z2 += Z2.T @ W1 @ Z2 / len(samples)
    A0 = np.trace(W1 @ (mean_G1_inv - mean_Gc_inv) + W2 @ (mean_G2_inv - mean_Gc_inv))
    return float(A0), mean_Z1_W2_Z1 + mean_Z2_W1_Z2


def phi_psi(
    X1: Array,
    y1: Array,
    X2: Array,
    y2: Array,
    A0: float,
    B0: Array,
    alpha: float,
    delta: float,
) -> dict[str, float]:
    """Evaluate both sides of the high-probability criterion, as published.

    Parameters
    ----------
    X1, y1, X2, y2 : arrays
        Rows of the two datasets.
    A0 : float
        Constant of Theorem 1.
    B0 : array of shape (p, p)
        Matrix of Theorem 1.
    alpha : float
        Stands wherever the paper has log(1/delta).
    delta : float
        Stands in the terms 1 + delta.

    Returns
    -------
    dict
        Keys n0, s2c, Dd2, A1, A2, phi, trace_Sigma, trace_Sigma2, norm_Sigma, g, c1, c2, c3, c4,
        c5, c0, psi. Where the quadratic has no real root, c0 and psi are nan. A negative c0 is
        used as it is, so that the base of the square in psi may be negative.
    """
    n1, p = X1.shape
    n2 = X2.shape[0]
    n0 = n1 + n2 - p
    d = fit(X1, y1) - fit(X2, y2)
    s2c = noise(X1, y1, X2, y2)
    D = _root(np.linalg.inv(np.linalg.inv(X1.T @ X1) + np.linalg.inv(X2.T @ X2)))
    Dd = float(np.linalg.norm(D @ d))

    spread = n0 + 2 * math.sqrt(n0) * math.sqrt(alpha) + 2 * alpha
    denominator = spread * (3 + 4 * math.sqrt(alpha / n0))
    A1 = n0 * A0 / denominator
    A2 = -2 * A0 * (1 + 2 * math.sqrt(alpha / n0)) / denominator
    phi = A1 * s2c + A2 * Dd**2

    log4 = math.log(4 / (1 + delta))
    slope = math.sqrt(2 * n0) * (math.sqrt(log4) + 1 / (2 * math.sqrt(log4)))
    c1 = math.sqrt(n0 * s2c) * math.sqrt(spread)
    c2 = math.sqrt(n0 * s2c) * Dd
    c3 = -n0 / 8 * (1 + delta) / math.sqrt(math.e * log4) - slope * math.sqrt(spread) + spread
    c4 = Dd * (slope - 2 * math.sqrt(spread))
    c5 = Dd**2
    discriminant = (c1 - c4) ** 2 - 4 * c3 * (c5 - c2)
    root = math.sqrt(discriminant) if discriminant >= 0 else math.nan
    c0 = (c1 - c4 + root) / (2 * c3)

    Sigma = error_spread(X1, X2, B0)
    spectrum = {
        "trace_Sigma": float(np.trace(Sigma)),
        "trace_Sigma2": float(np.trace(Sigma @ Sigma)),
        "norm_Sigma": float(np.linalg.svd(Sigma, compute_uv=False)[0]),
    }
    trace_Sigma, trace_Sigma2, norm_Sigma = spectrum.values()
    g = float(d @ B0 @ d)
    width = trace_Sigma + 2 * math.sqrt(trace_Sigma2 * alpha) + 2 * norm_Sigma * alpha
    psi = (math.sqrt(max(g, 0.0)) + c0 * math.sqrt(width)) ** 2
    inputs = {"n0": n0, "s2c": s2c, "Dd2": Dd**2, "g": g}
    constants = {"A1": A1, "A2": A2, "c1": c1, "c2": c2, "c3": c3, "c4": c4, "c5": c5, "c0": c0}
    return {**inputs, **spectrum, **constants, "phi": phi, "psi": psi}


def population_error(b: Array, beta: Array, W: Array, sigma2: float) -> float:
    """Compute the expected squared error of given coefficients on an unseen row.

    Parameters
    ----------
    b : array of shape (p,)
        Coefficients used for prediction.
    beta : array of shape (p,)
        True coefficients.
    W : array of shape (p, p)
        Second moment of an unseen row.
    sigma2 : float
        Noise variance.

    Returns
    -------
    float
        sigma2 + (b - beta)'W(b - beta).
    """
    return float(sigma2 + (b - beta) @ W @ (b - beta))


def mp_population_error(beta: Array, sigma2: float, W: Array, designs: Sequence[Array]) -> float:
    """Compute the expected out-of-sample error of the Moore-Penrose estimator.

    Parameters
    ----------
    beta : array of shape (p,)
        True coefficients.
    sigma2 : float
        Noise variance.
    W : array of shape (p, p)
        Second moment of an unseen row.
    designs : sequence of arrays of shape (n, p)
        Design matrices over which the expectations are averages.

    Returns
    -------
    float
        sigma2 + sigma2 tr(W E[G^+]) + tr(W E[(I - G^+ G) beta beta' (I - G G^+)]), G = X'X.
    """
    p = W.shape[0]
    mean_pinv, mean_bias = np.zeros((p, p)), np.zeros((p, p))
    for X in designs:
        G = X.T @ X
        Gp = _pinv(G)
        left = np.eye(p) - Gp @ G
        right = np.eye(p) - G @ Gp
        mean_pinv += Gp / len(designs)
        mean_bias += left @ np.outer(beta, beta) @ right / len(designs)
    return float(sigma2 + sigma2 * np.trace(W @ mean_pinv) + np.trace(W @ mean_bias))


def _pinv(G: Array) -> Array:
    """Form the pseudoinverse of X'X."""
    return np.linalg.pinv(G, rcond=PINV_CUTOFF, hermitian=True)


def _root(S: Array) -> Array:
    """Form the symmetric square root of a positive semidefinite matrix."""
    values, vectors = np.linalg.eigh((S + S.T) / 2)
    return vectors @ np.diag(np.sqrt(np.maximum(values, 0.0))) @ vectors.T
