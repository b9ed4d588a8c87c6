"""Strategies where datasets have fewer rows than columns: fits, losses and their average.

A problem whose rows stand for its moments enters (`models.problem.RowLeastSquares`); the strategies
that systems of rows can fit leave, validated. They are "separate", "pooled", "intercept", "slopes"
and "partial". A full covariance, its low-rank form, mixtures and clusters would need a matrix of
columns for every dataset, so they are left out.

Fits outside a fold are kept as what they predict for every row (F, N), not as coefficients
(F, K, p): with two rows and 150 columns that is a 75th of the memory.
"""

from dataclasses import dataclass, replace

import numpy as np

from conjoin import linalg
from conjoin._typing import FloatArray, Progress
from conjoin.models.partial import DIAGONAL, INTERCEPT, POOLED, SLOPES, Hyper, fit_variances
from conjoin.models.problem import RowLeastSquares
from conjoin.models.row_space import pooled_of_rows, row_least_squares
from conjoin.moments import Moments, RowMoments
from conjoin.strategies.plan import Start
from conjoin.strategies.refits import Refit, partial_pooling
from conjoin.strategies.validation import Validated

# Steps of the optimiser for the variances of a family: each is a pass over all rows. Every family
# starts at the estimate of the simpler one.
STEPS = 25
# Rows of the datasets from which variances are estimated: enough for one variance of each column.
VARIANCE_ROWS = 20_000
# Operations of one pass over them at most (rows times squared columns): a fit of variances makes
# some hundred passes. With 500 columns 10,000 rows are left.
VARIANCE_OPERATIONS = 2.5e9
# What the sum of squares of a dataset is multiplied by: the digits behind the point are then those
# that differ between any two datasets.
DIGITS = 1e4


@dataclass(frozen=True, eq=False)
class RowFitted:
    """Coefficients of one strategy, and what its fits outside the folds predict.

    Parameters
    ----------
    coef : array (K, p)
        Fitted to all rows.
    lines : array (F, N)
        Predictions of every row by the fit outside each fold.
    """

    coef: FloatArray
    lines: FloatArray


@dataclass(frozen=True, eq=False)
class RowPlan:
    """The strategies by name, and where they started."""

    start: Start
    refits: dict[str, Refit]


def separate_rows(moments: Moments) -> FloatArray:
    """Fit each dataset by itself; among exact fits take the one nearest to the pooled model."""
    assert isinstance(moments, RowMoments)
    return row_least_squares(moments, pooled_least_squares(moments)[0])


def pooled_least_squares(moments: Moments) -> FloatArray:
    """Return the least-squares fit of all rows, for every dataset (K, p).

    With fewer rows than columns it is the shortest of all exact fits, from a system of rows.
    """
    assert isinstance(moments, RowMoments)
    if len(moments.A) < moments.p:
        beta = pooled_of_rows(moments)
    else:
        union = moments.union()
        beta = linalg.solve(union.G, union.h)
    return np.broadcast_to(beta, (moments.shape[0], moments.p))


def plan_rows(problem: RowLeastSquares, *, intercept: bool = True) -> RowPlan:
    """Estimate the variances of every strategy, from the simplest on."""
    some, every = _sample(problem.moments), np.ones(problem.moments.shape)
    hypers: dict[str, Hyper] = {}
    simpler: Hyper | None = None
    for family in (POOLED, INTERCEPT, SLOPES, DIAGONAL):
        if family is INTERCEPT and not intercept:
            continue
        # The spread of slopes is searched from the middle of its prior, as for other collections.
        known = None if family is SLOPES else simpler
        simpler = fit_variances(some, family, known, steps=STEPS)
        hypers[family.name] = replace(simpler, relative=every)
    refits = {"separate": separate_rows, **{n: partial_pooling(one) for n, one in hypers.items()}}
    return RowPlan(Start(problem, hypers["slopes"]), refits)


def _sample(moments: RowMoments) -> RowMoments:
    """Return datasets with about `VARIANCE_ROWS` rows, fewer with very many columns, or all.

    Digits of the sum of squares stand for a random number, so that the order of datasets and their
    names do not matter.
    """
    most = min(VARIANCE_ROWS, VARIANCE_OPERATIONS / moments.p**2)
    if moments.n.sum() <= most:
        return moments
    order = np.argsort(np.modf(DIGITS * moments.q)[0], kind="stable")
    kept = np.zeros(len(order), dtype=bool)
    kept[order[np.cumsum(moments.n[order]) <= most]] = True
    return moments.take(kept)


def fit_rows(refit: Refit, problem: RowLeastSquares) -> RowFitted:
    """Fit one strategy to all rows and outside each fold."""
    F = problem.folds.shape[1]
    lines = np.stack([problem.lines(refit(problem.outside(f))) for f in range(F)])
    return RowFitted(np.array(refit(problem.moments)), lines)


def fit_row_strategies(plan: RowPlan, progress: Progress | None = None) -> dict[str, RowFitted]:
    """Fit every strategy of a plan; what is seen outside a fold is put together once for all."""
    problem = plan.start.problem
    assert isinstance(problem, RowLeastSquares)
    report = progress or (lambda done, total: None)
    F = problem.folds.shape[1]
    lines = {name: np.empty((F, len(problem.folds.t))) for name in plan.refits}
    for f in range(F):
        outside = problem.outside(f)
        for name, refit in plan.refits.items():
            lines[name][f] = problem.lines(refit(outside))
        report(f + 1, F + 1)
    found = {
        name: RowFitted(np.array(refit(problem.moments)), lines[name])
        for name, refit in plan.refits.items()
    }
    report(F + 1, F + 1)
    return found


def judge_rows(fitted: RowFitted, problem: RowLeastSquares) -> Validated:
    """Return fitted coefficients with their losses on held-out rows."""
    rows = problem.folds
    squares = np.mean((rows.t - fitted.lines) ** 2, axis=0) * rows.weights
    inside = np.bincount(rows.dataset, squares, minlength=rows.shape[0])
    shift = problem.moments.sse(fitted.coef) - inside
    return Validated(fitted.coef, problem.losses_of(fitted.lines), None, shift)


def average_rows(fitted: list[RowFitted], weights: FloatArray) -> RowFitted:
    """Return the weighted mean of strategies."""
    used = [(one, w) for one, w in zip(fitted, weights) if w > 0]
    coef = np.sum([w * one.coef for one, w in used], axis=0)
    return RowFitted(coef, np.sum([w * one.lines for one, w in used], axis=0))
