"""Stability of a partition, on demand: the search again in random halves of the rows.

What the steps found enters; a `Stability` leaves, or None where there is nothing to repeat.
"""

from collections.abc import Sequence

from conjoin._typing import IntArray
from conjoin.engine.methods import METHODS, Chosen
from conjoin.execution import one_thread
from conjoin.grouping.search import Search
from conjoin.grouping.stability import half_weights, mean_agreement, partitions_of_halves
from conjoin.models.effort import LARGE, SMALL, is_small, operations
from conjoin.models.partial import SLOPES
from conjoin.moments import Moments
from conjoin.result.stability import Stability
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


@one_thread()
def find_stability(
    method: str,
    chosen: Chosen,
    search: Search | None,
    start: Start,
    names: Sequence[str],
    seed: int,
) -> Stability | None:
    """Search again in random halves of the rows.

    None for a method that cannot search again, for more datasets or columns than that is quick for,
    and where validation preferred one model for all to the clusters of the search.
    """
    known, resamples = METHODS.get(method), number_of_resamples(len(names))
    work = operations(start.problem.moments)
    if work > SMALL:  # one search takes a second or more
        resamples = min(resamples, RESAMPLES[-1][1] if work < LARGE else 0)
    overruled = chosen.labels.max() == 0 and (search is None or search.labels.max() > 0)
    if known is None or known.find_outside is None or resamples == 0 or overruled:
        return None
    folds = start.problem.parts
    find_outside, again = known.find_outside, is_small(start.problem.moments)

    def find(half: Moments) -> IntArray:
        """Search in moments (K, F); variances are estimated again where that is quick."""
        moments = half.union(1)
        hyper = start.noise.fit(moments, SLOPES) if again else start.hyper
        return find_outside(moments, hyper, half)

    taken = half_weights(folds.n, names, resamples, seed)
    labels = partitions_of_halves(folds, find, taken)
    return Stability(tuple(names), labels, mean_agreement(labels))
