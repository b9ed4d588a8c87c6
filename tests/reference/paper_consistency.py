"""Theorems 2 and 3 of the paper, written out on rows.

A slow twin for testing: every design, fit and bootstrap is a step of a plain loop.
"""

import numpy as np


def draw_design(mean, covariance, n, rng):
    return rng.multivariate_normal(mean, covariance, size=n)


def expected_errors(features, betas, sizes, sigma, repetitions, rng):
    """Mean over training sets of the error of the own and the joint fit on each dataset.

    The error of a fit on new rows is computed from the definition of OSE, given the fit.
    """
    own, joint = np.zeros((repetitions, 2)), np.zeros((repetitions, 2))
    for r in range(repetitions):
        X = [draw_design(m, S, n, rng) for (m, S), n in zip(features, sizes)]
        y = [x @ b + sigma * rng.standard_normal(len(x)) for x, b in zip(X, betas)]
        together = np.linalg.lstsq(np.vstack(X), np.concatenate(y), rcond=None)[0]
        for k, (mean, S) in enumerate(features):
            alone = np.linalg.lstsq(X[k], y[k], rcond=None)[0]
            W = S + np.outer(mean, mean)
            own[r, k] = sigma**2 + (alone - betas[k]) @ W @ (alone - betas[k])
            joint[r, k] = sigma**2 + (together - betas[k]) @ W @ (together - betas[k])
    return own, joint


def ose_m(b, X, y, draws):
    """OSE_M for given row numbers of the bootstraps (M, n)."""
    total = 0.0
    for rows in draws:
        inner = 0.0
        for i in rows:
            inner += (y[i] - X[i] @ b) ** 2
        total += inner / len(rows)
    return total / len(draws)
