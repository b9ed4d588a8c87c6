"""Fits of strategies to all rows and outside every fold, and their losses on held-out rows.

A refit and a problem enter; coefficients (K, p), coefficients outside each fold (F, K, p) and
losses (F, K) leave. A loss is summed over the held-out rows of a fold of a dataset: squared errors,
or minus log-likelihoods.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from conjoin._typing import FloatArray, Progress
from conjoin.execution import in_threads
from conjoin.grouping.search import FindPartition
from conjoin.models.effort import MANY_DATASETS, is_quick, is_small
from conjoin.models.likelihood import Likelihood
from conjoin.models.partial import SLOPES
from conjoin.models.problem import CLOSE, Problem
from conjoin.strategies.plan import Plan, Start
from conjoin.strategies.refits import Refit, clusters

# Newton steps of a likelihood for one strategy at most. They start from partially pooled
# coefficients and end as soon as the linear predictors move by less than CLOSE.
MOST_MOVES = 6
# Numbers in the coefficients outside folds of a strategy that are kept: 16 MB. A dozen strategies
# would otherwise fill the memory where datasets are very many.
MOST_KEPT = 2_000_000


@dataclass(frozen=True, eq=False)
class Fitted:
    """Coefficients of one strategy.

    Parameters
    ----------
    coef : array (K, p)
        Fitted to all rows.
    fold_coef : array (F, K, p)
        Fitted outside each fold.
    """

    coef: FloatArray
    fold_coef: FloatArray


@dataclass(frozen=True, eq=False)
class Validated:
    """One strategy with its losses on held-out rows.

    Parameters
    ----------
    coef : array (K, p)
        Fitted to all rows.
    losses : array (F, K)
        On the held-out rows of each fold of each dataset, summed.
    fold_coef : array (F, K, p), optional
        Fitted outside each fold. Probabilities are scored with them, and intervals of predictions
        found. With least squares they are kept up to `MOST_KEPT` numbers.
    shift : array (K,), optional
        Loss of the fit to all rows, on all rows, less the mean of the same of the fits outside the
        folds: what their fewer rows cost. None for a likelihood, where it is not computed.
    """

    coef: FloatArray
    losses: FloatArray
    fold_coef: FloatArray | None
    shift: FloatArray | None = None


def fit(
    refit: Refit, problem: Problem, moves: int = MOST_MOVES, close: float = CLOSE
) -> tuple[FloatArray, Problem]:
    """Return a strategy's coefficients (K, p) and the problem with moments near them."""
    for _ in range(moves):
        beta = refit(problem.moments)
        nearer = problem.near(beta, close)
        if nearer is problem:
            break
        problem = nearer
    return beta, problem


def fit_outside(refit: Refit, problem: Problem) -> FloatArray:
    """Return coefficients (F, K, p) refitted outside each fold; moments are near enough."""
    return np.stack([refit(problem.outside(f)) for f in range(problem.folds.shape[1])])


def fit_strategies(
    plan: Plan, problem: Problem, progress: Progress | None = None
) -> dict[str, Fitted]:
    """Fit every strategy of a plan to all rows and outside each fold, in threads."""
    report_progress = progress or (lambda done, total: None)
    names = tuple(plan.refits)
    planned = len(names) // 2  # the plan took about as long as half of the fits
    total = len(names) + planned
    report_progress(planned, total)

    def fit_one(name: str) -> Fitted:
        coef, near = fit(plan.refits[name], problem)
        return Fitted(coef, fit_outside(plan.fold_refits[name], near))

    found: dict[str, Fitted] = {}
    alone = is_quick(problem.moments)
    if isinstance(problem, Likelihood):  # which may ask for sums of rows that are elsewhere
        results = problem.rows.each(fit_one, names, alone=alone)
    else:
        results = in_threads(fit_one, names, alone=alone)
    for name, fitted in zip(names, results):
        found[name] = fitted
        report_progress(planned + len(found), total)
    return found


def judge_losses(fitted: Fitted, problem: Problem) -> Validated:
    """Return fitted coefficients with their losses on held-out rows."""
    losses = problem.loss(fitted.fold_coef)
    if not problem.exact:
        return Validated(fitted.coef, losses, fitted.fold_coef)
    kept = fitted.fold_coef if fitted.fold_coef.size <= MOST_KEPT else None
    moments = problem.moments
    inside = np.mean([moments.sse(one) for one in fitted.fold_coef], axis=0)
    return Validated(fitted.coef, losses, kept, moments.sse(fitted.coef) - inside)


def judge_all(fits: Sequence[Fitted], problem: Problem) -> list[Validated]:
    """Return several strategies with their losses on held-out rows."""
    if isinstance(problem, Likelihood) and problem.rows.remote:  # asked for all at once
        work = partial(judge_losses, problem=problem)
        return list(problem.rows.each(work, fits, alone=False))
    return [judge_losses(one, problem) for one in fits]


def validate(refit: Refit, problem: Problem) -> Validated:
    """Fit one strategy to all rows and outside each fold, and return its losses."""
    coef, near = fit(refit, problem)
    return judge_losses(Fitted(coef, fit_outside(refit, near)), problem)


def validate_partition(find: FindPartition, start: Start) -> FloatArray:
    """Return losses (F, K) of clusters when the partition is searched for outside held-out rows.

    Folds are held out two at a time, with very many datasets half of them at a time, to save
    searches. With forward validation the search sees what came before the first of them.
    """
    problem, hyper = start.problem, start.hyper
    moments = problem.moments
    K, F = problem.folds.shape
    beta = np.empty((F, K, moments.p))
    parts = max(F // 2, 2) if K <= MANY_DATASETS else 2
    for held_out in np.array_split(np.arange(F), min(parts, F)):
        rest = problem.left_out(held_out)[0]
        known = start.noise.fit(rest, SLOPES) if is_small(moments) else hyper
        refit = clusters(find(rest, known, problem.inner(held_out)), hyper, exact=problem.exact)
        near = fit(refit, problem)[1]
        seen = near.left_out(held_out)
        if problem.seen is None:  # all of these folds see the same rows
            beta[held_out] = refit(seen[0])
        else:
            beta[held_out] = np.stack([refit(one) for one in seen])
    return problem.loss(beta)
