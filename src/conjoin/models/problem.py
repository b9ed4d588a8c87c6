"""What strategies are fitted to: moments of datasets and folds, and the loss of coefficients.

Enters: moments by dataset and fold. Leaves: an object with `moments`, `folds`, `near` and `loss`,
through which strategies see squared errors (`LeastSquares`, and `RowLeastSquares` where datasets
have fewer rows than columns) and likelihoods (`models.likelihood.Likelihood`) alike.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np

from conjoin._typing import FloatArray
from conjoin.moments import Moments, RowFolds, RowMoments

# Mean square change of eta, with rows counted by their curvature, up to which moments are kept. It
# is a change of 0.03 in the log-odds: far below the standard error of any fit to real data, while
# each smaller value costs another pass over all rows.
CLOSE = 1e-3


class Problem(Protocol):
    """Datasets (K,) with folds (K, F), to which coefficients are fitted.

    `exact` says whether the moments describe the loss at all coefficients, not only nearby.
    """

    exact: ClassVar[bool]

    @property
    def moments(self) -> Moments:
        """Moments of all rows of each dataset (K,)."""

    @property
    def folds(self) -> Moments:
        """Moments of each fold (K, F)."""

    def outside(self, f: int) -> Moments:
        """Return the moments (K,) of all rows that a fit outside fold f may see."""

    def near(self, beta: FloatArray, close: float = CLOSE) -> "Problem":
        """Return the problem with moments formed near coefficients (K, P).

        It returns itself if its moments are near already: if eta would change by at most `close` in
        the mean square.
        """

    def loss(self, beta: FloatArray) -> FloatArray:
        """Return the loss (F, K) of coefficients (F, K, P), summed over the rows of each fold."""


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Squared errors; moments (K, F) describe them exactly at all coefficients.

    Parameters
    ----------
    folds : Moments (K, F)
        Moments of each fold of each dataset.
    others : Moments (K, F), optional
        Moments of the rows outside each fold, where they are not the sum of the other folds: a
        column of predictions is made anew from those rows alone (`learners.crossfit`).
    """

    exact: ClassVar[bool] = True
    folds: Moments
    others: Moments | None = None

    @cached_property
    def moments(self) -> Moments:
        """Moments of all rows of each dataset (K,)."""
        return self.folds.union(1)

    @cached_property
    def _by_fold(self) -> Moments:
        """The moments of folds with the axes swapped, (F, K)."""
        return self.folds.each(lambda array: np.swapaxes(array, 0, 1))

    def outside(self, f: int) -> Moments:
        """Return the moments (K,) of all rows that a fit outside fold f may see."""
        return self.moments - self.folds[:, f] if self.others is None else self.others[:, f]

    def near(self, beta: FloatArray, close: float = CLOSE) -> "LeastSquares":
        """Return the problem itself."""
        return self

    def loss(self, beta: FloatArray) -> FloatArray:
        """Return squared errors (F, K) of coefficients (F, K, p)."""
        return self._by_fold.sse(beta)


@dataclass(frozen=True, eq=False)
class RowLeastSquares:
    """Squared errors of datasets with fewer rows than columns: rows stand for moments.

    Parameters
    ----------
    folds : RowFolds (K, F)
        The rows, with their dataset and fold.
    replaced : tuple of arrays (N, columns), optional
        For each fold, what the last columns of the design hold in fits outside it: predictions that
        were made anew from the rows outside (`learners.crossfit`).
    """

    exact: ClassVar[bool] = True
    folds: RowFolds
    replaced: tuple[FloatArray, ...] = ()

    @cached_property
    def moments(self) -> RowMoments:
        """Moments of all rows of each dataset (K,)."""
        return self.folds.take(np.ones(len(self.folds.t), dtype=bool))

    def outside(self, f: int) -> RowMoments:
        """Return the moments (K,) of all rows that a fit outside fold f may see."""
        rows, Z = self.folds, None
        if self.replaced:
            new = self.replaced[f]
            Z = np.concatenate([rows.Z[:, : rows.p - new.shape[1]], new], axis=1)
        return rows.take(rows.fold != f, Z)

    def near(self, beta: FloatArray, close: float = CLOSE) -> "RowLeastSquares":
        """Return the problem itself."""
        return self

    def loss(self, beta: FloatArray) -> FloatArray:
        """Return squared errors (F, K) of coefficients (F, K, p)."""
        return self.losses_of(np.stack([self.lines(one) for one in beta]))

    def lines(self, beta: FloatArray) -> FloatArray:
        """Return what coefficients (K, p) predict for every row (N,)."""
        found: FloatArray = np.einsum("ij,ij->i", self.folds.Z, beta[self.folds.dataset])
        return found

    def losses_of(self, lines: FloatArray) -> FloatArray:
        """Return squared errors (F, K) on held-out rows, from what fits outside folds predict.

        `lines` (F, N) are predictions of every row by the fit outside each fold.
        """
        rows, (K, F) = self.folds, self.folds.shape
        held_out = lines[rows.fold, np.arange(len(rows.t))]
        each = rows.weights * (rows.t - held_out) ** 2
        cells = np.bincount(rows.fold * K + rows.dataset, each, minlength=F * K)
        return np.asarray(cells, dtype=np.float64).reshape(F, K)
