"""What joining two groups of datasets changes on held-out rows, for many pairs at once.

A problem, start values and dataset weights enter. `ValidatedJoins.changes` takes pairs of groups
(by dataset number) and returns the change of the validated error with its standard error. Every
group has the model of `models.cluster_fit`. All models are fitted outside the held-out fold.

==========  ====================================================================  ============
symbol      meaning                                                               shape
==========  ====================================================================  ============
G, h        moments of a group, by fold                                           (F, p, p)
Gw, hw, qw  the same with each dataset weighted by its weight over its rows:      (F, p, p)
            errors in which datasets count by their weights
Gv          sum of G weighted by squared weight over rows, times noise variance   (F, p, p)
loss        error of a group's model on each held-out fold, summed over datasets  (F,)
==========  ====================================================================  ============

A likelihood is described by its moments near partially pooled coefficients.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from conjoin import linalg
from conjoin._typing import FloatArray
from conjoin.models.cluster_fit import TINY, fit_clusters
from conjoin.models.partial import Hyper
from conjoin.moments import Moments
from conjoin.strategies.refits import FindCentre, centres_of

# Numbers of a stack of Gram matrices that are solved together: 16 MB.
STACK = 2_000_000

Group = tuple[int, ...]
Pair = tuple[Sequence[int], Sequence[int]]
Sums = tuple[FloatArray, ...]


@dataclass(frozen=True, eq=False)
class _Model:
    """The model of a group: coefficients (F, p), losses (F,) and Gv (F, p, p)."""

    beta: FloatArray
    loss: FloatArray
    Gv: FloatArray


@dataclass(frozen=True, eq=False)
class ValidatedJoins:
    """Changes of the validated error by joining; each loss is computed once.

    Parameters
    ----------
    folds : Moments (K, F)
    hyper : Hyper
        Variances of partial pooling with one variance for slopes.
    weights : array (K,)
        How much the error of each dataset counts.
    mu : array (F, p)
        The common centre outside each fold.
    """

    folds: Moments
    hyper: Hyper
    weights: FloatArray
    mu: FloatArray
    _known: dict[Group, _Model] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        folds: Moments,
        hyper: Hyper,
        weights: FloatArray,
        find_centre: FindCentre | None = None,
    ) -> "ValidatedJoins":
        """Find the common centre outside every fold.

        `find_centre` gives the centre of moments, if some are known already.
        """
        find = find_centre or centres_of(hyper)
        whole = folds.union(1)
        rest = [whole - folds[:, f] for f in range(folds.shape[1])]
        mu = np.stack([find(one) for one in rest])
        return cls(folds, hyper, weights, mu)

    def changes(self, pairs: Sequence[Pair]) -> tuple[FloatArray, FloatArray]:
        """Return the change of the error (B,) by joining each pair, and its standard error (B,).

        Errors are averaged over the datasets of both groups by their weights. Below zero the
        joined model predicts better. The standard error is the larger of two: that over folds,
        and that which the noise of the held-out rows alone gives. The second counts where few
        folds hold rows of a small dataset.
        """
        change = np.empty((len(pairs), self.folds.shape[1]))
        by_noise = np.empty(len(pairs))
        groups = [(tuple(sorted(a)), tuple(sorted(b))) for a, b in pairs]
        self._fit({tuple(sorted(a + b)): (a, b) for a, b in groups})
        for i, (a, b) in enumerate(groups):
            union = self._known[tuple(sorted(a + b))]
            sides = self._known[a], self._known[b]
            weight = self.weights[list(a + b)].sum()
            change[i] = (union.loss - sides[0].loss - sides[1].loss) / weight
            variance = sum(linalg.quadratic(union.beta - s.beta, s.Gv).sum() for s in sides)
            by_noise[i] = 2 * np.sqrt(variance) / weight
        F = change.shape[1]
        by_fold = np.sqrt(F) * change.std(axis=1, ddof=1) if F > 1 else np.zeros(len(pairs))
        return change.sum(axis=1), np.maximum(by_fold, by_noise)

    # --- models of groups ------------------------------------------------------------------------

    def _fit(self, unions: dict[Group, tuple[Group, Group]]) -> None:
        """Fit unions of two groups and both groups, unless they are known. Small ones come first.

        The sums of a union are those of its groups, and are kept until a larger union needs them.
        """
        wanted = dict.fromkeys(side for pair in unions.values() for side in pair)
        wanted.update(dict.fromkeys(unions))
        todo = sorted((g for g in wanted if g not in self._known), key=lambda g: (len(g), g))
        F, p = self.folds.shape[1], self.folds.p
        most = max(STACK // (F * p * p), 1)
        held: dict[Group, Sums] = {}
        stack: dict[Group, Sums] = {}
        for group in todo:
            one, two = (held.pop(side, None) for side in unions.get(group, ((), ())))
            if one is None or two is None:
                sums = self._sums(group)
            else:
                sums = tuple(x + y for x, y in zip(one, two))
            held[group] = stack[group] = sums
            if len(stack) == most:
                self._fit_stack(stack)
                stack = {}
        if stack:
            self._fit_stack(stack)

    def _fit_stack(self, sums: dict[Group, Sums]) -> None:
        """Fit groups outside every fold, and keep their coefficients and losses."""
        G, h, Gw, hw, qw, Gv, rows, noise = (np.stack(arrays) for arrays in zip(*sums.values()))
        train_G, train_h = G.sum(axis=1, keepdims=True) - G, h.sum(axis=1, keepdims=True) - h
        beta = fit_clusters(train_G, train_h, noise / rows, self.mu, self.hyper)
        losses = np.maximum(qw + linalg.dot(beta, linalg.matvec(Gw, beta) - 2 * hw), 0.0)
        self._known.update(zip(sums, map(_Model, beta, losses, Gv)))

    def _sums(self, group: Group) -> Sums:
        """Return G, h, Gw, hw, qw, Gv, rows outside each fold and rows times noise of a group."""
        index = list(group)
        m, noise = self.folds, self.hyper.noise * self.hyper.relative[index]
        G, h, q, n = m.G[index], m.h[index], m.q[index], m.n[index]
        omega = self.weights[index] / np.maximum(m.w[index].sum(axis=1), TINY)
        rows = np.maximum(n.sum(axis=1, keepdims=True) - n, TINY)
        Gw, hw, qw = (np.tensordot(omega, x, axes=1) for x in (G, h, q))
        Gv = np.tensordot(omega**2 * noise, G, axes=1)
        return G.sum(axis=0), h.sum(axis=0), Gw, hw, qw, Gv, rows.sum(axis=0), noise @ rows
