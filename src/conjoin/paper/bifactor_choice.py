"""Rank, ridge and clusters of BiFactor, chosen by cross-validation.

Moments of folds enter; the best fit, the error of each setting, and clusters of datasets leave.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from conjoin._typing import FloatArray, IntArray
from conjoin.models.ols import fit_ols
from conjoin.moments import Moments
from conjoin.paper.bifactor import BiFactor, Covariances, fit_bifactor, noise_ridge

# Settings that cross-validation chooses from. Ranks above min(p, K) are cut to it; steps of about
# 1.5 to 2 keep the number of fits small.
RANKS = (1, 2, 3, 5, 8, 12)
# In units of `noise_ridge`. At 1 pure noise is shrunk to zero; more would only remove signal.
RIDGES = (0.03, 0.1, 0.3, 1.0)
ROUGH = 1e-6  # tolerance while settings are compared: differences between them are far larger
MOST_CLUSTERS = 15  # largest number of clusters tried; each is fitted in every fold


@dataclass(frozen=True, eq=False)
class BiFactorChoice:
    """The settings tried by cross-validation, and the fit with the best of them.

    Attributes
    ----------
    fit : BiFactor
        Fit to all rows with the best rank and ridge.
    settings : tuple of (int, float)
        Ranks and ridges tried.
    errors : array, shape (settings,)
        Mean squared error of each on held-out rows.
    """

    fit: BiFactor
    settings: tuple[tuple[int, float], ...]
    errors: FloatArray


def validate_bifactor(
    folds: Moments,
    *,
    weights: FloatArray | None = None,
    ranks: Sequence[int] = RANKS,
    ridges: Sequence[float] = RIDGES,
    intercept: bool = True,
    covariances: Covariances = "learned",
) -> BiFactorChoice:
    """Choose rank and ridge by cross-validation, then fit all rows with them.

    Parameters
    ----------
    folds : Moments, shape (K, F)
        Moments of F folds of K datasets.
    weights : array, shape (K,), optional
        Weight of each dataset's error; equal by default.
    ranks : sequence of int, default 1, 2, 3, 5, 8 and 12
    ridges : sequence of float, default 0.03, 0.1, 0.3 and 1
        In units of `noise_ridge`.
    intercept : bool, default True
        Whether the first column of the moments is the intercept.
    covariances : {"learned", "identity"}, default "learned"
        Whether Sigma and Omega are learned, as published, or fixed at the identity.

    Returns
    -------
    BiFactorChoice

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((6, 2, 20, 4))  # 6 datasets, 2 folds, 20 rows, 4 columns
    >>> y = X @ np.ones(4) + rng.standard_normal((6, 2, 20))
    >>> chosen = validate_bifactor(Moments.from_rows(X, y), intercept=False)
    >>> chosen.fit.slopes.shape, len(chosen.settings)
    ((6, 4), 16)
    """
    total = folds.union(1)
    most = min(total.p - intercept, total.shape[0])
    allowed = sorted({min(rank, most) for rank in ranks})
    unit = noise_ridge(total, intercept=intercept)
    settings = tuple((rank, unit * ridge) for rank in allowed for ridge in sorted(ridges))
    squares = np.zeros((len(settings), total.shape[0]))
    for f in range(folds.shape[1]):
        held_out = folds[:, f]
        fits = _path(total - held_out, settings, intercept, covariances)
        squares += np.array([held_out.sse(fit.beta) for fit in fits])
    errors = _mean_error(squares, total, weights)
    rank, ridge = settings[int(np.argmin(errors))]
    fit = fit_bifactor(total, rank, ridge, intercept=intercept, covariances=covariances)
    return BiFactorChoice(fit, settings, errors)


def _path(
    moments: Moments,
    settings: Sequence[tuple[int, float]],
    intercept: bool,
    covariances: Covariances,
) -> list[BiFactor]:
    """Fit all settings in turn; within a rank, each starts from the fit of the smaller ridge."""
    fits: list[BiFactor] = []
    for rank, ridge in settings:
        last = fits[-1] if fits and fits[-1].F.shape[1] == rank else None
        start = None if last is None else last.F
        fits.append(
            fit_bifactor(
                moments,
                rank,
                ridge,
                intercept=intercept,
                covariances=covariances,
                start=start,
                tolerance=ROUGH,
            )
        )
    return fits


def _mean_error(squares: FloatArray, total: Moments, weights: FloatArray | None) -> FloatArray:
    """Return weighted means over datasets of squared errors (settings, K) per unit row weight."""
    K = total.shape[0]
    w = np.full(K, 1 / K) if weights is None else weights / weights.sum()
    errors: FloatArray = squares / total.w @ w
    return errors


# --- clusters ------------------------------------------------------------------------------------


def task_clusters(fit: BiFactor, count: int) -> IntArray:
    """Return labels (K,) of `count` clusters of datasets, numbered in order of appearance.

    Ward's method clusters the rows of T, each column of T multiplied by the length of its column
    of F. Their distances are then those of the slopes, and do not depend on the split into F and T.

    Parameters
    ----------
    fit : BiFactor
        Fitted factors of K datasets.
    count : int
        Number of clusters; with K or more, every dataset is its own.

    Returns
    -------
    array, shape (K,)

    Examples
    --------
    >>> X = np.array([[1.0], [-1.0], [2.0], [-2.0]])
    >>> slopes = np.array([[1.0], [-1.0], [1.1]])
    >>> moments = Moments.from_rows(np.stack([X] * 3), slopes * X[:, 0])
    >>> task_clusters(fit_bifactor(moments, 1, 1e-6, intercept=False), 2).tolist()
    [0, 1, 0]
    """
    K = len(fit.T)
    if count >= K or K == 1:
        return np.arange(K)
    points = fit.T * np.linalg.norm(fit.F, axis=0)
    found = fcluster(linkage(points, "ward"), count, criterion="maxclust")
    _, first, codes = np.unique(found, return_index=True, return_inverse=True)
    order = np.empty(len(first), dtype=np.int64)
    order[np.argsort(first)] = np.arange(len(first))
    return order[codes]


@dataclass(frozen=True, eq=False)
class Clusters:
    """Clusters from the task factor: labels (K,), and the error of 1, 2, ... clusters."""

    labels: IntArray
    errors: FloatArray


def validated_clusters(
    folds: Moments, fit: BiFactor, *, weights: FloatArray | None = None, most: int = MOST_CLUSTERS
) -> Clusters:
    """Choose the number of clusters by cross-validation, with one least-squares model per cluster.

    Each fold of the moments (K, F) is held out once. Factors, clusters and models are found again
    from the other folds, with the rank and ridge of `fit`, which was fitted to all rows.
    """
    total = folds.union(1)
    counts = range(1, min(most, total.shape[0]) + 1)
    squares = np.zeros((len(counts), total.shape[0]))
    for f in range(folds.shape[1]):
        held_out = folds[:, f]
        rest = total - held_out
        factors = fit_bifactor(
            rest,
            fit.F.shape[1],
            fit.ridge,
            intercept=fit.intercept,
            covariances=fit.covariances,
            start=fit.F,
        )
        for i, count in enumerate(counts):
            labels = task_clusters(factors, count)
            squares[i] += held_out.sse(cluster_coefficients(rest, labels))
    errors = _mean_error(squares, total, weights)
    return Clusters(task_clusters(fit, counts[int(np.argmin(errors))]), errors)


def cluster_coefficients(moments: Moments, labels: IntArray) -> FloatArray:
    """Return the coefficients (K, p) of each dataset's cluster, fitted by least squares."""
    unions = Moments.stack(
        [moments[labels == label].union() for label in range(int(labels.max()) + 1)]
    )
    return fit_ols(unions).beta[labels]
