"""Moments of columns and predictions together, of rows that are not in memory.

Rows by batches and the models of a learner enter; moments of [1, columns, predictions] and the
target leave, by dataset and fold. Every row is predicted by models that have not seen it. All
strategies are linear in these columns, so their losses on held-out rows, and the products of their
errors, follow from the moments.

==========  ====================================================================  ============
symbol      meaning                                                               shape
==========  ====================================================================  ============
z           [1, columns, predictions] of a row, centred and scaled                (q,)
v           coefficients of a strategy on z outside each fold                     (F, K, q)
e_s         error of strategy s at a held-out row: target - v'z
H           sums of e_s e_t over the rows of a fold of a dataset                  (F, K, S, S)
==========  ====================================================================  ============
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.engine.learning import GROUPS, LearnedColumns
from conjoin.engine.remote import Reduced
from conjoin.engine.remote_rows import Batch
from conjoin.learners.crossfit import PredictedColumn, groups_of_folds
from conjoin.moments import Basis, Moments
from conjoin.moments.basis import FARTHEST


@dataclass(frozen=True, eq=False)
class Wide:
    """Moments of columns and predictions.

    Parameters
    ----------
    basis : Basis
        Coordinates of columns and predictions.
    folds : Moments (K, F)
    ends : (array, array)
        Smallest and largest value of every prediction.
    inputs : int
        Number of columns without the predictions.
    """

    basis: Basis
    folds: Moments
    ends: tuple[FloatArray, FloatArray]
    inputs: int

    def take(self, predictions: IntArray) -> tuple[Basis, Moments]:
        """Return coordinates and moments of the columns and some of the predictions."""
        own = np.append(np.arange(self.inputs), predictions)
        used = np.append(0, own + 1)
        b, m = self.basis, self.folds
        matrix = None if b.matrix is None else b.matrix[np.ix_(own, own)]
        basis = replace(b, center=b.center[own], scale=b.scale[own], matrix=matrix)
        G = m.G[..., used[:, None], used]
        return basis, Moments(G, m.h[..., used], m.q, m.n, m.w)

    def padded(self, fold_coef: FloatArray, predictions: IntArray) -> FloatArray:
        """Return v (F, K, q) of coefficients on the columns and some of the predictions."""
        found = np.zeros((*fold_coef.shape[:-1], self.folds.p))
        found[..., np.append(np.arange(self.inputs + 1), predictions + 1)] = fold_coef
        return found

    def own(self, prediction: int, *, centred: bool = True) -> FloatArray:
        """Return v (F, K, q) that is a prediction of the target; of residuals if not `centred`."""
        K, F = self.folds.shape
        b, found = self.basis, np.zeros((F, K, self.folds.p))
        shift = b.center[prediction] - (b.target_center if centred else 0.0)
        found[..., 0] = shift / b.target_scale
        found[..., prediction + 1] = b.scale[prediction] / b.target_scale
        return found

    def losses(self, v: FloatArray) -> FloatArray:
        """Return the losses (F, K) of a strategy on held-out rows."""
        return self.folds.sse(np.swapaxes(v, 0, 1)).T

    def products(self, lines: list[FloatArray]) -> FloatArray:
        """Return H (F, K, S, S) of strategies."""
        V, m = np.stack(lines, axis=2), self.folds.each(lambda array: np.swapaxes(array, 0, 1))
        Vh = np.einsum("fksq,fkq->fks", V, m.h)
        both: FloatArray = np.matmul(np.matmul(V, m.G), np.swapaxes(V, 2, 3))
        return m.q[..., None, None] - Vh[..., None] - Vh[..., None, :] + both


def predict_outside(column: PredictedColumn, X: FloatArray, batch: Batch, folds: int) -> FloatArray:
    """Return predictions (n,) of rows by the models outside their groups."""
    group = groups_of_folds(batch.fold, folds, min(GROUPS, folds)) % len(column.outside)
    found = np.empty(len(X))
    for g, model in enumerate(column.outside):
        own = group == g
        if own.any():
            found[own] = model.predict(X[own], batch.dataset[own])[:, 0]
    return found


@dataclass(frozen=True, eq=False)
class Summing:
    """Turns a batch of rows into moments of its datasets and folds: (cells, moments, ends)."""

    learned: LearnedColumns
    basis: Basis
    folds: int

    def __call__(self, batch: Batch) -> tuple[IntArray, Moments, FloatArray, FloatArray]:
        """Return cells, their moments, and the ends of the predictions."""
        X = self.learned.task.columns.transform(batch.X)
        columns = self.learned.found.values()
        predicted = [predict_outside(one, X, batch, self.folds) for one in columns]
        found = np.stack(predicted, axis=1)
        Z = self.basis.design(np.concatenate([batch.X, found], axis=1))
        cell = batch.dataset * self.folds + batch.fold
        order = np.argsort(cell, kind="stable")
        cells, starts = np.unique(cell[order], return_index=True)
        starts = np.append(starts, len(cell))
        t = self.basis.response(batch.y)
        moments = Moments.by_dataset(Z[order], t[order], starts, batch.w[order])
        return cells, moments, found.min(axis=0), found.max(axis=0)


def gather(learned: LearnedColumns, table: Reduced) -> Wide:
    """Form the moments of columns and predictions from all rows."""
    assert table.rows is not None  # the source is open
    K, F = table.folds.shape
    b, kinds, p = table.basis, len(learned.found), len(table.basis.center)
    center = np.append(b.center, np.full(kinds, b.target_center))
    scale = np.append(b.scale, np.full(kinds, b.target_scale))
    matrix = None
    if b.matrix is not None:
        matrix = np.eye(p + kinds)
        matrix[:p, :p] = b.matrix
    first = replace(b, center=center, scale=scale, matrix=matrix)
    q = p + kinds + 1
    sums = [np.zeros((K * F, *shape)) for shape in ((q, q), (q,), (), (), ())]
    low, high = np.full(kinds, np.inf), np.full(kinds, -np.inf)
    for cells, m, least, most in table.rows.each(Summing(learned, first, F)):
        for total, part in zip(sums, (m.G, m.h, m.q, m.n, m.w)):
            total[cells] += part
        low, high = np.minimum(low, least), np.maximum(high, most)
    G, h, yy, n, w = (total.reshape(K, F, *total.shape[1:]) for total in sums)
    found = Moments(G, h, yy, n, w)
    return _scaled(first, found, (low, high), p)


def _scaled(basis: Basis, folds: Moments, ends: tuple[FloatArray, FloatArray], p: int) -> Wide:
    """Return the moments with predictions centred and scaled as columns of a table are."""
    total = folds.G.sum(axis=(0, 1)) / folds.w.sum()
    own = np.arange(p, len(basis.center))
    mean, square = total[0, own + 1], total[own + 1, own + 1]
    unit = basis.target_scale
    center = basis.target_center + mean * unit
    spread = np.sqrt(np.maximum(square - mean**2, 0.0)) * unit
    scale = np.maximum(spread, np.maximum(ends[1] - center, center - ends[0]) / FARTHEST)
    scale = np.where(scale > 0, scale, 1.0)
    A = np.eye(folds.p)  # from the first coordinates to the others
    A[own + 1, own + 1] = unit / scale
    A[own + 1, 0] = -mean * unit / scale
    G: Any = A @ folds.G @ A.T
    moments = Moments(G, folds.h @ A.T, folds.q, folds.n, folds.w)
    new = replace(
        basis, center=np.append(basis.center[:p], center), scale=np.append(basis.scale[:p], scale)
    )
    return Wide(new, moments, ends, p)
