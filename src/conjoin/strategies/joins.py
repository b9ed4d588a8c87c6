"""What joining two groups of datasets changes on held-out rows, for many pairs at once.

A problem, start values and dataset weights enter. `ValidatedJoins.changes` takes pairs of groups
(by dataset number) and returns the change of the validated error with its standard error. Every
group has the model of `models.cluster_fit`. All models are fitted outside the held-out fold.

==========  ====================================================================  ============
symbol      meaning                                                               shape
==========  ====================================================================  ============
G, h        moments of a group, by fold; with forward validation those of the     (F, p, p)
            rows before each origin
Gw, hw, qw  the same with each dataset weighted by its weight over its rows:      (F, p, p)
            errors in which datasets count by their weights
Gv          sum of G weighted by squared weight over rows, times noise variance   (F, p, p)
loss        error of a group's model on each held-out fold, summed over datasets  (F,)
==========  ====================================================================  ============

A likelihood is described by its moments near partially pooled coefficients.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from conjoin import linalg
from conjoin._typing import FloatArray
from conjoin.models.cluster_fit import TINY, fit_clusters
from conjoin.models.partial import Hyper
from conjoin.moments import Moments
from conjoin.strategies.refits import FindCentre, centres_of

# Numbers of a stack of Gram matrices that are solved together: 1.6 MB, which stays in the cache.
STACK = 200_000

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
    seen : Moments (K, F), optional
        What fits outside each fold see, where that is not all other folds.
    """

    folds: Moments
    hyper: Hyper
    weights: FloatArray
    mu: FloatArray
    seen: Moments | None = None
    _known: dict[Group, _Model] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        folds: Moments,
        hyper: Hyper,
        weights: FloatArray,
        find_centre: FindCentre | None = None,
        seen: Moments | None = None,
    ) -> "ValidatedJoins":
        """Find the common centre outside every fold.

        `find_centre` gives the centre of moments, if some are known already.
        """
        find = find_centre or centres_of(hyper)
        whole = folds.union(1)
        rest = [whole - folds[:, f] if seen is None else seen[:, f] for f in range(folds.shape[1])]
        mu = np.stack([find(one) for one in rest])
        return cls(folds, hyper, weights, mu, seen)

    def changes(self, pairs: Sequence[Pair]) -> tuple[FloatArray, FloatArray]:
        """Return the change of the error (B,) by joining each pair, and its standard error (B,).

        Errors are averaged over the datasets of both groups by their weights. Below zero the
        joined model predicts better. The standard error is the larger of two: that over folds,
        and that which the noise of the held-out rows alone gives. The second counts where few
        folds hold rows of a small dataset.
        """
        if not pairs:
            return np.empty(0), np.empty(0)
        groups = [(tuple(sorted(a)), tuple(sorted(b))) for a, b in pairs]
        self._fit({tuple(sorted(a + b)): (a, b) for a, b in groups})
        unions = [self._known[tuple(sorted(a + b))] for a, b in groups]
        weight = np.array([self.weights[list(a + b)].sum() for a, b in groups])
        # Datasets without held-out rows, such as those that end early, have no known change.
        weight = np.where(weight > 0, weight, 1.0)
        variance = np.zeros(len(pairs))
        change = np.stack([union.loss for union in unions])
        for side in (0, 1):
            models = [self._known[pair[side]] for pair in groups]
            change -= np.stack([one.loss for one in models])
            variance += _moved(unions, models, _together(self.folds))
        change /= weight[:, None]
        by_noise = 2 * np.sqrt(variance) / weight
        F = change.shape[1]
        by_fold = np.sqrt(F) * change.std(axis=1, ddof=1) if F > 1 else np.zeros(len(pairs))
        return change.sum(axis=1), np.maximum(by_fold, by_noise)

    # --- models of groups ------------------------------------------------------------------------

    def _fit(self, unions: dict[Group, tuple[Group, Group]]) -> None:
        """Fit unions of two groups and both groups, unless they are known. Small ones come first.

        The sums of a union are those of its groups, and are kept until a larger union needs them.
        """
        sides = {side for pair in unions.values() for side in pair}
        todo = sorted((sides | set(unions)) - set(self._known), key=lambda g: (len(g), g))
        most = _together(self.folds)
        held: dict[Group, Sums] = {}
        stack: dict[Group, Sums] = {}
        for group in todo:
            one, two = (held.pop(side, None) for side in unions.get(group, ((), ())))
            if len(group) == 1:
                sums = self._single_sums(group[0])
            elif one is None or two is None:
                sums = self._sums(group)
            else:
                sums = tuple(x + y for x, y in zip(one, two))
            stack[group] = sums
            if group in sides:
                held[group] = sums
            if len(stack) == most:
                self._fit_stack(stack)
                stack = {}
        if stack:
            self._fit_stack(stack)

    def _fit_stack(self, sums: dict[Group, Sums]) -> None:
        """Fit groups outside every fold, and keep their coefficients and losses."""
        G, h, Gw, hw, qw, Gv, rows, noise = (np.stack(arrays) for arrays in zip(*sums.values()))
        train_G, train_h = G, h
        if self.seen is None:
            train_G, train_h = G.sum(axis=1, keepdims=True) - G, h.sum(axis=1, keepdims=True) - h
        beta = fit_clusters(train_G, train_h, noise / rows, self.mu, self.hyper)
        losses = np.maximum(qw + linalg.dot(beta, linalg.matvec(Gw, beta) - 2 * hw), 0.0)
        self._known.update(zip(sums, map(_Model, beta, losses, Gv)))

    @cached_property
    def _scales(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Weight over rows (K,), noise variance (K,), rows outside each fold (K, F)."""
        m, noise = self.folds, self.hyper.noise * self.hyper.relative
        omega = self.weights / np.maximum(m.w.sum(axis=1), TINY)
        rows = m.n.sum(axis=1, keepdims=True) - m.n if self.seen is None else self.seen.n
        return omega, noise, np.maximum(rows, TINY)

    @property
    def _trained(self) -> Moments:
        """Moments (K, F) whose sums over a group are kept for training."""
        return self.folds if self.seen is None else self.seen

    def _single_sums(self, k: int) -> Sums:
        """Return `_sums` of one dataset in a quicker way, since most groups are one dataset."""
        omega, noise, rows = (values[k] for values in self._scales)
        G, h, q = self.folds.G[k], self.folds.h[k], self.folds.q[k]
        own = self._trained
        return (
            own.G[k],
            own.h[k],
            omega * G,
            omega * h,
            omega * q,
            omega**2 * noise * G,
            rows,
            noise * rows,
        )

    def _sums(self, group: Group) -> Sums:
        """Return G, h, Gw, hw, qw, Gv, rows outside each fold and rows times noise of a group."""
        index = list(group)
        omega, noise, rows = (values[index] for values in self._scales)
        G, h, q = self.folds.G[index], self.folds.h[index], self.folds.q[index]
        Gw, hw, qw = (np.tensordot(omega, x, axes=1) for x in (G, h, q))
        Gv = np.tensordot(omega**2 * noise, G, axes=1)
        own = self._trained[index].union()
        return own.G, own.h, Gw, hw, qw, Gv, rows.sum(axis=0), noise @ rows


def _together(folds: Moments) -> int:
    """Return how many groups are worked on at a time."""
    return max(STACK // (folds.shape[1] * folds.p**2), 1)


def _moved(unions: Sequence[_Model], sides: Sequence[_Model], most: int) -> FloatArray:
    """Return d' Gv d (B,), summed over folds, where d is what joining moves a side's model by."""
    found = np.empty(len(sides))
    for start in range(0, len(sides), most):
        some = slice(start, start + most)
        moved = np.stack([union.beta - one.beta for union, one in zip(unions[some], sides[some])])
        Gv = np.stack([one.Gv for one in sides[some]])
        found[some] = linalg.quadratic(moved, Gv).sum(axis=1)
    return found
