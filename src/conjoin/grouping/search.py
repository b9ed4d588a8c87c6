"""The search for a partition by its evidence, and the mixtures that start from it.

Moments of all datasets and variances of partial pooling enter; a `Search` leaves: the merge tree,
the partition of best evidence and the mixture of best evidence. Evidence is the marginal likelihood
of all rows when the datasets of a cluster share their coefficients.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.grouping.agglomerative import (
    Tree,
    cut_into,
    grow,
    improve,
    prune,
    relabel,
    total_cost,
)
from conjoin.grouping.objective import EvidenceObjective
from conjoin.models.effort import MANY_DATASETS, is_large
from conjoin.models.mixture import Mixture, fit_mixture, mixture_memberships
from conjoin.models.noise import shrink
from conjoin.models.own_noise import COMMON, NoiseRule
from conjoin.models.partial import Hyper, expected_residuals, posterior
from conjoin.moments import Moments

# Centres of a mixture at most: the time of a search grows in proportion to their number.
MOST_CENTRES = 12
# Numbers of centres that are tried beside the number of clusters that agglomeration found: close
# together where they are few, since there one centre more changes most.
CENTRES = (2, 3, 4, 6, 8, 12)

# Takes moments of datasets (K,), variances of partial pooling and moments of folds (K, F).
FindPartition = Callable[[Moments, Hyper, Moments], IntArray]


@dataclass(frozen=True, eq=False)
class Search:
    """What a search by evidence found.

    Parameters
    ----------
    near : array (K, p)
        Partially pooled coefficients; datasets whose coefficients are close are tried first.
    objective : EvidenceObjective
        The evidence of any partition.
    tree : Tree
        The merge tree over all datasets.
    labels : array (K,)
        The partition of best evidence.
    mixture : Mixture
        The mixture of best evidence.
    """

    near: FloatArray
    objective: EvidenceObjective
    tree: Tree
    labels: IntArray
    mixture: Mixture

    @classmethod
    def of(cls, moments: Moments, start: Hyper, noise: NoiseRule = COMMON) -> "Search":
        """Search from the variances of partial pooling with one variance for slopes.

        `noise` says how these have the noise of each dataset. With "some", the search and the
        centres are those of one noise: the evidence of a partition has its own noise estimates.
        """
        start = noise.before(start)
        near, objective = evidence(moments, start)
        tree = grow(objective, near)
        first = prune(tree)
        found = int(first.max()) + 1
        mixtures = [
            fit_mixture(moments, start, first if found == C else cut_into(tree, C))
            for C in _numbers_of_centres(moments, found)
        ]
        best = max(mixtures, key=lambda m: m.log_evidence)
        mixture = replace(best, hyper=noise.apply(best.hyper, moments))
        likely = relabel(np.argmax(mixture_memberships(moments, mixture), axis=1))
        proposals = [improve(objective, labels, near) for labels in (first, likely)]
        least = int(np.argmin([total_cost(objective, labels) for labels in proposals]))
        return cls(near, objective, tree, proposals[least], mixture)


def evidence(moments: Moments, hyper: Hyper) -> tuple[FloatArray, EvidenceObjective]:
    """Return partially pooled coefficients (K, p) and the evidence of partitions around them."""
    post = posterior(moments, hyper)
    noise = shrink(expected_residuals(moments, hyper, post), moments.n)
    spread = np.diagonal(hyper.L) ** 2
    return post.beta, EvidenceObjective.of(moments, noise, post.mu, spread)


def evidence_partition(moments: Moments, hyper: Hyper, folds: Moments | None = None) -> IntArray:
    """Return the partition of best evidence along the merge tree; no mixture is tried."""
    near, objective = evidence(moments, hyper)
    return prune(grow(objective, near))


def _numbers_of_centres(moments: Moments, found: int) -> list[int]:
    """Return the numbers of centres to try, given how many clusters agglomeration found.

    Large collections try one or two. A likelihood makes several passes over its rows already, so
    it tries one.
    """
    K = moments.shape[0]
    most = min(MOST_CENTRES, max(K // 2, 1))
    tries: tuple[int, ...] = (*CENTRES, found)
    if is_large(moments) or K > MANY_DATASETS:
        default = (3,) if moments.unit_noise else (2, 4)
        tries = (found,) if 2 <= found <= most else default
    usable = {C for C in tries if 1 <= C <= most}
    return sorted(usable) if usable else [1]
