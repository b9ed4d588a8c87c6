"""Least squares from moments, with the Moore-Penrose estimator where columns are dependent.

==========  ============================================================  ============
symbol      meaning                                                       shape
==========  ============================================================  ============
beta        G^+ h                                                         (..., p)
rss         residual sum of squares, q - 2 beta'h + beta'G beta           (...,)
r           rank of G, the degrees of freedom the fit uses                (...,)
W           second moment of the rows on which an error is wanted         (..., p, p)
==========  ============================================================  ============
"""

from dataclasses import dataclass

import numpy as np

from conjoin import linalg
from conjoin._typing import FloatArray, IntArray
from conjoin.moments import Moments


@dataclass(frozen=True, eq=False)
class OlsFit:
    """A stack of least-squares fits."""

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


def moore_penrose_error(
    beta: FloatArray, sigma2: float, W: FloatArray, G: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return variance and bias of the Moore-Penrose estimator's error, given the designs.

    The out-of-sample error of the paper's overparametrised section is
    `sigma2 + E[variance] + E[bias]`, with

        variance = sigma2 tr(W G^+),   bias = beta' (I - G G^+) W (I - G^+ G) beta,

    the second term being what is missed of `beta` in directions without rows; it is zero as soon
    as G is invertible. `G` is a stack (..., p, p) of Gram matrices of possible designs.
    """
    pseudo = linalg.inverse(G)
    missed = beta - linalg.matvec(pseudo, linalg.matvec(G, np.broadcast_to(beta, G.shape[:-1])))
    return sigma2 * linalg.trace_product(W, pseudo), linalg.quadratic(missed, W)
