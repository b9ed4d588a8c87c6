"""One side of a comparison: a dataset or a cluster, reduced to what the verdict reads.

Moments of datasets enter; a `Side` leaves: Gram matrix, coefficients, noise variance and degrees of
freedom, with batch axes in front. `criterion.pair_tests` compares two of them.
"""

from dataclasses import dataclass

import numpy as np

from conjoin import linalg
from conjoin._typing import FloatArray
from conjoin.moments import Moments

# Residuals below this share of the target's squares are rounding, not noise. Sums of squares are
# exact to about 1e-16 each; a thousand times that leaves room for the sums behind a fit. Without
# the bound, data without noise would have a test statistic of 0/0.
ROUNDING = 1e-13
# Smallest residual sum of squares where the target is zero in every row, as a multiple of the
# smallest normal float: large enough for products and quotients of two of them not to vanish.
LEAST_RSS = 1e20 * float(np.finfo(float).tiny)


@dataclass(frozen=True, eq=False)
class Side:
    """One side of a comparison; leading axes are batch axes.

    Parameters
    ----------
    G, inverse : arrays (..., p, p)
        Gram matrix and its inverse (Moore-Penrose where columns are dependent).
    beta : array (..., p)
        Least-squares coefficients.
    rank, n : arrays (...,)
        Rank of G and number of rows.
    A : array (..., p, p)
        Sum of weight_k W_k: b'Ab is the side's weighted in-sample error.
    s2, nu : arrays (...,)
        Residual variance and its degrees of freedom.
    """

    G: FloatArray
    inverse: FloatArray
    beta: FloatArray
    rank: FloatArray
    n: FloatArray
    A: FloatArray
    s2: FloatArray
    nu: FloatArray

    @classmethod
    def dataset(cls, moments: Moments, weight: float = 0.5) -> "Side":
        """Return single datasets (...,) as sides."""
        inverse, rank = linalg.inverse_and_rank(moments.G)
        beta = linalg.matvec(inverse, moments.h)
        nu = moments.n - rank
        s2 = residual_variance(moments.sse(beta), moments.q, nu)
        A = weight * moments.W
        return cls(moments.G, inverse, beta, rank.astype(float), moments.n, A, s2, nu)

    def grown(self, factor: FloatArray) -> "Side":
        """Return the side with `factor` (F,) times the rows, coefficients and noise as observed."""
        by = factor[:, None, None]
        n = factor * self.n
        nu = self.nu + n - self.n
        beta, A = (np.broadcast_to(x, factor.shape + x.shape) for x in (self.beta, self.A))
        rank, s2 = np.full_like(n, self.rank), np.full_like(n, self.s2)
        return Side(self.G * by, self.inverse / by, beta, rank, n, A, s2, nu)


def residual_variance(rss: FloatArray, q: FloatArray, nu: FloatArray) -> FloatArray:
    """Return rss / nu, at least the size of rounding errors; one where there is no residual.

    `q` is the sum of squares of the target. All arrays are (...,).
    """
    least = np.maximum(ROUNDING * q, LEAST_RSS)
    noise: FloatArray = np.where(nu > 0, np.maximum(rss, least) / np.where(nu > 0, nu, 1.0), 1.0)
    return noise
