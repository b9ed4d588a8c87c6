"""Step 7, on demand: the figures of the report, computed from moments.

Moments, labels and a judge enter; coefficients with standard errors, the merges above the clusters
and the map of gains leave, in the units of the data (`result.details` holds them).
"""

from collections.abc import Sequence

import numpy as np

from conjoin import linalg
from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.engine.gain_map import judged_upper, make_map
from conjoin.engine.study import Study
from conjoin.engine.verdicts import Verdicts
from conjoin.execution import one_thread
from conjoin.grouping.search import Search
from conjoin.models.glm_families import contrasts
from conjoin.models.ols import fit_ols
from conjoin.models.problem import Problem
from conjoin.moments import Basis, Moments
from conjoin.result.details import Details
from conjoin.result.values import Merge
from conjoin.strategies.plan import Start

# Standard deviations from the mean beyond which a value is reported. Normal values never get that
# far; typing errors do.
FAR = 10.0
# Share of a coefficient in directions of which rows tell nothing, from which it is not shown.
# Rounding in Moore-Penrose inverses leaves 1e-6 of directions that are nearly dependent.
OPEN = 1e-4
SCALED_BY = 4.0  # `Basis` divides columns with far values by the farthest over this


@one_thread()
def make_details(
    study: Study,
    start: Start,
    errors: dict[str, FloatArray],
    verdicts: Verdicts,
    search: Search | None,
    ledger: Sequence[Merge],
) -> Details:
    """Return the figures of the report.

    `errors` (K,) are those of each dataset's "own" model, its "separate" one, its "cluster" and the
    model for "all", in working units.
    """
    problem, basis, judge = start.problem, study.basis, verdicts.judge
    scale = basis.target_scale**2
    by_model = {name: values * scale for name, values in errors.items()}
    by_model["others"] = _error_of_others(problem) * scale
    own, spread, noise = own_fits(judge.moments, basis)
    upper = judged_upper(verdicts, search)
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
        map=make_map(verdicts, [*(line for line in ledger if line.joined), *upper]),
        weights=study.weights,
    )


def _error_of_others(problem: Problem) -> FloatArray:
    """Return the error (K,) on each dataset of one model of all the others, in working units."""
    beta = others(problem.moments)
    if beta is None:
        return np.full(problem.moments.shape[0], np.nan)
    losses = problem.loss(np.broadcast_to(beta, (problem.folds.shape[1], *beta.shape)))
    return losses.sum(axis=0) / problem.moments.w


# --- coefficients and columns --------------------------------------------------------------------


def own_fits(moments: Moments, basis: Basis) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return coefficients (K, p), their standard errors and the noise (K,) of own fits."""
    inverse, rank = linalg.inverse_and_rank(moments.G)
    fit = fit_ols(moments)
    values = _in_units(basis.to_columns(_lines(fit.beta, moments.outputs)), basis, level=True)
    spreads = _spreads_in_units(fit.noise[:, None, None] * inverse, moments.outputs, basis)
    known = _known(moments, inverse, rank, basis) & np.isfinite(fit.noise)[:, None]
    return (
        np.where(known, values, np.nan),
        np.where(known, spreads, np.nan),
        fit.noise * basis.target_scale**2,
    )


def cluster_spreads(moments: Moments, labels: IntArray, basis: Basis) -> FloatArray:
    """Return standard errors (C, p) of joint fits; noise from residuals within the clusters."""
    unions = moments.sum_by(labels)
    inverse, rank = linalg.inverse_and_rank(unions.G)
    noise = fit_ols(unions).noise
    spreads = _spreads_in_units(noise[:, None, None] * inverse, moments.outputs, basis)
    return np.where(_known(unions, inverse, rank, basis), spreads, np.nan)


def _known(moments: Moments, inverse: FloatArray, rank: IntArray, basis: Basis) -> BoolArray:
    """Say which coefficients (K, lines * d) the rows tell, where some columns are dependent.

    A column with one value only leaves its own coefficient and the level open, not those of the
    others. I - G^+ G projects on what is open: a coefficient is known if its part there is nil.
    """
    one, outputs = np.eye(moments.p), moments.outputs
    opened = one - np.matmul(inverse, moments.G)
    opened[rank == moments.p] = 0.0  # but for rounding
    part, whole = (
        _line_spreads(basis.covariance_to_columns(square, outputs), outputs).reshape(
            len(square), -1
        )
        for square in (opened @ np.swapaxes(opened, -1, -2), one[None])
    )
    return np.asarray(part < OPEN * whole)


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


def _spreads_in_units(covariance: FloatArray, outputs: int, basis: Basis) -> FloatArray:
    """Return standard errors (K, lines * d) in the units of the data, from covariances."""
    spreads = _line_spreads(basis.covariance_to_columns(covariance, outputs), outputs)
    return _in_units(spreads, basis, level=False)


def _in_units(beta: FloatArray, basis: Basis, *, level: bool) -> FloatArray:
    """Return coefficients (K, lines, d), or their standard errors, in the units of the data.

    They are of columns that are centred and scaled, and not stretched. One line comes after
    another, (K, lines * d).
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

    A column with far values was scaled by its farthest one, so its mean square shows it.
    """
    union = moments.union()
    first = int(basis.intercept)
    second = union.G[:: moments.outputs, :: moments.outputs]
    squares = np.diagonal(basis.second_of_columns(second[first:, first:]))
    squares = squares / (second[0, 0] if first else union.w)
    distance = SCALED_BY / np.sqrt(np.maximum(squares, 1e-300))
    return {int(j): float(distance[j]) for j in np.flatnonzero((distance > FAR) & (squares > 0))}
