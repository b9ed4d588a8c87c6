"""Two datasets of numbers: the point decision of a criterion, the verdict, and three models.

A collection of two and a request enter, a `Comparison` leaves. The gain is the error of the
separate models minus that of the joint one, so the three always agree.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from conjoin._typing import FloatArray
from conjoin.api.request import PairRequest
from conjoin.criterion import Criterion, PairScore, Unit
from conjoin.criterion.judge import Judge
from conjoin.criterion.risk import cluster_errors, known_gain
from conjoin.criterion.verdict import rows_to_settle
from conjoin.engine.criteria import scatter_of_units, to_units
from conjoin.engine.hints import hint_at_classes
from conjoin.engine.study import DatasetFacts
from conjoin.models.noise import noise_variances
from conjoin.models.ols import fit_ols
from conjoin.moments import Basis, Moments
from conjoin.result.comparison import Comparison
from conjoin.result.fits import Fit
from conjoin.tables import DatasetCollection

if TYPE_CHECKING:
    from conjoin.engine.remote import Reduced
    from conjoin.models.scatter import Scatter

PAIR = [((0,), (1,))]  # the one pair of two datasets
SIDES = ("a", "b")  # names of the two, in `known=` of the paper's methods too


def compare_numbers(
    collection: DatasetCollection, request: PairRequest, criterion: Criterion
) -> Comparison:
    """Compare two datasets whose target is a number."""
    units = _sides(collection, intercept=request.intercept)
    moments = Moments.stack([unit.moments for unit in units])
    scatter = scatter_of_units(units, collection) if request.verdict == "robust" else None
    pair = Pair(moments, units[0].basis, scatter, DatasetFacts.of(collection))
    hint_at_classes(pair.basis, moments, request.target, request.family)
    return _compare(pair, request, criterion, units)


def compare_sums(table: "Reduced", request: PairRequest, criterion: Criterion) -> Comparison:
    """Compare two datasets of which only sums are known: those of two sites."""
    scatter = table.scatter if request.verdict == "robust" else None
    pair = Pair(table.folds.union(1), table.basis, scatter, DatasetFacts.of(table))
    return _compare(pair, request, criterion, ())


@dataclass(frozen=True, eq=False)
class Pair:
    """Two datasets: moments (2,), their basis, how residuals scatter, and what else is known."""

    moments: Moments
    basis: Basis
    scatter: "Scatter | None"
    facts: DatasetFacts


def _compare(
    pair: Pair, request: PairRequest, criterion: Criterion, units: Sequence[Unit]
) -> Comparison:
    """Compare two datasets; `units` have the rows that a criterion other than "risk" reads."""
    moments, basis, scatter, facts = pair.moments, pair.basis, pair.scatter, pair.facts
    judge = Judge.of(moments, scatter=scatter)
    found = judge.judge(PAIR, delta=request.delta, interval=True)
    noise = noise_variances(moments)
    noise = noise if scatter is None else noise * scatter.inflation
    fit_a, fit_b = (_fit(facts, basis, moments[[k]], noise[[k]]) for k in (0, 1))
    fit_joined = _fit(facts, basis, moments, noise)
    scale, verdict = basis.target_scale**2, found.answers[0]
    gain = float(judge.gains(PAIR)[0])
    low, high = (float(end) for end in found.limits[0])
    more_rows: float | None = 1.0
    if verdict == "undecided":
        more_rows = rows_to_settle(moments[0], moments[1], delta=request.delta, scatter=scatter)
    if request.method == "risk":
        score = PairScore(2 * gain / float(np.mean(noise)), gain > 0)
        join = gain > 0 if verdict == "undecided" else verdict == "join"
    else:
        seed = int(request.random_state)
        score = criterion.compare(*(criterion.prepare(unit, seed) for unit in units))
        join = score.join
    spread = getattr(criterion, "spread", None)  # Algorithm 2 has one: its score is random
    return Comparison(
        verdict=verdict,
        join=join,
        gain=known_gain(gain * scale),
        # The limits come from tests and the gain from an unbiased estimate: where the two datasets
        # look more alike than noise allows, the estimate is above the limit of the test.
        interval=(min(low, gain) * scale, max(high, gain) * scale),
        delta=request.delta,
        rows_to_settle=more_rows,
        score=score.score,
        threshold=criterion.threshold,
        phi=score.phi * scale,
        psi=score.psi * scale,
        alpha=score.alpha,
        proxy_acc=score.proxy_acc,
        spread=None if spread is None else partial(spread, units, int(request.random_state)),
        method=request.method_name,
        fit_a=fit_a,
        fit_b=fit_b,
        fit_joined=fit_joined,
        error_separate=(fit_a.error + fit_b.error) / 2,
        error_joined=fit_joined.error,
        few_rows_decide=bool(found.heavy[0]),
    )


def _sides(collection: DatasetCollection, *, intercept: bool) -> list[Unit]:
    """Return the two datasets under the names a and b: random draws do not depend on file names."""
    units = to_units(collection, intercept=intercept)
    return [replace(unit, names=(name,), title=unit.label) for name, unit in zip(SIDES, units)]


def _fit(facts: DatasetFacts, basis: Basis, moments: Moments, noise: FloatArray) -> Fit:
    """Fit one model to the datasets of a cluster, moments (K,), and estimate its error."""
    joint = moments.union()
    error = float(np.mean(cluster_errors(moments, noise)))
    return facts.model(basis, fit_ols(joint).beta, int(joint.n), error)
