"""Sums of products of a dataset's folds, from one pass over its rows.

Rows with their folds enter; `FoldSums` leave. Disclosure rules look at them (`sites.check`), and
the file of the site holds them (`sites.export`), so that rows are read once for both.

Sums are formed around the mean of the first rows. It is at most sqrt(n / BLOCK) standard deviations
away from the mean of all n rows, since those rows count in both. So a million rows lose two digits
of sixteen at most when sums are moved to the mean.
"""

from dataclasses import dataclass, replace

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.moments import change
from conjoin.sites.alone import Sums

# Rows that are worked on at a time: a few megabytes, which stay in the cache.
BLOCK = 16_384
# Share of a sum of squares that must be left around the mean of a fold: two digits are lost below.
LEAST_LEFT = 1e-2
# A spread below this share of the mean is rounding: the column has one value.
CONSTANT = 1e-12


@dataclass(frozen=True, eq=False)
class FoldSums:
    """Sums of the folds (F,) of one dataset; columns are the features and, last, the target.

    Parameters
    ----------
    origin, unit : arrays (columns,)
        What was subtracted from the columns, and what they were divided by then.
    n : array (F,)
        Rows.
    products : array (F, columns + 1, columns + 1)
        Sums of products of [1, columns] in these coordinates.
    low, high : arrays (F, columns)
        Ends of the columns, which stay at the site; those of a fold without rows are infinite.

    Examples
    --------
    >>> X, y = np.array([[1.0], [2.0], [4.0]]), np.array([5.0, 5.0, 8.0])
    >>> sums = FoldSums.of(X, y, np.array([0, 1, 0]), 2)
    >>> center, scale, products = sums.standardised()
    >>> sums.n.tolist(), center.round(6).tolist(), products.sum(axis=0)[1, 1:].round(6).tolist()
    ([2, 1], [2.333333, 6.0], [3.0, 2.834734])
    """

    origin: FloatArray
    unit: FloatArray
    n: IntArray
    products: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, X: FloatArray, y: FloatArray, fold: IntArray, folds: int) -> "FoldSums":
        """Sum up rows (n, features) and targets (n,) by their fold (n,)."""
        size = X.shape[1] + 1
        first = np.column_stack([X[:BLOCK], y[:BLOCK]])
        origin = first.mean(axis=0) if len(y) else np.zeros(size)
        unit = first.std(axis=0) if len(y) else np.ones(size)
        # A power of two, so that dividing by it rounds nothing.
        unit = 2.0 ** np.round(np.log2(np.where(unit > CONSTANT * np.abs(origin), unit, 1.0)))
        products = np.zeros((folds, size + 1, size + 1))
        low, high = np.full((folds, size), np.inf), np.full((folds, size), -np.inf)
        # Two bytes are sorted without comparisons.
        kind = np.int16 if folds < 2**15 else np.int64
        Z = np.ones((size + 1, BLOCK))  # a column of the table is a row of it, which is quicker
        for begin in range(0, len(y), BLOCK):
            rows = slice(begin, begin + BLOCK)
            place = fold[rows].astype(kind)
            order = np.argsort(place, kind="stable")
            ends = np.searchsorted(place[order], np.arange(folds + 1))
            part = Z[:, : len(order)]
            part[1:-1], part[-1] = np.take(X[rows], order, axis=0).T, y[rows][order]
            values = part[1:]
            for f in np.flatnonzero(np.diff(ends)):
                own = values[:, ends[f] : ends[f + 1]]
                low[f] = np.minimum(low[f], own.min(axis=1))
                high[f] = np.maximum(high[f], own.max(axis=1))
            values -= origin[:, None]
            values *= 1 / unit[:, None]
            for f in np.flatnonzero(np.diff(ends)):
                both = part[:, ends[f] : ends[f + 1]]
                products[f] += both @ both.T
        return cls(origin, unit, np.bincount(fold, minlength=folds), products, low, high)

    def joined(self, number: int) -> "FoldSums":
        """Return the sums of fewer folds: fold f becomes fold f modulo `number`."""
        own = [np.arange(f, len(self.n), number) for f in range(number)]
        return replace(
            self,
            n=np.array([self.n[i].sum() for i in own]),
            products=np.stack([self.products[i].sum(axis=0) for i in own]),
            low=np.stack([self.low[i].min(axis=0) for i in own]),
            high=np.stack([self.high[i].max(axis=0) for i in own]),
        )

    def around_means(self, fold: int = 0) -> Sums | None:
        """Return the sums of a fold around its means; None if too many digits are lost."""
        n, P = int(self.n[fold]), self.products[fold]
        low, high = self.low[fold], self.high[fold]
        mean = P[0, 1:] / n
        S = P[1:, 1:] - n * np.outer(mean, mean)
        one_value = low == high
        S[one_value] = S[:, one_value] = 0.0
        if np.any(~one_value & (np.diagonal(S) < LEAST_LEFT * np.diagonal(P)[1:])):
            return None
        center = self.origin + mean * self.unit
        far = np.maximum(high - center, center - low)
        return Sums(n, float(n), 1.0, center, S * np.outer(self.unit, self.unit), low, high, far)

    def standardised(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return means and standard deviations of all rows, and products (F, ...) in them."""
        total, n = self.products.sum(axis=0), int(self.n.sum())
        mean = total[0, 1:] / n
        center = self.origin + mean * self.unit
        spread = self.unit * np.sqrt(np.maximum(np.diagonal(total)[1:] / n - mean**2, 0.0))
        scale = np.where(spread > CONSTANT * np.maximum(np.abs(center), 1e-300), spread, 1.0)
        T = change(self.origin, self.unit, center, scale)
        return center, scale, T.T @ self.products @ T
