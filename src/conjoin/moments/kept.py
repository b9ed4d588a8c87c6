"""Moments that are kept, so that rows can be added to them later.

Enters: rows of datasets with the fold of each, or kept moments and further ones. Leaves:
`KeptMoments`, which turn into `Moments` in the coordinates of any `Basis`.

Sums of each dataset are around its own centre c, in its own scale s, so that no digits are lost.
They become sums around another centre C and scale S by P' = T'P T, where T is triangular:
(x - C) / S = (s / S) (x - c) / s + (c - C) / S.

==========  ===================================================================  ================
symbol      meaning                                                              shape
==========  ===================================================================  ================
c           number of columns: the features and, last, the target
P           sums of w a a' over the rows of a dataset and fold, with the row     (K, F, c+1, c+1)
            a = [1, features, target] in the coordinates of the dataset
n           rows                                                                 (K, F)
low, high   ends of every column                                                 (c,)
==========  ===================================================================  ================
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.moments.basis import Basis
from conjoin.moments.folds import fold_moments
from conjoin.moments.gram import Moments

# A spread below this share of the mean is rounding: the column has one value in the dataset.
ROUNDING = 1e-12
SMALLEST = 1e-300  # a mean below it has no digits to compare a spread with


@dataclass(frozen=True)
class Batch:
    """Rows that were added together: how many of each dataset, and the sum of their hashes.

    The same rows have the same sums, so that adding them twice is noticed.
    """

    rows: dict[str, int]
    sums: dict[str, int]

    def shared(self, other: "Batch") -> list[str]:
        """Return the datasets whose rows in both batches are the same."""
        return [
            name
            for name, rows in self.rows.items()
            if other.rows.get(name) == rows and other.sums[name] == self.sums[name]
        ]


@dataclass(frozen=True, eq=False)
class KeptMoments:
    """Moments of datasets and folds that can be added to; symbols as in the module's table.

    Parameters
    ----------
    names : tuple of str
        Datasets.
    n : array (K, F)
    center, scale : arrays (K, c)
        Coordinates of each dataset.
    products : array (K, F, c + 1, c + 1)
    low, high : arrays (c,)
    batches : tuple of Batch
        What was added so far.
    starts : mapping of str to (array, array)
        Where searches for variances ended, and the curvature there (`models.optima`).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, y, fold = rng.normal(5, 2, (40, 1)), rng.normal(size=40), np.arange(40) % 2
    >>> one = KeptMoments.of_rows(["a"], X, y, np.ones(40), np.array([0, 40]), fold, 2)
    >>> half = [KeptMoments.of_rows(["a"], X[i], y[i], np.ones(20), np.array([0, 20]), fold[i], 2)
    ...         for i in (slice(20), slice(20, 40))]
    >>> both = half[0].adding(half[1], ["a"])
    >>> basis = one.basis(intercept=True)
    >>> bool(np.allclose(one.moments(basis).G, both.moments(basis).G))
    True
    """

    names: tuple[str, ...]
    n: FloatArray
    center: FloatArray
    scale: FloatArray
    products: FloatArray
    low: FloatArray
    high: FloatArray
    batches: tuple[Batch, ...] = ()
    starts: Mapping[str, tuple[FloatArray, FloatArray]] = field(default_factory=dict)

    @classmethod
    def of_rows(
        cls,
        names: Sequence[str],
        X: FloatArray,
        y: FloatArray,
        weights: FloatArray,
        starts: IntArray,
        fold: IntArray,
        folds: int,
    ) -> "KeptMoments":
        """Form the sums of rows sorted by dataset; dataset k is starts[k]:starts[k+1]."""
        table = np.column_stack([X, y])
        center, scale = _coordinates(table, weights, starts)
        dataset = np.repeat(np.arange(len(names)), np.diff(starts))
        Z = np.column_stack([np.ones(len(y)), (table - center[dataset]) / scale[dataset]])
        sums = fold_moments(Z, Z[:, -1], weights, starts, fold, folds)
        low, high = table.min(axis=0), table.max(axis=0)
        return cls(tuple(names), sums.n, center, scale, sums.G, low, high)

    @property
    def folds(self) -> int:
        """Number of folds."""
        return int(self.n.shape[1])

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rows of each dataset."""
        return tuple(int(n) for n in self.n.sum(axis=1))

    @property
    def weight(self) -> float:
        """Mean weight of the rows."""
        return float(self.products[..., 0, 0].sum() / self.n.sum())

    @cached_property
    def _summary(self) -> tuple[FloatArray, FloatArray]:
        """Means and mean squares around them of the columns (c,)."""
        w = self.products[..., 0, 0].sum(axis=1)
        first = w @ self.center / w.sum()
        sums = self._around(first, np.ones(len(first))).sum(axis=(0, 1))
        away = sums[0, 1:] / w.sum()
        return first + away, np.maximum(np.diagonal(sums)[1:] / w.sum() - away**2, 0.0)

    @property
    def mean(self) -> FloatArray:
        """Weighted means of the columns (c,)."""
        return self._summary[0]

    def _around(self, center: FloatArray, scale: FloatArray) -> FloatArray:
        """Return the sums (K, F, c + 1, c + 1) around a centre and in a scale, (c,) or (K, c)."""
        T = change(self.center, self.scale, center, scale)[:, None]
        found: FloatArray = np.swapaxes(T, -1, -2) @ self.products @ T
        return found

    def basis(self, *, intercept: bool) -> Basis:
        """Return common coordinates: means and standard deviations of all rows."""
        mean, squares = self._summary
        if not intercept:
            squares = squares + mean**2
        return Basis.from_summary(self.low, self.high, mean, np.sqrt(squares), intercept=intercept)

    def moments(self, basis: Basis) -> Moments:
        """Return the moments (K, F) in a basis; the mean weight of a row is 1."""
        center = np.append(basis.center, basis.target_center)
        P = self._around(center, np.append(basis.scale, basis.target_scale))
        if basis.matrix is not None:
            stretch = np.eye(P.shape[-1])
            stretch[1:-1, 1:-1] = basis.matrix
            P = stretch.T @ P @ stretch
        P = P / self.weight  # weights are relative, so their unit must not matter
        first = int(not basis.intercept)
        return Moments.from_products(P[..., first:, first:], self.n, P[..., 0, 0])

    def adding(self, other: "KeptMoments", order: Sequence[str]) -> "KeptMoments":
        """Return the moments of both; `order` has the names of all datasets, in their order."""
        K, c = len(order), len(self.low)
        position = {name: k for k, name in enumerate(order)}
        places = [np.array([position[name] for name in one.names]) for one in (self, other)]
        w, total = np.zeros(K), np.zeros((K, c))
        for one, at in zip((self, other), places):
            own = one.products[..., 0, 0].sum(axis=1)
            np.add.at(w, at, own)
            np.add.at(total, at, own[:, None] * one.center)
        center = total / w[:, None]
        squares, unit = np.zeros((K, c)), np.ones((K, c))
        for one, at in zip((self, other), places):
            around = one._around(center[at], unit[at]).sum(axis=1)
            np.add.at(squares, at, np.diagonal(around, axis1=1, axis2=2)[:, 1:])
        scale = _scale(np.sqrt(squares / w[:, None]), center)
        n, products = np.zeros((K, self.folds)), np.zeros((K, self.folds, c + 1, c + 1))
        for one, at in zip((self, other), places):
            np.add.at(n, at, one.n)
            np.add.at(products, at, one._around(center[at], scale[at]))
        return KeptMoments(
            tuple(order),
            n,
            center,
            scale,
            products,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            (*self.batches, *other.batches),
            self.starts,
        )

    def with_batch(self, batch: Batch) -> "KeptMoments":
        """Return the same moments, with a note of the rows that made them."""
        return replace(self, batches=(*self.batches, batch))

    def with_starts(self, starts: Mapping[str, tuple[FloatArray, FloatArray]]) -> "KeptMoments":
        """Return the same moments, with where later searches start."""
        return replace(self, starts=dict(starts))


def change(
    center: FloatArray, scale: FloatArray, new_center: FloatArray, new_scale: FloatArray
) -> FloatArray:
    """Return T (..., c + 1, c + 1) of the module's text, from own to other centre and scale."""
    size = center.shape[-1] + 1
    T = np.zeros((*center.shape[:-1], size, size))
    T[..., 0, 0] = 1.0
    inner = np.arange(1, size)
    T[..., inner, inner] = scale / new_scale
    T[..., 0, 1:] = (center - new_center) / new_scale
    return T


def _coordinates(
    table: FloatArray, weights: FloatArray, starts: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return means and standard deviations (K, c) of datasets, 1 where a column has one value."""
    sizes = np.diff(starts)
    dataset = np.repeat(np.arange(len(sizes)), sizes)
    w = np.add.reduceat(weights, starts[:-1])[:, None]

    def mean(values: FloatArray) -> FloatArray:
        return np.asarray(np.add.reduceat(values * weights[:, None], starts[:-1]) / w)

    center = mean(table)
    center += mean(table - center[dataset])  # once more, so that a large offset costs no digits
    return center, _scale(np.sqrt(mean((table - center[dataset]) ** 2)), center)


def _scale(spread: FloatArray, center: FloatArray) -> FloatArray:
    """Return spreads (K, c), 1 where they are rounding: where a column has one value."""
    least = ROUNDING * np.maximum(np.abs(center), SMALLEST)
    return np.where(spread > least, spread, 1.0)
