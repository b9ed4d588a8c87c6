"""The Moore-Penrose estimator, which the paper uses for fewer rows than columns, and its error.

Rows enter and coefficients leave; or true coefficients, the noise variance and possible designs
enter, and variance and bias leave. `Bound` and `Tuned` with `overparametrised=True` use the
estimator. Their A0 and B0 leave the bias out, because it depends on the true coefficients; `Oracle`
has it.

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
from conjoin.models.ols import fit_ols
from conjoin.moments import Moments


def moore_penrose(X: FloatArray, y: FloatArray) -> FloatArray:
    """Return the Moore-Penrose estimator (X'X)^+ X'y, the solution of smallest norm.

    Parameters
    ----------
    X : array, shape (..., n, p)
        Features as they are: the estimator is not invariant to centring or scaling.
    y : array, shape (..., n)

    Returns
    -------
    array, shape (..., p)

    Examples
    --------
    >>> moore_penrose(np.array([[2.0, 0.0]]), np.array([3.0])).tolist()
    [1.5, 0.0]
    """
    beta: FloatArray = fit_ols(Moments.from_rows(X, y)).beta
    return beta


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


def joint_moore_penrose_error(
    betas: FloatArray, sigma2: float, W: FloatArray, G: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return variance and bias of the joint Moore-Penrose fit on each of K datasets.

    With Gc the sum of the datasets' Gram matrices,

        variance_k = sigma2 tr(W_k Gc^+),   bias_k = b_k' W_k b_k,
        b_k = Gc^+ sum_j G_j beta_j - beta_k

    This is the "OSE on the combined dataset, modified correspondingly" that the paper leaves to the
    reader. With invertible Gc and K = 2 it is the paper's Lemma for least squares.

    Parameters
    ----------
    betas : array, shape (K, p)
        True coefficients of the datasets.
    sigma2 : float
        Noise variance.
    W : array, shape (K, p, p)
        Second moment of an unseen row of each dataset.
    G : array, shape (K, ..., p, p)
        Gram matrices of possible designs of each dataset.

    Returns
    -------
    variance, bias : arrays, shape (K, ...)

    Examples
    --------
    Two datasets of one row each see one coefficient each; together they see both.

    >>> G = np.array([[[4.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 1.0]]])
    >>> W = np.array([np.eye(2), np.eye(2)])
    >>> joint_moore_penrose_error(np.array([[1.0, 3.0], [1.0, 3.0]]), 1.0, W, G)[1].tolist()
    [0.0, 0.0]
    """
    pseudo = linalg.inverse(G.sum(axis=0))
    pull = sum(linalg.matvec(g, np.broadcast_to(b, g.shape[:-1])) for g, b in zip(G, betas))
    centre = linalg.matvec(pseudo, np.asarray(pull))
    variance = np.array([sigma2 * linalg.trace_product(w, pseudo) for w in W])
    bias = np.array([linalg.quadratic(centre - b, w) for w, b in zip(W, betas)])
    return variance, bias
