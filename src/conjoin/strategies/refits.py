"""Each strategy as a function from moments to coefficients.

A `Refit` takes moments of datasets (K,) and returns coefficients (K, p). Least squares needs no
more. A likelihood has moments near some coefficients only (`models.likelihood`), so there a refit
is repeated until the coefficients stay (`strategies.validation.fit`).

A `FindVariances` estimates variances again from moments of part of the rows, so that nothing that
validation uses has seen the held-out rows.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from conjoin import linalg
from conjoin._typing import FloatArray, IntArray
from conjoin.grouping.search import Search
from conjoin.models.cluster_fit import centre, fit_clusters, union_noise
from conjoin.models.full import fit_full
from conjoin.models.lowrank import fit_rank
from conjoin.models.mixture import Mixture, mixture_coefficients
from conjoin.models.own_noise import COMMON, NoiseRule
from conjoin.models.partial import DIAGONAL, Family, Hyper, coefficients
from conjoin.models.problem import Problem
from conjoin.moments import Moments

# Steps of the optimiser when variances are estimated outside a fold. They start from the estimate
# of all rows, which is close: nine tenths of the rows are the same.
FOLD_STEPS = 12
# With few datasets a variance for each column starts from scratch (see `diagonal_outside`), and
# needs more steps.
DIAGONAL_FOLD_STEPS = 25
# Datasets up to which a variance for each column is estimated from scratch outside a fold. More
# datasets determine the variances better, and take longer.
FEW_DATASETS = 20
# Ridge of separate fits for classes and counts, whose likelihood may have no maximum without. In
# units of rows: slopes are drawn towards zero like by one row, levels towards the level of all
# rows like by a tenth of a row, so that a dataset of a few rows keeps its own level.
SLOPE_RIDGE, LEVEL_RIDGE = 1.0, 0.1


Refit = Callable[[Moments], FloatArray]
FindVariances = Callable[[Moments], Hyper]
FindCentre = Callable[[Moments], FloatArray]
Found = TypeVar("Found")


def separate(moments: Moments) -> FloatArray:
    """Fit each dataset by least squares; where it has no information, follow the pooled model."""
    union = moments.union()
    anchor = linalg.solve(union.G, union.h)
    beta: FloatArray = anchor + linalg.matvec(
        linalg.inverse(moments.G), moments.h - linalg.matvec(moments.G, anchor)
    )
    return beta


def separate_ridged(moments: Moments) -> FloatArray:
    """Fit each dataset by itself with a small ridge, for a likelihood without a maximum."""
    union = moments.union()
    ridge = np.full(moments.p, SLOPE_RIDGE)
    ridge[: moments.outputs] = 0.0
    centre = linalg.solve(union.G + np.diag(ridge), union.h)
    centre[moments.outputs :] = 0.0
    ridge[: moments.outputs] = LEVEL_RIDGE
    beta: FloatArray = centre + linalg.solve(
        moments.G + np.diag(ridge), moments.h - linalg.matvec(moments.G, centre)
    )
    return beta


def separate_fit(problem: Problem) -> Refit:
    """Return how each dataset is fitted by itself: least squares, or with a ridge."""
    return separate if problem.exact else separate_ridged


def separate_clusters(labels: IntArray) -> Refit:
    """Fit each cluster by itself, with the ridge of `separate_ridged`."""
    return lambda moments: separate_ridged(moments.sum_by(labels))[labels]


def centres_of(hyper: Hyper) -> FindCentre:
    """Return a function that finds the common centre of moments, once for the same moments."""
    return _remembered(lambda moments: centre(moments, hyper))


def clusters(
    labels: IntArray, hyper: Hyper, find_centre: FindCentre | None = None, *, exact: bool = True
) -> Refit:
    """Fit one model to each cluster.

    Coefficients have the prior under which their evidence was computed (`models.cluster_fit`); it
    matters only where a cluster has few rows for its columns. A cluster has the mean noise of its
    rows, and its rows count alike: a quiet dataset must not decide for the others. `find_centre`
    gives the common centre of moments, if some are known already. `exact` is that of the problem.
    """
    find = find_centre or centres_of(hyper)

    def refit(moments: Moments) -> FloatArray:
        unions = moments.sum_by(labels)
        if not exact:  # moments of a likelihood follow the coefficients of the clusters
            count = unions.shape[0]
            return coefficients(unions, replace(hyper, relative=np.ones(count)))[labels]
        noise = union_noise(moments, hyper, labels)
        return fit_clusters(unions.G, unions.h, noise, find(moments), hyper)[labels]

    return refit


def plain_clusters(labels: IntArray) -> Refit:
    """Fit one least-squares model to each cluster, as the paper does."""
    return lambda moments: separate(moments.sum_by(labels))[labels]


@dataclass(frozen=True, eq=False)
class PartialPooling:
    """A refit with known variances, which a new dataset can be placed by (`engine.placing`)."""

    hyper: Hyper

    def __call__(self, moments: Moments) -> FloatArray:
        """Shrink the coefficients of each dataset towards a common centre."""
        return coefficients(moments, self.hyper)


@dataclass(frozen=True, eq=False)
class SoftClusters:
    """A refit with a known mixture, which a new dataset can be placed by (`engine.placing`)."""

    mixture: Mixture

    def __call__(self, moments: Moments) -> FloatArray:
        """Shrink the coefficients of each dataset towards the centres of the mixture."""
        return mixture_coefficients(moments, self.mixture)


def partial_pooling(hyper: Hyper) -> Refit:
    """Shrink the coefficients of each dataset towards a common centre, by known variances."""
    return PartialPooling(hyper)


def soft_clusters(mixture: Mixture) -> Refit:
    """Shrink the coefficients of each dataset towards the centres of a mixture."""
    return SoftClusters(mixture)


# --- refits that estimate their variances again --------------------------------------------------


def variances_outside(family: Family, start: Hyper, noise: NoiseRule = COMMON) -> FindVariances:
    """Estimate variances in a few steps from those of all rows."""
    return _remembered(lambda moments: noise.fit(moments, family, start=start, steps=FOLD_STEPS))


def diagonal_outside(
    start: Hyper, slopes: Hyper, find_slopes: FindVariances, noise: NoiseRule = COMMON
) -> FindVariances:
    """Estimate a variance for each column.

    With few datasets such variances are hardly determined. A few steps would not leave the
    estimate of all rows, and validation would be too optimistic. So they start from scratch there.
    """

    def find(moments: Moments) -> Hyper:
        if moments.shape[0] > FEW_DATASETS:
            return noise.fit(moments, DIAGONAL, simpler=slopes, start=start, steps=FOLD_STEPS)
        own = find_slopes(moments)
        return noise.fit(moments, DIAGONAL, simpler=own, steps=DIAGONAL_FOLD_STEPS)

    return _remembered(find)


def partial_outside(find: FindVariances) -> Refit:
    """Partial pooling with variances estimated from the same moments."""
    return lambda moments: coefficients(moments, find(moments))


def full_outside(find_diagonal: FindVariances, noise: NoiseRule = COMMON) -> Refit:
    """Partial pooling with a full covariance estimated from the same moments."""
    return lambda moments: coefficients(moments, noise.fit_full(moments, find_diagonal(moments)))


def low_rank_outside(find_diagonal: FindVariances, rank: int, noise: NoiseRule = COMMON) -> Refit:
    """Partial pooling near a subspace of the same rank, found from the same moments."""

    def refit(moments: Moments) -> FloatArray:
        start = noise.before(find_diagonal(moments))
        full = fit_full(moments, start)
        found = fit_rank(moments, start, full, rank, FOLD_STEPS).hyper
        return coefficients(moments, noise.apply(found, moments))

    return refit


def mixture_outside(find_slopes: FindVariances, noise: NoiseRule = COMMON) -> Refit:
    """Search for a mixture in the same moments."""
    return lambda moments: mixture_coefficients(
        moments, Search.of(moments, find_slopes(moments), noise).mixture
    )


def _remembered(find: Callable[[Moments], Found]) -> Callable[[Moments], Found]:
    """Return the same function with a memory: several strategies ask for the same moments."""
    known: dict[bytes, Found] = {}

    def remembered(moments: Moments) -> Found:
        key = moments.h.tobytes() + moments.q.tobytes()
        if key not in known:
            known[key] = find(moments)
        return known[key]

    return remembered
