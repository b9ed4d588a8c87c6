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
# Numbers in the sums of groups that are kept for larger unions (64 MB), and in the models of groups
# that are kept for later questions (200 MB). Beyond, they are formed again when they are needed.
MOST_SUMS, MOST_MODELS = 8_000_000, 25_000_000
# Rows from which fewer sums are kept (8 MB): the table itself takes much memory then.
MANY_ROWS, FEWER_SUMS = 300_000, 1_000_000

Group = tuple[int, ...]
Pair = tuple[Sequence[int], Sequence[int]]
Join = tuple[Group, Group]
Sums = tuple[FloatArray, ...]
GV = 5  # where the sums of a group hold Gv


@dataclass(frozen=True, eq=False)
class _Model:
    """The model of a group: coefficients (F, p) and losses (F,)."""

    beta: FloatArray
    loss: FloatArray


@dataclass(eq=False)
class _Memory:
    """Models of groups, and the sums of those that were formed last."""

    models: dict[Group, _Model] = field(default_factory=dict)
    sums: dict[Group, Sums] = field(default_factory=dict)
    numbers: int = 0

    def keep_sums(self, group: Group, sums: Sums, most: int) -> None:
        """Keep the sums of a group, and forget those that were asked for longest ago."""
        self.sums[group] = sums
        if len(self.sums) > most:
            del self.sums[next(iter(self.sums))]

    def keep_model(self, group: Group, model: _Model) -> None:
        """Keep the model of a group."""
        self.models[group] = model
        self.numbers += model.beta.size + model.loss.size + len(group)

    def forget_models(self) -> None:
        """Forget all models if they have become too many."""
        if self.numbers > MOST_MODELS:
            self.models.clear()
            self.numbers = 0


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
    _memory: _Memory = field(default_factory=_Memory, repr=False)

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
        joins = [(tuple(sorted(a)), tuple(sorted(b))) for a, b in pairs]
        self._memory.forget_models()
        F = self.folds.shape[1]
        change, variance = np.empty((len(joins), F)), np.empty(len(joins))
        order = _small_unions_first(joins)
        together = _together(self.folds)
        for start in range(0, len(order), together):
            some = order[start : start + together]
            change[some], variance[some] = self._changes([joins[i] for i in some])
        weight = np.array([self.weights[list(a + b)].sum() for a, b in joins])
        # Datasets without held-out rows, such as those that end early, have no known change.
        weight = np.where(weight > 0, weight, 1.0)
        change /= weight[:, None]
        by_noise = 2 * np.sqrt(variance) / weight
        by_fold = np.sqrt(F) * change.std(axis=1, ddof=1) if F > 1 else np.zeros(len(joins))
        return change.sum(axis=1), np.maximum(by_fold, by_noise)

    def _changes(self, joins: Sequence[Join]) -> tuple[FloatArray, FloatArray]:
        """Return the change of the loss (B, F) by joins, and its variance by noise (B,).

        The variance is d' Gv d, summed over folds and both sides, where d is what joining moves a
        side's model by.
        """
        known, unions = self._memory.models, [_union(join) for join in joins]
        new: dict[Group, Sums] = {}
        sides = []
        for join, union in zip(joins, unions):
            own = [self._sums_of(side) for side in join]
            both = self._keep(union, tuple(x + y for x, y in zip(*own)))
            sides.append(own)
            groups = zip((*join, union), (*own, both))
            new.update((group, sums) for group, sums in groups if group not in known)
        self._fit(new)
        joint = [known[union] for union in unions]
        change, variance = np.stack([model.loss for model in joint]), np.zeros(len(joins))
        beta = np.stack([model.beta for model in joint])
        for side in (0, 1):
            models = [known[join[side]] for join in joins]
            change -= np.stack([model.loss for model in models])
            moved = beta - np.stack([model.beta for model in models])
            Gv = np.stack([sums[side][GV] for sums in sides])
            variance += linalg.quadratic(moved, Gv).sum(axis=1)
        return change, variance

    # --- models and sums of groups ---------------------------------------------------------------

    def _fit(self, sums: dict[Group, Sums]) -> None:
        """Fit groups outside every fold, and keep their coefficients and losses."""
        most, groups = _together(self.folds), list(sums)
        for start in range(0, len(groups), most):
            some = groups[start : start + most]
            stacks = (np.stack(arrays) for arrays in zip(*(sums[group] for group in some)))
            G, h, Gw, hw, qw, _, rows, noise = stacks
            if self.seen is None:
                G, h = G.sum(axis=1, keepdims=True) - G, h.sum(axis=1, keepdims=True) - h
            beta = fit_clusters(G, h, noise / rows, self.mu, self.hyper)
            losses = np.maximum(qw + linalg.dot(beta, linalg.matvec(Gw, beta) - 2 * hw), 0.0)
            for group, model in zip(some, map(_Model, beta, losses)):
                self._memory.keep_model(group, model)

    def _sums_of(self, group: Group) -> Sums:
        """Return the sums of a group: those that are kept, or formed from its datasets."""
        if len(group) == 1:
            return self._single_sums(group[0])
        found = self._memory.sums.pop(group, None)
        return self._keep(group, self._sums(group) if found is None else found)

    def _keep(self, group: Group, sums: Sums) -> Sums:
        numbers = FEWER_SUMS if self._is_of_many_rows else MOST_SUMS
        most = max(numbers // (3 * self.folds.shape[1] * self.folds.p**2), 1)
        self._memory.keep_sums(group, sums, most)
        return sums

    @cached_property
    def _is_of_many_rows(self) -> bool:
        return bool(self.folds.n.sum() > MANY_ROWS)

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


def _union(join: Join) -> Group:
    """Return the datasets of both sides, in order."""
    return tuple(sorted(join[0] + join[1]))


def _small_unions_first(joins: Sequence[Join]) -> list[int]:
    """Return the numbers of joins in an order in which sides come before their unions.

    Joins of one branch of a tree come one after the other, so that few sums are kept at a time.

    >>> _small_unions_first([((0,), (1,)), ((2,), (3,)), ((4,), (5,)), ((0, 1), (2, 3))])
    [0, 1, 3, 2]
    """
    made = {_union(join): i for i, join in enumerate(joins)}
    found: dict[int, None] = {}
    for top in reversed(range(len(joins))):
        stack = [top]
        while stack:
            i = stack.pop()
            if i in found:
                continue
            below = [made[side] for side in joins[i] if side in made and made[side] not in found]
            if below:
                stack += [i, *reversed(below)]
            else:
                found[i] = None
    return list(found)
