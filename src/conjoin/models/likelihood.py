"""A likelihood as a `Problem`: moments near some coefficients, and what joining datasets costs.

Near coefficients b0, minus the log-likelihood of dataset k is, up to a constant,

    -s'(b - b0) + 1/2 (b - b0)'G (b - b0).

That is half the squared error of moments with that G and h = G b0 + s, at a noise variance of one.
So all that is done with moments serves a likelihood too, as long as b is near b0. Where it is not,
moments are formed again at b. Repeated until convergence, this is Newton's method for whatever
objective the strategy minimises: one dataset, a cluster, or all datasets under a common prior.

Enters: rows sorted by dataset, the fold of each, a family. Leaves: a `Likelihood` with moments near
its `anchor`, and `Joins`, the exact losses of joining groups of datasets. Symbols are those of
`models.glm_rows`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from conjoin import linalg
from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.models.backing import Backing
from conjoin.models.glm import fit_many
from conjoin.models.glm_families import GlmFamily
from conjoin.models.glm_rows import GlmRows
from conjoin.models.glm_scatter import glm_scatter
from conjoin.models.held_out import HeldOut
from conjoin.models.padded_rows import SortedRows
from conjoin.models.problem import CLOSE, inner_parts, scale_of
from conjoin.models.scatter import Scatter
from conjoin.moments import Forward, Moments

# Change of any row's eta by which moments are moved at most. A change of 4 takes a probability from
# 0.5 to 0.98, where little curvature is left; the parabola says nothing about the loss beyond.
FARTHEST = 4.0
# Ridge on the slopes of the first, pooled fit: scikit-learn's default on standardised columns. It
# only has to make this start finite; moments move on from there.
POOLED_RIDGE = 1.0
# Mean square move of eta in the last step of that fit. All else starts there, so it should not
# depend on where it started itself: sites fit it in rounds from another start (`sites.rounds`).
POOLED_TOLERANCE = 1e-12
# Ridge of the datasets' own fits around the anchor. It is a thousandth of a row's worth: separable
# data get finite coefficients, and no other fit changes visibly.
OWN_RIDGE = 1e-3
# Times that moments are moved towards a dataset's own fit at most. Newton's method converges in
# fewer; more moves would only follow separable data farther out.
OWN_MOVES = 8
# Mean square change of eta at which own fits stop, tighter than CLOSE: verdicts use the information
# itself, which changes fast with the coefficients where classes are rare.
OWN_CLOSE = 1e-6
# Standard errors by which rows must be overdispersed before noise is raised: two, the usual 95 %.
# With fewer, chance would widen the intervals of data that the model fits.
SURE = 2.0
# Least dispersion of counts. A perfect fit would make it zero, and moments are divided by it.
LEAST_DISPERSION = 1e-6


@dataclass(frozen=True, eq=False)
class OtherRows:
    """What fits outside a fold see, where it is not the rows of the other folds.

    Parameters
    ----------
    rows : tuple of GlmRows (K, 1), one for each group of folds
        The rows outside the group, with columns that were made from these rows alone.
    group : tuple of int
        The group of every fold.
    """

    rows: tuple[GlmRows, ...]
    group: tuple[int, ...]

    def of_datasets(self, members: Sequence[int]) -> "OtherRows":
        """Return the rows of some datasets."""
        return replace(self, rows=tuple(one.of_datasets(members) for one in self.rows))


@dataclass(frozen=True, eq=False)
class Likelihood:
    """A generalised linear model, with moments near `anchor` (K, P).

    `others` are as in `models.problem.LeastSquares`, but rows instead of their moments.
    """

    exact: ClassVar[bool] = False
    rows: GlmRows
    anchor: FloatArray
    others: OtherRows | None = None
    plan: Forward | None = None

    @classmethod
    def of(
        cls,
        rows: SortedRows,
        fold: IntArray,
        folds: int,
        family: GlmFamily,
        plan: Forward | None = None,
    ) -> "Likelihood":
        """Take rows sorted by dataset, with moments near one fit of all rows.

        With a plan of forward validation, `fold` (N,) and `folds` are pieces of time.
        """
        K, P = len(rows), rows.X.shape[1] * family.m
        ridge = np.full(P, POOLED_RIDGE)
        ridge[: family.m] = 0.0
        whole = SortedRows.one_dataset(rows.X, rows.y, rows.w)
        pooled = fit_many(whole, family, ridge, tolerance=POOLED_TOLERANCE).beta[0]
        glm_rows = GlmRows.of(rows, fold, folds, family)
        if family.free_dispersion:
            at = family.derivatives(rows.y, rows.X @ pooled)
            dispersion = rows.w @ (at.gradient**2 / at.curvature) / max(len(rows.y) - P, 1)
            glm_rows = replace(glm_rows, phi=float(max(dispersion, LEAST_DISPERSION)))
        return cls(glm_rows, np.broadcast_to(pooled, (K, P)).copy(), plan=plan)

    @classmethod
    def of_cells(cls, cells: GlmRows, start: FloatArray) -> "Likelihood":
        """Take rows that are elsewhere, with moments near one fit of all, from a start (P,)."""
        K, P = len(cells.n), len(start)
        ridge = np.full(P, POOLED_RIDGE)
        ridge[: cells.family.m] = 0.0
        everything = tuple(range(K))
        pooled = cells.fit_unions([everything], ridge, [start], POOLED_TOLERANCE)[0]
        if cells.family.free_dispersion:
            pearson = cells.without_folds.sums(np.broadcast_to(pooled, (K, P))).pearson.sum()
            dispersion = pearson / max(cells.n.sum() - P, 1)
            cells = replace(cells, phi=float(max(dispersion, LEAST_DISPERSION)))
        return cls(cells, np.broadcast_to(pooled, (K, P)).copy())

    @cached_property
    def parts(self) -> Moments:
        """Moments (K, parts) of all rows: of folds, or of pieces of time."""
        return self.rows.moments(self.anchor)

    @cached_property
    def folds(self) -> Moments:
        """Moments of each fold (K, F)."""
        return self.parts if self.plan is None else self.plan.tested(self.parts)

    @cached_property
    def seen(self) -> Moments | None:
        """Moments (K, F) that fits at each origin see; None where rows have no order."""
        return None if self.plan is None else self.plan.seen(self.parts)

    @cached_property
    def _tested_weight(self) -> FloatArray:
        """Weight (K,) of held-out rows."""
        w = self.rows.w
        return w.sum(axis=1) if self.plan is None else self.plan.by_fold(w.T).sum(axis=0)

    @property
    def tested(self) -> BoolArray:
        """Which datasets (K,) have held-out rows."""
        return np.asarray(self._tested_weight > 0)

    def inner(self, held: IntArray) -> Moments:
        """Return parts (K, parts) of the rows that a search outside some folds may see."""
        return inner_parts(self.parts, self.plan, held)

    def left_out(self, held: IntArray) -> list[Moments]:
        """Return, for each of some folds that are held out together, what fits may see (K,)."""
        if self.plan is not None:
            return [self.outside(int(f)) for f in held]
        return [self.moments - self.folds[:, held].union(1)] * len(held)

    @cached_property
    def moments(self) -> Moments:
        """Moments of all rows of each dataset (K,)."""
        known = "parts" in vars(self)
        parts = self.parts if known else self.rows.without_folds.moments(self.anchor)
        return parts.union(1)

    def outside(self, f: int) -> Moments:
        """Return the moments (K,) of all rows that a fit outside fold f may see."""
        if self.seen is not None:
            return self.seen[:, f]
        if self.others is None:
            return self.moments - self.folds[:, f]
        return self._outside_groups[self.others.group[f]]

    @cached_property
    def _outside_groups(self) -> tuple[Moments, ...]:
        """Moments (K,) of the rows outside each group."""
        assert self.others is not None
        return tuple(rows.moments(self.anchor).union(1) for rows in self.others.rows)

    def near(self, beta: FloatArray, close: float = CLOSE) -> "Likelihood":
        """Return the problem near other coefficients; itself where these are close enough.

        A long way there is cut short: where the loss is nearly straight at the anchor, the parabola
        may point far beyond the minimum.
        """
        change = beta - self.anchor
        moved = linalg.quadratic(change, self.moments.G) / self.moments.w
        if np.mean(moved) < close:
            return self
        share = self.rows.without_folds.step_shares(self.anchor, change, FARTHEST)
        return replace(self, anchor=self.anchor + share[:, None] * change)

    def loss(self, beta: FloatArray) -> FloatArray:
        """Return minus the log-likelihood (F, K) of coefficients (F, K, P)."""
        if self.plan is None:
            return self.rows.loss(beta)
        losses = self.plan.by_fold(self.rows.loss(self.plan.by_piece(beta)))
        return losses * scale_of(self.rows.w.sum(axis=1), self._tested_weight)

    def held_out(self, fold_coef: FloatArray) -> HeldOut:
        """Return the probabilities of held-out rows under fits (F, K, P) without their fold."""
        if self.plan is None:
            return self.rows.held_out(fold_coef)
        return self.rows.held_out(self.plan.by_piece(fold_coef), self.plan.fold_of_piece >= 0)

    def of_datasets(self, members: Sequence[int]) -> "Likelihood":
        """Return the problem of some datasets."""
        others = None if self.others is None else self.others.of_datasets(members)
        rows, anchor = self.rows.of_datasets(members), self.anchor[list(members)]
        return Likelihood(rows, anchor, others, self.plan)

    def own(
        self, time: FloatArray | None = None, who: IntArray | None = None
    ) -> tuple[Moments, Backing, Scatter | None]:
        """Return moments (K,) near each dataset's own fit, and what verdicts on them rest on.

        Datasets with too few rows for a fit of their own stay near the anchor. Where rows have a
        time or a person (N,), the scatter of scores allows for it; else it is None.
        """
        m = self.moments
        few = ~self.rows.without_folds.backing(self.anchor).enough(m.p // m.outputs)
        near, beta = self, self.anchor
        for _ in range(OWN_MOVES):
            m = near.moments
            away = OWN_RIDGE * (beta - self.anchor)
            score = m.h - linalg.matvec(m.G, beta)
            step = linalg.solve(m.G + OWN_RIDGE * np.eye(m.p), score - away)
            nearer = near.near(np.where(few[:, None], self.anchor, beta + step), OWN_CLOSE)
            if nearer is near:
                break
            near, beta = nearer, nearer.anchor
        moments = near._with_sandwich_noise()
        backing = self.rows.without_folds.backing(near.anchor)
        if time is None and who is None:
            return moments, backing, None
        return moments, backing, glm_scatter(self.rows, near.anchor, moments, time, who)

    def _with_sandwich_noise(self) -> Moments:
        """Return the moments (K,) with noise by the sandwich where rows are overdispersed.

        The covariance of coefficients is G^-1 J G^-1 whatever the distribution, where J is the sum
        of squared row scores. It is taken as noise times G^-1 with noise = tr(G^-1 J) / rank, where
        that is above one by more than twice its standard error. This is so for weights that are not
        row counts, and for rows that the model does not fit.
        """
        m = self.moments
        if self.rows.family.free_dispersion:  # Pearson's statistic includes it already
            return m
        inverse, rank = linalg.inverse_and_rank(m.G)
        left = np.maximum(m.n - rank, 1.0)
        total, squares = self.rows.without_folds.squared_scores(self.anchor, inverse)
        scale = m.n / (np.maximum(rank, 1) * left)
        error = scale * np.sqrt(np.maximum(squares - total**2 / m.n, 0.0))
        excess = np.maximum(total * scale - 1 - SURE * error, 0.0)
        return replace(m, q=m.q + left * excess)


@dataclass(frozen=True, eq=False)
class Joins:
    """Exact losses of joining groups of datasets, beside what moments predict.

    Moments near the datasets' own fits describe the loss as a parabola. Where datasets are far
    apart, the loss is steeper than that near the joint fit, and joining costs more than moments
    predict. `known` keeps the fits already made, by the numbers of their datasets.
    """

    rows: GlmRows
    moments: Moments
    known: dict[tuple[int, ...], FloatArray] = field(default_factory=dict)

    def costs(self, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> FloatArray:
        """Return twice the loss (2, B) that joining adds: predicted by moments, and exact.

        It is the average over the datasets of a pair, each with the same weight, in units of the
        moments.
        """
        costs = np.zeros((2, len(pairs)))
        self._fit_all([group for a, b in pairs for group in ((*a, *b), a, b)])
        asked: list[tuple[int, FloatArray]] = []
        for left, right in pairs:
            joined, own = self._fit((*left, *right)), [self._fit(s) for s in (left, right)]
            members = [(k, own[0]) for k in left] + [(k, own[1]) for k in right]
            asked += [(k, joined) for k, _ in members] + members
        losses = self.rows.total_losses(asked)
        place = 0
        for i, (left, right) in enumerate(pairs):
            both = (*left, *right)
            side = np.repeat([0, 1], [len(left), len(right)])
            m = self.moments[list(both)]
            apart = np.stack([_joint_fit(self.moments, one) for one in (left, right)])
            by_moments = _joint_fit(self.moments, both) - apart
            share = 1 / (len(both) * m.w)
            costs[0, i] = share @ linalg.quadratic(by_moments[side], m.G)
            joint, own_losses = losses[place : place + 2 * len(both)].reshape(2, -1)
            place += 2 * len(both)
            costs[1, i] = max(float(share @ (joint - own_losses)) * 2 / self.rows.phi, 0.0)
        return costs

    def _fit_all(self, groups: Sequence[Sequence[int]]) -> None:
        """Fit groups of datasets that are not known yet, all at once."""
        keys = list(dict.fromkeys(tuple(sorted(one)) for one in groups))
        keys = [key for key in keys if key not in self.known]
        if not keys:
            return
        ridge = np.full(self.moments.p, OWN_RIDGE)
        starts = [_joint_fit(self.moments, key) for key in keys]
        self.known.update(zip(keys, self.rows.fit_unions(keys, ridge, starts)))

    def _fit(self, members: Sequence[int]) -> FloatArray:
        """Return the coefficients (P,) of one fit to all rows of some datasets."""
        return self.known[tuple(sorted(members))]


def _joint_fit(moments: Moments, members: Sequence[int]) -> FloatArray:
    """Return the least-squares coefficients (P,) of some datasets together, by moments."""
    union = moments[list(members)].union()
    return linalg.solve(union.G, union.h)
