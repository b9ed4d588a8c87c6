"""Methods that find a whole partition, by name.

A new one is a function from the moments of the datasets to labels and a line in `PARTITIONS`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.engine.study import Study
from conjoin.grouping import baselines
from conjoin.grouping.agglomerative import (
    MOST_FULL,
    Restricted,
    Tree,
    grow,
    improve,
    prune,
    relabel,
)
from conjoin.grouping.objective import Objective, RiskObjective, ValidatedObjective, take
from conjoin.models.noise import noise_variances
from conjoin.models.partial import Hyper, coefficients
from conjoin.moments import Moments
from conjoin.strategies import core as strategies

SPLIT_LEVEL = 0.1


@dataclass(frozen=True)
class PartitionMethod:
    """How to find labels (K,), and how to find them anew from part of the rows.

    `find` sees the working collection, `again` only moments and variances of partial pooling, for
    honest validation (None where a partition is validated as it is).
    """

    find: Callable[[Study], IntArray]
    again: Callable[[Moments, Hyper], IntArray] | None


def _from_moments(find: Callable[[Moments], IntArray]) -> PartitionMethod:
    return PartitionMethod(lambda study: find(study.moments), lambda moments, hyper: find(moments))


def _risk(study: Study) -> IntArray:
    found = study.outcome
    labels = strategies.choose_partition(
        found, study.problem, study.weights, lambda labels: study.cluster_fit(labels)[1]
    )
    if labels.max() == 0:  # nothing found, or joining all predicts better
        return labels
    return split_apart(labels, found.search.objective, found.search.near, study)


def split_apart(labels: IntArray, objective: Objective, near: FloatArray, study: Study) -> IntArray:
    """Undo joins that the verdict says cost error.

    Evidence joins datasets whose difference is small against all that the prior allows; with many
    rows even a small difference is worth a model of its own. A cluster of m datasets is taken
    apart along its own tree as long as the verdict on the topmost join is "apart", at level
    0.1 / (m - 1), since that join is the worst of m - 1.
    """
    result, fresh = labels.copy(), int(labels.max()) + 1
    queue = []
    for cluster in range(fresh):
        members = np.nonzero(labels == cluster)[0]
        if 2 <= len(members) <= MOST_FULL:
            tree = grow(Restricted(objective, take(objective.sums, members)), near[members])
            queue.append(Branch(tree, 2 * len(members) - 2, members))
    while queue:
        found = _verdicts([branch.halves for branch in queue], study)
        parted = [branch for branch, answer in zip(queue, found) if answer == "apart"]
        for branch in parted:
            result[branch.halves[1]] = fresh
            fresh += 1
        queue = [below for branch in parted for below in branch.below]
    return relabel(result)


@dataclass(frozen=True, eq=False)
class Branch:
    """A join in the tree of a cluster's `members`."""

    tree: Tree
    node: int
    members: IntArray

    @cached_property
    def halves(self) -> tuple[IntArray, IntArray]:
        """The datasets on either side of the join, first that of the first dataset."""
        one, two = (self.members[self.tree.members(int(child))] for child in self._children)
        return (one, two) if one[0] < two[0] else (two, one)

    @property
    def below(self) -> list["Branch"]:
        """The joins on either side."""
        joins = [int(child) for child in self._children if child >= self.tree.leaves]
        return [Branch(self.tree, child, self.members) for child in joins]

    @property
    def _children(self) -> IntArray:
        return self.tree.children[self.node - self.tree.leaves]


def _verdicts(pairs: list[tuple[IntArray, IntArray]], study: Study) -> list[str]:
    """Return the verdict on each join of m datasets at the level of the worst of m - 1."""
    sizes = np.array([len(left) + len(right) for left, right in pairs])
    answers = np.full(len(pairs), "undecided", dtype=object)
    for size in np.unique(sizes):
        some = np.flatnonzero(sizes == size)
        level = SPLIT_LEVEL / (size - 1)
        asked = [(pairs[i][0].tolist(), pairs[i][1].tolist()) for i in some]
        answers[some] = study.judge.verdicts(asked, delta=level, interval=False)[0]
    return list(answers)


def _evidence(study: Study) -> IntArray:
    return study.outcome.search.labels


def _near(study: Study) -> FloatArray:
    """Return partially pooled coefficients, whose distances suggest which datasets are alike."""
    return coefficients(study.moments, study.hyper)


def _mallows(study: Study) -> IntArray:
    return _least_risk(study.moments, study.weights, _near(study))


def _mallows_again(moments: Moments, hyper: Hyper) -> IntArray:
    K = moments.shape[0]
    near = coefficients(moments, hyper)
    return _least_risk(moments, np.full(K, 1 / K), near)


def _least_risk(moments: Moments, weights: FloatArray, near: FloatArray) -> IntArray:
    """Agglomerate over the unbiased risk."""
    # A dataset may have lost all its rows to the fold left out.
    filled = replace(moments, n=np.maximum(moments.n, 1.0))
    objective = RiskObjective.of(filled, noise_variances(moments), weights)
    return improve(objective, prune(grow(objective, near)), near)


def _validated(study: Study) -> IntArray:
    objective = ValidatedObjective.of(study.folds, study.weights)
    near = _near(study)
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
