"""Stability of a partition, on demand: the search again in random halves of the rows.

What the steps found enters; a `Stability` leaves, or None where there is nothing to repeat.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.engine.methods import METHODS, Chosen, lead_of_whole, whole_outside
from conjoin.execution import one_thread
from conjoin.grouping.search import Search
from conjoin.grouping.stability import half_weights, mean_agreement, partitions_of_halves
from conjoin.models.effort import LARGE, SMALL, is_small, operations
from conjoin.models.partial import SLOPES
from conjoin.moments import Moments
from conjoin.result.stability import Stability
from conjoin.strategies.average import paired_parts
from conjoin.strategies.plan import Start

# Resamples by the number of datasets, so that all of them together take no longer than the
# partition itself: one takes about 1/25 of its time with few datasets, 1/6 with a thousand. Beyond
# the last number of datasets none is drawn.
RESAMPLES = ((100, 20), (300, 12), (2000, 4))


def number_of_resamples(datasets: int) -> int:
    """Return how many resamples a number of datasets is worth.

    >>> [number_of_resamples(K) for K in (24, 200, 1000, 5000)]
    [20, 12, 4, 0]
    """
    return next((resamples for most, resamples in RESAMPLES if datasets <= most), 0)


@dataclass(frozen=True, eq=False)
class Contest:
    """Models of clusters against one model for all, on held-out rows.

    Parameters
    ----------
    clusters, whole : array (F, K)
        Losses of one model for each cluster, and of one for all, by fold and dataset.
    weights : array (K,)
        How much the error of each dataset counts.
    lead : float
        Standard errors by which one model for all must be better to be chosen. Below zero it is
        chosen unless the clusters are better by so much.
    most : int, optional
        Clusters at most that are tried at all.
    sound : bool
        Whether datasets that one model for all harms do not get it where it wins, as with "auto".
    """

    clusters: FloatArray
    whole: FloatArray
    weights: FloatArray
    lead: float
    most: int | None = None
    sound: bool = False

    @classmethod
    def of_search(cls, clusters: FloatArray, whole: FloatArray, weights: FloatArray) -> "Contest":
        """Return the comparison that `engine.methods` makes for "auto"."""
        return cls(clusters, whole, weights, lead_of_whole(len(weights)), sound=True)

    def choose(self, labels: IntArray, w: FloatArray) -> IntArray:
        """Return labels (K,), or a single cluster where one model for all wins.

        `w` (K, F) are the row weights of the cells that count; the others are zero.
        """
        several = labels.max() > 0 and (self.most is None or labels.max() < self.most)
        if not several:
            return np.zeros_like(labels)
        losses = np.stack([self.clusters, self.whole]) * (w.T > 0)
        seen = w.sum(axis=1)
        weights = np.where(seen > 0, self.weights, 0.0)
        parts = paired_parts(losses, np.where(seen > 0, seen, 1.0), weights)
        behind = parts[0] - parts[1]
        least = self.lead * np.sqrt(len(behind)) * behind.std()
        return labels if behind.sum() < least else np.zeros_like(labels)


@one_thread()
def find_stability(
    method: str,
    chosen: Chosen,
    search: Search | None,
    start: Start,
    names: Sequence[str],
    seed: int,
    contest: Contest | None = None,
) -> Stability | None:
    """Search again in random halves of the rows.

    Where models of clusters were compared with one model for all, they are compared again on the
    rows of each half. None for a method that cannot search again, for more datasets or columns than
    that is quick for, and where validation preferred one model for all and the losses of the
    clusters are not known.
    """
    known, resamples = METHODS.get(method), number_of_resamples(len(names))
    work = operations(start.problem.moments)
    if work > SMALL:  # one search takes a second or more
        resamples = min(resamples, RESAMPLES[-1][1] if work < LARGE else 0)
    folds = start.problem.parts
    if contest is not None and contest.whole.shape != folds.n.T.shape:  # pieces of time, not folds
        contest = None
    overruled = chosen.labels.max() == 0 and (search is None or search.labels.max() > 0)
    unknown = overruled and contest is None
    if known is None or known.find_outside is None or resamples == 0 or unknown:
        return None
    find_outside, again = known.find_outside, is_small(start.problem.moments)

    def find(half: Moments) -> IntArray:
        """Search in moments (K, F); variances are estimated again where that is quick."""
        moments = half.union(1)
        hyper = start.noise.fit(moments, SLOPES) if again else start.hyper
        labels = find_outside(moments, hyper, half)
        if contest is None:
            return labels
        chosen = contest.choose(labels, half.w)
        overruled = contest.sound and chosen.max() < labels.max()
        return whole_outside(moments, hyper, half) if overruled else chosen

    taken = half_weights(folds.n, names, resamples, seed)
    labels = partitions_of_halves(folds, find, taken)
    return Stability(tuple(names), labels, mean_agreement(labels), chosen.labels)
