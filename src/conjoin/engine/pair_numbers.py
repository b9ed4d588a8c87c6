"""Two datasets of numbers: the point decision of a criterion, the verdict, and three models.

A collection of two and a request enter, a `Comparison` leaves.
"""

import numpy as np

from conjoin._typing import FloatArray
from conjoin.api.request import PairRequest
from conjoin.criterion import Criterion
from conjoin.criterion.risk import cluster_errors
from conjoin.criterion.verdict import judge, rows_to_settle
from conjoin.engine.criteria import to_units
from conjoin.engine.hints import hint_at_classes
from conjoin.engine.study import DatasetFacts
from conjoin.models.noise import noise_variances
from conjoin.models.ols import fit_ols
from conjoin.moments import Basis, Moments
from conjoin.result.comparison import Comparison
from conjoin.result.fits import Fit
from conjoin.tables import DatasetCollection


def compare_numbers(
    collection: DatasetCollection, request: PairRequest, criterion: Criterion
) -> Comparison:
    """Compare two datasets whose target is a number."""
    units = to_units(collection, intercept=request.intercept)
    seed = int(request.random_state)
    score = criterion.compare(*(criterion.prepare(unit, seed) for unit in units))
    moments = Moments.stack([unit.moments for unit in units])
    basis = units[0].basis
    hint_at_classes(basis, moments, request.target, request.family)
    noise, facts = noise_variances(moments), DatasetFacts.of(collection)
    fit_a, fit_b = (_fit(facts, basis, moments[[k]], noise[[k]]) for k in (0, 1))
    fit_joined = _fit(facts, basis, moments, noise)
    found = judge(moments[0], moments[1], delta=request.delta)
    more_rows: float | None = 1.0
    if found.verdict == "undecided":
        more_rows = rows_to_settle(moments[0], moments[1], delta=request.delta)
    scale = basis.target_scale**2
    return Comparison(
        verdict=found.verdict,
        join=score.join,
        gain=found.gain * scale,
        interval=(found.interval[0] * scale, found.interval[1] * scale),
        delta=request.delta,
        rows_to_settle=more_rows,
        score=score.score,
        threshold=criterion.threshold,
        phi=score.phi * scale,
        psi=score.psi * scale,
        alpha=score.alpha,
        method=request.method_name,
        fit_a=fit_a,
        fit_b=fit_b,
        fit_joined=fit_joined,
        error_separate=(fit_a.error + fit_b.error) / 2,
        error_joined=fit_joined.error,
    )


def _fit(facts: DatasetFacts, basis: Basis, moments: Moments, noise: FloatArray) -> Fit:
    """Fit one model to the datasets of a cluster, moments (K,), and estimate its error."""
    joint = moments.union()
    error = float(np.mean(cluster_errors(moments, noise)))
    return facts.model(basis, fit_ols(joint).beta, int(joint.n), error)
