"""Partial pooling by empirical Bayes, on moments: datasets borrow strength from a common centre.

Enters: moments of datasets (K,) and a `Family` that says which coefficients vary between datasets.
Leaves: the variances of the model (`Hyper`) and the posterior of centre and coefficients.

    y_k = X_k b_k + e_k,   e_k ~ N(0, sigma_k^2),   b_k = mu + L z_k,   z_k ~ N(0, I)

Slopes of mu have variance lambda; its intercept has a flat prior. For classes, each slope of mu has
its own variance around lambda. The shape of L makes the model: one column for a random intercept, a
diagonal with one variance for all slopes or one for each, or a full matrix.

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

The fit maximises the marginal likelihood, with mu integrated out, times weak log-normal priors on
the variances, over their logarithms. The gradient is Fisher's identity, an expectation under the
posterior that is computed anyway.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.optimize import minimize

from conjoin import linalg
from conjoin._typing import FloatArray, IntArray
from conjoin.models.effort import some_datasets
from conjoin.models.optima import Optima
from conjoin.models.row_space import RowPosterior, Variances, row_gradient, row_posterior
from conjoin.models.variance_priors import (
    CENTRE_SCATTER,
    RATIO_BOUNDS,
    SLOPE_SCATTER,
    SPREAD_BOUNDS,
    variance_priors,
)
from conjoin.moments import Moments, RowMoments

# --- convergence ---------------------------------------------------------------------------------

# Relative change of the objective, and gradient in log variances, at which the optimiser stops. A
# log variance that is off by 1e-3 changes coefficients by far less than their standard error.
OBJECTIVE_CLOSE, GRADIENT_CLOSE = 1e-7, 1e-3


@dataclass(frozen=True, eq=False)
class Hyper:
    """Variances of the model: noise scale, root of deviations, variances of the centre's slopes.

    `slope_variances` has one entry for each coordinate after the levels. `relative` (K,) are known
    ratios of the datasets' noise variances to the common `noise`. With `one_centre` they serve the
    coefficients of their own dataset only: the centre, which all datasets share, has one noise.
    """

    noise: float
    L: FloatArray
    slope_variances: FloatArray
    relative: FloatArray
    one_centre: bool = False

    def of_centre(self) -> "Hyper":
        """Return the variances with which the common centre is estimated."""
        if not self.one_centre:
            return self
        return replace(self, relative=np.ones_like(self.relative), one_centre=False)


@dataclass(frozen=True, eq=False)
class Integrated:
    """The likelihood of each dataset with its deviation from the centre integrated out.

    The log density of dataset k around a centre mu is `-1/2 (constant - 2 a'mu + mu'A mu)`. Other
    names are those of the module's table; `Lh` is L' ht.
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
    """Integrate out the deviation of every dataset (moments (K,))."""
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
    """Return the posterior of the centre and of every dataset's coefficients (moments (K,)).

    `parts` are those of the coefficients, the evidence is that of the centre's variances.
    """
    common = integrate(moments, hyper.of_centre())
    precision, prior_logdet = _centre_prior(hyper, moments)
    total_A, total_a = precision + common.A.sum(axis=0), common.a.sum(axis=0)
    C = linalg.inverse(linalg.symmetrise(total_A))
    mu = C @ total_a
    parts = integrate(moments, hyper) if hyper.one_centre else common
    z = parts.deviations(mu)
    logdet = linalg.logdet_of_known(total_A) + prior_logdet
    log_evidence = -0.5 * (float(common.constant.sum() - total_a @ mu) + logdet)
    return Posterior(parts, mu, C, z, mu + z @ hyper.L.T, log_evidence)


def centre_of_sums(A: FloatArray, a: FloatArray, hyper: Hyper) -> FloatArray:
    """Return the posterior mean (p,) of the centre from sums of A and a over datasets."""
    precision = np.zeros(len(a))
    precision[len(a) - len(hyper.slope_variances) :] = 1 / hyper.slope_variances
    found: FloatArray = linalg.inverse(linalg.symmetrise(A + np.diag(precision))) @ a
    return found


def coefficients(moments: Moments, hyper: Hyper) -> FloatArray:
    """Return only the datasets' posterior means (K, p), `posterior(moments, hyper).beta`.

    With L = diag(r), mu needs only the sums of J and of J L'ht over datasets, since
    A = (I - J) / (r r') and a = J L'ht / r. That is half the work.
    """
    if isinstance(moments, RowMoments):
        return posterior_of_rows(moments, hyper).coefficients()
    r = _diagonal_of(hyper.L)
    if r is None:
        return posterior(moments, hyper).beta
    noise = hyper.noise * hyper.of_centre().relative
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
    if hyper.one_centre:
        own = hyper.relative != 1
        few = replace(hyper, relative=hyper.relative[own])
        z[own] = integrate(moments[own], few).deviations(mu)
    beta: FloatArray = mu + z * r
    return beta


def posterior_of_rows(rows: RowMoments, hyper: Hyper) -> RowPosterior:
    """Return the posterior where rows stand for moments; L has one entry in each column."""
    return row_posterior(rows, _variances_of(hyper, rows))


def _variances_of(hyper: Hyper, rows: RowMoments) -> Variances:
    root = np.sqrt(np.sum(hyper.L**2, axis=1))
    return Variances(hyper.noise, root, np.diagonal(_centre_prior(hyper, rows)[0]))


def _centre_prior(hyper: Hyper, moments: Moments) -> tuple[FloatArray, float]:
    """Return the prior precision of mu and the log-determinant of its covariance."""
    p, levels = moments.p, moments.outputs
    precision = np.zeros(p)
    precision[levels:] = 1 / hyper.slope_variances
    return np.diag(precision), float(np.log(hyper.slope_variances).sum())


# --- the families: how log-variances make L ---------------------------------------------------


@dataclass(frozen=True)
class Family:
    """Which entries of the diagonal of T are free, and which of them share one variance.

    `groups` takes the number of columns of the design and returns the number of each column's
    variance, -1 for none. All linear predictors of a row share the variance of a column, so no
    class is treated differently.
    """

    name: str
    groups: Callable[[int], IntArray]

    def of(self, moments: Moments) -> IntArray:
        """Return the number of each coordinate's variance (p,)."""
        return np.repeat(self.groups(moments.p // moments.outputs), moments.outputs)


def _nothing(columns: int) -> IntArray:
    """No coefficient varies."""
    return np.full(columns, -1)


def _intercept_only(columns: int) -> IntArray:
    """Only the intercept varies."""
    return np.where(np.arange(columns) == 0, 0, -1)


def _one_slope_variance(columns: int) -> IntArray:
    """All slopes share one variance."""
    return np.where(np.arange(columns) == 0, 0, 1)


def _each_its_own(columns: int) -> IntArray:
    """Every coefficient has its own variance."""
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
    relative: FloatArray | None = None,
    optima: Optima | None = None,
) -> Hyper:
    """Return the variances of a diagonal family that maximise evidence times prior.

    `simpler` is a fit with one variance for all slopes, around which those of the slopes scatter.
    `start` are the variances where the search starts, by default those of `simpler`. `steps` are
    those of the optimiser at most. `relative` (K,) are known ratios of noise variances, by default
    one for every dataset. With `optima` they are found to the last digits, from the optimum before
    if there is one.

    With very many datasets a random part of them is used (`models.effort`).
    """
    ratios = np.ones(moments.shape) if relative is None else relative
    some = None if isinstance(moments, RowMoments) else some_datasets(moments.shape[0])
    if some is not None:
        part = fit_variances(moments[some], family, simpler, start, steps, ratios[some], optima)
        return replace(part, relative=ratios)
    task = _VarianceFit.of(moments, family, simpler, ratios)
    theta = task.start(simpler if start is None else start)
    options = {"maxiter": steps, "ftol": OBJECTIVE_CLOSE, "gtol": GRADIENT_CLOSE}
    if optima is not None:
        name = family.name if relative is None else f"{family.name}, own noise"
        return task.hyper(optima.find(name, task.objective, theta, task.bounds, options))
    found = minimize(
        task.objective, theta, jac=True, method="L-BFGS-B", bounds=task.bounds, options=options
    )
    return task.hyper(found.x)


@dataclass(frozen=True, eq=False)
class _VarianceFit:
    """What `fit_variances` minimises over theta, the logarithms of the variances.

    theta is (noise, lambda, spreads (count,), ratios of the centre's slope variances to lambda);
    only classes have the ratios.

    Parameters
    ----------
    groups : array (p,)
        Number of each coordinate's spread, -1 for none.
    relative : array (K,)
        Known ratios of the datasets' noise variances.
    centres, widths, bounds
        Of the normal prior on theta, and hard bounds.
    """

    moments: Moments
    groups: IntArray
    relative: FloatArray
    centres: FloatArray
    widths: FloatArray
    bounds: list[tuple[float, float]]

    @classmethod
    def of(
        cls, moments: Moments, family: Family, simpler: Hyper | None, relative: FloatArray
    ) -> "_VarianceFit":
        """Set up priors and bounds; `simpler` and `relative` as in `fit_variances`."""
        outputs, groups = moments.outputs, family.of(moments)
        count = int(groups.max()) + 1
        centres, widths, bounds = variance_priors(moments, count)
        if simpler is not None and count > 2:
            common = np.sum(simpler.L**2, axis=1)[::outputs]
            centres[2 : 2 + count] = np.log(np.clip(common, *SPREAD_BOUNDS))
            widths[3:] = SLOPE_SCATTER
        if moments.unit_noise:
            ratios = np.zeros(moments.p // outputs - 1)
            centres = np.concatenate([centres, ratios])
            widths = np.concatenate([widths, ratios + CENTRE_SCATTER])
            bounds = [*bounds, *[RATIO_BOUNDS] * len(ratios)]
        return cls(moments, groups, relative, centres, widths, bounds)

    # The objective is asked some hundred times for each table, so what stays is found once.

    @cached_property
    def count(self) -> int:
        """Number of spreads."""
        return int(self.groups.max()) + 1

    @cached_property
    def active(self) -> IntArray:
        """Coordinates that have a spread."""
        return np.nonzero(self.groups >= 0)[0]

    @cached_property
    def active_groups(self) -> IntArray:
        """Number of the spread of each of them."""
        return self.groups[self.active]

    @cached_property
    def spreads(self) -> slice:
        """Where theta holds the spreads."""
        return slice(2, 2 + self.count)

    @cached_property
    def ratios(self) -> slice:
        """Where theta holds the ratios."""
        return slice(2 + self.count, None)

    def hyper(self, theta: FloatArray) -> Hyper:
        """Return the variances of theta."""
        p, outputs = self.moments.p, self.moments.outputs
        active = self.active
        spread = np.exp(theta[self.spreads])[self.active_groups]
        L = np.zeros((p, len(active)))
        L[active, np.arange(len(active))] = np.sqrt(spread)
        ratios = theta[self.ratios]
        slopes = np.full(p // outputs - 1, theta[1])
        slopes[: len(ratios)] += ratios
        return Hyper(float(np.exp(theta[0])), L, np.repeat(np.exp(slopes), outputs), self.relative)

    def objective(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return minus the log of evidence times prior, and its gradient."""
        hyper = self.hyper(theta)
        deviation = (theta - self.centres) / self.widths
        if isinstance(self.moments, RowMoments):
            value, noise, centre, squares = row_gradient(
                self.moments, _variances_of(hyper, self.moments)
            )
            centre, squares = centre[self.moments.outputs :], squares[self.active]
        else:
            post = posterior(self.moments, hyper)
            value = post.log_evidence
            noise, centre, squares = expected_squares(self.moments, hyper, post)
        value = -value + 0.5 * float(deviation @ deviation)
        gradient = np.empty_like(theta)
        gradient[0] = noise
        gradient[1] = centre.sum()
        gradient[self.spreads] = np.bincount(self.active_groups, squares, minlength=self.count)
        if self.moments.unit_noise:
            gradient[self.ratios] = centre.reshape(-1, self.moments.outputs).sum(axis=1)
        return value, -gradient + deviation / self.widths

    def start(self, hyper: Hyper | None) -> FloatArray:
        """Return theta of given variances; of none the centre of the prior."""
        theta = self.centres.copy()
        if hyper is None:
            return theta
        active = self.active
        spread = np.sum(hyper.L**2, axis=1)[active]
        known = spread > 0
        theta[0] = np.log(hyper.noise)
        slopes = np.log(hyper.slope_variances[:: self.moments.outputs])
        theta[1] = np.median(slopes) if len(slopes) else theta[1]
        theta[self.ratios] = (slopes - theta[1])[: len(theta[self.ratios])]
        theta[2 + self.groups[active[known]]] = np.log(np.clip(spread[known], *SPREAD_BOUNDS))
        return theta


def expected_residuals(moments: Moments, hyper: Hyper, post: Posterior) -> FloatArray:
    """Return the expected residual sum of squares of each dataset (K,), noise included."""
    U, J, UJ = post.parts.U, post.parts.J, post.parts.UJ
    own = post.z.shape[1] - np.einsum("kmm->k", J)
    H = post.parts.Gt - np.matmul(UJ, np.swapaxes(U + UJ, -1, -2))
    centre = linalg.trace_product(H, post.C)
    residual: FloatArray = moments.sse(post.beta) + hyper.noise * hyper.relative * (own + centre)
    return residual


def expected_squares(
    moments: Moments, hyper: Hyper, post: Posterior
) -> tuple[float, FloatArray, FloatArray]:
    """Return the gradient of the log evidence by log noise, log centre variances, log spreads."""
    p, (K, m) = moments.p, post.z.shape
    J, UJ = post.parts.J, post.parts.UJ
    # Second moment of z: its posterior variance, the part from the uncertain centre, its mean.
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
