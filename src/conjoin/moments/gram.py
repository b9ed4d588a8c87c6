"""Moments of datasets, folds and resamples: all that least squares needs to know about rows.

Enters: rows, or products of their columns. Leaves: `Moments`, which add, subtract, select and give
the squared error of any coefficients.

==========  =====================================================  ============
symbol      meaning                                                shape
==========  =====================================================  ============
G           X' diag(w) X                                           (..., p, p)
h           X' diag(w) y                                           (..., p)
q           y' diag(w) y                                           (...,)
n           number of rows with positive weight                    (...,)
w           sum of weights; equal to n where rows are unweighted   (...,)
==========  =====================================================  ============

The moments of a union are the sums of the parts' moments, so joining is addition. The noise of a
row of weight w has variance sigma^2 / w. Errors are averaged with the weights; degrees of freedom
count rows.

Near given coefficients, a generalised linear model has moments of the same form, with Fisher's
information as G (`models.likelihood`). A model for several classes has several linear predictors.
Its coordinates follow the columns of the design: first the first column for every predictor, then
the second.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from conjoin._typing import AnyArray, FloatArray, IntArray
from conjoin.linalg import dot, matvec, sum_by

# `gram_by_dataset` pads datasets to one size if that makes at most this many times the rows, and if
# there are at least so many datasets. More padding costs more than a product for each dataset, and
# for few datasets a loop is as fast.
MOST_PADDING = 3
FEWEST_PADDED = 64
FIELDS = ("G", "h", "q", "n", "w")


@dataclass(frozen=True, eq=False)
class Moments:
    """A stack of second moments; leading axes are batch axes (datasets, folds, resamples).

    Parameters
    ----------
    G, h, q, n, w : arrays
        See the module's table. They cannot be written to.
    outputs : int
        Number of linear predictors of a row, and so of intercepts.
    unit_noise : bool
        Whether the noise variance is known to be one.

    Examples
    --------
    >>> X, y = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([1.0, 3.0, 5.0])
    >>> one, two = Moments.from_rows(X, y), Moments.from_rows(X[:2], y[:2])
    >>> float((one + two).n), float(one.sse(np.array([1.0, 2.0])))
    (5.0, 0.0)
    """

    G: FloatArray
    h: FloatArray
    q: FloatArray
    n: FloatArray
    w: FloatArray
    outputs: int = 1
    unit_noise: bool = False

    def __post_init__(self) -> None:
        for name in FIELDS:
            array = np.asarray(getattr(self, name), dtype=np.float64).view()
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @classmethod
    def from_rows(
        cls, X: FloatArray, y: FloatArray, weights: FloatArray | None = None
    ) -> "Moments":
        """Return the moments of rows X (..., n, p), y (..., n); batch axes in front."""
        if weights is None:
            n = np.full(y.shape[:-1], float(y.shape[-1]))
            return cls._from_augmented(np.concatenate([X, y[..., None]], axis=-1), n, n)
        root = np.sqrt(weights)[..., None]
        A = np.concatenate([X, y[..., None]], axis=-1) * root
        return cls._from_augmented(A, np.sum(weights > 0, axis=-1), np.sum(weights, axis=-1))

    @classmethod
    def _from_augmented(cls, A: FloatArray, n: FloatArray, w: FloatArray) -> "Moments":
        """Return moments from rows [X, y] already multiplied by the root of their weight."""
        return cls.from_products(np.matmul(np.swapaxes(A, -1, -2), A), n, w)

    @classmethod
    def from_products(cls, P: FloatArray, n: AnyArray, w: AnyArray) -> "Moments":
        """Return moments from P = [X, y]' diag(w) [X, y], shape (..., p+1, p+1)."""
        return cls(G=P[..., :-1, :-1], h=P[..., :-1, -1], q=P[..., -1, -1], n=n, w=w)

    @classmethod
    def stack(cls, parts: Iterable["Moments"]) -> "Moments":
        """Put moments of equal shape on a new leading axis."""
        return _gather(parts, np.stack)

    @classmethod
    def concatenate(cls, parts: Iterable["Moments"]) -> "Moments":
        """Put stacks one after the other along their first axis."""
        return _gather(parts, np.concatenate)

    @classmethod
    def filled(cls, length: int, parts: Iterable["Moments"]) -> "Moments":
        """Do the same for stacks of `length` in all, of which one is there at a time."""
        whole: dict[str, AnyArray] = {}
        first = 0
        for part in parts:
            last = first + len(part.q)
            for name in FIELDS:
                own = getattr(part, name)
                if not first:
                    whole[name] = np.empty((length, *own.shape[1:]), own.dtype)
                whole[name][first:last] = own
            first = last
        assert first == length  # of numbers: moments of a likelihood are not formed in parts
        return cls(whole["G"], whole["h"], whole["q"], whole["n"], whole["w"])

    @classmethod
    def by_dataset(
        cls, X: FloatArray, y: FloatArray, starts: IntArray, weights: FloatArray | None = None
    ) -> "Moments":
        """Return moments (K,) of rows sorted by dataset; dataset k is starts[k]:starts[k+1]."""
        w = np.ones(len(y)) if weights is None else weights
        A = np.concatenate([X, y[:, None]], axis=1) * np.sqrt(w)[:, None]
        sizes = np.diff(starts)
        dataset = np.repeat(np.arange(len(sizes)), sizes)
        n = np.bincount(dataset, w > 0, minlength=len(sizes))
        total = np.bincount(dataset, w, minlength=len(sizes))
        return cls.from_products(gram_by_dataset(A, starts, dataset), n, total)

    @property
    def p(self) -> int:
        """Number of columns of the design."""
        return int(self.G.shape[-1])

    @property
    def shape(self) -> tuple[int, ...]:
        """The batch axes."""
        return tuple(self.q.shape)

    @property
    def W(self) -> FloatArray:
        """Second moment matrix of the rows, G / w."""
        return self.G / self.w[..., None, None]

    def __getitem__(self, index: Any) -> "Moments":
        """Select along the batch axes."""
        return self.each(lambda array: array[index])

    def __add__(self, other: "Moments") -> "Moments":
        """Return the moments of the union."""
        return _gather((self, other), lambda pair: pair[0] + pair[1])

    def __sub__(self, other: "Moments") -> "Moments":
        """Return the moments of what remains when the rows of `other` are taken out."""
        return _gather((self, other), lambda pair: pair[0] - pair[1])

    def union(self, axis: int = 0) -> "Moments":
        """Return the moments of the union over one batch axis (counted from the front)."""
        return self.each(lambda array: array.sum(axis=axis))

    def each(self, change: Callable[[FloatArray], FloatArray]) -> "Moments":
        """Return moments with every array changed alike along the batch axes."""
        arrays = {f: change(getattr(self, f)) for f in FIELDS}
        return Moments(**arrays, outputs=self.outputs, unit_noise=self.unit_noise)

    def sum_by(self, labels: IntArray) -> "Moments":
        """Return the moments (C,) of clusters of datasets (K,), by the label of each."""
        count = int(labels.max()) + 1
        return self.each(lambda array: sum_by(array, labels, count))

    def sse(self, beta: FloatArray) -> FloatArray:
        """Return the weighted squared errors of `beta` (..., p) on these rows, summed."""
        total: FloatArray = np.maximum(self.q + dot(beta, matvec(self.G, beta) - 2 * self.h), 0.0)
        return total

    def mse(self, beta: FloatArray) -> FloatArray:
        """Return the weighted mean squared error of `beta` (..., p) on these rows."""
        return self.sse(beta) / self.w


def _gather(parts: Iterable[Moments], join: Callable[[list[FloatArray]], FloatArray]) -> Moments:
    """Return one stack made of several, array by array."""
    items = list(parts)
    arrays = {f: join([getattr(item, f) for item in items]) for f in FIELDS}
    return Moments(**arrays, outputs=items[0].outputs, unit_noise=items[0].unit_noise)


def gram_by_dataset(A: FloatArray, starts: IntArray, dataset: IntArray) -> FloatArray:
    """Return A'A of each block of rows, (K, columns, columns)."""
    sizes = np.diff(starts)
    K, columns = len(sizes), A.shape[1]
    most = int(sizes.max(initial=0))
    if K < FEWEST_PADDED or K * most > MOST_PADDING * len(A):
        return np.stack([A[i:j].T @ A[i:j] for i, j in zip(starts[:-1], starts[1:])])
    # Many small blocks of similar size: one batched product of blocks padded with zeros.
    padded = np.zeros((K, most, columns))
    padded[dataset, np.arange(len(A)) - starts[dataset]] = A
    return np.matmul(np.swapaxes(padded, 1, 2), padded)
