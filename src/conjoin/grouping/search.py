"""The search for a partition by its evidence, and the mixtures that start from it.

Moments of all datasets and variances of partial pooling enter; a `Search` leaves: the merge tree,
the partition of best evidence and the mixture of best evidence. Evidence is the marginal likelihood
of all rows when the datasets of a cluster share their coefficients.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.criterion.judge import Judge
from conjoin.grouping.agglomerative import (
    MOST_FULL,
    Restricted,
    Tree,
    cut_into,
    grow,
    improve,
    prune,
    relabel,
    total_cost,
)
from conjoin.grouping.objective import EvidenceObjective, take
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
# Level at which a join is undone; shared among the joins of a cluster, since the topmost join of
# its tree is the worst of them (Bonferroni).
SPLIT_LEVEL = 0.1

FindPartition = Callable[[Moments, Hyper], IntArray]


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

        `noise` says how these have the noise of each dataset.
        """
        near, objective = evidence(moments, start)
        tree = grow(objective, near)
        first = prune(tree)
        found = int(first.max()) + 1
        mixtures = [
            fit_mixture(moments, noise.before(start), first if found == C else cut_into(tree, C))
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


def evidence_partition(moments: Moments, hyper: Hyper) -> IntArray:
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


# --- joins that cost error -----------------------------------------------------------------------


def split_apart(labels: IntArray, search: Search, judge: Judge) -> IntArray:
    """Undo joins that the verdict says cost error, and return the new labels (K,).

    Evidence joins datasets whose difference is small against all that the prior allows. With many
    rows even a small difference is worth a separate model. So a cluster of m datasets is split
    along its own merge tree as long as the verdict on the topmost join is "apart", at level
    0.1 / (m - 1).
    """
    result, fresh = labels.copy(), int(labels.max()) + 1
    queue = []
    for cluster in range(fresh):
        members = np.nonzero(labels == cluster)[0]
        if 2 <= len(members) <= MOST_FULL:
            inside = Restricted(search.objective, take(search.objective.sums, members))
            tree = grow(inside, search.near[members])
            queue.append(Branch(tree, 2 * len(members) - 2, members))
    while queue:
        answers = _split_verdicts([branch.halves for branch in queue], judge)
        parted = [branch for branch, answer in zip(queue, answers) if answer == "apart"]
        for branch in parted:
            result[branch.halves[1]] = fresh
            fresh += 1
        queue = [below for branch in parted for below in branch.below]
    return relabel(result)


@dataclass(frozen=True, eq=False)
class Branch:
    """A join in the merge tree of a cluster's `members`."""

    tree: Tree
    node: int
    members: IntArray

    @cached_property
    def halves(self) -> tuple[IntArray, IntArray]:
        """The datasets on either side of the join; the side with the first dataset comes first."""
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


def _split_verdicts(pairs: list[tuple[IntArray, IntArray]], judge: Judge) -> list[str]:
    """Return the verdict on each join of m datasets at level 0.1 / (m - 1)."""
    sizes = np.array([len(left) + len(right) for left, right in pairs])
    answers = np.full(len(pairs), "undecided", dtype=object)
    for size in np.unique(sizes):
        some = np.flatnonzero(sizes == size)
        level = SPLIT_LEVEL / (size - 1)
        asked = [(pairs[i][0].tolist(), pairs[i][1].tolist()) for i in some]
        answers[some] = judge.verdicts(asked, delta=level, interval=False)[0]
    return list(answers)
