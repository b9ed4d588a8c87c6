"""Which strategies are used, with their hyperparameters estimated from all rows.

A problem (moments of datasets and folds) enters. `start_values` returns the variances from which
everything starts; `make_plan` returns each strategy as a refit, once for all rows and once for the
rows outside a fold.
"""

from dataclasses import dataclass

from conjoin.execution import side_by_side
from conjoin.grouping.search import Search
from conjoin.models.effort import LARGE, is_large, is_quick, is_small, operations
from conjoin.models.full import fit_full
from conjoin.models.lowrank import fit_low_rank
from conjoin.models.optima import Optima, Starts
from conjoin.models.own_noise import COMMON, NoiseRule, choose_noise
from conjoin.models.partial import (
    DIAGONAL,
    INTERCEPT,
    POOLED,
    SLOPES,
    Family,
    Hyper,
    coefficients,
    fit_variances,
)
from conjoin.models.problem import Problem, RowLeastSquares
from conjoin.strategies.refits import (
    Refit,
    diagonal_outside,
    full_outside,
    low_rank_outside,
    mixture_outside,
    partial_outside,
    partial_pooling,
    separate_fit,
    soft_clusters,
    variances_outside,
)

# Families with one variance for whatever varies, from the simplest on: each starts at the estimate
# of the one before.
SINGLE = (POOLED, INTERCEPT, SLOPES)
# A full covariance has p (p + 1) / 2 entries. With fewer than one dataset for two columns its
# estimate is little more than its prior, so the strategy is left out.
MOST_COLUMNS_PER_DATASET = 2
# Datasets up to which a mixture is searched for again outside every fold. More datasets determine
# it better, and a search for each fold takes long. Set by time, not by error.
FEW_FOR_MIXTURES = 10
# Steps of the optimiser for the variances of all rows at most: it stops earlier where it converges.
# Large collections get fewer, since a step is a pass over all datasets.
STEPS, LARGE_STEPS = 100, 25
# Rounds in which variances and the moments of a likelihood take turns, and steps of each round.
# Variances and coefficients depend on each other; the rounds end as soon as moments stay.
ROUNDS, ROUND_STEPS = 4, 8


@dataclass(frozen=True, eq=False)
class Start:
    """Where all strategies start.

    Parameters
    ----------
    problem : Problem
        The datasets; a likelihood with moments near partially pooled coefficients.
    hyper : Hyper
        Variances of partial pooling with one variance for slopes.
    noise : NoiseRule
        How the noise of each dataset is estimated.
    optima : Optima, optional
        Where searches for variances start, if rows may be added later (`models.optima`).
    """

    problem: Problem
    hyper: Hyper
    noise: NoiseRule = COMMON
    optima: Optima | None = None


@dataclass(frozen=True, eq=False)
class Plan:
    """The strategies by name: `refits` for all rows, `fold_refits` for the rows outside a fold.

    The two differ where rows are few: there `fold_refits` estimate their variances again.
    """

    refits: dict[str, Refit]
    fold_refits: dict[str, Refit]
    search: Search


def start_values(problem: Problem, starts: Starts | None = None) -> Start:
    """Estimate the variances of partial pooling, and bring a likelihood near its coefficients.

    `starts` are optima of fewer rows. If they are given, and be they none, variances are found to
    the last digits (`models.optima`).
    """
    optima = None if starts is None else Optima.of(starts)
    steps = STEPS if problem.exact else ROUND_STEPS
    start = _alternate(problem, SLOPES, COMMON, steps=steps, optima=optima)
    # The noise of a likelihood is known. Datasets of few rows cannot have a noise of their own.
    if not problem.exact or isinstance(problem, RowLeastSquares):
        return start
    noise, hyper = choose_noise(problem, start.hyper, optima)
    return Start(problem, hyper, noise, optima)


def _alternate(
    problem: Problem,
    family: Family,
    noise: NoiseRule,
    simpler: Hyper | None = None,
    *,
    steps: int,
    optima: Optima | None = None,
) -> Start:
    """Estimate variances and move a likelihood's moments in turns: each depends on the other."""
    hyper = None
    for _ in range(ROUNDS):
        hyper = noise.fit(problem.moments, family, simpler, hyper, steps, optima)
        nearer = problem.near(coefficients(problem.moments, hyper))
        if nearer is problem:
            break
        problem = nearer
    assert hyper is not None
    return Start(problem, hyper)


def make_plan(start: Start, *, intercept: bool = True) -> Plan:
    """Search for a partition and estimate the hyperparameters of every strategy, side by side."""
    problem, slopes = start.problem, start.hyper
    moments = problem.moments
    search, (hypers, full) = side_by_side(
        lambda: Search.of(moments, slopes, start.noise),
        lambda: _all_variances(start, intercept),
        alone=is_quick(moments),
    )
    refits: dict[str, Refit] = {
        "separate": separate_fit(problem),
        **{name: partial_pooling(hyper) for name, hyper in hypers.items()},
        "mixture": soft_clusters(search.mixture),
    }
    find = {
        f.name: variances_outside(f, hypers[f.name], _rule(f, start))
        for f in SINGLE
        if f.name in hypers
    }
    find_diagonal = diagonal_outside(hypers["partial"], slopes, find["slopes"], start.noise)
    outside = {name: partial_outside(one) for name, one in find.items()}
    outside["partial"] = partial_outside(find_diagonal)
    noise = start.noise
    if full is not None:
        refits["full"] = partial_pooling(noise.apply(full, moments))
        outside["full"] = full_outside(find_diagonal, noise)
    if not is_large(moments):
        # Clusters span a subspace too, but there the mixture has the better evidence.
        least = search.mixture.log_evidence
        low = fit_low_rank(moments, noise.before(hypers["partial"]), full, least)
        if low is not None:
            refits["lowrank"] = partial_pooling(noise.apply(low.hyper, moments))
            outside["lowrank"] = low_rank_outside(find_diagonal, low.rank, noise)
    if moments.shape[0] <= FEW_FOR_MIXTURES:
        outside["mixture"] = mixture_outside(find["slopes"], start.noise)
    return Plan(refits, {**refits, **outside} if is_small(moments) else refits, search)


def _rule(family: Family, start: Start) -> NoiseRule:
    """Return how a family estimates noise.

    With slopes in common, residuals are misfit as well as noise. A quiet dataset would then pull
    the slopes of all towards its own.
    """
    return start.noise if family is SLOPES else COMMON


def _all_variances(start: Start, intercept: bool) -> tuple[dict[str, Hyper], Hyper | None]:
    """Return the variances by family, and a full covariance if there are datasets enough.

    The full covariance has the common noise unless the rule is "own", for others to start from it.
    """
    hypers, moments = _variances(start, intercept), start.problem.moments
    if moments.p > MOST_COLUMNS_PER_DATASET * moments.shape[0]:
        return hypers, None
    return hypers, fit_full(moments, start.noise.before(hypers["partial"]))


def _variances(start: Start, intercept: bool) -> dict[str, Hyper]:
    """Estimate the variances of partial pooling by family, from the simplest family on."""
    problem, moments, optima = start.problem, start.problem.moments, start.optima
    steps = STEPS if operations(moments) < LARGE else LARGE_STEPS
    simpler: Hyper | None = None
    found: dict[str, Hyper] = {}
    for family in (*SINGLE, DIAGONAL):
        if family is INTERCEPT and not intercept:
            continue
        if family is SLOPES:
            hyper = start.hyper
        elif family is DIAGONAL:  # which may lead far from where slopes share one variance
            noise = start.noise
            near = _alternate(problem, family, noise, simpler, steps=steps, optima=optima)
            hyper = near.hyper
        else:
            hyper = fit_variances(moments, family, simpler, steps=steps, optima=optima)
        found[family.name] = simpler = hyper
    return found
