"""Methods that find a partition, by name.

What the earlier steps found enters (`Candidates`); labels of the datasets, with the fits of their
clusters, leave (`Chosen`). A new method is a function from `Candidates` to labels and a line in
`METHODS`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.criterion.judge import Judge
from conjoin.grouping import baselines
from conjoin.grouping.agglomerative import MOST_FULL, grow, improve, prune
from conjoin.grouping.objective import RiskObjective, ValidatedObjective
from conjoin.grouping.search import FindPartition, Search, evidence_partition, split_apart
from conjoin.models.effort import is_small
from conjoin.models.noise import noise_variances
from conjoin.models.partial import Hyper, coefficients
from conjoin.moments import Moments
from conjoin.strategies.average import paired_parts
from conjoin.strategies.plan import Start
from conjoin.strategies.refits import clusters
from conjoin.strategies.validation import Validated, validate, validate_partition


@dataclass(frozen=True, eq=False)
class Candidates:
    """What partitions are chosen from.

    Parameters
    ----------
    start : Start
        The problem and the variances from which everything started.
    weights : array (K,)
        How much the error of each dataset counts.
    search : Search
        The search by evidence.
    judge : Judge
        Verdicts on pairs of groups.
    pooled : Validated
        One model for all: strategy "pooled", which is also the model of a single cluster.
    """

    start: Start
    weights: FloatArray
    search: Search
    judge: Judge
    pooled: Validated

    @property
    def moments(self) -> Moments:
        """Moments of all rows of each dataset (K,)."""
        return self.start.problem.moments

    def fit(self, labels: IntArray) -> Validated:
        """Fit one model to each cluster, on all rows and outside each fold."""
        return validate(clusters(labels, self.start.hyper), self.start.problem)


@dataclass(frozen=True, eq=False)
class Chosen:
    """A partition with its fits.

    Parameters
    ----------
    labels : array (K,)
        The cluster of each dataset.
    clusters : Validated
        One model for each cluster.
    pooled : Validated
        One model for all, the same as strategy "pooled".
    searched_losses : array (F, K), optional
        Losses of the clusters when the partition is searched for again outside the held-out rows;
        None if nothing needed them yet.
    """

    labels: IntArray
    clusters: Validated
    pooled: Validated
    searched_losses: FloatArray | None = None


@dataclass(frozen=True)
class PartitionMethod:
    """How to find a partition from all rows, and from part of the rows.

    `find_outside` sees only moments and variances of partial pooling, so that it can be validated
    on the other rows. It is None if a method cannot do that.
    """

    choose: Callable[[Candidates], Chosen]
    find_outside: FindPartition | None


def fitted(labels: IntArray, candidates: Candidates) -> Chosen:
    """Return a partition with its fits."""
    pooled = candidates.pooled
    return Chosen(labels, pooled if labels.max() == 0 else candidates.fit(labels), pooled)


def _choose_auto(candidates: Candidates) -> Chosen:
    """Take the partition of best evidence, unless one model for all predicts better.

    Better is an error on held-out rows that is lower by more than its standard error. With few
    rows the partition is searched for again outside the held-out rows. With many rows or datasets
    it is kept as it is, which favours it over one model for all, which has nothing to learn; where
    it still loses, it goes.
    """
    labels, problem = candidates.search.labels, candidates.start.problem
    one_cluster = np.zeros_like(labels)
    if labels.max() == 0:
        return fitted(labels, candidates)
    searched, found, pooled = None, None, candidates.pooled
    if is_small(problem.moments) and len(labels) <= MOST_FULL:
        losses = searched = validate_partition(evidence_partition, problem, candidates.start.hyper)
    else:
        found = candidates.fit(labels)
        losses = found.losses
    stacked = np.stack([losses, pooled.losses])
    parts = paired_parts(stacked, problem.moments.w, candidates.weights)
    lead = parts[0] - parts[1]
    if lead.sum() > np.sqrt(len(lead)) * lead.std():
        return Chosen(one_cluster, pooled, pooled, searched)
    split = split_apart(labels, candidates.search, candidates.judge)
    if found is None or not np.array_equal(split, labels):
        found = candidates.fit(split)
    return Chosen(split, found, pooled, searched)


def validate_search(method: str, chosen: Chosen, start: Start) -> FloatArray | None:
    """Return losses (F, K) of clusters with the partition searched for outside held-out rows.

    None for a method that cannot search outside them, and for a single cluster, which is one model
    for all.
    """
    known = METHODS.get(method)
    if chosen.labels.max() == 0 or known is None or known.find_outside is None:
        return None
    if chosen.searched_losses is not None:
        return chosen.searched_losses
    return validate_partition(known.find_outside, start.problem, start.hyper)


def _by_risk(candidates: Candidates) -> IntArray:
    near = coefficients(candidates.moments, candidates.start.hyper)
    return _least_risk(candidates.moments, candidates.weights, near)


def _by_risk_outside(moments: Moments, hyper: Hyper) -> IntArray:
    K = moments.shape[0]
    return _least_risk(moments, np.full(K, 1 / K), coefficients(moments, hyper))


def _least_risk(moments: Moments, weights: FloatArray, near: FloatArray) -> IntArray:
    """Agglomerate over the unbiased risk."""
    # A dataset may have lost all its rows to the held-out fold.
    filled = replace(moments, n=np.maximum(moments.n, 1.0))
    objective = RiskObjective.of(filled, noise_variances(moments), weights)
    return improve(objective, prune(grow(objective, near)), near)


def _by_validation(candidates: Candidates) -> IntArray:
    """Agglomerate over the error on held-out rows."""
    objective = ValidatedObjective.of(candidates.start.problem.folds, candidates.weights)
    near = coefficients(candidates.moments, candidates.start.hyper)
    return improve(objective, prune(grow(objective, near)), near)


def _by(
    find: Callable[[Candidates], IntArray], find_outside: FindPartition | None
) -> PartitionMethod:
    """Return a method that finds labels, whose clusters are then fitted."""
    return PartitionMethod(lambda candidates: fitted(find(candidates), candidates), find_outside)


def _by_moments(find: Callable[[Moments], IntArray]) -> PartitionMethod:
    """Return a method that needs nothing but moments."""
    return _by(lambda candidates: find(candidates.moments), lambda moments, hyper: find(moments))


METHODS: dict[str, PartitionMethod] = {
    "auto": PartitionMethod(_choose_auto, evidence_partition),
    "risk": _by(_by_risk, _by_risk_outside),
    "evidence": _by(lambda candidates: candidates.search.labels, evidence_partition),
    "validated": _by(_by_validation, None),
    "chow": _by_moments(baselines.chow),
    "bic": _by_moments(baselines.bic),
    "kmeans": _by_moments(baselines.kmeans),
}
