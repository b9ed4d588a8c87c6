"""Rows of many datasets as arrays that one batched product can go through.

Enters: rows sorted by dataset (`SortedRows`). Leaves: padded stacks of datasets of similar size
(`PaddedRows`), which give the loss, score and information of all their datasets at once. Padding
has weight zero.

==========  ====================================================================  ============
symbol      meaning                                                               shape
==========  ====================================================================  ============
X           design, padded with rows of weight zero                               (K, n, d)
y, w        target and row weights                                                (K, n)
B           coefficients of each linear predictor                                 (K, d, m)
b           B in one vector, m numbers for each column of X; P = d m              (K, P)
eta         X B; without its last axis where m = 1                                (K, n, m)
g, v        derivatives of the loss by eta, see `models.glm_families`             (K, n, m[, m])
s           -sum of w x g', the score                                             (K, P)
G           sum of w xx' (x) v, Fisher's information                              (K, P, P)
==========  ====================================================================  ============
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from conjoin import linalg
from conjoin._typing import FloatArray, IntArray
from conjoin.models.glm_families import GlmFamily, RowDerivatives

# Numbers in one padded stack (4 MB), and in one product of information matrices (1 MB). Both keep
# what is worked on in the processor's caches: much larger stacks wait for memory, much smaller
# ones spend their time in Python. The result does not depend on them beyond rounding.
BLOCK_VALUES = 500_000
CACHE_VALUES = 128_000


@dataclass(frozen=True, eq=False)
class SortedRows:
    """Rows of K datasets, one dataset after another; dataset k is starts[k]:starts[k+1].

    Parameters
    ----------
    X : array (N, d)
        Design, with its column of ones.
    y, w : arrays (N,)
        Target and row weights.
    starts : array (K + 1,)
    """

    X: FloatArray
    y: FloatArray
    w: FloatArray
    starts: IntArray

    @classmethod
    def one_dataset(cls, X: FloatArray, y: FloatArray, w: FloatArray) -> "SortedRows":
        """Return all rows as a single dataset."""
        return cls(X, y, w, np.array([0, len(y)]))

    def __len__(self) -> int:
        """Return the number of datasets."""
        return len(self.starts) - 1

    def places(self, datasets: Sequence[int]) -> IntArray:
        """Return the row numbers of some datasets."""
        return np.concatenate([np.arange(self.starts[k], self.starts[k + 1]) for k in datasets])

    def take(self, datasets: Sequence[int]) -> "SortedRows":
        """Return the rows of some datasets."""
        rows = self.places(datasets)
        sizes = np.diff(self.starts)[np.asarray(datasets, dtype=int)]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return SortedRows(self.X[rows], self.y[rows], self.w[rows], starts)


@dataclass(frozen=True, eq=False)
class PaddedRows:
    """Rows of datasets in one stack; see the module's table."""

    X: FloatArray
    y: FloatArray
    w: FloatArray

    @classmethod
    def of(cls, rows: SortedRows, index: IntArray | None = None) -> "PaddedRows":
        """Stack the rows of the datasets numbered in `index` (K,), by default of all."""
        starts = np.asarray(rows.starts)
        index = np.arange(len(starts) - 1) if index is None else np.asarray(index)
        first, last = starts[index], starts[index + 1]
        K, longest = len(first), int((last - first).max(initial=1))
        arrays = (rows.X, rows.y, rows.w)
        if np.all(last - first == longest) and np.all(first[1:] == last[:-1]):  # nothing to pad
            own = slice(int(first[0]), int(last[-1]))
            return cls(*(np.reshape(x[own], (K, longest, *x.shape[1:])) for x in arrays))
        padded = cls(*(np.zeros((K, longest, *x.shape[1:])) for x in arrays))
        for k, (i, j) in enumerate(zip(first.tolist(), last.tolist())):
            padded.X[k, : j - i], padded.y[k, : j - i] = rows.X[i:j], rows.y[i:j]
            padded.w[k, : j - i] = rows.w[i:j]
        return padded

    def eta(self, b: FloatArray, family: GlmFamily) -> FloatArray:
        """Return the linear predictors (K, n), or (K, n, m) for m > 1, at coefficients (K, P)."""
        B = b.reshape(len(b), self.X.shape[2], family.m)
        eta: FloatArray = np.matmul(self.X, B)
        return eta[..., 0] if family.m == 1 else eta

    def loss(self, b: FloatArray, family: GlmFamily) -> FloatArray:
        """Return the weighted loss of coefficients (K, P) on the rows of each dataset (K,)."""
        return linalg.dot(self.w, family.loss(self.y, self.eta(b, family)))

    def derivatives(self, b: FloatArray, family: GlmFamily) -> RowDerivatives:
        """Return the derivatives at every row at coefficients (K, P)."""
        return family.derivatives(self.y, self.eta(b, family))

    def information(self, at: RowDerivatives) -> FloatArray:
        """Return G (K, P, P)."""
        K, n, d = self.X.shape
        m = 1 if at.gradient.ndim == 2 else at.gradient.shape[2]
        G = np.empty((K, d * m, d * m))
        length = max(CACHE_VALUES // (n * d * (m * (m + 1) // 2)), 1)
        for part in (slice(i, i + length) for i in range(0, K, length)):
            X, w, v = self.X[part], self.w[part], at.curvature[part]
            G[part] = _gram(X, w * v) if m == 1 else _block_gram(X, w, v)
        return G

    def score(self, at: RowDerivatives) -> FloatArray:
        """Return s (K, P)."""
        if at.gradient.ndim == 2:
            s: FloatArray = np.matmul((-self.w * at.gradient)[:, None], self.X)[:, 0]
            return s
        residual = -self.w[..., None] * at.gradient
        return np.matmul(np.swapaxes(self.X, 1, 2), residual).reshape(len(self.X), -1)

    def row_scores(self, at: RowDerivatives) -> FloatArray:
        """Return w x g' of every row (K, n, P): minus its share of the score."""
        m = 1 if at.gradient.ndim == 2 else at.gradient.shape[2]
        residual = self.w[..., None] * at.gradient.reshape(*self.w.shape, m)
        return (self.X[..., :, None] * residual[..., None, :]).reshape(*self.w.shape, -1)

    def take(self, index: IntArray) -> "PaddedRows":
        """Select datasets."""
        return PaddedRows(self.X[index], self.y[index], self.w[index])


def _gram(X: FloatArray, v: FloatArray) -> FloatArray:
    """Return the sum of v xx' (K, d, d) for v (K, n)."""
    half = X * np.sqrt(v)[..., None]
    return np.matmul(np.swapaxes(half, 1, 2), half)  # a symmetric product: half the work


def _block_gram(X: FloatArray, w: FloatArray, v: FloatArray) -> FloatArray:
    """Return the sum of w xx' (x) v (K, dm, dm) for v (K, n, m, m)."""
    (K, _, d), m = X.shape, v.shape[-1]
    i, j = np.tril_indices(m)
    pairs = w * np.moveaxis(v, (-2, -1), (0, 1))[i, j]
    transposed = np.ascontiguousarray(np.swapaxes(X, 1, 2))  # products along rows are fast
    halves = np.matmul(pairs[:, :, None] * transposed, X)
    G = np.empty((K, d, m, d, m))
    G[:, :, i, :, j] = G[:, :, j, :, i] = halves
    return G.reshape(K, d * m, d * m)


def padded_blocks(rows: SortedRows) -> Iterator[tuple[IntArray, PaddedRows]]:
    """Cut rows sorted by dataset into padded stacks of datasets of similar size.

    Gives the datasets' numbers and their rows. In a stack no dataset is twice as long as another,
    so less than half of it is padding however unequal the sizes are.
    """
    sizes = np.diff(rows.starts)
    order = np.argsort(sizes, kind="stable")
    ranked = sizes[order]
    first = 0
    while first < len(order):
        longest = 2 * max(int(ranked[first]), 1) - 1
        last = int(np.searchsorted(ranked, longest, side="right"))
        room = max(BLOCK_VALUES // (int(ranked[last - 1]) * rows.X.shape[1] + 1), 1)
        last = first + -(-(last - first) // -(-(last - first) // room))  # blocks of equal length
        yield order[first:last], PaddedRows.of(rows, order[first:last])
        first = last
