"""The gain of joining two groups of datasets, measured on held-out rows.

Two groups of dataset numbers enter, the fall of the loss leaves. A likelihood needs this where rows
are too few for moments to say how steep the loss is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from conjoin.models.likelihood import Likelihood
from conjoin.models.partial import Hyper
from conjoin.strategies.refits import clusters, separate_clusters
from conjoin.strategies.validation import validate

Group = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class ValidatedGains:
    """Gains of joining, each computed once.

    Parameters
    ----------
    problem : Likelihood
    hyper : Hyper
        Variances of partial pooling, for the joint fit.
    scale : float
        What a unit of the moments is worth in losses.
    """

    problem: Likelihood
    hyper: Hyper
    scale: float
    known: dict[tuple[Group, Group], float] = field(default_factory=dict, repr=False)

    def __call__(self, pair: tuple[Sequence[int], Sequence[int]]) -> float:
        """Return the fall of the mean loss when two groups are joined, in units of the moments.

        Every dataset counts the same.
        """
        left, right = sorted(tuple(sorted(group)) for group in pair)
        if (left, right) not in self.known:
            self.known[left, right] = self._find(left, right)
        return self.known[left, right]

    def _find(self, left: Group, right: Group) -> float:
        side = np.repeat([0, 1], [len(left), len(right)])
        problem = self.problem.of_datasets([*left, *right])
        refits = (separate_clusters(side), clusters(np.zeros_like(side), self.hyper, exact=False))
        apart, joined = (
            validate(refit, problem).losses.sum(axis=0) / problem.moments.w for refit in refits
        )
        return float(np.mean(apart - joined)) / self.scale
