"""The coordinates of a study where columns are nearly collinear.

Rows enter, or moments of datasets and folds with ways to find nearly collinear directions and to
form moments again; the basis to work in and the moments in it leave. Columns that are not nearly
collinear keep the usual basis.

Two priors are offered where they are. In one, slopes of the columns have the same variance, as
everywhere else; directions are stretched only so far that rounding does not hide them. In the
other, a nearly collinear direction counts like a column of its own, so that large coefficients of
opposite sign are not taken for unlikely. The second is taken where its partial pooling clearly has
the lower error on held-out rows: often the direction is rounding or measurement error, and then
large coefficients fail on rows that are unlike all rows at hand.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.models.own_noise import FEWEST_DATASETS, SURE
from conjoin.models.partial import SLOPES, coefficients, fit_variances
from conjoin.models.problem import LeastSquares
from conjoin.moments import Basis, Moments
from conjoin.moments.collinear import (
    LIKE_A_COLUMN,
    PRECISE,
    Directions,
    directions_of_rows,
    is_nearly_collinear,
    precise,
    stretched,
)
from conjoin.moments.folds import Dealt, fold_moments_in_parts


@dataclass(frozen=True, eq=False)
class Located:
    """Rows in their coordinates.

    Parameters
    ----------
    basis : Basis
        The coordinates.
    moments : Moments (K, F)
        Moments of each dataset and fold in them; with forward validation of each piece of time.
    dealt : Dealt
        The fold of every row, and copies of rows.
    """

    basis: Basis
    moments: Moments
    dealt: Dealt


def locate(
    X: FloatArray,
    y: FloatArray,
    weights: FloatArray,
    starts: IntArray,
    *,
    intercept: bool,
    folds: int,
    dealt: Dealt,
) -> Located:
    """Form moments of rows sorted by dataset in coordinates that suit them.

    For classes and counts the moments are those of the numbers that stand for them: they only
    choose the coordinates.
    """
    usual = Basis.from_rows(X, y, weights, intercept=intercept)
    cell, cells = dealt.cells(folds)
    t = usual.response(y)

    def form(basis: Basis) -> Moments:
        return fold_moments_in_parts(
            lambda rows: basis.design(X[rows]), t, weights, starts, cell, cells
        )

    def find() -> Directions | None:
        return directions_of_rows(X, weights, usual)

    basis, moments = settle(usual, form(usual), find, form)
    return Located(basis, moments, dealt)


def basis_of_rows(X: FloatArray, y: FloatArray, weights: FloatArray, *, intercept: bool) -> Basis:
    """Return the basis where rows stand for moments: slopes of all columns have one variance."""
    return precise(X, weights, Basis.from_rows(X, y, weights, intercept=intercept))


def settle(
    basis: Basis,
    folds: Moments,
    find: Callable[[], Directions | None],
    form: Callable[[Basis], Moments],
) -> tuple[Basis, Moments]:
    """Return the basis to work in, and moments (K, F) in it.

    `basis` and `folds` are the usual ones; `find` returns nearly collinear directions in that
    basis, `form` the moments in another.
    """
    if not is_nearly_collinear(second_moments(folds, basis)):
        return basis, folds
    directions = find()
    if directions is None:
        return basis, folds
    usual = stretched(basis, directions, PRECISE)
    if usual.matrix is not None:
        folds = form(usual)
    wide = stretched(basis, directions, LIKE_A_COLUMN)
    wide_folds = form(wide)
    if _is_clearly_lower(held_out_losses(wide_folds), held_out_losses(folds)):
        return wide, wide_folds
    return usual, folds


def second_moments(folds: Moments, basis: Basis) -> FloatArray:
    """Return the second moments (features, features) of all rows together."""
    first = int(basis.intercept)
    total: FloatArray = folds.G.sum(axis=(0, 1))[first:, first:]
    return total / max(float(folds.w.sum()), np.finfo(float).tiny)


def held_out_losses(folds: Moments) -> FloatArray:
    """Return squared errors (F, K) of partial pooling on held-out folds, summed over rows."""
    problem = LeastSquares(folds)
    hyper = fit_variances(problem.moments, SLOPES)
    outside = [coefficients(problem.moments - folds[:, f], hyper) for f in range(folds.shape[1])]
    return problem.loss(np.stack(outside))


def _is_clearly_lower(one: FloatArray, two: FloatArray) -> bool:
    """Say whether losses (F, K) are lower by more than `SURE` standard errors.

    Differences are paired by dataset; with few datasets by dataset and fold.
    """
    rise = one - two
    parts = rise.sum(axis=0) if rise.shape[1] >= FEWEST_DATASETS else rise.ravel()
    return bool(parts.sum() < -SURE * np.sqrt(parts.size) * parts.std())
