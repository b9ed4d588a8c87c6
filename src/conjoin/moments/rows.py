"""Moments that are not formed: rows stand for them, where they are fewer than columns.

Enters: rows sorted by dataset. Leaves: `RowMoments`, which take the place of `Moments`. A Gram
matrix (p, p) of a dataset of two rows holds nothing that the two rows do not hold, and p = 150
columns make it 75 times as large. Sums and squared errors come from the rows. The matrices of each
dataset are formed only if something asks for them.

==========  ====================================================================  ============
symbol      meaning                                                               shape
==========  ====================================================================  ============
A           rows [X, y], each times the root of its weight; a dataset with more   (N, p + 1)
            rows than p + 1 has the triangular factor of its rows instead
size        rows of A of each dataset                                             (K,)
==========  ====================================================================  ============

Datasets of one size are next to each other in A, so that a block of them is one stack of matrices.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.moments.folds import fold_moments
from conjoin.moments.gram import Moments, gram_by_dataset

# Numbers of one block of datasets (1.6 MB): what is worked on stays in the processor's caches.
BLOCK_VALUES = 200_000


@dataclass(frozen=True, eq=False)
class Block:
    """Datasets of one size: their numbers (B,), and their rows in A."""

    datasets: IntArray
    rows: slice
    size: int

    def stack(self, values: FloatArray) -> FloatArray:
        """Return what A or a column beside it has for these datasets, (B, size, ...)."""
        own = values[self.rows]
        return own.reshape(len(self.datasets), self.size, *own.shape[1:])


class RowMoments(Moments):
    """Moments of datasets (K,) whose matrices are formed only when asked for.

    Parameters
    ----------
    A : array (N, p + 1)
    blocks : tuple of Block
    n, w : arrays (K,)
        Rows and sums of weights, as in `Moments`.

    Examples
    --------
    >>> X, y = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([1.0, 3.0, 5.0])
    >>> found = RowMoments.by_dataset(X, y, np.array([0, 1, 3]))
    >>> found.h.tolist(), found.sse(np.array([[1.0, 2.0], [0.0, 2.0]])).tolist()
    ([[1.0, 0.0], [8.0, 13.0]], [0.0, 2.0])
    """

    A: FloatArray
    blocks: tuple[Block, ...]

    def __init__(
        self, A: FloatArray, blocks: tuple[Block, ...], n: FloatArray, w: FloatArray
    ) -> None:
        for name, value in (("A", A), ("blocks", blocks), ("n", n), ("w", w)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "outputs", 1)
        object.__setattr__(self, "unit_noise", False)

    @classmethod
    def by_dataset(
        cls, X: FloatArray, y: FloatArray, starts: IntArray, weights: FloatArray | None = None
    ) -> "RowMoments":
        """Return moments (K,) of rows sorted by dataset; dataset k is starts[k]:starts[k+1]."""
        w = np.ones(len(y)) if weights is None else weights
        A = np.concatenate([X, y[:, None]], axis=1)
        if not np.all(w == 1):
            A *= np.sqrt(w)[:, None]
        sizes = np.diff(starts)
        K, most = len(sizes), A.shape[1]
        dataset = np.repeat(np.arange(K), sizes)
        n = np.bincount(dataset, w > 0, minlength=K).astype(np.float64)
        total = np.bincount(dataset, w, minlength=K).astype(np.float64)
        parts = [A[starts[k] : starts[k + 1]] for k in np.flatnonzero(sizes > most)]
        kept = np.minimum(sizes, most)
        order = np.lexsort((sizes > most, kept))
        short = order[kept[order] == sizes[order]]
        places = _places(starts[short], sizes[short])
        factors = [np.linalg.qr(part, mode="r") for part in parts]
        blocks = _blocks(order, kept[order], most)
        if not np.array_equal(places, np.arange(len(A))):  # a copy of all rows takes its time
            A = A[places]
        return cls(np.concatenate([A, *factors]) if factors else A, blocks, n, total)

    @property
    def p(self) -> int:
        """Number of columns of the design."""
        return int(self.A.shape[1]) - 1

    @property
    def shape(self) -> tuple[int, ...]:
        """The batch axes."""
        return (len(self.n),)

    def take(self, kept: BoolArray) -> "RowMoments":
        """Return the moments of some datasets, by a mask (K,)."""
        number, parts, blocks, begin = np.cumsum(kept) - 1, [self.A[:0]], [], 0
        for block in self.blocks:
            own = kept[block.datasets]
            rows = block.stack(self.A)[own].reshape(-1, self.A.shape[1])
            if own.any():
                place = slice(begin, begin + len(rows))
                blocks.append(Block(number[block.datasets[own]], place, block.size))
                parts.append(rows)
                begin += len(rows)
        return RowMoments(np.concatenate(parts), tuple(blocks), self.n[kept], self.w[kept])

    def by_block(self) -> Iterator[tuple[IntArray, FloatArray]]:
        """Give datasets (B,) of one size, with their rows of A (B, size, p + 1)."""
        for block in self.blocks:
            yield block.datasets, block.stack(self.A)

    @cached_property
    def total(self) -> FloatArray:
        """A'A of all datasets together (p + 1, p + 1)."""
        products: FloatArray = self.A.T @ self.A
        return products

    @cached_property
    def _products(self) -> FloatArray:
        """A'A of each dataset (K, p + 1, p + 1): large, and hardly ever needed."""
        found = np.zeros((len(self.n), self.p + 1, self.p + 1))
        for datasets, A in self.by_block():
            found[datasets] = np.matmul(np.swapaxes(A, 1, 2), A)
        return found

    @property
    def G(self) -> FloatArray:
        """X' diag(w) X of each dataset."""
        return self._products[:, :-1, :-1]

    @cached_property
    def h(self) -> FloatArray:
        """X' diag(w) y of each dataset."""
        found = np.zeros((len(self.n), self.p))
        for datasets, A in self.by_block():
            found[datasets] = np.matmul(A[:, None, :, -1], A[:, :, :-1])[:, 0]
        return found

    @cached_property
    def q(self) -> FloatArray:
        """Sum of w y^2 of each dataset."""
        found = np.zeros(len(self.n))
        for datasets, A in self.by_block():
            found[datasets] = np.sum(A[..., -1] ** 2, axis=1)
        return found

    def union(self, axis: int = 0) -> Moments:
        """Return the moments of all datasets together."""
        assert axis == 0  # there is one batch axis
        return Moments.from_products(self.total, self.n.sum(), self.w.sum())

    def sum_by(self, labels: IntArray) -> Moments:
        """Return the moments (C,) of clusters of datasets (K,), by the label of each."""
        C = int(labels.max()) + 1
        row_label = np.concatenate([np.repeat(labels[b.datasets], b.size) for b in self.blocks])
        order = np.argsort(row_label, kind="stable")
        starts = np.searchsorted(row_label[order], np.arange(C + 1))
        P = gram_by_dataset(self.A[order], starts, row_label[order])
        n, w = (np.bincount(labels, values, minlength=C) for values in (self.n, self.w))
        return Moments.from_products(P, n, w)

    def sse(self, beta: FloatArray) -> FloatArray:
        """Return the weighted squared errors of coefficients (K, p) or (p,), summed."""
        each = np.broadcast_to(beta, (len(self.n), self.p))
        found = np.zeros(len(self.n))
        for datasets, A in self.by_block():
            line = np.matmul(A[..., :-1], each[datasets][..., None])[..., 0]
            found[datasets] = np.sum((A[..., -1] - line) ** 2, axis=1)
        return found


class RowFolds(Moments):
    """Moments of datasets and folds (K, F) whose matrices are formed only when asked for.

    Parameters
    ----------
    Z : array (N, p)
        Design, sorted by dataset.
    t, weights : arrays (N,)
        Target and row weights.
    starts : array (K + 1,)
    fold : array (N,)
        Fold of every row.
    folds : int
        Number of folds.
    """

    Z: FloatArray
    t: FloatArray
    weights: FloatArray
    starts: IntArray
    fold: IntArray

    def __init__(
        self,
        Z: FloatArray,
        t: FloatArray,
        weights: FloatArray,
        starts: IntArray,
        fold: IntArray,
        folds: int,
    ) -> None:
        K = len(starts) - 1
        names = ("Z", "t", "weights", "starts", "fold", "outputs", "unit_noise")
        for name, value in zip(names, (Z, t, weights, starts, fold, 1, False)):
            object.__setattr__(self, name, value)
        cell = np.repeat(np.arange(K), np.diff(starts)) * folds + fold
        sums = {"n": (weights > 0).astype(np.float64), "w": weights, "q": weights * t**2}
        for name, values in sums.items():
            total = np.bincount(cell, values, minlength=K * folds).reshape(K, folds)
            object.__setattr__(self, name, total)

    @property
    def p(self) -> int:
        """Number of columns of the design."""
        return int(self.Z.shape[1])

    @cached_property
    def _formed(self) -> Moments:
        F = int(self.n.shape[1])
        return fold_moments(self.Z, self.t, self.weights, self.starts, self.fold, F)

    @property
    def G(self) -> FloatArray:
        """X' diag(w) X of each dataset and fold."""
        return self._formed.G

    @property
    def h(self) -> FloatArray:
        """X' diag(w) y of each dataset and fold."""
        return self._formed.h

    @property
    def dataset(self) -> IntArray:
        """Dataset of every row (N,)."""
        return np.repeat(np.arange(len(self.n)), np.diff(self.starts))

    def take(self, kept: BoolArray, Z: FloatArray | None = None) -> RowMoments:
        """Return the moments (K,) of some rows, by a mask (N,), with another design if given."""
        starts = np.searchsorted(self.dataset[kept], np.arange(len(self.starts)))
        own = (self.Z if Z is None else Z)[kept]
        return RowMoments.by_dataset(own, self.t[kept], starts, self.weights[kept])


def _places(first: IntArray, sizes: IntArray) -> IntArray:
    """Return the numbers of the rows of datasets that begin at `first` and have `sizes` rows.

    >>> _places(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    before = np.cumsum(sizes) - sizes
    return np.repeat(first - before, sizes) + np.arange(int(sizes.sum()))


def _blocks(order: IntArray, sizes: IntArray, columns: int) -> tuple[Block, ...]:
    """Cut datasets in order, whose sizes ascend, into blocks of one size."""
    found, begin = [], 0
    for size in np.unique(sizes):
        own = order[sizes == size]
        most = max(BLOCK_VALUES // max(int(size) * columns, 1), 1)
        for i in range(0, len(own), most):
            datasets = own[i : i + most]
            end = begin + len(datasets) * int(size)
            found.append(Block(datasets, slice(begin, end), int(size)))
            begin = end
    return tuple(found)
