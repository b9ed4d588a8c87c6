"""Two datasets of numbers: the point decision of a criterion, the verdict, and three models.

Two tables and a request enter, a `Comparison` leaves. Classes and counts go on to
`engine.pair_likelihood`.
"""

from typing import Any

import numpy as np

from conjoin._typing import FloatArray
from conjoin.api.request import PairRequest
from conjoin.criterion import Criterion
from conjoin.criterion.risk import cluster_errors
from conjoin.criterion.verdict import judge, rows_to_settle
from conjoin.engine.criteria import make_criterion, to_units
from conjoin.engine.hints import hint_at_classes
from conjoin.engine.pair_likelihood import compare_likelihoods
from conjoin.engine.reading import read_one, source_names
from conjoin.engine.study import DatasetFacts
from conjoin.errors import ArgumentError
from conjoin.models.noise import noise_variances
from conjoin.models.ols import fit_ols
from conjoin.moments import Basis, Moments
from conjoin.result.comparison import Comparison
from conjoin.result.fits import Fit
from conjoin.tables import DatasetCollection, collect


def compare_pair(a: Any, b: Any, request: PairRequest) -> Comparison:
    """Compare two tables, or the files that they name."""
    options = dict(request.options)
    if request.method in ("tuned", "bound"):
        options = {"delta": request.delta, **options}
    criterion = make_criterion(request.method, options)
    collection = collect(
        {
            _called(name, data): read_one(data, request.target)
            for name, data in (("a", a), ("b", b))
        },
        target=request.target,
        features=request.features,
        weights=request.weights,
        missing=request.missing,
        columns=request.columns,
        family=request.family,
    )
    family = collection.response.family
    if family == "gaussian":
        return _compare_numbers(collection, request, criterion)
    if request.method != "risk":
        raise ArgumentError(
            f"method={request.method_name!r} is for numbers, but the target is of family "
            f"{family!r}; leave method out."
        )
    return compare_likelihoods(collection, request)


def _called(name: str, data: Any) -> str:
    """Return what messages call one of the two datasets; the first sorts before the second."""
    return " ".join([name, *(f"({file})" for file in source_names(data))])


def _compare_numbers(
    collection: DatasetCollection, request: PairRequest, criterion: Criterion
) -> Comparison:
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
