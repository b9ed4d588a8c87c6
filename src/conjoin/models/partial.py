"""Partial pooling by empirical Bayes, on moments.

    y_k = X_k b_k + e_k,   e_k ~ N(0, sigma_k^2),   b_k = mu + L z_k,   z_k ~ N(0, I)

Slopes of mu have variance lambda, its intercept is flat; for classes each slope has a variance of
its own around lambda. What L is makes the model: one column for a random intercept, a diagonal with
one variance for all slopes or one for each, a full matrix.

==========  ==============================================================  ===========
symbol      meaning                                                         shape
==========  ==============================================================  ===========
Gt, ht      G_k / sigma_k^2, h_k / sigma_k^2                                (K, p, p)
L           root of the covariance of deviations, T = L L'                  (p, m)
U           Gt L                                                            (K, p, m)
J           (I + L' Gt L)^-1, posterior covariance of z given mu            (K, m, m)
A, a        Gt - U J U', ht - U J L' ht: information on mu                  (K, p, p)
C, mu       (Lambda^-1 + sum A)^-1, C sum a: posterior of mu                (p, p), (p,)
z, b        J (L' ht - U' mu), mu + L z: posterior means                    (K, m), (K, p)
==========  ==============================================================  ===========

The marginal likelihood, with mu integrated out, plus weak log-normal priors on the variances is
maximised over their logarithms; the gradient is Fisher's identity, an expectation under the
posterior that is at hand anyway. Coordinates are centred and scaled over all datasets (`Basis`), so
that variances are of order one and the same priors and bounds serve every table.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

from conjoin import linalg
from conjoin._typing import FloatArray, IntArray
from conjoin.moments import Moments

# Log-normal priors (median, standard deviation of the log) in units of the target's variance, and
# hard bounds. Without bounds, cancellation in the residual sums can fake a huge likelihood.
NOISE_PRIOR = (0.5, 1.5)
UNIT_NOISE_PRIOR, UNIT_NOISE_BOUNDS = (1.0, 0.05), (0.8, 1.25)
SPREAD_PRIOR = (0.1, 2.0)
# Levels of datasets: as much as the noise, so that what nothing can tell apart (one row a dataset)
# is shared out evenly.
INTERCEPT_PRIOR = (0.5, 2.0)
# Standard deviation of log variances around their common value: of deviations in slopes, and of the
# centre's slopes. Least squares gains nothing from the second one, so it is for classes only.
SLOPE_SCATTER = CENTRE_SCATTER = 1.0
CENTRE_PRIOR = (1.0, 2.0)  # of p * lambda: all slopes together explain about the target's variance
NOISE_BOUNDS = (1e-5, 10.0)
SPREAD_BOUNDS = (1e-7, 100.0)
CENTRE_BOUNDS = (1e-6, 100.0)
RATIO_BOUNDS = (-8.0, 8.0)  # of the logarithm


@dataclass(frozen=True, eq=False)
class Hyper:
    """Variances of the model: noise scale, root of deviations, variances of the centre's slopes.

    Those of the centre are one for each coordinate behind the levels. `relative` are known ratios
    of the datasets' noise variances to the common `noise`.
    """

    noise: float
    L: FloatArray
    slope_variances: FloatArray
    relative: FloatArray


@dataclass(frozen=True, eq=False)
class Integrated:
    """What is left of each dataset when its deviation from the centre is integrated out.

    The log density of dataset k around a centre mu is `-1/2 (constant - 2 a'mu + mu'A mu)`; other
    names as in the module's table, `Lh` is L' ht.
    """

    Gt: FloatArray
    U: FloatArray
    J: FloatArray
    UJ: FloatArray
    Lh: FloatArray
    A: FloatArray
    a: FloatArray
    constant: FloatArray

    def deviations(self, mu: FloatArray) -> FloatArray:
        """Return the posterior means of z (K, m) around a centre (p,) or one each (K, p)."""
        pull = np.matmul(np.swapaxes(self.U, -1, -2), mu[..., None])[..., 0]
        return linalg.matvec(self.J, self.Lh - pull)


def integrate(moments: Moments, hyper: Hyper) -> Integrated:
    """Integrate the deviations of every dataset (moments (K,)) out."""
    noise = hyper.noise * hyper.relative
    Gt, ht = moments.G / noise[:, None, None], moments.h / noise[:, None]
    L = hyper.L
    root = _diagonal_of(L)
    if root is None:
        U = np.matmul(Gt, L)
        inner = np.matmul(L.T, U)
    else:
        U = Gt * root
        inner = root[:, None] * U
    index = np.arange(L.shape[1])
    inner[:, index, index] += 1.0
    J, logdet = linalg.definite_inverse_and_logdet(inner)
    if root is None:
        UJ = np.matmul(U, J)
        A = Gt - np.matmul(UJ, np.swapaxes(U, -1, -2))
    else:
        # L'UJ = I - J and L'AL = I - J: with a diagonal L no product of matrices is needed.
        UJ = -J
        UJ[:, index, index] += 1.0
        UJ /= root[:, None]
        A = UJ / root
    Lh = ht @ L
    constant = moments.q / noise - linalg.quadratic(Lh, J) + moments.n * np.log(noise)
    return Integrated(
        Gt=Gt,
        U=U,
        J=J,
        UJ=UJ,
        Lh=Lh,
        A=A,
        a=ht - linalg.matvec(UJ, Lh),
        constant=constant + logdet,
    )


def _diagonal_of(L: FloatArray) -> FloatArray | None:
    """Return the diagonal of a diagonal matrix without zeros in it, None for any other."""
    if L.shape[0] != L.shape[1] or np.count_nonzero(L) != L.shape[0]:
        return None
    root = np.diagonal(L)
    return root if root.all() else None


@dataclass(frozen=True, eq=False)
class Posterior:
    """Posterior of one collection under given variances; names as in the module's table."""

    parts: Integrated
    mu: FloatArray
    C: FloatArray
    z: FloatArray
    beta: FloatArray
    log_evidence: float


def posterior(moments: Moments, hyper: Hyper) -> Posterior:
    """Return the posterior of the centre and of every dataset's coefficients (moments (K,))."""
    parts = integrate(moments, hyper)
    precision, prior_logdet = _centre_prior(hyper, moments)
    total_A, total_a = precision + parts.A.sum(axis=0), parts.a.sum(axis=0)
    C = linalg.inverse(linalg.symmetrise(total_A))
    mu = C @ total_a
    z = parts.deviations(mu)
    logdet = float(np.linalg.slogdet(total_A)[1]) + prior_logdet
    log_evidence = -0.5 * (float(parts.constant.sum() - total_a @ mu) + logdet)
    return Posterior(parts, mu, C, z, mu + z @ hyper.L.T, log_evidence)


def coefficients(moments: Moments, hyper: Hyper) -> FloatArray:
    """Return the datasets' posterior means (K, p), `posterior(moments, hyper).beta`, and no more.

    With L = diag(r) all that mu needs of the datasets is the sum of J and of J L'ht, since
    A = (I - J) / (r r') and a = J L'ht / r: half the work where coefficients are found often.
    """
    r = _diagonal_of(hyper.L)
    if r is None:
        return posterior(moments, hyper).beta
    noise = hyper.noise * hyper.relative
    scale = r / noise[:, None]
    inner = moments.G * (scale[:, :, None] * r)
    index = np.arange(len(r))
    inner[:, index, index] += 1.0
    J = linalg.definite_inverse(inner)
    Lh = scale * moments.h
    precision, _ = _centre_prior(hyper, moments)
    rest = len(J) * np.eye(len(r)) - J.sum(axis=0)
    total = precision + rest / np.outer(r, r)
    mu = linalg.inverse(linalg.symmetrise(total)) @ (linalg.matvec(J, Lh).sum(axis=0) / r)
    z = linalg.matvec(J, Lh - scale * (moments.G @ mu))
    beta: FloatArray = mu + z * r
    return beta


def _centre_prior(hyper: Hyper, moments: Moments) -> tuple[FloatArray, float]:
    """Return the prior precision of mu and the log-determinant of its covariance."""
    p, levels = moments.p, moments.outputs
    precision = np.zeros(p)
    precision[levels:] = 1 / hyper.slope_variances
    return np.diag(precision), float(np.log(hyper.slope_variances).sum())


# --- the families: how log-variances make L ---------------------------------------------------


@dataclass(frozen=True)
class Family:
    """How the free log-variances make up the diagonal of T, and which of it is free.

    `groups` maps each column of the design to the number of its variance, -1 for none; with several
    predictors a row, they share the variance of a column, so that no class is set apart.
    """

    name: str
    groups: Callable[[int], IntArray]

    def of(self, moments: Moments) -> IntArray:
        """Return the number of each coordinate's variance (p,)."""
        return np.repeat(self.groups(moments.p // moments.outputs), moments.outputs)


def _nothing(columns: int) -> IntArray:
    return np.full(columns, -1)


def _intercept_only(columns: int) -> IntArray:
    return np.where(np.arange(columns) == 0, 0, -1)


def _one_slope_variance(columns: int) -> IntArray:
    return np.where(np.arange(columns) == 0, 0, 1)


def _each_its_own(columns: int) -> IntArray:
    return np.arange(columns)


POOLED = Family("pooled", _nothing)
INTERCEPT = Family("intercept", _intercept_only)
SLOPES = Family("slopes", _one_slope_variance)
DIAGONAL = Family("partial", _each_its_own)


def fit_variances(
    moments: Moments,
    family: Family,
    simpler: Hyper | None = None,
    start: Hyper | None = None,
    steps: int = 100,
) -> Hyper:
    """Return the variances of a diagonal family that maximise evidence times prior.

    `simpler` is a fit with one variance for all slopes, around which those of the slopes scatter;
    `start` are variances from which to set out, by default those of `simpler`.
    """
    p, outputs = moments.p, moments.outputs
    r = np.ones(moments.shape[0])
    groups = family.of(moments)
    active = np.nonzero(groups >= 0)[0]
    count = int(groups.max()) + 1
    spreads, ratios = slice(2, 2 + count), slice(2 + count, None)

    def hyper_of(theta: FloatArray) -> Hyper:
        spread = np.exp(theta[spreads])[groups[active]]
        L = np.zeros((p, len(active)))
        L[active, np.arange(len(active))] = np.sqrt(spread)
        slopes = np.full(p // outputs - 1, theta[1])
        slopes[: len(theta[ratios])] += theta[ratios]
        return Hyper(float(np.exp(theta[0])), L, np.repeat(np.exp(slopes), outputs), r)

    centres, widths, bounds = variance_priors(moments, count)
    if simpler is not None and count > 2:
        common = np.sum(simpler.L**2, axis=1)[::outputs]
        centres[spreads] = np.log(np.clip(common, *SPREAD_BOUNDS))
        widths[3:] = SLOPE_SCATTER
    if moments.unit_noise:
        scattered = np.zeros(p // outputs - 1)
        centres = np.concatenate([centres, scattered])
        widths = np.concatenate([widths, scattered + CENTRE_SCATTER])
        bounds = [*bounds, *[RATIO_BOUNDS] * len(scattered)]

    def objective(theta: FloatArray) -> tuple[float, FloatArray]:
        hyper = hyper_of(theta)
        post = posterior(moments, hyper)
        deviation = (theta - centres) / widths
        value = -post.log_evidence + 0.5 * float(deviation @ deviation)
        noise, centre, squares = _expected_squares(moments, hyper, post)
        gradient = np.empty_like(theta)
        gradient[0] = noise
        gradient[1] = centre.sum()
        gradient[spreads] = np.bincount(groups[active], squares, minlength=count)
        if moments.unit_noise:
            gradient[ratios] = centre.reshape(-1, outputs).sum(axis=1)
        return value, -gradient + deviation / widths

    theta = centres.copy()
    start = simpler if start is None else start
    if start is not None:
        spread = np.sum(start.L**2, axis=1)[active]
        known = spread > 0
        theta[0] = np.log(start.noise)
        slopes = np.log(start.slope_variances[::outputs])
        theta[1] = np.median(slopes) if len(slopes) else theta[1]
        theta[ratios] = (slopes - theta[1])[: len(theta[ratios])]
        theta[2 + groups[active[known]]] = np.log(np.clip(spread[known], *SPREAD_BOUNDS))
    options = {"maxiter": steps, "ftol": 1e-7, "gtol": 1e-3}
    found = minimize(objective, theta, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return hyper_of(found.x)


def variance_priors(
    moments: Moments, count: int
) -> tuple[FloatArray, FloatArray, list[tuple[float, float]]]:
    """Return prior centres, widths and bounds of (log noise, log lambda, log spreads)."""
    slopes = max(moments.p // moments.outputs - 1, 1)
    spreads = [INTERCEPT_PRIOR, *[SPREAD_PRIOR] * (count - 1)][:count]  # the intercept's is first
    noise = UNIT_NOISE_PRIOR if moments.unit_noise else NOISE_PRIOR
    medians = [noise[0], CENTRE_PRIOR[0] / slopes, *(median for median, _ in spreads)]
    widths = [noise[1], CENTRE_PRIOR[1], *(width for _, width in spreads)]
    limits = [_noise_bounds(moments), CENTRE_BOUNDS, *[SPREAD_BOUNDS] * count]
    bounds = [(float(np.log(low)), float(np.log(high))) for low, high in limits]
    return np.log(medians), np.array(widths), bounds


def _noise_bounds(moments: Moments) -> tuple[float, float]:
    return UNIT_NOISE_BOUNDS if moments.unit_noise else NOISE_BOUNDS


def expected_residuals(moments: Moments, hyper: Hyper, post: Posterior) -> FloatArray:
    """Return the expected residual sum of squares of each dataset (K,), noise included."""
    U, J, UJ = post.parts.U, post.parts.J, post.parts.UJ
    own = post.z.shape[1] - np.einsum("kmm->k", J)
    H = post.parts.Gt - np.matmul(UJ, np.swapaxes(U + UJ, -1, -2))
    centre = linalg.trace_product(H, post.C)
    residual: FloatArray = moments.sse(post.beta) + hyper.noise * hyper.relative * (own + centre)
    return residual


def _expected_squares(
    moments: Moments, hyper: Hyper, post: Posterior
) -> tuple[float, FloatArray, FloatArray]:
    """Return the gradient of the log evidence in the logs of noise, centre's variances, spreads."""
    p, (K, m) = moments.p, post.z.shape
    J, UJ = post.parts.J, post.parts.UJ
    # Spread of z: its own posterior variance, what the uncertain centre adds, and its mean.
    from_centre = np.einsum("kim,kim->m", np.matmul(post.C, UJ), UJ)
    own = np.einsum("kmm->m", J)
    squares = 0.5 * (np.sum(post.z**2, axis=0) + own + from_centre - K)
    # Residuals: at the posterior means, plus the trace of G times the covariance of b.
    scale = 1 / (hyper.noise * hyper.relative)
    residual = float(np.sum(moments.sse(post.beta) * scale))
    flat = UJ.transpose(1, 0, 2).reshape(p, -1)
    H = post.parts.A.sum(axis=0) - flat @ flat.T
    spread = K * m - float(np.sum(own)) + float(np.sum(H * post.C))
    noise = 0.5 * (residual + spread - float(moments.n.sum()))
    first = moments.outputs
    slopes = post.mu[first:] ** 2 + np.diagonal(post.C)[first:]
    centre = 0.5 * (slopes / hyper.slope_variances - 1)
    return noise, centre, squares


# --- full covariance ----------------------------------------------------------------------------


def fit_full(moments: Moments, start: Hyper, steps: int = 4) -> Hyper:
    """Return a full covariance of deviations by EM, started from a diagonal fit.

    An inverse-Wishart prior worth p + 2 datasets at the diagonal start keeps the matrix of full
    rank when datasets are few; the noise is renewed along with it.
    """
    p, K = moments.p, moments.shape[0]
    prior = start.L @ start.L.T + SPREAD_BOUNDS[0] * np.eye(p)
    strength = p + 2.0
    hyper = replace(start, L=np.linalg.cholesky(prior))
    last = -np.inf
    for _ in range(steps):
        post = posterior(moments, hyper)
        if post.log_evidence < last + 1e-3 * K:
            break
        last = post.log_evidence
        UJ = post.parts.UJ
        second = post.z.T @ post.z + post.parts.J.sum(axis=0)
        second += np.matmul(np.swapaxes(UJ, -1, -2), np.matmul(post.C, UJ)).sum(axis=0)
        T = (hyper.L @ second @ hyper.L.T + strength * prior) / (K + strength)
        gradient = _expected_squares(moments, hyper, post)[0]
        # The EM step for the noise: expected residuals over rows.
        noise = hyper.noise * (1 + 2 * gradient / max(float(moments.n.sum()), 1.0))
        T = linalg.symmetrise(T) + SPREAD_BOUNDS[0] * np.eye(p)
        noise = float(np.clip(noise, *_noise_bounds(moments)))
        hyper = replace(hyper, L=np.linalg.cholesky(T), noise=noise)
    return hyper
