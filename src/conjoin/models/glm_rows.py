"""Rows of datasets and folds under a distribution, and the moments they have near coefficients.

Enters: rows sorted by dataset, the fold of each, a family. Leaves: losses, moments near given
coefficients, probabilities of held-out rows, and what a verdict rests on. A cell is one fold of one
dataset.

==========  ====================================================================  ============
symbol      meaning                                                               shape
==========  ====================================================================  ============
b0          coefficients near which moments are formed                            (K, P)
G, s        information and score there, by dataset and fold                      (K, F, P, P)
phi         dispersion: 1 for classes, estimated for counts; divides G and s
h           G b0 + s                                                              (K, F, P)
q           b0'G b0 + 2 b0's + residual                                           (K, F)
n           rows times linear predictors of a row                                 (K, F)
==========  ====================================================================  ============

**The residual**, the squared errors at b0, can be chosen, since a likelihood has no noise variance
to estimate. For classes it is such that the own fit of a dataset, b0 + G^-1 s, has as many
squared errors as degrees of freedom, n - rank; the noise variance is then one. For counts it is
Pearson's statistic over phi, so that each dataset may be more or less dispersed than the Poisson
distribution.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple, TypeVar

import numpy as np

from conjoin import linalg
from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.execution import in_threads
from conjoin.models.backing import Backing
from conjoin.models.glm import TOLERANCE, fit_many
from conjoin.models.glm_families import GlmFamily, RowDerivatives, probabilities
from conjoin.models.held_out import HeldOut
from conjoin.models.padded_rows import PaddedRows, SortedRows, padded_blocks
from conjoin.moments import Moments
from conjoin.moments.folds import sort_by_cell

Item = TypeVar("Item")
Found = TypeVar("Found")


class Sums(NamedTuple):
    """G (K, F, P, P) and s (K, F, P), not divided by phi, and Pearson's statistic (K, F)."""

    G: FloatArray
    s: FloatArray
    pearson: FloatArray


@dataclass(frozen=True, eq=False)
class GlmRows:
    """Rows of datasets and folds under a family, in padded stacks of cells of similar size.

    Parameters
    ----------
    family : GlmFamily
    stacks : sequence of (numbers of cells, PaddedRows)
        Cell (k, f) has the number k F + f.
    sorted_rows : SortedRows
        The same rows one after another, sorted by dataset.
    n, w : arrays (K, F)
        Rows, times the linear predictors of a row, and sums of weights.
    phi : float
        Dispersion.
    """

    remote: ClassVar[bool] = False  # whether rows are elsewhere, see `models.remote_glm`

    @property
    def has_probabilities(self) -> bool:
        """Whether probabilities of single rows are known."""
        return True

    family: GlmFamily
    stacks: Sequence[tuple[IntArray, PaddedRows]]
    sorted_rows: SortedRows
    n: FloatArray
    w: FloatArray
    phi: float = 1.0

    @classmethod
    def of(cls, rows: SortedRows, fold: IntArray, folds: int, family: GlmFamily) -> "GlmRows":
        """Take rows sorted by dataset and the fold of each (N,)."""
        K = len(rows)
        cell, order, bounds = sort_by_cell(rows.starts, fold, folds)
        by_cell = SortedRows(rows.X[order], rows.y[order], rows.w[order], bounds)
        n: FloatArray = np.bincount(cell, rows.w > 0, minlength=K * folds).astype(np.float64)
        w: FloatArray = np.bincount(cell, rows.w, minlength=K * folds).astype(np.float64)
        return cls(
            family,
            list(padded_blocks(by_cell)),
            rows,
            n.reshape(K, folds) * family.m,
            w.reshape(K, folds),
        )

    @cached_property
    def without_folds(self) -> "GlmRows":
        """The same rows in one fold: a pass over them takes half the time."""
        one_fold = np.zeros(len(self.sorted_rows.y), dtype=int)
        rows = GlmRows.of(self.sorted_rows, one_fold, 1, self.family)
        return replace(rows, phi=self.phi)

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
        sorted_rows = self.sorted_rows.take(members)
        return replace(self, stacks=stacks, sorted_rows=sorted_rows, n=self.n[kept], w=self.w[kept])

    def loss(self, beta: FloatArray) -> FloatArray:
        """Return the loss (F, K) of coefficients (F, K, P)."""
        K, F = self.n.shape
        cells = np.swapaxes(beta, 0, 1).reshape(K * F, -1)
        total = np.empty(K * F)
        for index, rows in self.stacks:
            total[index] = rows.loss(cells[index], self.family)
        return total.reshape(K, F).T

    def held_out(self, beta: FloatArray, kept: BoolArray | None = None) -> HeldOut:
        """Return the probabilities of rows under coefficients (F, K, P) fitted without their fold.

        Rows come dataset by dataset; rows of weight zero, and of folds that are not `kept` (F,),
        are left out.
        """
        K, F = self.n.shape
        cells = np.swapaxes(beta, 0, 1).reshape(K * F, -1)
        parts = []
        for index, rows in self.stacks:
            P = probabilities(self.family, rows.eta(cells[index], self.family))
            there = rows.w > 0
            if kept is not None:
                there &= kept[index % F][:, None]
            dataset = np.broadcast_to((index // F)[:, None], there.shape)
            parts.append((P[there], rows.y[there], rows.w[there], dataset[there]))
        P, y, w, dataset = (np.concatenate(column) for column in zip(*parts))
        order = np.argsort(dataset, kind="stable")
        return HeldOut(P[order], y[order].astype(np.int64), w[order], dataset[order])

    def sums(self, b0: FloatArray) -> Sums:
        """Return information, score and Pearson's statistic (K, F) at coefficients (K, P)."""
        (K, F), P = self.n.shape, b0.shape[1]
        G, s, pearson = np.empty((K * F, P, P)), np.empty((K * F, P)), np.zeros(K * F)
        for index, rows in self.stacks:
            at = rows.derivatives(b0[index // F], self.family)
            G[index], s[index] = rows.information(at), rows.score(at)
            if self.family.free_dispersion:
                pearson[index] = _pearson(rows, at)
        return Sums(G.reshape(K, F, P, P), s.reshape(K, F, P), pearson.reshape(K, F))

    def moments(self, b0: FloatArray) -> Moments:
        """Return moments (K, F) near coefficients (K, P)."""
        found = self.sums(b0)
        G, s = found.G / self.phi, found.s / self.phi
        if self.family.free_dispersion:
            residual = found.pearson / self.phi
        else:
            whole = s.sum(axis=1)
            inverse, rank = linalg.inverse_and_rank(G.sum(axis=1))
            rows_of = np.maximum(self.n.sum(axis=1), 1.0)  # a dataset may have no rows
            squares = rows_of - rank + linalg.quadratic(whole, inverse)
            residual = self.n * (squares / rows_of)[:, None]
        b = b0[:, None]
        Gb = linalg.matvec(G, np.broadcast_to(b, s.shape))
        q = linalg.dot(Gb + 2 * s, np.broadcast_to(b, s.shape)) + residual
        return Moments(G, Gb + s, q, self.n, self.w, self.family.m, not self.family.free_dispersion)

    def mass(self, b0: FloatArray) -> FloatArray:
        """Return the rows of each dataset (K,), each counted by its information at b0 (K, P).

        A row counts by its curvature over the largest one possible: one where all classes are
        equally likely, next to nothing where one is certain. For counts, events are counted.
        """
        K, F = self.n.shape
        classes, total = self.family.m + 1, np.zeros(K)
        # The largest curvature: p (1 - p) at p = 1/2, or the trace at equal probabilities.
        most = 1.0 if self.family.free_dispersion else 0.25 if classes == 2 else 1 - 1 / classes
        for index, rows in self.stacks:
            by_row = rows.derivatives(b0[index // F], self.family).total_curvature()
            np.add.at(total, index // F, linalg.dot(rows.w, by_row))
        return total / most

    def backing(self, b0: FloatArray) -> Backing:
        """Return what a verdict on each dataset rests on, at coefficients b0 (K, P)."""
        K, F = self.n.shape
        counts = np.zeros((K, self.family.m + 1))
        for index, rows in self.stacks:
            for label in range(counts.shape[1]):
                own = np.sum((rows.y == label) & (rows.w > 0), axis=1)
                np.add.at(counts[:, label], index // F, own)
        if self.family.free_dispersion:
            counts = np.zeros((K, 1))
        return Backing(self.n.sum(axis=1) / self.family.m, self.mass(b0), counts)

    def squared_scores(self, b0: FloatArray, inverse: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return sums (K,) over rows of u = s_i'G^-1 s_i and of u^2, with s_i the score of a row.

        `inverse` (K, P, P) is G^-1 at b0 (K, P).
        """
        K, F = self.n.shape
        total, squares = np.zeros(K), np.zeros(K)
        for index, rows in self.stacks:
            k = index // F
            s = rows.row_scores(rows.derivatives(b0[k], self.family))
            u = np.einsum("knp,knp->kn", np.matmul(s, inverse[k]), s)
            np.add.at(total, k, u.sum(axis=1))
            np.add.at(squares, k, (u**2).sum(axis=1))
        return total, squares

    def largest_change(self, change: FloatArray) -> FloatArray:
        """Return the largest change of eta (K,) that a change of coefficients (K, P) makes."""
        K, F = self.n.shape
        most = np.zeros(K)
        for index, rows in self.stacks:
            eta = np.abs(rows.eta(change[index // F], self.family))
            by_row = eta if eta.ndim == 2 else eta.max(axis=2)
            np.maximum.at(most, index // F, np.where(rows.w > 0, by_row, 0.0).max(axis=1))
        return most

    def step_shares(self, anchor: FloatArray, change: FloatArray, farthest: float) -> FloatArray:
        """Return how far to go along a change (K, P) of coefficients (K, P): 1, 1/2, 1/4, ... (K,).

        No row's eta changes by more than `farthest`.
        """
        return halved(self.largest_change(change), farthest)

    def fit_unions(
        self,
        unions: Sequence[tuple[int, ...]],
        ridge: FloatArray,
        starts: Sequence[FloatArray],
        tolerance: float = TOLERANCE,
    ) -> list[FloatArray]:
        """Return the coefficients (P,) of one fit to all rows of each union of datasets."""
        found, every = [], self.sorted_rows
        for members, start in zip(unions, starts):
            own = every.places(members)
            rows = SortedRows.one_dataset(every.X[own], every.y[own], every.w[own])
            found.append(
                fit_many(rows, self.family, ridge, start[None], tolerance=tolerance).beta[0]
            )
        return found

    def total_losses(self, asked: Sequence[tuple[int, FloatArray]]) -> FloatArray:
        """Return the loss of coefficients (P,) on all rows of a dataset, for each pair of them."""
        rows, family, found = self.sorted_rows, self.family, []
        for k, beta in asked:
            own = slice(int(rows.starts[k]), int(rows.starts[k + 1]))
            eta = rows.X[own] @ beta.reshape(-1, family.m)
            losses = family.loss(rows.y[own], eta[:, 0] if family.m == 1 else eta)
            found.append(float(rows.w[own] @ losses))
        return np.array(found)

    def each(
        self, work: Callable[[Item], Found], items: Sequence[Item], *, alone: bool
    ) -> Iterator[Found]:
        """Give the results for all items, in their order, from threads unless `alone`."""
        return in_threads(work, items, alone=alone)


def halved(largest: FloatArray, farthest: float) -> FloatArray:
    """Return 1, 1/2, 1/4, ... (K,) so that changes of at most `largest` (K,) stay within.

    >>> halved(np.array([0.5, 4.0, 4.1, 100.0]), 4.0).tolist()
    [1.0, 1.0, 0.5, 0.03125]
    """
    times = np.ceil(np.log2(np.maximum(largest / farthest, 1.0)))
    return np.asarray(0.5**times)


def _pearson(rows: PaddedRows, at: RowDerivatives) -> FloatArray:
    """Return squared errors over variances, summed over the rows of each cell."""
    square = at.gradient**2 / np.maximum(at.curvature, np.finfo(float).tiny)
    return linalg.dot(rows.w, square)
