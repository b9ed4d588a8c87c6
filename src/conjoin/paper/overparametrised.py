"""Error of the Moore-Penrose estimator, which the paper uses for fewer rows than columns.

True coefficients, the noise variance and possible designs enter; variance and bias leave.

==========  ============================================================  ============
symbol      meaning                                                       shape
==========  ============================================================  ============
beta        true coefficients                                             (p,)
sigma2      noise variance                                                scalar
W           second moment E[x x'] of an unseen row                        (p, p)
G           Gram matrices X'X of possible designs                         (..., p, p)
G^+         Moore-Penrose inverse of G                                    (..., p, p)
==========  ============================================================  ============
"""

import numpy as np

from conjoin import linalg
from conjoin._typing import FloatArray


def moore_penrose_error(
    beta: FloatArray, sigma2: float, W: FloatArray, G: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return variance and bias of the Moore-Penrose estimator for each given design.

    The out-of-sample error of the paper's section "Overparametrized Regime" is
    `sigma2 + E[variance] + E[bias]`, with

        variance = sigma2 tr(W G^+),   bias = beta' (I - G G^+) W (I - G^+ G) beta.

    The bias is the part of `beta` in directions without rows. It is zero if G is invertible.

    Parameters
    ----------
    beta : array, shape (p,)
        True coefficients.
    sigma2 : float
        Noise variance.
    W : array, shape (p, p)
        Second moment of an unseen row.
    G : array, shape (..., p, p)
        Gram matrices of possible designs; their mean error estimates the expectation.

    Returns
    -------
    variance, bias : arrays, shape (...,)

    Examples
    --------
    One row in two dimensions: the second coefficient is never seen, and its square is the bias.

    >>> X = np.array([[2.0, 0.0]])
    >>> variance, bias = moore_penrose_error(np.array([1.0, 3.0]), 1.0, np.eye(2), X.T @ X)
    >>> float(variance), float(bias)
    (0.25, 9.0)
    """
    pseudo = linalg.inverse(G)
    missed = beta - linalg.matvec(pseudo, linalg.matvec(G, np.broadcast_to(beta, G.shape[:-1])))
    return sigma2 * linalg.trace_product(W, pseudo), linalg.quadratic(missed, W)
