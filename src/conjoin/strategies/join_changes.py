"""What a join does to the error on held-out rows, with its standard error.

Pairs of groups of datasets enter; the change of their mean error when the two groups share one
model instead of having one each leaves. Both are fitted outside the same folds, with the prior of
the clusters' models, and compared on the same held-out rows.

==========  ======================================================================
symbol      meaning
==========  ======================================================================
b           coefficients of a group: mu + (G + s2 T^-1)^-1 (h - G mu), with the
            centre mu, the variances T and the noise s2 of partial pooling
change      mean over datasets of the error of the joint model less that of the
            model of the own side: below zero where joining lowers the error
error       its standard error, from differences paired by dataset (from 8 datasets
            on), else by cell of dataset x fold
==========  ======================================================================
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from conjoin import linalg
from conjoin._typing import FloatArray
from conjoin.models.partial import Hyper, posterior
from conjoin.models.problem import Problem
from conjoin.moments import Moments
from conjoin.strategies.average import paired_parts

Group = Sequence[int]


@dataclass(frozen=True, eq=False)
class JoinChanges:
    """Changes of the error by joining, from moments.

    Parameters
    ----------
    problem : Problem
        Datasets and folds; a likelihood with moments near its coefficients, so that changes are
        those of its quadratic approximation.
    hyper : Hyper
        Variances of partial pooling with one variance for slopes.
    """

    problem: Problem
    hyper: Hyper

    @cached_property
    def _centre(self) -> FloatArray:
        return posterior(self.problem.moments, self.hyper).mu

    def __call__(self, left: Group, right: Group) -> tuple[float, float]:
        """Return the change by joining two groups of dataset numbers, and its standard error."""
        left, right = sorted((sorted(left), sorted(right)))
        members, centre = [*left, *right], self._centre
        folds = self.problem.folds[members]  # (m, F)
        w = folds.w.sum(axis=1)
        side = np.repeat([0, 1], [len(left), len(right)])
        relative = self.hyper.relative[members]
        joint = self._coefficients(folds, relative, centre)  # (F, p)
        own = [self._coefficients(folds[side == s], relative[side == s], centre) for s in (0, 1)]
        apart = np.stack(own)[side]  # (m, F, p)
        losses = np.stack([folds.sse(np.broadcast_to(joint, apart.shape)), folds.sse(apart)])
        parts = paired_parts(np.swapaxes(losses, 1, 2), w, np.full(len(w), 1 / len(w)))
        d = parts[0] - parts[1]
        count = len(d)
        spread = np.sqrt(count / max(count - 1, 1) * np.sum((d - d.mean()) ** 2))
        return float(d.sum()), float(spread)

    def _coefficients(self, folds: Moments, relative: FloatArray, centre: FloatArray) -> FloatArray:
        """Return coefficients (F, p) of one group, fitted outside each of its folds (m, F)."""
        whole = folds.union(0)
        rest = whole.union(0).each(lambda array: array[None]) - whole
        rows = np.maximum(folds.n.sum(axis=1), 1.0)
        noise = self.hyper.noise * float(np.average(relative, weights=rows))
        precision = linalg.inverse(self.hyper.L @ self.hyper.L.T) * noise
        shift = rest.h - linalg.matvec(rest.G, centre)
        beta: FloatArray = centre + linalg.solve(rest.G + precision, shift)
        return beta
