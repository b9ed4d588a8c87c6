"""The model of a new dataset: a prior learned from the known datasets, updated with its few rows.

Enters: a `Prior` and rows of the new dataset in working coordinates. Leaves: its coefficients, the
probability of each component of the prior, and losses on held-out rows.

    b ~ N(m_c, S_c) with probability pi_c,   y = Z b + e,   e ~ N(0, sigma^2)

Partial pooling has one component, N(mu, C + L L'): the posterior of the centre, and the spread of
datasets around it. Given the variances, this is exact: the new dataset gets the coefficients that
it would get in a fit to all datasets (`models.partial`). A mixture has one component a centre.

==========  =================================================================  ===============
symbol      meaning                                                            shape
==========  =================================================================  ===============
m, S        mean and covariance of each component                              (C, p), (C, p, p)
G, h        moments of the new rows over the noise variance                    (p, p), (p,)
step        from m to the coefficients given the rows                          (C, p)
==========  =================================================================  ===============

With h' = h - G m the step is S (I + G S)^-1 h'. The log density of the rows is, up to a constant
that all components share, -1/2 [squared residuals at m / noise - h'step + log det(I + G S)].

**Noise.** A strategy whose datasets have one noise variance has it for the new dataset too. If its
datasets differ in noise, the new one may have any noise that the law of `models.noise` allows. The
coefficients are averaged over such noise variances, each with the density that it gives the rows.

**Classes and counts.** Newton's method repeats the step with the moments at the coefficients found
so far (Laplace's approximation). The noise is the common one. Counts have the density of Nelder and
Pregibon (1987), "An extended quasi-likelihood function", so that dispersions can be compared.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv, logsumexp

from conjoin import linalg
from conjoin._typing import FloatArray, IntArray
from conjoin.models.glm_families import GlmFamily
from conjoin.models.noise import MOST_PRIOR_DF
from conjoin.models.padded_rows import PaddedRows
from conjoin.moments import Moments

# Newton steps at most. No step moves a coefficient by more than 1, so this many reach coefficients
# of about 20 on standardised columns; near the mode a few steps give all digits.
MOVES = 25
# Change of a coefficient at which the steps end. Newton's method squares the error in each step, so
# what is left is below rounding.
STAYS = 1e-8
# Noise variances that are tried for a new dataset, of equal prior probability.
NOISES = 20
# Power of the density of the rows in the weights of priors. Real rows are more skewed and less
# alike than the normal law says, so their density overstates what they tell of a prior. The square
# root counts two rows like one (a power posterior).
EVIDENCE_POWER = 0.5
TINY = 1e-300  # in place of the probability zero of a component

# From a noise variance to the log density (C,) and the coefficients (C, p) of each component.
Update = Callable[[float], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, eq=False)
class Prior:
    """What is known of a new dataset before its rows are seen, in working coordinates.

    Parameters
    ----------
    noise : float
        Noise variance to be expected; for counts the dispersion.
    centre, covariance : arrays (C, p), (C, p, p)
        Mean and covariance of the coefficients in each component.
    shares : array (C,)
        Prior weights of the components, in any unit.
    noise_df : float
        Degrees of freedom that `noise` counts for against the residuals of the new rows; infinite
        where all datasets have the same noise.
    """

    noise: float
    centre: FloatArray
    covariance: FloatArray
    shares: FloatArray
    noise_df: float = float("inf")


@dataclass(frozen=True, eq=False)
class Placed:
    """Probability of each component (C,), its coefficients (C, p), and the log density of rows."""

    probability: FloatArray
    components: FloatArray
    log_evidence: float

    @property
    def beta(self) -> FloatArray:
        """Posterior mean of the coefficients (p,)."""
        mean: FloatArray = self.probability @ self.components
        return mean


def place(prior: Prior, Z: FloatArray, t: FloatArray, family: GlmFamily | None = None) -> Placed:
    """Update a prior with rows: design Z (n, d), and target t (n,), for classes their numbers."""
    if family is None:
        return _by_squares(prior, Z, t)
    return _by_likelihood(prior, Z, t, family)


def average_coefficients(
    priors: Sequence[Prior],
    weights: FloatArray,
    Z: FloatArray,
    t: FloatArray,
    family: GlmFamily | None = None,
) -> FloatArray:
    """Return the mean of the coefficients (p,) under several priors (Bayesian model averaging).

    `weights` are the prior weights of the priors. Each is multiplied by the square root of the
    density that its prior gives the rows.
    """
    placed = [place(one, Z, t, family) for one in priors]
    with np.errstate(divide="ignore"):
        log = np.log(weights) + EVIDENCE_POWER * np.array([one.log_evidence for one in placed])
    beta: FloatArray = _normalised(log) @ np.stack([one.beta for one in placed])
    return beta


def held_out_losses(
    priors: Sequence[Prior],
    weights: FloatArray,
    Z: FloatArray,
    t: FloatArray,
    fold: IntArray,
    family: GlmFamily | None = None,
) -> FloatArray:
    """Return the loss of each row (n,) under the average fitted without the row's fold (n,)."""
    losses = np.empty(len(t))
    for f in np.unique(fold):
        out = fold == f
        beta = average_coefficients(priors, weights, Z[~out], t[~out], family)
        if family is None:
            losses[out] = (t[out] - Z[out] @ beta) ** 2
        else:
            eta = Z[out] @ beta.reshape(-1, family.m)
            losses[out] = family.loss(t[out], eta[:, 0] if family.m == 1 else eta)
    return losses


def _by_squares(prior: Prior, Z: FloatArray, t: FloatArray) -> Placed:
    """Average the components over the noise variances that the new dataset may have."""
    noises = possible_noises(prior.noise, prior.noise_df)
    update = _from_rows(prior, Z, t) if len(t) < Z.shape[1] else _from_moments(prior, Z, t)
    log, beta = zip(*(update(noise) for noise in noises))
    stacked = np.stack(log) + np.log(prior.shares / prior.shares.sum())
    joint = _normalised(stacked)
    probability = joint.sum(axis=0)
    share = joint / np.maximum(probability, TINY)
    components = np.einsum("qc,qcp->cp", share, np.stack(beta))
    return Placed(probability, components, float(logsumexp(stacked)) - np.log(len(noises)))


def _from_moments(prior: Prior, Z: FloatArray, t: FloatArray) -> Update:
    """Return log densities and coefficients by the formulas of the module, p x p matrices."""
    m = Moments.from_rows(Z, t)
    squares = m.sse(prior.centre)

    def update(noise: float) -> tuple[FloatArray, FloatArray]:
        G = np.broadcast_to(m.G / noise, prior.covariance.shape)
        step, drop, logdet = _step(prior, G, m.h / noise)
        distance = squares / noise - drop + len(t) * np.log(noise)
        return -0.5 * (distance + logdet), prior.centre + step

    return update


def _from_rows(prior: Prior, Z: FloatArray, t: FloatArray) -> Update:
    """Return the same from the covariance of the rows (n, n), for fewer rows than columns."""
    to_rows = np.matmul(prior.covariance, Z.T)
    # By eigenvalues: beside values of 1e100 the noise is lost in `between + noise * I`, which would
    # then be singular.
    values, vectors = np.linalg.eigh(np.matmul(Z, to_rows))
    turned = linalg.matvec(np.swapaxes(vectors, -1, -2), t - prior.centre @ Z.T)

    def update(noise: float) -> tuple[FloatArray, FloatArray]:
        variances = np.maximum(values, 0.0) + noise
        pull = linalg.matvec(vectors, turned / variances)
        distance = linalg.dot(turned, turned / variances) + np.log(variances).sum(axis=-1)
        return -0.5 * distance, prior.centre + linalg.matvec(to_rows, pull)

    return update


def _by_likelihood(prior: Prior, Z: FloatArray, y: FloatArray, family: GlmFamily) -> Placed:
    """Return the same for classes and counts, by Laplace's approximation."""
    count, noise, shares = len(prior.centre), prior.noise, prior.shares / prior.shares.sum()
    if len(y) == 0:
        return Placed(shares, prior.centre, 0.0)
    rows = PaddedRows(
        np.broadcast_to(Z, (count, *Z.shape)),
        np.broadcast_to(y, (count, len(y))),
        np.ones((count, len(y))),
    )
    beta = prior.centre
    for _ in range(MOVES):
        local = rows.derivatives(beta, family)
        G, s = rows.information(local) / noise, rows.score(local) / noise
        step, _, logdet = _step(prior, G, s + linalg.matvec(G, beta))
        moved = prior.centre + step
        stays = np.max(np.abs(moved - beta)) < STAYS
        beta = moved if stays else beta + np.clip(moved - beta, -1.0, 1.0)
        if stays:
            break
    away = beta - prior.centre
    pull = linalg.dot(away, linalg.matvec(linalg.inverse(prior.covariance), away))
    loss = rows.loss(beta, family) / noise
    log = np.log(shares) - (loss + 0.5 * (pull + logdet))
    if family.free_dispersion:  # the density of counts by extended quasi-likelihood
        log = log - 0.5 * len(y) * np.log(noise)
    return Placed(_normalised(log), beta, float(logsumexp(log)))


def _step(prior: Prior, G: FloatArray, h: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return steps from the centres, h'step and log|I + G S|; G is (C, p, p), h (p,) or (C, p)."""
    misfit = h - linalg.matvec(G, prior.centre)
    inner = np.matmul(G, prior.covariance)
    index = np.arange(inner.shape[-1])
    inner[:, index, index] += 1.0
    sign, logdet = np.linalg.slogdet(inner)
    if np.all(sign > 0):
        step = linalg.matvec(prior.covariance, np.linalg.solve(inner, misfit[..., None])[..., 0])
    else:
        step, logdet = _symmetric_step(prior, G, misfit)
    return step, linalg.dot(misfit, step), logdet


def _symmetric_step(
    prior: Prior, G: FloatArray, misfit: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return steps and log|I + G S| where rounding makes I + G S singular.

    With S = L L' it has the determinant of I + L'G L, whose eigenvalues are at least 1.
    """
    values, vectors = np.linalg.eigh(prior.covariance)
    L = vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]
    turned = L.swapaxes(-1, -2)
    values, vectors = np.linalg.eigh(np.matmul(turned, np.matmul(G, L)))
    L, values = np.matmul(L, vectors), 1.0 + np.maximum(values, 0.0)
    inside = linalg.matvec(L.swapaxes(-1, -2), misfit) / values
    return linalg.matvec(L, inside), np.sum(np.log(values), axis=-1)


def _normalised(log: FloatArray) -> FloatArray:
    """Return probabilities from their logarithms up to a constant."""
    probability = np.exp(log - log.max())
    total: FloatArray = probability / probability.sum()
    return total


def possible_noises(noise: float, df: float) -> FloatArray:
    """Return noise variances (Q,) of equal prior probability: quantiles of `models.noise`'s law."""
    if df >= MOST_PRIOR_DF:
        return np.array([noise])
    levels = (np.arange(NOISES) + 0.5) / NOISES
    chi2: FloatArray = 2 * gammaincinv(df / 2, levels)
    variances: FloatArray = df * noise / chi2
    return variances
