"""Partial pooling around several centres: soft clusters in the model of `partial`.

    b_k = mu_c + L z_k  with probability pi_c

Enters: moments of datasets (K,), variances of one common centre and a first partition. Leaves: the
centres, their shares pi_c and the variances (`Mixture`), and from these memberships and
coefficients.

Symbols are those of `partial`; r (K, C) are the probabilities that dataset k belongs to centre c
given the data. The fit takes turns: r given all else, then centres and shares given r, then the
variances by the evidence given r and the centres. With a variance of deviations near zero, this is
a partition with one model for each cluster. With one centre, it is partial pooling.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from conjoin import linalg
from conjoin._typing import FloatArray, IntArray
from conjoin.models.effort import some_datasets
from conjoin.models.partial import SLOPES, Hyper, Integrated, integrate
from conjoin.models.variance_priors import variance_priors
from conjoin.moments import Moments

# Prior of the spread inside clusters (median, standard deviation of the logarithm): clusters may
# be tight, so the median is a tenth of `SPREAD_PRIOR`. A factor of 150 (exp 5) either way says that
# next to nothing is known beforehand.
WITHIN_PRIOR = (0.01, 5.0)
# Turns at most; the fit stops before where the evidence rises no more.
TURNS = 12
# Steps of the optimiser in each turn. Centres and memberships change in the next turn, so variances
# need not be exact before.
VARIANCE_STEPS = 5
# Log variances are rounded after each turn. Their last digits depend on the order of rows, and
# turns would amplify the difference.
DECIMALS = 5
# Prior variance of the centres' intercepts, in units of the target's. Several centres need a proper
# prior to be compared by evidence; at 100 it does not shrink the levels visibly.
INTERCEPT_VARIANCE = 100.0
# The fit starts with half the deviations of one common centre: clusters explain part of the spread.
START_SPREAD = 0.5
# Membership at the start: 0.9 in the cluster of the first partition, 0.1 shared among all clusters.
# Without the 0.1, datasets in a wrong cluster would be slow to leave it.
START_OWN, START_SHARED = 0.9, 0.1
# Rise of the log evidence for each dataset below which the fit stops.
EVIDENCE_CLOSE = 1e-3


@dataclass(frozen=True, eq=False)
class Mixture:
    """Fitted mixture: variances, centres (C, p), log shares (C,), log evidence."""

    hyper: Hyper
    centres: FloatArray
    log_shares: FloatArray
    log_evidence: float


def _log_likelihoods(parts: Integrated, centres: FloatArray) -> FloatArray:
    """Return the log density (K, C) of each dataset around each centre (C, p)."""
    linear = parts.a @ centres.T
    squares = np.stack([linalg.quadratic(centre, parts.A) for centre in centres], axis=1)
    value: FloatArray = -0.5 * (parts.constant[:, None] - 2 * linear + squares)
    return value


def _centre_precision(hyper: Hyper, moments: Moments) -> FloatArray:
    """Return the prior precision (p,) of every centre's coefficients."""
    precision = np.full(moments.p, 1 / INTERCEPT_VARIANCE)
    precision[moments.outputs :] = 1 / hyper.slope_variances
    return precision


def _centres(parts: Integrated, r: FloatArray, prior: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return centres (C, p) and their precisions (C, p, p), given memberships r (K, C).

    `prior` (p,) is the prior precision of all centres.
    """
    precision = np.tensordot(r.T, parts.A, axes=1) + np.diag(prior)
    return np.linalg.solve(precision, (r.T @ parts.a)[..., None])[..., 0], precision


def memberships(parts: Integrated, centres: FloatArray, log_shares: FloatArray) -> FloatArray:
    """Return the probability that each dataset belongs to each centre, (K, C)."""
    joint = _log_likelihoods(parts, centres) + log_shares
    r: FloatArray = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    return r


def fit_mixture(moments: Moments, start: Hyper, labels: IntArray) -> Mixture:
    """Fit a mixture from a first partition; `start` has the variances of one common centre.

    With very many datasets the fit is to a random part of them, and then to all in one turn.
    """
    C, some = int(labels.max()) + 1, some_datasets(len(labels))
    if some is None:
        return _fit_mixture(moments, start, labels, C)
    own = replace(start, relative=start.relative[some])
    part = _fit_mixture(moments[some], own, labels[some], C)
    hyper = replace(part.hyper, relative=start.relative)
    parts = integrate(moments, hyper)
    r = memberships(parts, part.centres, part.log_shares)
    return _turn(parts, r, hyper, moments)[0]


def _fit_mixture(moments: Moments, start: Hyper, labels: IntArray, C: int) -> Mixture:
    """Fit a mixture of C centres from a first partition, in turns."""
    hyper = replace(start, L=start.L * START_SPREAD)
    r = np.full((len(labels), C), START_SHARED / C)
    r[np.arange(len(labels)), labels] += START_OWN
    mixture = Mixture(hyper, np.zeros((C, moments.p)), np.zeros(C), -np.inf)
    for _ in range(TURNS):
        found, r = _turn(integrate(moments, hyper), r, hyper, moments)
        if found.log_evidence < mixture.log_evidence + EVIDENCE_CLOSE * len(labels):
            break
        mixture = found
        hyper = _fit_variances(moments, hyper, found.centres, r)
    return mixture


def _turn(
    parts: Integrated, r: FloatArray, hyper: Hyper, moments: Moments
) -> tuple[Mixture, FloatArray]:
    """Return the mixture with centres and shares given memberships r (K, C), and new memberships.

    `parts` are integrated with the variances of `hyper`.
    """
    K, C = r.shape
    prior = _centre_precision(hyper, moments)
    centres, precision = _centres(parts, r, prior)
    log_shares = np.log((r.sum(axis=0) + 1) / (K + C))
    joint = _log_likelihoods(parts, centres) + log_shares
    evidence = float(logsumexp(joint, axis=1).sum()) + _centre_evidence(centres, precision, prior)
    r = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    return Mixture(hyper, centres, log_shares, evidence), r


def _centre_evidence(centres: FloatArray, precision: FloatArray, prior: FloatArray) -> float:
    """Return the log of prior over posterior density of the centres (Laplace's method)."""
    logdet = np.linalg.slogdet(precision)[1].sum() - len(centres) * np.log(prior).sum()
    return -0.5 * float(logdet + np.sum(prior * centres**2))


def _fit_variances(moments: Moments, hyper: Hyper, centres: FloatArray, r: FloatArray) -> Hyper:
    """Improve noise, intercept spread and slope spread given centres and memberships."""
    p = moments.p
    medians, widths, bounds = variance_priors(moments, 2)
    keep = [0, 2, 3]
    prior, width = medians[keep], widths[keep]
    prior[1:], width[1:] = np.log(WITHIN_PRIOR[0]), WITHIN_PRIOR[1]
    groups = SLOPES.of(moments)
    # Residual moments around the centres, weighted by membership.
    mean = r @ centres
    rows = float(moments.n.sum())

    def hyper_of(theta: FloatArray) -> Hyper:
        L = np.diag(np.exp(0.5 * theta[1:])[groups])
        return replace(hyper, noise=float(np.exp(theta[0])), L=L)

    def objective(theta: FloatArray) -> tuple[float, FloatArray]:
        now = hyper_of(theta)
        parts = integrate(moments, now)
        value = -float(np.sum(r * _log_likelihoods(parts, centres)))
        root = np.diagonal(now.L)
        scale = 1 / (now.noise * now.relative)
        squares = np.einsum("kii->i", parts.J)
        residual = float(len(mean) * p - np.sum(squares))
        for c, centre in enumerate(centres):
            z = parts.deviations(centre)
            squares = squares + r[:, c] @ z**2
            residual += float(np.sum(r[:, c] * moments.sse(centre + z * root) * scale))
        deviation = (theta - prior) / width
        gradient = np.empty(3)
        gradient[0] = 0.5 * (residual - rows)
        gradient[1:] = np.bincount(groups, 0.5 * (squares - len(mean)), minlength=2)
        return value + 0.5 * float(deviation @ deviation), -gradient + deviation / width

    spread = np.diagonal(hyper.L) ** 2
    slopes = spread[moments.outputs :]
    now = np.log([hyper.noise, spread[0], np.mean(slopes) if len(slopes) else spread[0]])
    low, high = np.array([bounds[i] for i in keep]).T
    found = minimize(
        objective,
        np.clip(now, low, high),
        jac=True,
        method="L-BFGS-B",
        bounds=[bounds[i] for i in keep],
        options={"maxiter": VARIANCE_STEPS},
    )
    return hyper_of(np.round(found.x, DECIMALS))


def mixture_memberships(moments: Moments, mixture: Mixture) -> FloatArray:
    """Return the same for a fitted mixture."""
    return memberships(integrate(moments, mixture.hyper), mixture.centres, mixture.log_shares)


def mixture_coefficients(moments: Moments, mixture: Mixture, turns: int = 2) -> FloatArray:
    """Return each dataset's posterior mean coefficients (K, p), with the variances as fitted.

    Memberships and centres are estimated again from these moments, in `turns`, so the model can be
    refitted to part of the rows.
    """
    hyper, centres = mixture.hyper, mixture.centres
    common = integrate(moments, hyper.of_centre())
    prior = _centre_precision(hyper, moments)
    for _ in range(turns):
        r = memberships(common, centres, mixture.log_shares)
        centres, _ = _centres(common, r, prior)
    parts = integrate(moments, hyper) if hyper.one_centre else common
    r = memberships(parts, centres, mixture.log_shares)
    mean = r @ centres
    beta: FloatArray = mean + parts.deviations(mean) * np.diagonal(hyper.L)
    return beta


def mixture_prior(
    moments: Moments, mixture: Mixture, turns: int = 2
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return what a further dataset is like: centres (C, p), covariances (C, p, p), shares (C,).

    A covariance is that of the centre given the datasets, plus that of deviations from it. `turns`
    are those of `mixture_coefficients`.
    """
    centres, parts = mixture.centres, integrate(moments, mixture.hyper.of_centre())
    prior = _centre_precision(mixture.hyper, moments)
    for _ in range(turns):
        r = memberships(parts, centres, mixture.log_shares)
        centres, precision = _centres(parts, r, prior)
    covariance = linalg.inverse(linalg.symmetrise(precision)) + mixture.hyper.L @ mixture.hyper.L.T
    return centres, covariance, np.exp(mixture.log_shares)
