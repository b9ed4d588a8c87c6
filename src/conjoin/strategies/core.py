"""Strategies: ways to share datasets, their validated errors, and their combination.

Every strategy gives each dataset its own linear model, so they can be compared fold by fold and
averaged coefficient by coefficient. Hyperparameters (variances, the partition) come from all rows;
per fold, coefficients are fitted anew to the rows outside it and judged on the rows inside.

A strategy is a function from moments to coefficients. Least squares needs no more; a likelihood has
moments near some coefficients only (`models.local`), so there it is applied until they agree, and
from there once for every fold.

==========  ====================================================================
symbol      meaning
==========  ====================================================================
E           losses on left-out rows, by strategy and dataset, (S, K)
z_s         mean paired difference of E to the best strategy over its standard
            error; pairs are datasets (from 8 on), else dataset x fold cells
weight      proportional to exp(-z_s^2 / 2); 0 beyond 1.5 times the least error
==========  ====================================================================
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from conjoin import linalg
from conjoin._typing import FloatArray, IntArray, Progress
from conjoin.execution import in_threads, side_by_side
from conjoin.grouping.agglomerative import (
    MOST_FULL,
    Tree,
    cut_into,
    grow,
    improve,
    prune,
    relabel,
    total_cost,
)
from conjoin.grouping.objective import EvidenceObjective
from conjoin.models.likelihood import CLOSE, Problem
from conjoin.models.mixture import (
    Mixture,
    fit_mixture,
    mixture_coefficients,
    mixture_memberships,
)
from conjoin.models.noise import shrink
from conjoin.models.partial import (
    DIAGONAL,
    INTERCEPT,
    POOLED,
    SLOPES,
    Family,
    Hyper,
    coefficients,
    expected_residuals,
    fit_full,
    fit_variances,
    posterior,
)
from conjoin.moments import Moments

FEW_ROWS = 10_000
FOLD_STEPS, DIAGONAL_FOLD_STEPS = 12, 25
SMALL, LARGE = 3e6, 3e7
LEAST_SHARED = 5e5  # operations of one pass over datasets from which threads are worth waking
MOST_COLUMNS_PER_DATASET = 2
# Separate least squares has no guard against columns that a dataset hardly shows; it is reported
# beside the others, and partial pooling comes close to it wherever datasets are large.
NOT_AVERAGED = ("separate",)
WITHOUT_LEVELS = ("pooled", "mixture")
FEWEST_SEEN = 0.1  # share of datasets with two rows from which validation can see levels
SINGLE = (POOLED, INTERCEPT, SLOPES)  # one variance for whatever varies
NAMES = (
    "auto",
    "best",
    "separate",
    "pooled",
    "clusters",
    "intercept",
    "slopes",
    "partial",
    "full",
    "mixture",
)
FEWEST_DATASETS = 8
# Datasets up to which a variance for each column, and up to which a mixture, are sought from the
# start outside each fold. More datasets tell them better, and take longer.
FEW_DATASETS, FEW_FOR_MIXTURES = 20, 10
FARTHEST = 1.5
MOST_CENTRES = 12
MANY_DATASETS = 300
MOST_MOVES = 6  # times that a likelihood's moments are formed anew for a strategy
ROUNDS = 4  # the same while variances are sought, in as many steps each
ROUND_STEPS = 8
# Ridge of separate fits where there is no least squares, in rows of one: of slopes around zero, of
# levels around that of all rows.
SLOPE_RIDGE, LEVEL_RIDGE = 1.0, 0.1

Refit = Callable[[Moments], FloatArray]
Anew = Callable[[Moments], Hyper]


def separate(moments: Moments) -> FloatArray:
    """Fit each dataset by itself; where it has no information, follow the pooled model."""
    union = moments.union()
    anchor = linalg.solve(union.G, union.h)
    beta: FloatArray = anchor + linalg.matvec(
        linalg.inverse(moments.G), moments.h - linalg.matvec(moments.G, anchor)
    )
    return beta


def separate_ridged(moments: Moments) -> FloatArray:
    """Fit each dataset by itself with a ridge: a likelihood may have no maximum without."""
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


def separate_clusters(labels: IntArray) -> Refit:
    """Fit each cluster by itself with that ridge."""
    return lambda moments: separate_ridged(moments.sum_by(labels))[labels]


def separate_fit(problem: Problem) -> Refit:
    """Return how each dataset is fitted by itself."""
    return separate if problem.exact else separate_ridged


def clusters(labels: IntArray, hyper: Hyper) -> Refit:
    """Fit one model to each cluster, with the prior under which its evidence was weighed.

    Coefficients of clusters scatter around a common centre with the variances of `hyper` (one for
    slopes); it matters only where a cluster has few rows for its columns.
    """
    C = int(labels.max()) + 1

    def refit(moments: Moments) -> FloatArray:
        unions = moments.sum_by(labels)
        return coefficients(unions, replace(hyper, relative=np.ones(C)))[labels]

    return refit


def _partial(hyper: Hyper) -> Refit:
    return lambda moments: coefficients(moments, hyper)


def _shared(find: Anew) -> Anew:
    """Return the same search for variances, done once for the same moments: several ask for it."""
    known: dict[bytes, Hyper] = {}

    def shared(moments: Moments) -> Hyper:
        key = moments.h.tobytes() + moments.q.tobytes()
        if key not in known:
            known[key] = find(moments)
        return known[key]

    return shared


def _anew(family: Family, start: Hyper) -> Anew:
    """Seek variances anew, a few steps from those of all rows."""
    return _shared(lambda moments: fit_variances(moments, family, start=start, steps=FOLD_STEPS))


def _diagonal_anew(start: Hyper, slopes: Hyper, slopes_anew: Anew) -> Anew:
    def find(moments: Moments) -> Hyper:
        if moments.shape[0] > FEW_DATASETS:
            return fit_variances(moments, DIAGONAL, simpler=slopes, start=start, steps=FOLD_STEPS)
        # Few datasets hardly tell a variance for each column: from where all rows led, a few steps
        # would not leave, and validation would be flattered.
        own = slopes_anew(moments)
        return fit_variances(moments, DIAGONAL, simpler=own, steps=DIAGONAL_FOLD_STEPS)

    return _shared(find)


def _partial_anew(anew: Anew) -> Refit:
    return lambda moments: coefficients(moments, anew(moments))


def _full_anew(diagonal: Anew) -> Refit:
    return lambda moments: coefficients(moments, fit_full(moments, diagonal(moments)))


def _mixture(mixture: Mixture) -> Refit:
    return lambda moments: mixture_coefficients(moments, mixture)


def _mixture_anew(slopes: Anew) -> Refit:
    return lambda moments: mixture_coefficients(
        moments, Search.of(moments, slopes(moments)).mixture
    )


@dataclass(frozen=True, eq=False)
class Plan:
    """Strategies as fitted to all rows and as refitted outside a fold; the search for clusters."""

    refits: dict[str, Refit]
    fold_refits: dict[str, Refit]
    search: "Search"


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
    return np.stack(
        [refit(problem.moments - problem.folds[:, f]) for f in range(problem.folds.shape[1])]
    )


def start_values(problem: Problem) -> tuple[Problem, Hyper]:
    """Return variances of partial pooling with one for slopes, and moments near its coefficients.

    All strategies set out from there.
    """
    return _in_turns(problem, SLOPES, steps=100 if problem.exact else ROUND_STEPS)


def _in_turns(
    problem: Problem, family: Family, simpler: Hyper | None = None, *, steps: int
) -> tuple[Problem, Hyper]:
    """Find variances, and moments near the coefficients they give: these hang on each other."""
    hyper = None
    for _ in range(ROUNDS):
        hyper = fit_variances(problem.moments, family, simpler, start=hyper, steps=steps)
        nearer = problem.near(coefficients(problem.moments, hyper))
        if nearer is problem:
            break
        problem = nearer
    assert hyper is not None
    return problem, hyper


def make_plan(problem: Problem, slopes: Hyper, *, intercept: bool = True) -> Plan:
    """Fit the hyperparameters of every strategy to the moments of all rows (K,).

    `slopes` are variances of partial pooling with one variance for slopes.
    """
    moments = problem.moments
    steps = 100 if _size(moments) < LARGE else 25

    def families() -> dict[str, Hyper]:
        simpler: Hyper | None = None
        hypers: dict[str, Hyper] = {}
        for family in (*SINGLE, DIAGONAL):
            if family is INTERCEPT and not intercept:
                continue
            if family is SLOPES:
                hyper = slopes
            elif family is DIAGONAL:  # which may lead far from where slopes are as one
                hyper = _in_turns(problem, family, simpler, steps=steps)[1]
            else:
                hyper = fit_variances(moments, family, simpler, steps=steps)
            hypers[family.name] = simpler = hyper
        return hypers

    search, hypers = side_by_side(
        lambda: Search.of(moments, slopes), families, alone=_is_quick(moments)
    )
    refits: dict[str, Refit] = {
        "separate": separate_fit(problem),
        **{name: _partial(hyper) for name, hyper in hypers.items()},
        "mixture": _mixture(search.mixture),
    }
    variances = {f.name: _anew(f, hypers[f.name]) for f in SINGLE if f.name in hypers}
    diagonal = _diagonal_anew(hypers["partial"], slopes, variances["slopes"])
    anew = {name: _partial_anew(find) for name, find in variances.items()}
    anew["partial"] = _partial_anew(diagonal)
    # From few datasets a covariance of many columns is little more than its prior.
    if moments.p <= MOST_COLUMNS_PER_DATASET * moments.shape[0]:
        refits["full"] = _partial(fit_full(moments, hypers["partial"]))
        anew["full"] = _full_anew(diagonal)
    if moments.shape[0] <= FEW_FOR_MIXTURES:
        anew["mixture"] = _mixture_anew(variances["slopes"])
    # With few rows even a handful of variances remember the rows they were fitted to.
    return Plan(refits, {**refits, **anew} if _is_small(moments) else refits, search)


def _is_small(moments: Moments) -> bool:
    """Say whether variances are fitted anew outside each fold: there it matters, and is quick."""
    return bool(moments.n.sum() < FEW_ROWS and _size(moments) < SMALL)


def _is_quick(moments: Moments) -> bool:
    """Say whether threads are not worth waking for what goes over all datasets."""
    return _size(moments) < LEAST_SHARED


def _size(moments: Moments) -> float:
    """Return the work of one pass over all datasets, in operations."""
    return float(moments.shape[0] * moments.p**3)


@dataclass(frozen=True, eq=False)
class Search:
    """Agglomeration by evidence and the mixtures started from it.

    `hyper` are the variances set out from, `near` partially pooled coefficients, `objective` the
    evidence of a partition, `labels` the partition of best evidence found, `mixture` the mixture
    of best evidence.
    """

    hyper: Hyper
    near: FloatArray
    objective: EvidenceObjective
    tree: Tree
    labels: IntArray
    mixture: Mixture

    @classmethod
    def of(cls, moments: Moments, start: Hyper) -> "Search":
        """Search from the variances of partial pooling with one variance for slopes."""
        near, objective = evidence(moments, start)
        tree = grow(objective, near)
        first = prune(tree)
        found = int(first.max()) + 1
        mixtures = [
            fit_mixture(moments, start, first if found == C else cut_into(tree, C))
            for C in _numbers_of_centres(moments, found)
        ]
        mixture = max(mixtures, key=lambda m: m.log_evidence)
        hard = relabel(np.argmax(mixture_memberships(moments, mixture), axis=1))
        proposals = [improve(objective, labels, near) for labels in (first, hard)]
        best = int(np.argmin([total_cost(objective, labels) for labels in proposals]))
        return cls(start, near, objective, tree, proposals[best], mixture)


def evidence(moments: Moments, hyper: Hyper) -> tuple[FloatArray, EvidenceObjective]:
    """Return partially pooled coefficients and the evidence of partitions around their centre."""
    post = posterior(moments, hyper)
    noise = shrink(expected_residuals(moments, hyper, post), moments.n)
    spread = np.diagonal(hyper.L) ** 2
    return post.beta, EvidenceObjective.of(moments, noise, post.mu, spread)


def evidence_partition(moments: Moments, hyper: Hyper) -> IntArray:
    """Return the partition of best evidence, without the detour over mixtures."""
    near, objective = evidence(moments, hyper)
    return prune(grow(objective, near))


def _numbers_of_centres(moments: Moments, found: int) -> list[int]:
    """Return the numbers of centres to try, given what agglomeration found.

    Where there is much to do few are tried; a likelihood, whose rows are gone over several times
    already, has time for one.
    """
    K = moments.shape[0]
    most = min(MOST_CENTRES, max(K // 2, 1))
    tries: tuple[int, ...] = (2, 3, 4, 6, 8, 12, found)
    if _size(moments) > LARGE or K > MANY_DATASETS:
        few = (3,) if moments.unit_noise else (2, 4)
        tries = (found,) if 2 <= found <= most else few
    usable = {C for C in tries if 1 <= C <= most}
    return sorted(usable) if usable else [1]


@dataclass(frozen=True, eq=False)
class Outcome:
    """Strategies judged and combined.

    Parameters
    ----------
    names : tuple of str
        Strategies, then "auto".
    coef : array (S + 1, K, p)
        Coefficients fitted to all rows.
    cells : array (S + 1, F, K)
        Losses summed over each fold of each dataset: squared errors, or minus log-likelihoods.
    weights : array (S,)
        Shares of the strategies in "auto".
    plan : Plan
        How strategies are fitted.
    auto_outside : array (F, K, p), optional
        Coefficients of "auto" outside each fold, where moments do not know the loss.
    """

    names: tuple[str, ...]
    coef: FloatArray
    cells: FloatArray
    weights: FloatArray
    plan: Plan
    auto_outside: FloatArray | None = None

    @property
    def search(self) -> Search:
        """The agglomeration behind partitions."""
        return self.plan.search

    def outside(self, name: str, problem: Problem) -> FloatArray:
        """Return a strategy's coefficients (F, K, p) outside each fold of the problem it ran on."""
        if name == "auto" and self.auto_outside is not None:
            return self.auto_outside
        near = fit(self.plan.refits[name], problem)[1]
        return fit_outside(self.plan.fold_refits[name], near)


def run(
    problem: Problem,
    dataset_weights: FloatArray,
    slopes: Hyper,
    *,
    intercept: bool = True,
    progress: Progress | None = None,
) -> Outcome:
    """Fit, validate and combine all strategies.

    `problem` and `slopes` are those of `start_values`; `dataset_weights` (K,) say how much the
    error of each dataset counts and sum to one.
    """
    tell = progress or (lambda done, total: None)
    plan = make_plan(problem, slopes, intercept=intercept)
    names = tuple(plan.refits)
    total = len(names) + len(names) // 2
    tell(len(names) // 2, total)  # the plan takes about as long as half of the folds

    def fitted(name: str) -> tuple[FloatArray, FloatArray]:
        beta, near = fit(plan.refits[name], problem)
        return beta, fit_outside(plan.fold_refits[name], near)

    coef, outside = [], []
    found = in_threads(fitted, names, alone=_is_quick(problem.moments))
    for done, (beta, folds) in enumerate(found, start=len(names) // 2 + 1):
        coef.append(beta)
        outside.append(folds)
        tell(done, total)
    fold_coef = np.stack(outside)  # (S, F, K, p)
    cells = np.stack([problem.loss(beta) for beta in fold_coef])
    moments = problem.moments
    averaged = np.array([name not in _not_averaged(moments) for name in names])
    weights = np.zeros(len(names))
    weights[averaged] = soft_weights(cells[averaged], moments.w, dataset_weights)
    auto = np.tensordot(weights, fold_coef, axes=1)
    return Outcome(
        (*names, "auto"),
        np.stack([*coef, np.tensordot(weights, np.stack(coef), axes=1)]),
        np.concatenate([cells, problem.loss(auto)[None]]),
        weights,
        plan,
        None if problem.exact else auto,
    )


def _not_averaged(moments: Moments) -> tuple[str, ...]:
    """Return the strategies that do not enter the average.

    Where hardly any dataset has two rows, a row left out leaves nothing of its dataset behind, so
    validation cannot see that datasets have levels of their own: strategies that deny it would be
    taken for as good as any.
    """
    seen = np.mean(moments.n >= 2 * moments.outputs)
    return (*NOT_AVERAGED, *WITHOUT_LEVELS) if seen < FEWEST_SEEN else NOT_AVERAGED


def choose_partition(
    outcome: Outcome, problem: Problem, w: FloatArray, kept: Callable[[IntArray], FloatArray]
) -> IntArray:
    """Return the partition to use: the one of best evidence, unless joining all predicts better.

    Better is an error on left-out rows that is lower by more than its standard error, with the
    partition found anew outside those rows. With many rows or datasets it is kept as it is, which
    favours it over joining everything, which has nothing to learn; where it still loses, it goes.
    """
    labels, hyper = outcome.search.labels, outcome.search.hyper
    K = len(labels)
    everything = np.zeros(K, dtype=int)
    if labels.max() == 0:
        return labels
    if _is_small(problem.moments) and K <= MOST_FULL:
        found, joined = validate_partition(evidence_partition, problem, hyper), kept(everything)
    else:
        found, joined = in_threads(kept, [labels, everything], alone=_is_quick(problem.moments))
    parts = _paired(np.stack([found, joined]), problem.moments.w, w)
    lead = parts[0] - parts[1]
    return everything if lead.sum() > np.sqrt(len(lead)) * lead.std() else labels


def validate(refit: Refit, problem: Problem) -> FloatArray:
    """Return losses (F, K) on each fold of a strategy refitted outside it."""
    return fit_and_validate(refit, problem)[1]


def fit_and_validate(refit: Refit, problem: Problem) -> tuple[FloatArray, FloatArray]:
    """Return a strategy's coefficients (K, p) and its losses (F, K) outside of folds."""
    beta, near = fit(refit, problem)
    return beta, problem.loss(fit_outside(refit, near))


def validate_partition(
    find: Callable[[Moments, Hyper], IntArray], problem: Problem, hyper: Hyper
) -> FloatArray:
    """Return losses (F, K) of hard clusters whose partition is found anew outside folds.

    Folds are taken two by two, with very many datasets half of them at a time, to save searches.
    """
    moments, folds = problem.moments, problem.folds
    K, F = folds.shape
    beta = np.empty((F, K, moments.p))
    parts = max(F // 2, 2) if K <= MANY_DATASETS else 2
    for pair in np.array_split(np.arange(F), parts):
        rest = moments - folds[:, pair].union(1)
        known = fit_variances(rest, SLOPES) if _is_small(moments) else hyper
        refit = clusters(find(rest, known), hyper)
        near = fit(refit, problem)[1]
        beta[pair] = refit(near.moments - near.folds[:, pair].union(1))
    return problem.loss(beta)


def _paired(cells: FloatArray, w: FloatArray, dataset_weights: FloatArray) -> FloatArray:
    """Return contributions to the mean error whose sums over the last axis are the errors."""
    contributions = cells / w * dataset_weights
    if cells.shape[-1] >= FEWEST_DATASETS:
        total: FloatArray = contributions.sum(axis=1)
        return total
    return contributions.reshape(len(cells), -1)


def _differences(parts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return errors, differences to the least and the standard errors of the differences."""
    mean = parts.sum(axis=1)
    best = parts[np.argmin(mean)]
    difference = parts - best
    count = parts.shape[1]
    error = np.sqrt(
        count
        / max(count - 1, 1)
        * np.sum((difference - difference.mean(axis=1, keepdims=True)) ** 2, axis=1)
    )
    return mean, difference.sum(axis=1), error


def soft_weights(cells: FloatArray, w: FloatArray, dataset_weights: FloatArray) -> FloatArray:
    """Return the strategies' shares in the average, from errors (S, F, K) summed by cell."""
    mean, difference, error = _differences(_paired(cells, w, dataset_weights))
    z = np.where(difference > 0, difference / np.where(error > 0, error, np.inf), 0.0)
    z = np.where((difference > 0) & (error == 0), np.inf, z)
    weights = np.where(mean <= FARTHEST * mean.min(), np.exp(-0.5 * z**2), 0.0)
    shares: FloatArray = weights / weights.sum()
    return shares


def summarise(
    cells: FloatArray, w: FloatArray, dataset_weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return errors (S,), differences to the least and standard errors of the differences."""
    return _differences(_paired(cells, w, dataset_weights))
