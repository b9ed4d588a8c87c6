"""Methods that find a partition, by name.

What the earlier steps found enters (`Candidates`); labels of the datasets, with the fits of their
clusters, leave (`Chosen`). A new method is a function from `Candidates` to labels and a line in
`METHODS`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.engine.finished import validated_search
from conjoin.grouping import baselines
from conjoin.grouping.agglomerative import MOST_FULL, grow, improve, prune
from conjoin.grouping.objective import RiskObjective, ValidatedObjective
from conjoin.grouping.refine import Join, Refined, make_sound, refine, tree_joins
from conjoin.grouping.search import FindPartition, Search, evidence, evidence_partition
from conjoin.models.effort import is_large, is_small
from conjoin.models.noise import noise_variances
from conjoin.models.partial import Hyper, coefficients
from conjoin.strategies.average import FEWEST_DATASETS, paired_parts
from conjoin.strategies.joins import ValidatedJoins
from conjoin.strategies.plan import Start
from conjoin.strategies.refits import (
    FindCentre,
    centres_of,
    clusters,
    plain_clusters,
)
from conjoin.strategies.validation import Validated, validate

if TYPE_CHECKING:
    from conjoin.criterion.judge import Judge
    from conjoin.moments import Moments


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
    delta : float
        Level of the verdicts.
    """

    start: Start
    weights: FloatArray
    search: Search
    judge: "Judge"
    pooled: Validated
    delta: float

    @property
    def moments(self) -> "Moments":
        """Moments of all rows of each dataset (K,)."""
        return self.start.problem.moments

    def fit(self, labels: IntArray) -> Validated:
        """Fit one model to each cluster, on all rows and outside each fold."""
        exact = self.start.problem.exact
        refit = clusters(labels, self.start.hyper, self.find_centre, exact=exact)
        return validate(refit, self.start.problem)

    def fit_plain(self, labels: IntArray) -> Validated:
        """Fit one least-squares model to each cluster."""
        return validate(plain_clusters(labels), self.start.problem)

    @cached_property
    def find_centre(self) -> FindCentre:
        """The common centre of moments, found once for the same moments."""
        return centres_of(self.start.hyper)

    @cached_property
    def joins(self) -> ValidatedJoins:
        """What joining groups of datasets changes on held-out rows."""
        problem, hyper = self.start.problem, self.start.hyper
        return ValidatedJoins.of(problem.folds, hyper, self.weights, self.find_centre, problem.seen)

    def forget_joins(self) -> None:
        """Free what joins were computed from; it is found again when it is asked for."""
        vars(self).pop("joins", None)

    def refine(self, labels: IntArray) -> Refined:
        """Return the partition with joins that hold on held-out rows."""
        search, rows = self.search, self.moments.n
        tree = tree_joins(search.tree)
        return refine(labels, rows, tree, search.near, self.joins.changes, self._apart)

    def make_sound(self, labels: IntArray) -> Refined:
        """Return the same without further joins: a cluster stays, or is split."""
        tree = tree_joins(self.search.tree)
        return make_sound(labels, self.moments.n, tree, self.joins.changes, self._apart)

    def _apart(self, pairs: Sequence[Join]) -> BoolArray:
        return self.judge.are_apart(pairs, delta=self.delta)


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
    plain : Validated
        One model without a prior for each cluster.
    own : Validated
        The model that each dataset has in a cluster of its own.
    searched_losses : array (F, K), optional
        Losses of the clusters when the partition is searched for again outside the held-out rows;
        None if nothing needed them yet.
    joins : tuple of (group, group), optional
        The joins that made the clusters, by dataset number; None for the merge tree of each.
    from_whole : bool
        Whether the clusters that were searched for lost against one model for all, so that these
        are one cluster without the datasets that its joins harm.
    """

    labels: IntArray
    clusters: Validated
    pooled: Validated
    plain: Validated
    own: Validated
    searched_losses: FloatArray | None = None
    joins: tuple[Join, ...] | None = None
    from_whole: bool = False


@dataclass(frozen=True)
class PartitionMethod:
    """How to find a partition from all rows, and from part of the rows.

    `find_outside` sees only moments and variances of partial pooling, so that it can be validated
    on the other rows. It is None if a method cannot do that.
    """

    choose: Callable[[Candidates], Chosen]
    find_outside: FindPartition | None


def fitted(
    labels: IntArray, candidates: Candidates, joins: tuple[Join, ...] | None = None
) -> Chosen:
    """Return a partition with its fits."""
    found = candidates.pooled if labels.max() == 0 else candidates.fit(labels)
    return _chosen(candidates, labels, found, joins=joins)


def _chosen(
    candidates: Candidates,
    labels: IntArray,
    found: Validated,
    searched: FloatArray | None = None,
    joins: tuple[Join, ...] | None = None,
) -> Chosen:
    """Return a partition with the models of its clusters and all that they are compared with."""
    plain = candidates.fit_plain(labels) if candidates.start.problem.exact else found
    own = candidates.fit(np.arange(len(labels)))
    return Chosen(labels, found, candidates.pooled, plain, own, searched, joins)


def _choose_auto(candidates: Candidates) -> Chosen:
    """Take the partition of best evidence, if it predicts better than one model for all.

    The evidence takes noise to be normal. Where it is not, random parts of one table can look
    different. So held-out rows decide (`_is_worth_it`). Either way, only joins that hold on them
    remain (`refine`): datasets that one model for all harms do not get it.
    """
    labels, searched, pooled = candidates.search.labels, None, candidates.pooled
    if labels.max() > 0 and _is_searched_again(candidates.moments):
        searched = validated_search("auto", _auto_outside, candidates.start)
    refined = candidates.refine(labels)
    found = candidates.fit(refined.labels)
    losses = found.losses if searched is None else searched
    from_whole = labels.max() > 0 and not _is_worth_it(losses, candidates)
    if from_whole:
        refined = candidates.refine(np.zeros_like(labels))
        found = candidates.fit(refined.labels)
    if refined.labels.max() == 0:
        found = pooled
    chosen = _chosen(candidates, refined.labels, found, searched, refined.joins)
    return replace(chosen, from_whole=from_whole)


def _is_searched_again(moments: "Moments") -> bool:
    """Say whether the partition is searched for again outside the held-out rows.

    With many datasets that takes too long. The partition is then validated as it is, which favours
    it over one model for all, which has nothing to learn. So is that of a few datasets of many
    rows, where the errors of the folds are too few to undo what many rows say.
    """
    K = moments.shape[0]
    if K < FEWEST_DATASETS:
        return is_small(moments)
    return K <= MOST_FULL and not is_large(moments)


def _is_worth_it(losses: FloatArray, candidates: Candidates) -> bool:
    """Say whether clusters with these losses (F, K) are taken, and not one model for all."""
    stacked = np.stack([losses, candidates.pooled.losses])
    parts = paired_parts(stacked, candidates.moments.w, candidates.weights)
    behind = parts[0] - parts[1]
    lead = lead_of_whole(len(candidates.weights))
    return bool(behind.sum() < lead * np.sqrt(len(behind)) * behind.std())


def lead_of_whole(datasets: int) -> float:
    """Return the standard errors by which one model for all must beat clusters to be chosen.

    From 8 datasets on clusters must be better, by more than the standard error over datasets. Fewer
    datasets tell too little about that error, and wrongly joined ones cost more. There it is enough
    that clusters are not worse by more than it.
    """
    return -1.0 if datasets >= FEWEST_DATASETS else 1.0


def _auto_outside(moments: "Moments", hyper: Hyper, folds: "Moments") -> IntArray:
    """Return the partition of best evidence with joins that hold on held-out rows, by moments.

    Large collections keep the partition of best evidence, since checking its joins takes longer
    than the search itself.
    """
    if is_large(moments):
        return evidence_partition(moments, hyper, folds)
    return _refined_outside(moments, hyper, folds)


def whole_outside(moments: "Moments", hyper: Hyper, folds: "Moments") -> IntArray:
    """Return one cluster without the datasets that its joins harm on held-out rows, by moments."""
    if is_large(moments):
        return np.zeros(moments.shape[0], dtype=int)
    return _refined_outside(moments, hyper, folds, whole=True)


def _refined_outside(
    moments: "Moments", hyper: Hyper, folds: "Moments", *, whole: bool = False
) -> IntArray:
    """Return the partition of best evidence, or one cluster, with joins that hold.

    No verdicts are asked for: they take long, and hardly ever speak against a join that predicts.
    """
    K = moments.shape[0]
    near, objective = evidence(moments, hyper)
    joins = ValidatedJoins.of(folds, hyper, np.full(K, 1 / K))

    def apart(pairs: Sequence[Join]) -> BoolArray:
        return np.zeros(len(pairs), dtype=bool)

    tree = grow(objective, near)
    labels = np.zeros(K, dtype=int) if whole else prune(tree)
    return refine(labels, moments.n, tree_joins(tree), near, joins.changes, apart).labels


def validate_search(method: str, chosen: Chosen, start: Start) -> FloatArray | None:
    """Return losses (F, K) of clusters with the partition searched for outside held-out rows.

    None for a method that cannot search outside them, and for a single cluster, which is one model
    for all.
    """
    known = METHODS.get(method)
    if chosen.labels.max() == 0 or known is None or known.find_outside is None:
        return None
    if chosen.from_whole:
        return validated_search(f"{method}, from one cluster", whole_outside, start)
    if chosen.searched_losses is not None:
        return chosen.searched_losses
    return validated_search(method, known.find_outside, start)


def _by_risk(candidates: Candidates) -> IntArray:
    near = coefficients(candidates.moments, candidates.start.hyper)
    return _least_risk(candidates.moments, candidates.weights, near)


def _by_risk_outside(moments: "Moments", hyper: Hyper, folds: "Moments") -> IntArray:
    K = moments.shape[0]
    return _least_risk(moments, np.full(K, 1 / K), coefficients(moments, hyper))


def _least_risk(moments: "Moments", weights: FloatArray, near: FloatArray) -> IntArray:
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


def _by_moments(find: Callable[["Moments"], IntArray]) -> PartitionMethod:
    """Return a method that needs nothing but moments."""
    return _by(
        lambda candidates: find(candidates.moments), lambda moments, hyper, folds: find(moments)
    )


METHODS: dict[str, PartitionMethod] = {
    "auto": PartitionMethod(_choose_auto, _auto_outside),
    "risk": _by(_by_risk, _by_risk_outside),
    "evidence": _by(lambda candidates: candidates.search.labels, evidence_partition),
    "validated": _by(_by_validation, None),
    "chow": _by_moments(baselines.chow),
    "bic": _by_moments(baselines.bic),
    "kmeans": _by_moments(baselines.kmeans),
}
