"""Methods that find a whole partition, by name.

A new one is a function from the moments of the datasets to labels and a line in `PARTITIONS`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from conjoin import strategy as strategies
from conjoin._typing import FloatArray, IntArray
from conjoin.grouping import baselines
from conjoin.grouping.agglomerative import (
    MOST_FULL,
    Restricted,
    cut_into,
    grow,
    improve,
    prune,
    relabel,
)
from conjoin.grouping.objective import Objective, RiskObjective, ValidatedObjective, take
from conjoin.models.noise import noise_variances
from conjoin.models.partial import Hyper, posterior
from conjoin.moments import Moments
from conjoin.working import Working

SPLIT_LEVEL = 0.1


@dataclass(frozen=True)
class PartitionMethod:
    """How to find labels (K,), and how to find them anew from part of the rows.

    `find` sees the working collection, `again` only moments and variances of partial pooling, for
    honest validation (None where a partition is validated as it is).
    """

    find: Callable[[Working], IntArray]
    again: Callable[[Moments, Hyper], IntArray] | None


def _from_moments(find: Callable[[Moments], IntArray]) -> PartitionMethod:
    return PartitionMethod(
        lambda working: find(working.moments), lambda moments, hyper: find(moments)
    )


def _risk(working: Working) -> IntArray:
    found = working.outcome
    labels = strategies.settle(found, working.problem, working.weights)
    if labels.max() == 0:  # nothing found, or joining all predicts better
        return labels
    return split_apart(labels, found.search.objective, found.search.near, working)


def split_apart(
    labels: IntArray, objective: Objective, near: FloatArray, working: Working
) -> IntArray:
    """Undo joins that the verdict says cost error.

    Evidence joins datasets whose difference is small against all that the prior allows; with many
    rows even a small difference is worth a model of its own. A cluster of m datasets is taken
    apart along its own tree as long as the verdict on the topmost join is "apart", at level
    0.1 / (m - 1), since that join is the worst of m - 1.
    """
    result, fresh = labels.copy(), int(labels.max()) + 1
    queue = [np.nonzero(labels == cluster)[0] for cluster in range(fresh)]
    while queue:
        members = queue.pop()
        if not 2 <= len(members) <= MOST_FULL:
            continue
        tree = grow(Restricted(objective, take(objective.sums, members)), near[members])
        parts = cut_into(tree, 2)
        left, right = members[parts == 0], members[parts == 1]
        level = SPLIT_LEVEL / (len(members) - 1)
        pair = (left.tolist(), right.tolist())
        answers, _ = working.judge.verdicts([pair], delta=level, interval=False)
        if answers[0] == "apart":
            result[right] = fresh
            fresh += 1
            queue += [left, right]
    return relabel(result)


def _evidence(working: Working) -> IntArray:
    return working.outcome.search.labels


def _near(working: Working) -> FloatArray:
    """Return partially pooled coefficients, whose distances suggest which datasets are alike."""
    return posterior(working.moments, working.hyper).beta


def _mallows(working: Working) -> IntArray:
    return _least_risk(working.moments, working.weights, _near(working))


def _mallows_again(moments: Moments, hyper: Hyper) -> IntArray:
    K = moments.shape[0]
    near = posterior(moments, hyper).beta
    return _least_risk(moments, np.full(K, 1 / K), near)


def _least_risk(moments: Moments, weights: FloatArray, near: FloatArray) -> IntArray:
    """Agglomerate over the unbiased risk."""
    # A dataset may have lost all its rows to the fold left out.
    filled = replace(moments, n=np.maximum(moments.n, 1.0))
    objective = RiskObjective.of(filled, noise_variances(moments), weights)
    return improve(objective, prune(grow(objective, near)), near)


def _validated(working: Working) -> IntArray:
    objective = ValidatedObjective.of(working.folds, working.weights)
    near = _near(working)
    return improve(objective, prune(grow(objective, near)), near)


PARTITIONS: dict[str, PartitionMethod] = {
    "risk": PartitionMethod(_risk, strategies.evidence_partition),
    "evidence": PartitionMethod(_evidence, strategies.evidence_partition),
    "mallows": PartitionMethod(_mallows, _mallows_again),
    "validated": PartitionMethod(_validated, None),
    "chow": _from_moments(baselines.chow),
    "bic": _from_moments(baselines.bic),
    "kmeans": _from_moments(baselines.kmeans),
}
