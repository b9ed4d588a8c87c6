"""What strategies are fitted to: moments of datasets and folds, and the loss of coefficients.

Enters: moments by dataset and fold. Leaves: an object with `moments`, `folds`, `near` and `loss`,
through which strategies see squared errors (`LeastSquares`) and likelihoods
(`models.likelihood.Likelihood`) alike.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np

from conjoin._typing import FloatArray
from conjoin.moments import Moments

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
