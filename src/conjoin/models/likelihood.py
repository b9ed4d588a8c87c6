"""What strategies are fitted to: least squares, or a likelihood seen as least squares nearby.

Near coefficients b0 minus the log-likelihood of dataset k is, up to a constant,

    -s'(b - b0) + 1/2 (b - b0)'G (b - b0),

half the squared error of moments with that G and h = G b0 + s, at a noise variance of one. So all
that is done with moments serves a likelihood too, as long as b is near b0; where it is not, moments
are formed anew at b. Repeated until nothing moves this is Newton's method for whatever objective
the strategy minimises, be it for one dataset, a cluster or all of them under a common prior.

==========  ====================================================================  ============
symbol      meaning                                                               shape
==========  ====================================================================  ============
b0          coefficients near which moments are formed                            (K, P)
G, s        information and score there, by dataset and fold                      (K, F, P, P)
phi         dispersion: 1 for classes, estimated for counts; G and s are over it
h           G b0 + s                                                              (K, F, P)
q           b0'G b0 + 2 b0's + residual                                           (K, F)
n           rows times predictors of a row                                        (K, F)
==========  ====================================================================  ============

**The residual**, squared errors at b0, is a number of choice, since a likelihood has no noise
variance to estimate. For classes it is such that the own fit of a dataset, b0 + G^-1 s, has as many
squared errors as degrees of freedom, n - rank: noise comes out as one. For counts it is Pearson's
statistic over phi, so that datasets may scatter more or less than a Poisson law has it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np

from conjoin import linalg
from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.models.glm import GlmFamily, PaddedRows, blocks, fit_many, probabilities
from conjoin.moments import Moments
from conjoin.result.scores import HeldOut

CLOSE = 1e-3  # mean square change of eta, rows counted by v, up to which moments are kept
FARTHEST = 4.0  # change of eta by which moments are moved at most
POOLED_RIDGE = 1.0  # on slopes of the first fit, in rows of one
OWN_RIDGE = 1e-3  # of datasets' own fits around the anchor, which only separable data feel
OWN_MOVES = 8
# Verdicts weigh the information itself, which for rare classes changes fast with coefficients.
OWN_CLOSE = 1e-6
# Rows a parameter, and rows counted by their information a parameter, from which the distribution
# of coefficients is close enough to normal for a verdict.
FEWEST_ROWS, FEWEST_MASS = 10.0, 5.0
# The same for rows outside the most frequent class. And of a class of share pi, n pi (1 - pi) over
# (1 - 2 pi)^2, the inverse of its count's squared skewness: estimates of a rare class are skewed.
FEWEST_RARE, LEAST_EVEN = 4.0, 20.0
# Rows of a class on one side of a pair below which, where as many or more would be there if it were
# as on the other side, the class is taken for absent.
FEWEST_SHARED = 4.0
SURE = 2.0  # standard errors by which rows must scatter too much


class Problem(Protocol):
    """Datasets (K,) with folds (K, F), to which coefficients are fitted.

    `exact` says whether moments know the loss everywhere.
    """

    exact: ClassVar[bool]

    @property
    def moments(self) -> Moments:
        """Of all rows of each dataset (K,)."""

    @property
    def folds(self) -> Moments:
        """Of its folds (K, F)."""

    def near(self, beta: FloatArray, close: float = CLOSE) -> "Problem":
        """Return the problem with moments formed near coefficients (K, P); itself if they are.

        `close` is the mean square change of eta up to which they are.
        """

    def loss(self, beta: FloatArray) -> FloatArray:
        """Return the loss (F, K) of coefficients (F, K, P) on the rows of each fold, summed."""


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Squared errors, which moments know everywhere."""

    exact: ClassVar[bool] = True
    folds: Moments

    @cached_property
    def moments(self) -> Moments:
        """Of all rows of each dataset (K,)."""
        return self.folds.union(1)

    @cached_property
    def _by_fold(self) -> Moments:
        return self.folds.each(lambda array: np.swapaxes(array, 0, 1))

    def near(self, beta: FloatArray, close: float = CLOSE) -> "LeastSquares":
        """Return the problem itself."""
        return self

    def loss(self, beta: FloatArray) -> FloatArray:
        """Return squared errors (F, K) of coefficients (F, K, p)."""
        return self._by_fold.sse(beta)


@dataclass(frozen=True, eq=False)
class GlmRows:
    """Rows of datasets and folds under a family, in padded stacks of cells alike in size.

    Parameters
    ----------
    family : GlmFamily
    stacks : sequence of (numbers of cells, PaddedRows)
        Cell (k, f) has the number k F + f.
    plain : (design, target, weights, starts)
        The same rows one after another, sorted by dataset.
    n, w : arrays (K, F)
        Rows, times the predictors of a row, and sums of weights.
    phi : float
        Dispersion.
    """

    family: GlmFamily
    stacks: Sequence[tuple[IntArray, PaddedRows]]
    plain: tuple[FloatArray, FloatArray, FloatArray, IntArray]
    n: FloatArray
    w: FloatArray
    phi: float = 1.0

    @classmethod
    def of(
        cls,
        Z: FloatArray,
        y: FloatArray,
        weights: FloatArray,
        starts: IntArray,
        fold: IntArray,
        folds: int,
        family: GlmFamily,
    ) -> "GlmRows":
        """Take rows (N, d) sorted by dataset and the fold of each."""
        K = len(starts) - 1
        cell = np.repeat(np.arange(K), np.diff(starts)) * folds + fold
        order = np.argsort(cell, kind="stable")
        bounds = np.searchsorted(cell[order], np.arange(K * folds + 1))
        stacks = list(blocks(Z[order], y[order], weights[order], bounds))
        n: FloatArray = np.bincount(cell, weights > 0, minlength=K * folds).astype(np.float64)
        w: FloatArray = np.bincount(cell, weights, minlength=K * folds).astype(np.float64)
        plain = (Z, y, weights, np.asarray(starts))
        return cls(family, stacks, plain, n.reshape(K, folds) * family.m, w.reshape(K, folds))

    @cached_property
    def whole(self) -> "GlmRows":
        """The same rows without folds, which are gone over in half the time."""
        Z, y, weights, starts = self.plain
        rows = GlmRows.of(Z, y, weights, starts, np.zeros(len(y), dtype=int), 1, self.family)
        return replace(rows, phi=self.phi)

    def places(self, members: Sequence[int]) -> IntArray:
        """Return where the rows of some datasets are among `plain`."""
        starts = self.plain[3]
        return np.concatenate([np.arange(starts[k], starts[k + 1]) for k in members])

    def of_datasets(self, members: Sequence[int]) -> "GlmRows":
        """Return the rows of some datasets, in their folds."""
        K, F = self.n.shape
        kept = np.asarray(members, dtype=int)
        place = np.full(K, -1)
        place[kept] = np.arange(len(kept))
        stacks = []
        for index, rows in self.stacks:
            inside = np.flatnonzero(place[index // F] >= 0)
            if len(inside):
                cells = index[inside]
                stacks.append((place[cells // F] * F + cells % F, rows.take(inside)))
        Z, y, weights, starts = self.plain
        own = self.places(members)
        bounds = np.concatenate([[0], np.cumsum(np.diff(starts)[kept])])
        plain = (Z[own], y[own], weights[own], bounds)
        return replace(self, stacks=stacks, plain=plain, n=self.n[kept], w=self.w[kept])

    def loss(self, beta: FloatArray) -> FloatArray:
        """Return the loss (F, K) of coefficients (F, K, P)."""
        K, F = self.n.shape
        cells = np.swapaxes(beta, 0, 1).reshape(K * F, -1)
        total = np.empty(K * F)
        for index, rows in self.stacks:
            total[index] = rows.loss(cells[index], self.family)
        return total.reshape(K, F).T

    def held_out(self, beta: FloatArray) -> HeldOut:
        """Return the probabilities of rows under coefficients (F, K, P) found outside their fold.

        Rows come dataset by dataset; those of weight zero are left out.
        """
        K, F = self.n.shape
        cells = np.swapaxes(beta, 0, 1).reshape(K * F, -1)
        parts = []
        for index, rows in self.stacks:
            P = probabilities(self.family, rows.eta(cells[index], self.family))
            there = rows.w > 0
            dataset = np.broadcast_to((index // F)[:, None], there.shape)
            parts.append((P[there], rows.y[there], rows.w[there], dataset[there]))
        P, y, w, dataset = (np.concatenate(column) for column in zip(*parts))
        order = np.argsort(dataset, kind="stable")
        return HeldOut(P[order], y[order].astype(np.int64), w[order], dataset[order])

    def moments(self, b0: FloatArray) -> Moments:
        """Return moments (K, F) near coefficients (K, P)."""
        (K, F), P = self.n.shape, b0.shape[1]
        G, s, pearson = np.empty((K * F, P, P)), np.empty((K * F, P)), np.zeros(K * F)
        for index, rows in self.stacks:
            local = rows.at(b0[index // F], self.family)
            G[index], s[index] = rows.information(local), rows.score(local)
            if self.family.scatters:
                pearson[index] = _pearson(rows, local.gradient, local.curvature)
        G, s = G.reshape(K, F, P, P) / self.phi, s.reshape(K, F, P) / self.phi
        if self.family.scatters:
            residual = pearson.reshape(K, F) / self.phi
        else:
            whole = s.sum(axis=1)
            inverse, rank = linalg.inverse_and_rank(G.sum(axis=1))
            rows_of = self.n.sum(axis=1)
            squares = rows_of - rank + linalg.quadratic(whole, inverse)
            residual = self.n * (squares / rows_of)[:, None]
        b = b0[:, None]
        Gb = linalg.matvec(G, np.broadcast_to(b, s.shape))
        q = linalg.dot(Gb + 2 * s, np.broadcast_to(b, s.shape)) + residual
        return Moments(G, Gb + s, q, self.n, self.w, self.family.m, not self.family.scatters)

    def mass(self, b0: FloatArray) -> FloatArray:
        """Return how many rows, at most, each dataset (K,) counts for in the information at b0.

        A row counts by its curvature over the largest there is: one where all classes are as
        likely, next to nothing where one is certain. Of counts, events are counted.
        """
        K, F = self.n.shape
        classes, total = self.family.m + 1, np.zeros(K)
        most = 1.0 if self.family.scatters else 0.25 if classes == 2 else 1 - 1 / classes
        for index, rows in self.stacks:
            v = rows.at(b0[index // F], self.family).curvature
            by_row = v if v.ndim == 2 else np.trace(v, axis1=-2, axis2=-1)
            np.add.at(total, index // F, linalg.dot(rows.w, by_row))
        return total / most

    def backing(self, b0: FloatArray) -> "Backing":
        """Return what there is to go by in each dataset, at coefficients b0 (K, P)."""
        K, F = self.n.shape
        counts = np.zeros((K, self.family.m + 1))
        for index, rows in self.stacks:
            for label in range(counts.shape[1]):
                own = np.sum((rows.y == label) & (rows.w > 0), axis=1)
                np.add.at(counts[:, label], index // F, own)
        if self.family.scatters:
            counts = np.zeros((K, 1))
        return Backing(self.n.sum(axis=1) / self.family.m, self.mass(b0), counts)

    def row_scores(self, b0: FloatArray, inverse: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return sums (K,) over rows of u = s_i'G^-1 s_i and of u^2, s_i being a row's score."""
        K, F = self.n.shape
        total, squares = np.zeros(K), np.zeros(K)
        for index, rows in self.stacks:
            k = index // F
            residual = rows.w[..., None] * rows.at(b0[k], self.family).gradient.reshape(
                *rows.w.shape, self.family.m
            )
            s = (rows.X[..., :, None] * residual[..., None, :]).reshape(*rows.w.shape, -1)
            u = np.einsum("knp,knp->kn", np.matmul(s, inverse[k]), s)
            np.add.at(total, k, u.sum(axis=1))
            np.add.at(squares, k, (u**2).sum(axis=1))
        return total, squares

    def farthest(self, change: FloatArray) -> FloatArray:
        """Return the largest change of eta (K,) that a change of coefficients (K, P) makes."""
        K, F = self.n.shape
        most = np.zeros(K)
        for index, rows in self.stacks:
            eta = np.abs(rows.eta(change[index // F], self.family))
            by_row = eta if eta.ndim == 2 else eta.max(axis=2)
            np.maximum.at(most, index // F, np.where(rows.w > 0, by_row, 0.0).max(axis=1))
        return most


@dataclass(frozen=True, eq=False)
class Backing:
    """What a verdict on datasets (K,), or groups of them, rests on.

    Parameters
    ----------
    rows : array (K,)
    mass : array (K,)
        Rows counted by their information.
    counts : array (K, C)
        Rows of each class; a single column of zeros where there are none.
    """

    rows: FloatArray
    mass: FloatArray
    counts: FloatArray

    def of(self, groups: Sequence[Sequence[int]]) -> "Backing":
        """Return what groups of datasets rest on."""
        index = [np.asarray(group, dtype=int) for group in groups]
        return Backing(
            *(
                np.array([values[i].sum(axis=0) for i in index])
                for values in (self.rows, self.mass, self.counts)
            )
        )

    def enough(self, columns: int) -> BoolArray:
        """Say where it is enough for models with so many columns a class."""
        return self.short(columns) <= 1.0

    def lacking(self) -> BoolArray:
        """Say of pairs of groups (B,), given one after another, whether a side lacks a class.

        The likelihood of a class that never comes has no maximum; near it there is no information,
        and moments would take any other coefficients for as good.
        """
        counts = self.counts.reshape(-1, 2, self.counts.shape[1])
        rows = np.maximum(self.rows, 1.0).reshape(-1, 2, 1)
        if counts.shape[2] == 1:
            return np.zeros(len(counts), dtype=bool)
        expected = (counts / rows)[:, ::-1] * rows
        lacks = (counts < FEWEST_SHARED) & (expected >= FEWEST_SHARED)
        return np.asarray(lacks.any(axis=(1, 2)))

    def short(self, columns: int) -> FloatArray:
        """Return how many times as many rows would be enough; infinite where a class is absent."""
        needs = [(FEWEST_ROWS * columns, self.rows), (FEWEST_MASS * columns, self.mass)]
        if self.counts.shape[1] > 1:
            most = self.counts.max(axis=1)
            share = most / np.maximum(self.rows, 1.0)
            uneven = np.maximum(2 * share - 1, 0.0) ** 2
            needs.append((FEWEST_RARE * columns, self.rows - most))
            needs.append((LEAST_EVEN * uneven, self.rows * share * (1 - share)))
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = [np.where(np.equal(need, 0), 0.0, need / there) for need, there in needs]
        return np.asarray(np.max(factors, axis=0))


def _pearson(rows: PaddedRows, gradient: FloatArray, curvature: FloatArray) -> FloatArray:
    """Return squared errors over variances, summed over the rows of each cell."""
    square = gradient**2 / np.maximum(curvature, np.finfo(float).tiny)
    return linalg.dot(rows.w, square)


@dataclass(frozen=True, eq=False)
class Likelihood:
    """A generalised linear model, with moments near `anchor` (K, P)."""

    exact: ClassVar[bool] = False
    rows: GlmRows
    anchor: FloatArray

    @classmethod
    def of(
        cls,
        Z: FloatArray,
        y: FloatArray,
        weights: FloatArray,
        starts: IntArray,
        fold: IntArray,
        folds: int,
        family: GlmFamily,
    ) -> "Likelihood":
        """Take rows (N, d) sorted by dataset, with moments near one fit of all rows."""
        K, P = len(starts) - 1, Z.shape[1] * family.m
        ridge = np.full(P, POOLED_RIDGE)
        ridge[: family.m] = 0.0
        whole = np.array([0, len(y)])
        pooled = fit_many(Z, y, weights, whole, family, ridge).beta[0]
        rows = GlmRows.of(Z, y, weights, starts, fold, folds, family)
        if family.scatters:
            local = family.at(y, Z @ pooled)
            scatter = weights @ (local.gradient**2 / local.curvature) / max(len(y) - P, 1)
            rows = replace(rows, phi=float(max(scatter, 1e-6)))
        return cls(rows, np.broadcast_to(pooled, (K, P)).copy())

    @cached_property
    def folds(self) -> Moments:
        """Moments (K, F)."""
        return self.rows.moments(self.anchor)

    @cached_property
    def moments(self) -> Moments:
        """Moments (K,)."""
        folds = self.folds if "folds" in vars(self) else self.rows.whole.moments(self.anchor)
        return folds.union(1)

    def near(self, beta: FloatArray, close: float = CLOSE) -> "Likelihood":
        """Return the problem near other coefficients; itself where these are close enough.

        The way there is cut short where it is far: a line that is nearly straight at the anchor may
        have been followed beyond reason.
        """
        change = beta - self.anchor
        moved = linalg.quadratic(change, self.moments.G) / self.moments.w
        if np.mean(moved) < close:
            return self
        share = np.minimum(1.0, FARTHEST / np.maximum(self.rows.whole.farthest(change), 1e-300))
        return Likelihood(self.rows, self.anchor + share[:, None] * change)

    def loss(self, beta: FloatArray) -> FloatArray:
        """Return minus the log-likelihood (F, K) of coefficients (F, K, P)."""
        return self.rows.loss(beta)

    def of_datasets(self, members: Sequence[int]) -> "Likelihood":
        """Return the same of some datasets."""
        return Likelihood(self.rows.of_datasets(members), self.anchor[list(members)])

    def own(self) -> tuple[Moments, Backing]:
        """Return moments (K,) near each dataset's own fit, and what these rest on.

        Datasets of too few rows for a fit of their own stay near the anchor.
        """
        m = self.moments
        few = ~self.rows.whole.backing(self.anchor).enough(m.p // m.outputs)
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
        return near._scattered(), self.rows.whole.backing(near.anchor)

    def _scattered(self) -> Moments:
        """Return the moments (K,) with noise by the sandwich where rows scatter too much.

        The covariance of coefficients is G^-1 J G^-1 whatever the distribution, J being the sum of
        squared row scores; it is taken as noise times G^-1 with noise = tr(G^-1 J) / rank, where
        that is above one by more than twice its standard error. So it is for weights that are no
        numbers of rows, and for rows that the model does not fit.
        """
        m = self.moments
        if self.rows.family.scatters:  # Pearson's statistic has it already
            return m
        inverse, rank = linalg.inverse_and_rank(m.G)
        left = np.maximum(m.n - rank, 1.0)
        total, squares = self.rows.whole.row_scores(self.anchor, inverse)
        scale = m.n / (np.maximum(rank, 1) * left)
        error = scale * np.sqrt(np.maximum(squares - total**2 / m.n, 0.0))
        excess = np.maximum(total * scale - 1 - SURE * error, 0.0)
        return replace(m, q=m.q + left * excess)


@dataclass(frozen=True, eq=False)
class Joins:
    """Exact losses of joining groups of datasets, beside what moments say of them.

    Moments near the datasets' own fits take the loss for a parabola. Where datasets are far apart
    it is steeper than that near the joint fit, and joining costs more than moments have it.
    """

    rows: GlmRows
    moments: Moments
    known: dict[tuple[int, ...], FloatArray] = field(default_factory=dict)

    def costs(self, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> FloatArray:
        """Return twice the loss (2, B) that joining adds, by moments and as it is.

        Averaged over the datasets of a pair, each counting the same, in units of the moments.
        """
        costs = np.zeros((2, len(pairs)))
        for i, (left, right) in enumerate(pairs):
            both = (*left, *right)
            joint, own = self._fit(both), np.stack([self._fit(tuple(s)) for s in (left, right)])
            side = np.repeat([0, 1], [len(left), len(right)])
            m = self.moments[list(both)]
            by_moments = _joint(self.moments, both) - np.stack(
                [_joint(self.moments, s) for s in (left, right)]
            )
            share = 1 / (len(both) * m.w)
            costs[0, i] = share @ linalg.quadratic(by_moments[side], m.G)
            added = [
                self._loss(k, joint) - self._loss(k, own[s]) for k, s in zip(both, side.tolist())
            ]
            costs[1, i] = max(float(share @ np.array(added)) * 2 / self.rows.phi, 0.0)
        return costs

    def _fit(self, members: Sequence[int]) -> FloatArray:
        """Return the coefficients (P,) of one fit to all rows of some datasets."""
        key = tuple(sorted(members))
        if key not in self.known:
            Z, y, w, _ = self.rows.plain
            rows = self.rows.places(key)
            ridge = np.full(Z.shape[1] * self.rows.family.m, OWN_RIDGE)
            whole = np.array([0, len(rows)])
            start = _joint(self.moments, key)[None]
            fit = fit_many(Z[rows], y[rows], w[rows], whole, self.rows.family, ridge, start)
            self.known[key] = fit.beta[0]
        return self.known[key]

    def _loss(self, k: int, beta: FloatArray) -> float:
        """Return the loss of coefficients (P,) on a dataset."""
        Z, y, w, starts = self.rows.plain
        rows = slice(int(starts[k]), int(starts[k + 1]))
        family = self.rows.family
        eta = Z[rows] @ beta.reshape(-1, family.m)
        return float(w[rows] @ family.loss(y[rows], eta[:, 0] if family.m == 1 else eta))


def _joint(moments: Moments, members: Sequence[int]) -> FloatArray:
    union = moments[list(members)].union()
    return linalg.solve(union.G, union.h)
