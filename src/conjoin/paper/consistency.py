"""Theorems 2 and 3 of the paper, on the consistency of the bootstrapped error, and Assumption 2.

Fitted and true coefficients, distributions of features and out-of-samples enter; errors leave.

==============  =======================================================================  ==========
symbol          meaning                                                                  shape
==============  =======================================================================  ==========
mu_k, W_k       mean and second moment E[x x'] of the features of dataset k              (p,), ...
Omega_k         E[G_k^-1], with G_k = X'X of n_k rows                                    (p, p)
Omega_c         E[Gc^-1], with Gc = G_1 + G_2                                            (p, p)
b_k             E[joint fit | X] - beta_k = Gc^-1 G_j (beta_j - beta_k), j the other     (p,)
Lambda_k        E[b_k b_k']                                                              (p, p)
OSE             error of the *estimator*: sigma2 (1 + tr(W_k Omega_k)) for the own fit,
                sigma2 (1 + tr(W_k Omega_c)) + tr(W_k Lambda_k) for the joint fit        scalar
OSE_M           mean over M bootstraps of n~ rows of the squared error of a *given* fit  scalar
==============  =======================================================================  ==========

Theorem 2 says that OSE_M - OSE tends to 0 in probability as n~ grows, for the own fit; Theorem 3
says so for the joint fit. With n_k fixed this is not so. OSE_M tends to the error of the fit at
hand (`error_of_fit`), which is random; OSE is its mean over training rows. Both tend to sigma2 if
n_k grows too, as the proof of Theorem 2 assumes half-way ("choose n~ = n_k").

Assumption 2 needs Omega_k mu_k != 0, so mu_k != 0. The paper's Tables 2 and 3 have mu_k = 0. The
assumption is not needed for what holds: a mean of squares is consistent by the law of large
numbers.
"""

from dataclasses import dataclass

import numpy as np

from conjoin import linalg
from conjoin._typing import FloatArray
from conjoin.moments.resample import stream
from conjoin.paper.design import Gaussian

# Designs drawn for each expectation: as many as the iterations of Algorithm 2.
DRAWS = 1000
# Length of a vector, over that of mu and its matrix, below which it counts as zero. Rounding gives
# about 1e-16; a mean of a thousandth of a standard deviation gives 1e-3.
ZERO = 1e-12


@dataclass(frozen=True, eq=False)
class Assumption2:
    """The quantities of Assumption 2 for one dataset of a pair.

    Attributes
    ----------
    mu : array, shape (p,)
        Mean of the features.
    W : array, shape (p, p)
        Their second moment.
    Omega, Omega_c : arrays, shape (p, p)
        Expected inverse Gram matrices of the dataset, and of both.
    Lambda : array, shape (p, p)
        Second moment of the bias b of the joint fit.
    sigma2 : float
        Noise variance.
    """

    mu: FloatArray
    W: FloatArray
    Omega: FloatArray
    Omega_c: FloatArray
    Lambda: FloatArray
    sigma2: float

    @property
    def holds(self) -> bool:
        """Whether Omega mu and sigma2 Omega_c mu + Lambda mu are both different from zero."""
        own = self.Omega @ self.mu
        joint = self.sigma2 * self.Omega_c @ self.mu + self.Lambda @ self.mu
        return all(float(np.linalg.norm(vector)) > ZERO for vector in (own, joint))

    @property
    def ose(self) -> float:
        """OSE of the dataset's own fit: the right side of Theorem 2."""
        return self.sigma2 * (1 + float(linalg.trace_product(self.W, self.Omega)))

    @property
    def ose_joint(self) -> float:
        """OSE of the joint fit on this dataset: the right side of Theorem 3, and Lemma 1."""
        variance = self.sigma2 * (1 + float(linalg.trace_product(self.W, self.Omega_c)))
        return variance + float(linalg.trace_product(self.W, self.Lambda))


def assumption2(
    known: tuple[Gaussian, Gaussian],
    betas: tuple[FloatArray, FloatArray],
    sizes: tuple[int, int],
    sigma2: float,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> tuple[Assumption2, Assumption2]:
    """Return the quantities of Assumption 2, and so of Theorems 2 and 3, for both datasets.

    Parameters
    ----------
    known : two Gaussian
        Distributions of the features, without intercept.
    betas : two arrays, shape (p,)
        True coefficients.
    sizes : two int
        Rows of the two datasets.
    sigma2 : float
        Noise variance.
    draws : int, default 1000
        Designs drawn for each expectation.
    seed : int, default 0
        Random seed.

    Returns
    -------
    two Assumption2

    Examples
    --------
    Tables 2 and 3 of the paper have features of mean zero, so the assumption does not hold there.

    >>> features, beta = Gaussian(np.zeros(2), np.eye(2)), np.ones(2)
    >>> one, _ = assumption2((features, features), (beta, beta), (50, 50), 1.0)
    >>> one.holds, round(one.ose, 2)
    (False, 1.04)
    """
    rng = stream(seed, "assumption 2")
    grams = []
    for gaussian, n in zip(known, sizes):
        X = gaussian.draw((draws, n), rng)
        grams.append(np.matmul(np.swapaxes(X, -1, -2), X))
    joint = linalg.inverse(grams[0] + grams[1])
    found = []
    for k, gaussian in enumerate(known):
        apart = np.broadcast_to(betas[1 - k] - betas[k], (draws, len(betas[k])))
        b = linalg.matvec(joint, linalg.matvec(grams[1 - k], apart))
        found.append(
            Assumption2(
                mu=gaussian.mean,
                W=gaussian.second_moment,
                Omega=np.mean(linalg.inverse(grams[k]), axis=0),
                Omega_c=np.mean(joint, axis=0),
                Lambda=b.T @ b / draws,
                sigma2=sigma2,
            )
        )
    return found[0], found[1]


def bootstrapped_error(
    b: FloatArray,
    X: FloatArray,
    y: FloatArray,
    *,
    M: int = 1,
    n: int | None = None,
    seed: int = 0,
) -> float:
    """Return OSE_M: the squared error of a fit on rows drawn again from the out-of-samples.

    Parameters
    ----------
    b : array, shape (p,)
        Fitted coefficients.
    X, y : arrays, shape (rows, p) and (rows,)
        Out-of-samples, which the fit has not seen.
    M : int, default 1
        Number of bootstraps.
    n : int, optional
        Rows of a bootstrap, the paper's n with a tilde; as many as there are by default.
    seed : int, default 0
        Random seed.

    Returns
    -------
    float

    Examples
    --------
    >>> X, y = np.array([[1.0], [2.0]]), np.array([1.0, 4.0])
    >>> abs(bootstrapped_error(np.array([1.0]), X, y, M=2000) - 2.0) < 0.1
    True
    """
    squares = (y - X @ b) ** 2
    drawn = stream(seed, "OSE_M").integers(len(y), size=(M, n or len(y)))
    return float(np.mean(squares[drawn]))


def error_of_fit(b: FloatArray, beta: FloatArray, W: FloatArray, sigma2: float) -> FloatArray:
    """Return the exact error of given fits, sigma2 + (b - beta)' W (b - beta).

    This is what OSE_M tends to as the out-of-samples grow. It depends on the training rows through
    b; OSE is its expectation.

    Parameters
    ----------
    b : array, shape (..., p)
        Fitted coefficients.
    beta : array, shape (p,)
        True coefficients.
    W : array, shape (p, p)
        Second moment of the features.
    sigma2 : float
        Noise variance.

    Returns
    -------
    array, shape (...)

    Examples
    --------
    >>> float(error_of_fit(np.array([1.0, 0.5]), np.ones(2), np.eye(2), sigma2=1.0))
    1.25
    """
    return sigma2 + linalg.quadratic(b - beta, W)
