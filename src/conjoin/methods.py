"""Methods that find a whole partition, by name.

A new one is a function from the moments of the datasets to labels and a line in `PARTITIONS`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from conjoin import strategy as strategies
from conjoin._typing import FloatArray, IntArray
from conjoin.grouping import baselines
from conjoin.grouping.agglomerative import grow, improve, prune
from conjoin.grouping.objective import RiskObjective, ValidatedObjective
from conjoin.models.noise import noise_variances
from conjoin.models.partial import posterior
from conjoin.moments import Moments
from conjoin.working import Working

GetOutcome = Callable[[], strategies.Outcome]


@dataclass(frozen=True)
class PartitionMethod:
    """How to find labels (K,), and how to find them anew from part of the rows.

    `find` sees the working collection and, on call, the strategies' outcome; `again` only moments,
    for honest validation (None where a partition is validated as it is).
    """

    find: Callable[[Working, GetOutcome], IntArray]
    again: Callable[[Moments], IntArray] | None


def _from_moments(find: Callable[[Moments], IntArray]) -> PartitionMethod:
    return PartitionMethod(lambda working, outcome: find(working.moments), find)


def _risk(working: Working, outcome: GetOutcome) -> IntArray:
    return strategies.settle(outcome(), working.moments, working.folds, working.weights)


def _evidence(working: Working, outcome: GetOutcome) -> IntArray:
    return outcome().search.labels


def _near(working: Working) -> FloatArray:
    """Return partially pooled coefficients, whose distances suggest which datasets are alike."""
    return posterior(working.moments, working.hyper).beta


def _mallows(working: Working, outcome: GetOutcome) -> IntArray:
    noise = noise_variances(working.moments)
    objective = RiskObjective.of(working.moments, noise, working.weights)
    near = _near(working)
    return improve(objective, prune(grow(objective, near)), near)


def _validated(working: Working, outcome: GetOutcome) -> IntArray:
    objective = ValidatedObjective.of(working.folds, working.weights)
    near = _near(working)
    return improve(objective, prune(grow(objective, near)), near)


PARTITIONS: dict[str, PartitionMethod] = {
    "risk": PartitionMethod(_risk, strategies.evidence_partition),
    "evidence": PartitionMethod(_evidence, strategies.evidence_partition),
    "mallows": PartitionMethod(_mallows, None),
    "validated": PartitionMethod(_validated, None),
    "chow": _from_moments(baselines.chow),
    "bic": _from_moments(baselines.bic),
    "kmeans": _from_moments(baselines.kmeans),
}
