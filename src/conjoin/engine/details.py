"""Step 7, on demand: the figures of the report, computed from moments.

Moments, labels and a judge enter; coefficients with standard errors, the merges above the clusters
and the map of gains leave, in the units of the data (`result.details` holds them).
"""

from collections.abc import Sequence

import numpy as np

from conjoin import linalg
from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.criterion.base import PairScore
from conjoin.criterion.judge import Judge
from conjoin.engine.study import Study
from conjoin.engine.verdicts import MOST_INTERVALS, Verdicts
from conjoin.grouping import Step
from conjoin.grouping.agglomerative import Restricted, grow
from conjoin.grouping.objective import Objective, sum_by
from conjoin.grouping.search import Search
from conjoin.models.glm_families import contrasts
from conjoin.models.ols import fit_ols
from conjoin.models.problem import Problem
from conjoin.moments import Basis, Moments
from conjoin.result.details import VERDICTS, Details, Map, cut, whole_tree
from conjoin.result.values import Merge
from conjoin.strategies.plan import Start

# Datasets up to which the map shows each of them, and groups that it shows beyond: more cells than
# 200 x 200 are smaller than a pixel.
MOST_ON_MAP, GROUPS_ON_MAP = 200, 40
# Groups on the map up to which every pair gets a verdict, and up to which every pair gets an
# interval; 60 groups have 1,770 pairs.
MOST_VERDICTS, MOST_MAP_INTERVALS = 60, 30
# Pairs that get both where there are more groups: those that the partition decided most narrowly.
MOST_CONTESTED = 200
# Standard deviations from the mean beyond which a value is reported. Normal values never get that
# far; typing errors do.
FAR = 10.0
SCALED_BY = 4.0  # `Basis` divides columns with far values by the farthest over this


def make_details(
    study: Study,
    start: Start,
    errors: dict[str, FloatArray],
    verdicts: Verdicts,
    search: Search | None,
    ledger: Sequence[Merge],
) -> Details:
    """Return the figures of the report.

    `errors` (K,) are those of each dataset's "own" model, its "cluster" and the "pooled" model, in
    working units.
    """
    problem, basis, judge = start.problem, study.basis, verdicts.judge
    scale = basis.target_scale**2
    by_model = {name: values * scale for name, values in errors.items()}
    by_model["others"] = _error_of_others(problem) * scale
    own, spread, noise = own_fits(judge.moments, basis)
    upper = _judged_upper(verdicts, search)
    return Details(
        errors=by_model,
        own=own,
        own_spread=spread,
        degrees=judge.df,
        cluster_spread=cluster_spreads(problem.moments, verdicts.labels, basis),
        noise=noise,
        dependent=dependent_columns(problem.moments),
        far=far_values(problem.moments, basis),
        upper=upper,
        map=_map(verdicts, [*(line for line in ledger if line.joined), *upper]),
    )


def _error_of_others(problem: Problem) -> FloatArray:
    """Return the error (K,) on each dataset of one model of all the others, in working units."""
    beta = others(problem.moments)
    if beta is None:
        return np.full(problem.moments.shape[0], np.nan)
    losses = problem.loss(np.broadcast_to(beta, (problem.folds.shape[1], *beta.shape)))
    return losses.sum(axis=0) / problem.moments.w


def _judged_upper(verdicts: Verdicts, search: Search | None) -> tuple[Merge, ...]:
    """Return the merges above the clusters, none of which was made, with their verdicts."""
    if search is None:
        return ()
    names, refused = verdicts.names, PairScore(float("nan"), False)
    steps = [
        Step(tuple(names[k] for k in left), tuple(names[k] for k in right), refused)
        for left, right in upper_merges(search.objective, verdicts.labels, search.near)
    ]
    return verdicts.judge_steps(steps, interval=len(steps) <= MOST_INTERVALS)


def _map(verdicts: Verdicts, merges: Sequence[Merge]) -> Map:
    """Return the map of gains between datasets, or between groups where datasets are many."""
    names, labels = verdicts.names, verdicts.labels
    root = whole_tree(names, merges)
    groups: list[tuple[int, ...]]
    groups = [(int(k),) for k in np.argsort(labels, kind="stable")]
    if root is not None:
        most = len(names) if len(names) <= MOST_ON_MAP else GROUPS_ON_MAP
        groups = [node.members for node in cut(root, most)]
    elif len(names) > MOST_ON_MAP:
        clusters = range(int(labels.max()) + 1)
        groups = [tuple(np.nonzero(labels == c)[0].tolist()) for c in clusters]
    return map_of(verdicts.judge, groups, labels, verdicts.delta, verdicts.scale)


# --- coefficients and columns --------------------------------------------------------------------


def own_fits(moments: Moments, basis: Basis) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return coefficients (K, p), their standard errors and the noise (K,) of own fits."""
    inverse, rank = linalg.inverse_and_rank(moments.G)
    fit = fit_ols(moments)
    noise = fit.noise
    usable = (rank == moments.p) & (moments.n > moments.p)
    beta = np.where(usable[:, None], fit.beta, np.nan)
    covariance = np.where(usable, noise, np.nan)[:, None, None] * inverse
    return (
        _in_units(_lines(beta, moments.outputs), basis, level=True),
        _in_units(_line_spreads(covariance, moments.outputs), basis, level=False),
        noise * basis.target_scale**2,
    )


def cluster_spreads(moments: Moments, labels: IntArray, basis: Basis) -> FloatArray:
    """Return standard errors (C, p) of joint fits; noise from residuals within the clusters."""
    unions = moments.sum_by(labels)
    inverse, rank = linalg.inverse_and_rank(unions.G)
    usable = (rank == moments.p) & (unions.n > moments.p)
    covariance = np.where(usable, fit_ols(unions).noise, np.nan)[:, None, None] * inverse
    return _in_units(_line_spreads(covariance, moments.outputs), basis, level=False)


def _lines(beta: FloatArray, outputs: int) -> FloatArray:
    """Return the coefficients (K, lines, d) of each line of models (K, p)."""
    if outputs == 1:
        return beta[:, None]
    by_column = beta.reshape(len(beta), -1, outputs) @ contrasts(outputs + 1).T
    return np.swapaxes(by_column, 1, 2)


def _line_spreads(covariance: FloatArray, outputs: int) -> FloatArray:
    """Return their standard errors (K, lines, d) from covariances (K, p, p)."""
    K, p, _ = covariance.shape
    d = p // outputs
    blocks = covariance.reshape(K, d, outputs, d, outputs)
    own = blocks[:, np.arange(d), :, np.arange(d)]  # (d, K, outputs, outputs)
    V = np.ones((1, 1)) if outputs == 1 else contrasts(outputs + 1)
    variance = np.einsum("ca,dkab,cb->kcd", V, own, V)
    return np.sqrt(np.maximum(variance, 0.0))


def _in_units(beta: FloatArray, basis: Basis, *, level: bool) -> FloatArray:
    """Return coefficients (K, lines, d), or their standard errors, in the units of the data.

    One line after another, (K, lines * d).
    """
    first = int(basis.intercept)
    slopes = beta[..., first:] * basis.target_scale / basis.scale
    if first:
        middle = beta[..., :1] * basis.target_scale + (basis.target_center if level else 0.0)
        slopes = np.concatenate([middle, slopes], axis=-1)
    return slopes.reshape(len(beta), -1)


def others(moments: Moments) -> FloatArray | None:
    """Return coefficients (K, p) of all datasets but each one; None where there is one only."""
    if moments.shape[0] < 2:
        return None
    union = moments.union()
    return linalg.matvec(linalg.inverse(union.G - moments.G), union.h - moments.h)


def dependent_columns(moments: Moments) -> int:
    """Return how many columns of all rows together are sums of others."""
    return (moments.p - int(linalg.inverse_and_rank(moments.union().G)[1])) // moments.outputs


def far_values(moments: Moments, basis: Basis) -> dict[int, float]:
    """Return the features with values very far from their mean, and how far, in deviations.

    A column with far values was scaled by its farthest one, so that its mean square tells.
    """
    union = moments.union()
    diagonal = np.diagonal(union.G)[:: moments.outputs]
    first = int(basis.intercept)
    squares = diagonal[first:] / (diagonal[0] if first else union.w)
    distance = SCALED_BY / np.sqrt(np.maximum(squares, 1e-300))
    return {int(j): float(distance[j]) for j in np.flatnonzero((distance > FAR) & (squares > 0))}


# --- the merges above the clusters, and the map --------------------------------------------------


def upper_merges(
    objective: Objective, labels: IntArray, near: FloatArray | None
) -> list[tuple[list[int], list[int]]]:
    """Return the merges of clusters, as lists of datasets, that lead to a single one."""
    C = int(labels.max()) + 1
    if C < 2:
        return []
    sums = sum_by(objective.sums, labels, C)
    centres = None
    if near is not None:
        sizes = np.bincount(labels, minlength=C)
        centres = np.stack([np.bincount(labels, x) for x in near.T], axis=1) / sizes[:, None]
    tree = grow(Restricted(objective, sums), centres)
    members = [np.flatnonzero(labels == c).tolist() for c in range(C)]

    def under(node: int) -> list[int]:
        return sorted(k for c in tree.members(node) for k in members[c])

    return [(under(int(a)), under(int(b))) for a, b in tree.children]


def map_of(
    judge: Judge, groups: Sequence[tuple[int, ...]], labels: IntArray, delta: float, scale: float
) -> Map:
    """Return gains of joining every two groups, with verdicts on all pairs or the contested."""
    M = len(groups)
    left, right = np.triu_indices(M, 1)
    gains = judge.gains([(groups[int(i)], groups[int(j)]) for i, j in zip(left, right)])
    cluster = labels[[group[0] for group in groups]]
    chosen: IntArray = np.arange(len(left))
    if M > MOST_VERDICTS:
        chosen = _contested(gains, cluster[left] == cluster[right])
    pairs = [(groups[int(left[i])], groups[int(right[i])]) for i in chosen]
    interval = M <= MOST_MAP_INTERVALS or len(pairs) <= MOST_CONTESTED
    answers, ends = judge.verdicts(pairs, delta=delta, interval=interval)
    tables = np.full((3, M, M), np.nan)
    code = np.zeros((M, M), dtype=int)
    tables[0, left, right] = gains * scale
    a, b = left[chosen], right[chosen]
    if interval:
        tables[1, a, b], tables[2, a, b] = ends.T * scale
    code[a, b] = [VERDICTS.index(answer) for answer in answers]
    gain, low, high = (np.where(np.isnan(table), table.T, table) for table in tables)
    return Map(tuple(tuple(group) for group in groups), gain, low, high, code + code.T)


def _contested(gains: FloatArray, together: BoolArray) -> IntArray:
    """Return pairs in one cluster that gain least, and pairs across clusters that gain most."""
    doubt = np.where(together, -gains, gains)
    doubt = np.where(np.isfinite(doubt), doubt, -np.inf)
    half = MOST_CONTESTED // 2
    found = []
    for kind in (together, ~together):
        index = np.flatnonzero(kind)
        found.append(index[np.argsort(-doubt[index], kind="stable")[:half]])
    return np.sort(np.concatenate(found))
