"""Join, apart or undecided: a verdict on two datasets, or two clusters, at a stated level.

===========  =====================================================================  ============
symbol       meaning                                                                shape
===========  =====================================================================  ============
G, n         Gram matrix and rows of a side (a dataset, or a cluster's sum)         (..., p, p)
r, nu        rank of G; residual degrees of freedom within the side's datasets      (...,)
s2           residual variance of a side, rss / nu                                  (...,)
A            sum of weight_k W_k: b'Ab is the side's weighted in-sample error       (..., p, p)
own          tr(A G^+): error of the side's own fit per unit of noise               (...,)
Gc, N, rc    of the union: G1 + G2, n1 + n2, rank                                   (..., p, p)
d            beta1 - beta2                                                          (..., p)
B            G2 Gc^+ A1 Gc^+ G2 + G1 Gc^+ A2 Gc^+ G1: d'Bd is the bias of joining   (..., p, p)
K            root of B, B = K'K                                                     (..., p, p)
rho          noise ratio sigma1^2 / sigma2^2                                        (..., R)
e            eigenvalues of K (rho G1^+ + G2^+) K'; e_1 is the largest               (..., R, p)
c            rho tr(B G1^+) and tr(B G2^+), shares of the estimated variance of Kd  (..., R)
m            true d'Bd / sigma2^2; at the mass m0 (or m_rd) joining gains nothing   (..., R)
Q            d'Bd / (s2_1 tr(B G1^+) + s2_2 tr(B G2^+)), the statistic              (...,)
===========  =====================================================================  ============

**What is decided.** Joining lowers the variance and adds the bias delta'B delta, delta being the
true difference. Given the designs the expected gain, averaged over the rows at hand, is

    gain = sigma2^2 (m0 - m),   m0 = rho own1 + own2 - tr((A1 + A2) Gc^+ (rho G1 + G2) Gc^+),

and over new designs the variances grow by n/(n - r - 1), which replaces m0 by

    m_rd = rho own1 n1/(n1-r1-1) + own2 n2/(n2-r2-1)
           - N/(N-rc-1) tr((A1 + A2) Gc^+ (rho G1 + G2) Gc^+),

infinite where n_k <= r_k + 1.

**The law.** With Gaussian noise and all of m along the top eigenvector, Q is distributed as

    T(m) = [(sqrt(e_1) z_1 + sqrt(m))^2 + sum_{i>1} e_i z_i^2] / sum_j c_j chi2_{nu_j}/nu_j.

That direction is the least favourable one for both tails (seen numerically, not proved). JOIN is
said if P(T(m0) <= Q) is at most the level, APART if P(T(m_rd) >= Q) is.

**The designs' share.** delta'B delta given the designs varies around its mean over designs: with
Gaussian features the bias on side k follows chi2_{n_k}/n_k. A small side may by chance look far
more biased than it is on average, so APART takes sqrt(m) to be normal with the variance this gives
it, `sway` m, which adds to e_1.

**The targets.** A false JOIN is one where the gain *given the designs*, on the rows at hand, is
negative; a false APART is one where the gain *expected over new designs* is positive. Each happens
with probability at most delta, the first exactly under Gaussian noise, the second nearly so: it
rests on light-tailed features (normal or bounded ones, say).

**Unequal noise.** rho is unknown. A share of delta pays for an F interval of rho, and a verdict is
given only if it holds at every rho of a grid over that interval at the remaining level.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import fdtri, gammaincinv, ndtri

from conjoin import linalg
from conjoin._typing import BoolArray, FloatArray
from conjoin.criterion.law import ratio_probability
from conjoin.criterion.risk import cluster_errors, noise_variances
from conjoin.models.ols import fit_ols
from conjoin.moments import Moments

# Shares of delta spent on the interval of rho and, for the gain's interval, on the noise scale.
RATIO_SHARE, SCALE_SHARE = 0.02, 0.1
# Points on the grid of rho, and the widest step in log rho that they may leave.
GRID, GRID_STEP = 7, 0.7
# Residuals below this share of the target's squares are rounding, not noise.
ROUNDING = 1e-13
# Largest growth of the rows that `rows_to_settle` looks at.
GROWTH = 1000.0

Answer = Literal["join", "apart", "undecided"]


@dataclass(frozen=True)
class Verdict:
    """What is known about joining two datasets or clusters.

    Attributes
    ----------
    verdict : "join", "apart" or "undecided"
        "join" when the gain given the designs is shown to be positive, "apart" when the gain
        expected over new designs is shown to be negative, each wrong with probability at most
        `delta`.
    gain : float
        Estimate of the out-of-sample gain of joining: weighted error of the separate fits minus
        that of the joint fit. Infinite where a side has too few rows for a finite error of its
        own, nan where the joint fit has too few as well. Its bias part is estimated without bias
        and may come out negative, so that the gain can exceed the upper end of the interval.
    interval : (float, float)
        Lower and upper end for the gain in squared units of the target, each one-sided at
        confidence 1 - delta; the lower is for the gain given the designs, the upper for the gain
        over new ones. The lower end is >= 0 exactly for "join", the upper <= 0 exactly for
        "apart".
    delta : float
        The level.
    """

    verdict: Answer
    gain: float
    interval: tuple[float, float]
    delta: float


# --- The two sides --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Side:
    """One side of a comparison, reduced to what the verdict reads; leading axes are batch axes."""

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
        s2 = cluster_noise(moments.sse(beta), moments.q, nu)
        A = weight * moments.W
        return cls(moments.G, inverse, beta, rank.astype(float), moments.n, A, s2, nu)

    @classmethod
    def cluster(cls, moments: Moments, weights: FloatArray) -> "Side":
        """Return one cluster of datasets (K,) as a side; noise from residuals within datasets."""
        fit, joint = fit_ols(moments), moments.union()
        inverse, rank = linalg.inverse_and_rank(joint.G)
        df = moments.n - fit.rank
        nu = np.sum(df)
        s2 = cluster_noise(np.sum(np.where(df > 0, fit.rss, 0.0)), joint.q, nu)
        A = np.sum(weights[:, None, None] * moments.W, axis=0)
        beta = linalg.matvec(inverse, joint.h)
        return cls(joint.G, inverse, beta, np.asarray(float(rank)), joint.n, A, s2, nu)

    def grown(self, factor: FloatArray) -> "Side":
        """Return the side with `factor` (F,) times the rows, coefficients and noise as observed."""
        by = factor[:, None, None]
        n = factor * self.n
        nu = self.nu + n - self.n
        spread = [np.broadcast_to(x, factor.shape + x.shape) for x in (self.beta, self.A)]
        rank, s2 = np.full_like(n, self.rank), np.full_like(n, self.s2)
        return Side(self.G * by, self.inverse / by, spread[0], rank, n, spread[1], s2, nu)


def cluster_noise(rss: FloatArray, q: FloatArray, nu: FloatArray) -> FloatArray:
    """Return rss / nu, at least the size of rounding; one where there is no residual."""
    least = np.maximum(ROUNDING * q, np.finfo(float).tiny * 1e20)
    noise: FloatArray = np.where(nu > 0, np.maximum(rss, least) / np.where(nu > 0, nu, 1.0), 1.0)
    return noise


# --- The tests ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Comparison:
    """The two tests over the grid of rho; see the module's symbol table."""

    e: FloatArray
    joining: FloatArray  # m0
    parting: FloatArray  # m_rd
    denominators: list[tuple[FloatArray, FloatArray]]
    Q: FloatArray
    level: float
    pooled: FloatArray  # estimate of sigma2^2 if the noise ratio is rho
    nu: FloatArray  # its degrees of freedom
    known: BoolArray  # whether anything can be said
    sway: FloatArray  # variance of sqrt(m) over designs, relative to m; only parting counts it

    @classmethod
    def of(cls, one: Side, two: Side, delta: float, equal_noise: bool) -> "Comparison":
        """Set up both tests for a stack of pairs of sides."""
        Gc = one.G + two.G
        inverse, rank = linalg.inverse_and_rank(Gc)
        rc = rank.astype(float)
        Z1, Z2 = inverse @ one.G, inverse @ two.G
        B1 = np.swapaxes(Z2, -1, -2) @ one.A @ Z2
        B2 = np.swapaxes(Z1, -1, -2) @ two.A @ Z1
        B = B1 + B2
        K = linalg.square_root(B)
        Kt = np.swapaxes(K, -1, -2)
        C1, C2 = (linalg.symmetrise(K @ side.inverse @ Kt) for side in (one, two))
        t1, t2 = (np.trace(C, axis1=-2, axis2=-1) for C in (C1, C2))
        A = inverse @ (one.A + two.A) @ inverse
        joint1, joint2 = (linalg.trace_product(A, side.G) for side in (one, two))
        own1, own2 = (linalg.trace_product(side.A, side.inverse) for side in (one, two))
        shared = t1 + t2 > 1e-9 * (own1 + own2)
        distance = linalg.quadratic(one.beta - two.beta, B)
        share = linalg.trace_product(B1, one.inverse + two.inverse) / np.where(shared, t1 + t2, 1.0)

        nu = one.nu + two.nu
        known = shared & ((nu >= 1) if equal_noise else (np.minimum(one.nu, two.nu) >= 1))
        nu1, nu2, nu = (np.where(known, x, 1.0) for x in (one.nu, two.nu, nu))
        denominators: list[tuple[FloatArray, FloatArray]]
        rho: FloatArray
        if equal_noise:
            level, rho = delta, np.ones((*nu.shape, 1))
            variance = _pooled(one, two, rho, nu)[..., 0] * (t1 + t2)
            denominators = [((t1 + t2)[..., None], nu[..., None])]
        else:
            gamma = RATIO_SHARE * delta
            level, rho = delta - gamma, _noise_ratios(one, two, nu1, nu2, gamma)
            variance = one.s2 * t1 + two.s2 * t2
            denominators = [(rho * t1[..., None], nu1[..., None]), (t2[..., None], nu2[..., None])]
        spread = rho[..., None, None] * C1[..., None, :, :] + C2[..., None, :, :]
        new1, new2, newc = (
            _new_rows(n, r) for n, r in ((one.n, one.rank), (two.n, two.rank), (one.n + two.n, rc))
        )
        return cls(
            e=np.maximum(np.linalg.eigvalsh(spread), 0.0),
            joining=rho * (own1 - joint1)[..., None] + (own2 - joint2)[..., None],
            parting=rho * _less(own1 * new1, joint1 * newc)[..., None]
            + _less(own2 * new2, joint2 * newc)[..., None],
            denominators=denominators,
            Q=distance / np.where(known, variance, 1.0),
            level=level,
            pooled=_pooled(one, two, rho, nu),
            nu=nu,
            known=known,
            sway=(share**2 / one.n + (1 - share) ** 2 / two.n) / 2,
        )

    def below(self, m: FloatArray) -> FloatArray:
        """Return P(T(m) <= Q) for masses (2, ..., R), the first for joining, then for parting."""
        e = np.stack([self.e, self.e])
        e[1, ..., -1] += self.sway[..., None] * m[1]
        return ratio_probability(e, m, self.denominators, self.Q[..., None])

    def decide(self) -> tuple[BoolArray, BoolArray]:
        """Return where to join and where to keep apart."""
        finite = np.isfinite(self.parting)
        masses = np.stack([self.joining, np.where(finite, self.parting, 0.0)])
        below = self.below(np.maximum(masses, 0.0))
        # A negative mass leaves nothing to refute: at such a rho joining can only lose.
        join = (self.joining >= 0) & (below[0] <= self.level)
        apart = finite & ((self.parting < 0) | (1 - below[1] <= self.level))
        join, apart = (np.all(x, axis=-1) & self.known for x in (join, apart))
        return join & ~apart, apart & ~join


def _noise_ratios(
    one: Side, two: Side, nu1: FloatArray, nu2: FloatArray, gamma: float
) -> FloatArray:
    """Return a log grid (..., R) over the F interval of rho at confidence 1 - gamma."""
    ratio = np.log(one.s2) - np.log(two.s2)
    low = ratio - np.log(fdtri(nu1, nu2, 1 - gamma / 2))
    high = ratio + np.log(fdtri(nu2, nu1, 1 - gamma / 2))
    points = max(GRID, 1 + int(np.ceil(np.max(high - low, initial=0.0) / GRID_STEP)))
    steps = np.linspace(0.0, 1.0, points)
    grid: FloatArray = np.exp(low[..., None] + (high - low)[..., None] * steps)
    return grid


def _new_rows(n: FloatArray, rank: FloatArray) -> FloatArray:
    """Return n/(n - r - 1), by how much variance is larger at new rows; infinite for few rows."""
    left = n - rank - 1
    return np.where(left > 0, n / np.where(left > 0, left, 1.0), np.inf)


def _less(own: FloatArray, joint: FloatArray) -> FloatArray:
    """Return own - joint, infinite where either error is: then nothing speaks for parting."""
    known = np.isfinite(own) & np.isfinite(joint)
    return np.where(known, own - np.where(known, joint, 0.0), np.inf)


def _pooled(one: Side, two: Side, rho: FloatArray, nu: FloatArray) -> FloatArray:
    """Return the estimate (..., R) of sigma2^2 from both sides' residuals if the ratio is rho."""
    rss1, rss2 = (np.maximum(side.nu, 0.0) * side.s2 for side in (one, two))
    pooled: FloatArray = (rss1[..., None] / rho + rss2[..., None]) / nu[..., None]
    return pooled


def decide(
    one: Side, two: Side, *, delta: float = 0.1, equal_noise: bool = False
) -> tuple[BoolArray, BoolArray]:
    """Return (join, apart) for a stack of pairs of sides."""
    return Comparison.of(one, two, delta, equal_noise).decide()


# --- The interval ---------------------------------------------------------------------------------


def _crossing(tests: Comparison, targets: FloatArray) -> FloatArray:
    """Return the m (2, ..., R) at which P(T(m) <= Q) falls to each target (2,); 0 if it is below.

    Regula falsi (Anderson and Bjorck) on the probit of the probability as a function of
    x = sqrt(m + offset), which is nearly a straight line: its slope is over the spread of T.
    """
    goal = ndtri(targets).reshape((2,) + (1,) * tests.joining.ndim)

    def excess(x: FloatArray) -> FloatArray:
        below = tests.below(np.maximum(x**2 - offset, 0.0))
        return ndtri(np.clip(below, 1e-15, 1 - 1e-15)) - goal

    c = np.sum(np.stack(np.broadcast_arrays(*(c for c, _ in tests.denominators))), axis=0)
    top = tests.e.max(axis=-1)
    offset = np.sum(tests.e**2, axis=-1) / (2 * np.where(top > 0, top, 1.0))
    scale = np.sqrt(tests.e.sum(axis=-1) + tests.Q[..., None] * c + offset)
    low, high = (np.stack([x, x]) for x in (np.sqrt(offset), scale))
    at_low, at_high = excess(low), excess(high)
    never = at_low <= 0
    for _ in range(60):
        short = (at_high > 0) & ~never
        if not np.any(short):
            break
        low, at_low = np.where(short, high, low), np.where(short, at_high, at_low)
        high = np.where(short, 2 * high, high)
        at_high = np.where(short, excess(high), at_high)
    x, found = low, never.copy()
    for _ in range(40):
        flat = at_low == at_high
        share = np.where(flat, 0.5, at_low / np.where(flat, 1.0, at_low - at_high))
        x = np.where(found, x, low + np.clip(share, 0.0, 1.0) * (high - low))
        at_x = excess(x)
        found |= (np.abs(at_x) < 1e-5) | (high - low < 1e-7 * scale)
        if np.all(found):
            break
        up = at_x > 0
        # An end that stays has its value shrunk, or the secant creeps up to the other one.
        kept, left = np.where(up, at_high, at_low), np.where(up, at_low, at_high)
        shrink = 1 - at_x / np.where(left == 0, 1.0, left)
        kept = kept * np.where(shrink > 0.1, shrink, 0.5)
        at_low, at_high = np.where(up, at_x, kept), np.where(up, kept, at_x)
        low, high = np.where(up, x, low), np.where(up, high, x)
    return np.where(never, 0.0, np.maximum(x**2 - offset, 0.0))


def gain_ends(
    tests: Comparison,
    delta: float,
    join: BoolArray,
    apart: BoolArray,
    stretch: FloatArray | float = 1.0,
) -> tuple[FloatArray, FloatArray]:
    """Return the ends for the gain sigma2^2 (mass - m), the worst over rho and the noise scale.

    `stretch` (...,) is a factor for m where joining is known to cost more than moments say.

    m is bounded by inverting the test, sigma2^2 by the residuals given rho: for the true rho their
    sum is independent of their ratio. The level is shared between the two; where the sign is
    certain at the verdict's level but the value is not at the remaining one, the end is zero.
    """
    gamma = SCALE_SHARE * delta
    level = tests.level - gamma
    if not np.any(tests.known):
        return np.full(join.shape, -np.inf), np.full(join.shape, np.inf)
    most, least = _crossing(tests, np.array([level, 1 - level]))
    half = tests.nu[..., None] / 2
    small, large = (half * tests.pooled / gammaincinv(half, x) for x in (1 - gamma, gamma))
    factor = np.asarray(stretch)[..., None]
    lower, upper = tests.joining - factor * most, tests.parting - factor * least
    low = np.min(lower * np.where(lower > 0, small, large), axis=-1)
    high = np.max(upper * np.where(upper > 0, large, small), axis=-1)
    tiny = 1e-30  # in place of zero, so that the sign tells; short floats of a file can hold it
    low = np.where(join, np.maximum(low, 0.0), np.minimum(low, -tiny))
    high = np.where(apart, np.minimum(high, 0.0), np.maximum(high, tiny))
    low = np.where(tests.known, low, -np.inf)
    return low, np.where(tests.known, np.maximum(low, high), np.inf)


def _answer(
    one: Side, two: Side, delta: float, equal_noise: bool, interval: bool
) -> tuple[Answer, tuple[float, float]]:
    """Return the verdict and the interval for one pair of sides."""
    tests = Comparison.of(one, two, delta, equal_noise)
    join, apart = tests.decide()
    answer: Answer = "join" if join else "apart" if apart else "undecided"
    if not interval:
        return answer, (0.0 if join else -np.inf, 0.0 if apart else np.inf)
    low, high = gain_ends(tests, delta, join, apart)
    return answer, (float(low), float(high))


# --- What callers use -----------------------------------------------------------------------------


def judge(
    one: Moments,
    two: Moments,
    *,
    delta: float = 0.1,
    weights: tuple[float, float] = (0.5, 0.5),
    equal_noise: bool = False,
    noise: FloatArray | None = None,
    interval: bool = True,
) -> Verdict:
    """Judge two datasets.

    Parameters
    ----------
    one, two : Moments
        Of one dataset each, without batch axes.
    delta : float
        Level of the verdict and of either end of the interval.
    weights : two floats
        How much the error of each dataset counts.
    equal_noise : bool
        Take both datasets to have the same noise variance: sharper, and wrong where they have not.
    noise : array (2,), optional
        Noise variances for the estimate of the gain. The verdict always takes the residuals'.
    interval : bool
        Compute the interval; otherwise it says only what the verdict implies.

    Returns
    -------
    Verdict
        "undecided" also where a dataset has no residual degrees of freedom, or where the two share
        no direction, so that joining changes neither fit.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((2, 200, 8))
    >>> y = X.sum(axis=-1) + rng.standard_normal((2, 200))
    >>> judge(*(Moments.from_rows(X[k], y[k]) for k in range(2))).verdict
    'join'
    >>> judge(*(Moments.from_rows(X[k], y[k] * (-1) ** k) for k in range(2))).verdict
    'apart'
    """
    answer, ends = _answer(
        Side.dataset(one, weights[0]), Side.dataset(two, weights[1]), delta, equal_noise, interval
    )
    sides = [Moments.stack([moments]) for moments in (one, two)]
    gain = own_minus_joint(sides, [np.array([weight]) for weight in weights], noise)
    return Verdict(answer, gain, ends, delta)


def judge_merge(
    left: Moments,
    right: Moments,
    *,
    delta: float = 0.1,
    weights: tuple[FloatArray, FloatArray] | None = None,
    interval: bool = False,
) -> Verdict:
    """Judge the merge of two clusters of datasets.

    A cluster enters by its joint fit; its noise, one variance per cluster, comes from the residuals
    of its datasets' own fits. The verdict is exact where the clusters are homogeneous inside, or
    where weights are proportional to rows: otherwise the gain also depends on how the joint fit of
    a cluster misses its own datasets, which is neglected.

    The level holds for a merge chosen beforehand. For the best one of many, as an agglomeration
    picks it, false joins are more frequent than delta says.

    Parameters
    ----------
    left, right : Moments (K1,), (K2,)
        The datasets of the two clusters.
    delta, interval
        As in `judge`.
    weights : arrays (K1,) and (K2,), optional
        How much the error of each dataset counts; by default all the same, in sum 1.
    """
    if weights is None:
        K1, K2 = len(left.q), len(right.q)
        weights = (np.full(K1, 1 / (K1 + K2)), np.full(K2, 1 / (K1 + K2)))
    one, two = Side.cluster(left, weights[0]), Side.cluster(right, weights[1])
    answer, ends = _answer(one, two, delta, False, interval)
    return Verdict(answer, own_minus_joint([left, right], list(weights), None), ends, delta)


def own_minus_joint(
    sides: list[Moments], weights: list[FloatArray], noise: FloatArray | None
) -> float:
    """Return the estimated error of the sides' own fits minus that of the joint fit."""
    left, right = sides
    both = Moments.concatenate(sides)
    noise = noise_variances(both) if noise is None else np.asarray(noise, dtype=np.float64)
    K1 = len(left.q)
    own = np.concatenate([cluster_errors(left, noise[:K1]), cluster_errors(right, noise[K1:])])
    joint = cluster_errors(both, noise)
    if np.any(np.isinf(own)):
        # Without any residual the joint error is unknown, yet finite as soon as rows suffice.
        return float("nan") if np.any(np.isinf(joint)) else float("inf")
    return float(np.concatenate(weights) @ (own - joint))


def rows_to_settle(
    one: Moments,
    two: Moments,
    *,
    delta: float = 0.1,
    weights: tuple[float, float] = (0.5, 0.5),
    equal_noise: bool = False,
) -> float | None:
    """Return by what factor both datasets would have to grow for a verdict.

    Coefficients, designs and noise stay as observed, only the rows multiply. The answer is 1.0 for
    a pair already decided, and None if a thousandfold would not do or a dataset has no residual
    from which to know its noise.
    """
    sides = Side.dataset(one, weights[0]), Side.dataset(two, weights[1])
    if min(side.nu for side in sides) < 1:
        return None
    low, high = 1.0, GROWTH
    for _ in range(3):
        factors = np.geomspace(low, high, 40)
        join, apart = decide(
            *(side.grown(factors) for side in sides), delta=delta, equal_noise=equal_noise
        )
        settled = np.flatnonzero(join | apart)
        if not len(settled):
            return None
        first = int(settled[0])
        if first == 0:
            return float(factors[0])
        low, high = factors[first - 1], factors[first]
    return float(high)
