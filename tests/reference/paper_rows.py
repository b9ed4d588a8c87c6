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
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

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
    trace_Sigma = float(np.trace(Sigma))
    trace_Sigma2 = float(np.trace(Sigma @ Sigma))
    norm_Sigma = float(np.linalg.svd(Sigma, compute_uv=False)[0])
    g = float(d @ B0 @ d)
    width = trace_Sigma + 2 * math.sqrt(trace_Sigma2 * alpha) + 2 * norm_Sigma * alpha
    psi = (math.sqrt(max(g, 0.0)) + c0 * math.sqrt(width)) ** 2

    return {
        "n0": n0,
        "s2c": s2c,
        "Dd2": Dd**2,
        "A1": A1,
        "A2": A2,
        "phi": phi,
        "trace_Sigma": trace_Sigma,
        "trace_Sigma2": trace_Sigma2,
        "norm_Sigma": norm_Sigma,
        "g": g,
        "c1": c1,
        "c2": c2,
        "c3": c3,
        "c4": c4,
        "c5": c5,
        "c0": c0,
        "psi": psi,
    }


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


def algorithm2(
    parts1: Mapping[str, Any],
    parts2: Mapping[str, Any],
    n: int,
    alphas: Sequence[float] | Array,
    resamples: int,
    delta: float,
    rng: np.random.Generator | None,
    draws: Mapping[str, tuple[Rows, Rows]] | None = None,
) -> dict[str, Any]:
    """Tune the criterion on resamples of two datasets and score it on rows kept aside.

    Parameters
    ----------
    parts1, parts2 : mappings
        For each dataset: 'tune', 'estimate', 'final' and 'all' give its rows as (X, y), and
        'index' maps the first three names to the numbers of their rows within 'all'.
    n : int
        Rows of a resample, drawn with replacement.
    alphas : sequence of float
        Values tried in place of log(1/delta).
    resamples : int
        Repetitions for each expectation and for each alpha.
    delta : float
        Stands in the terms 1 + delta.
    rng : numpy.random.Generator or None
        Source of the draws; not used if `draws` is given.
    draws : mapping, optional
        For 'estimate', 'tune' and 'final' a pair of integer arrays of shape (resamples, n), one
        for each dataset: row numbers within that part. Every alpha then sees the same resamples;
        without it every alpha gets fresh ones, as in the paper.

    Returns
    -------
    dict
        A0, B0, W1 and W2 from the 'estimate' part; correct, the number of agreements for each
        alpha on 'tune'; alpha, the first with the most agreements; and on 'final' at that alpha
        proxy_acc, the share of agreements, and signed_score, the share of resamples in which the
        criterion says join and joining helped less the share in which it says apart and joining
        hurt.

    Notes
    -----
    The error of a fit is its mean squared error over all rows of 'all' that its training draw
    left out, the same rows for the separate and for the joint fit. Criterion and truth agree if
    (phi - psi) times the reduction of error is above 0, so a tie on either side is no agreement.
    A criterion of nan counts as saying apart.
    """
    W1 = _second_moment(parts1["estimate"][0])
    W2 = _second_moment(parts2["estimate"][0])
    samples = []
    for rows1, rows2 in _resample(parts1, parts2, "estimate", n, resamples, rng, draws):
        samples.append((parts1["estimate"][0][rows1], parts2["estimate"][0][rows2]))
    A0, B0 = design_constants(W1, W2, samples)

    def trial(part: str, rows1: Rows, rows2: Rows, alpha: float) -> tuple[float, float]:
        X1, y1 = parts1[part][0][rows1], parts1[part][1][rows1]
        X2, y2 = parts2[part][0][rows2], parts2[part][1][rows2]
        sides = phi_psi(X1, y1, X2, y2, A0, B0, alpha, delta)
        margin = sides["phi"] - sides["psi"]
        beta1, beta2 = fit(X1, y1), fit(X2, y2)
        betac = fit(np.vstack([X1, X2]), np.concatenate([y1, y2]))
        out1, out2 = _left_out(parts1, part, rows1), _left_out(parts2, part, rows2)
        separate = _squared_error(beta1, *out1) + _squared_error(beta2, *out2)
        joint = _squared_error(betac, *out1) + _squared_error(betac, *out2)
        return (-1.0 if math.isnan(margin) else margin), separate - joint

    correct = np.zeros(len(alphas), dtype=int)
    for i, alpha in enumerate(alphas):
        for rows1, rows2 in _resample(parts1, parts2, "tune", n, resamples, rng, draws):
            margin, reduction = trial("tune", rows1, rows2, float(alpha))
            if margin * reduction > 0:
                correct[i] += 1
    best = float(alphas[int(np.argmax(correct))])

    agreed, joined_well, parted_well = 0, 0, 0
    for rows1, rows2 in _resample(parts1, parts2, "final", n, resamples, rng, draws):
        margin, reduction = trial("final", rows1, rows2, best)
        if margin * reduction > 0:
            agreed += 1
        if margin > 0 and reduction > 0:
            joined_well += 1
        if margin <= 0 and reduction < 0:
            parted_well += 1
    return {
        "A0": A0,
        "B0": B0,
        "W1": W1,
        "W2": W2,
        "alpha": best,
        "correct": correct,
        "proxy_acc": agreed / resamples,
        "signed_score": (joined_well - parted_well) / resamples,
    }


def _pinv(G: Array) -> Array:
    """Form the pseudoinverse of X'X."""
    return np.linalg.pinv(G, rcond=PINV_CUTOFF, hermitian=True)


def _root(S: Array) -> Array:
    """Form the symmetric square root of a positive semidefinite matrix."""
    values, vectors = np.linalg.eigh((S + S.T) / 2)
    return vectors @ np.diag(np.sqrt(np.maximum(values, 0.0))) @ vectors.T


def _second_moment(X: Array) -> Array:
    """Average x x' over rows."""
    return X.T @ X / X.shape[0]


def _squared_error(b: Array, X: Array, y: Array) -> float:
    """Average the squared error of coefficients over rows."""
    return float(np.mean((y - X @ b) ** 2))


def _left_out(parts: Mapping[str, Any], part: str, rows: Rows) -> tuple[Array, Array]:
    """Take the rows of a dataset that a draw from one of its parts left out."""
    X, y = parts["all"]
    kept = np.ones(X.shape[0], dtype=bool)
    for row in rows:
        kept[parts["index"][part][row]] = False
    return X[kept], y[kept]


def _resample(
    parts1: Mapping[str, Any],
    parts2: Mapping[str, Any],
    part: str,
    n: int,
    resamples: int,
    rng: np.random.Generator | None,
    draws: Mapping[str, tuple[Rows, Rows]] | None,
) -> list[tuple[Rows, Rows]]:
    """Draw row numbers of one part of both datasets, or look them up."""
    if draws is not None:
        return [(draws[part][0][j], draws[part][1][j]) for j in range(resamples)]
    if rng is None:
        raise ValueError("rng is None and draws is None; pass one of them.")
    pairs = []
    for _ in range(resamples):
        rows1 = rng.integers(0, parts1[part][0].shape[0], size=n)
        rows2 = rng.integers(0, parts2[part][0].shape[0], size=n)
        pairs.append((rows1, rows2))
    return pairs
