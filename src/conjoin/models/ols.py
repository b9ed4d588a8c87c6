"""Least squares from moments, with the Moore-Penrose estimator where columns are dependent.

Enters: a stack of moments. Leaves: coefficients, residual sums of squares and ranks (`OlsFit`).

==========  ============================================================  ============
symbol      meaning                                                       shape
==========  ============================================================  ============
beta        G^+ h                                                         (..., p)
rss         residual sum of squares, q - 2 beta'h + beta'G beta           (...,)
r           rank of G, the degrees of freedom the fit uses                (...,)
==========  ============================================================  ============
"""

from dataclasses import dataclass

import numpy as np

from conjoin import linalg
from conjoin._typing import FloatArray, IntArray
from conjoin.moments import Moments


@dataclass(frozen=True, eq=False)
class OlsFit:
    """A stack of least-squares fits; `n` is the number of rows, other names as in the table."""

    beta: FloatArray
    rss: FloatArray
    rank: IntArray
    n: FloatArray

    @property
    def noise(self) -> FloatArray:
        """Unbiased noise variance rss / (n - rank); nan without degrees of freedom."""
        df = self.n - self.rank
        return np.where(df > 0, self.rss / np.where(df > 0, df, 1.0), np.nan)


def fit_ols(moments: Moments) -> OlsFit:
    """Fit least squares to each set of moments of the stack."""
    inverse, rank = linalg.inverse_and_rank(moments.G)
    beta = linalg.matvec(inverse, moments.h)
    return OlsFit(beta, moments.sse(beta), rank, moments.n)
