"""The paper's Algorithm 2, written out on rows.

A slow twin for testing, on the formulas of `paper_rows`: every resample is drawn, fitted and judged
in a plain loop, and every alpha of the grid is tried.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.reference import paper_rows
from tests.reference.paper_rows import Array, design_constants, fit

Rows = NDArray[np.intp]


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
        sides = paper_rows.phi_psi(X1, y1, X2, y2, A0, B0, alpha, delta)
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
