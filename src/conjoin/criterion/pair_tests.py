"""The two tests behind a verdict: does joining two sides lower the error, or does it raise it.

Two sides (`criterion.side`) and a level enter; where to join and where to keep apart leaves.

===========  =====================================================================  ============
symbol       meaning                                                                shape
===========  =====================================================================  ============
G, n         Gram matrix and rows of a side (a dataset, or a cluster's sum)         (..., p, p)
r, nu        rank of G; residual degrees of freedom within the side's datasets      (...,)
s2           residual variance of a side, rss / nu                                  (...,)
A            sum of weight_k W_k: b'Ab is the side's weighted in-sample error       (..., p, p)
own          tr(A G^+): error of the side's own fit per unit of noise               (...,)
joint        tr((A1 + A2) Gc^+ G Gc^+): the joint fit's variance due to a side      (...,)
Gc, N, rc    of the union: G1 + G2, n1 + n2, rank                                   (..., p, p)
d            beta1 - beta2                                                          (..., p)
B            G2 Gc^+ A1 Gc^+ G2 + G1 Gc^+ A2 Gc^+ G1: d'Bd is the bias of joining   (..., p, p)
K            root of B, B = K'K                                                     (..., p, p)
C, t         K G^+ K' of a side and its trace, tr(B G^+)                            (..., p, p)
rho          noise ratio sigma1^2 / sigma2^2                                        (..., R)
e            eigenvalues of rho C1 + C2; e_1 is the largest                         (..., R, p)
c            rho t1 and t2, shares of the estimated variance of Kd                  (..., R)
m            non-centrality, the true d'Bd / sigma2^2                               (..., R)
Q            d'Bd / (s2_1 t1 + s2_2 t2), the statistic                              (...,)
===========  =====================================================================  ============

**What is tested.** Joining lowers the variance and adds the squared bias delta'B delta, where delta
is the true difference of coefficients. Given the designs, the expected gain on the rows at hand is

    gain = sigma2^2 (m0 - m),   m0 = rho own1 + own2 - (rho joint1 + joint2).

Over new designs the variances grow by n/(n - r - 1), which replaces m0 by

    m_new = rho own1 n1/(n1-r1-1) + own2 n2/(n2-r2-1) - (rho joint1 + joint2) N/(N-rc-1),

infinite where n_k <= r_k + 1. At the non-centrality m0 (or m_new) joining changes nothing.

**The distribution.** With Gaussian noise and all of m along the top eigenvector, Q follows

    T(m) = [(sqrt(e_1) z_1 + sqrt(m))^2 + sum_{i>1} e_i z_i^2] / sum_j c_j chi2_{nu_j}/nu_j.

That direction is the least favourable one for both tails; this was checked numerically and is not
proved. The verdict is "join" if P(T(m0) <= Q) is at most the level, "apart" if P(T(m_new) >= Q) is.

**Random designs.** Given the designs, delta'B delta varies around its mean over designs: with
Gaussian features the squared bias on side k follows chi2_{n_k}/n_k. A small side may by chance look
far more biased than it is on average. So the test for "apart" takes sqrt(m) to be normal, with the
variance `sway` m that this gives; the variance is added to e_1.

**Error rates.** A false join is one whose gain *given the designs*, on the rows at hand, is
negative. A false apart is one whose gain *expected over new designs* is positive. Each has a
probability of at most delta. The first statement is exact for Gaussian noise. The second is
approximate: it needs light-tailed features (normal or bounded ones, for example).

**Unequal noise.** rho is unknown. A share of delta pays for an F interval of rho. A verdict must
hold at every rho of a grid over that interval, at the remaining level.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import fdtri

from conjoin import linalg
from conjoin._typing import BoolArray, FloatArray
from conjoin.criterion.law import ratio_probability
from conjoin.criterion.risk import new_row_factor
from conjoin.criterion.side import Side

# Share of delta spent on the interval of rho. A larger share narrows the interval a little and
# leaves less for the tests. Tried on 600 pairs in each of five settings: between 0.005 and 0.05 the
# share of joins at no difference moves by at most 0.02; at 0.2 it falls by up to 0.04.
RATIO_SHARE = 0.02
# Least number of points on the grid of rho, and the widest step in log rho between two of them. The
# probabilities change slowly and mostly in one direction with rho. On 9,000 simulated pairs, grids
# from 2 points (step 3) to 41 points (step 0.1) gave the same verdicts; time grows with the points.
GRID, GRID_STEP = 7, 0.7
# Below this share of the own fits' variance, the variance of Kd is rounding: the two sides have no
# direction in common, and joining changes neither fit.
SHARED = 1e-9


class Geometry(NamedTuple):
    """What the designs and coefficients of a pair of sides say, whatever the noise."""

    inverse: FloatArray  # Gc^+ (..., p, p)
    rc: FloatArray  # rank of the union (...,)
    B1: FloatArray  # the part of B that falls on side one (..., p, p)
    B: FloatArray  # (..., p, p)
    K: FloatArray  # (..., p, p)
    joint: FloatArray  # Gc^+ (A1 + A2) Gc^+ (..., p, p)
    distance: FloatArray  # d'Bd (...,)

    @classmethod
    def of(cls, one: Side, two: Side) -> "Geometry":
        """Compute the table's rows from Gc to K for a stack of pairs of sides."""
        inverse, rank = linalg.inverse_and_rank(one.G + two.G)
        Z1, Z2 = inverse @ one.G, inverse @ two.G
        B1 = np.swapaxes(Z2, -1, -2) @ one.A @ Z2
        B = B1 + np.swapaxes(Z1, -1, -2) @ two.A @ Z1
        return cls(
            inverse=inverse,
            rc=rank.astype(float),
            B1=B1,
            B=B,
            K=linalg.square_root(B),
            joint=inverse @ (one.A + two.A) @ inverse,
            distance=linalg.quadratic(one.beta - two.beta, B),
        )

    def bias_share(self, one: Side, two: Side, total: FloatArray) -> FloatArray:
        """Return the share (...,) of the squared bias that is expected to fall on side one.

        `total` is tr(B (G1^+ + G2^+)), or one where the sides have no direction in common.
        """
        return linalg.trace_product(self.B1, one.inverse + two.inverse) / total


class _Forms(NamedTuple):
    """Traces and matrices of a pair of sides; see the module's symbol table."""

    C1: FloatArray
    C2: FloatArray
    t1: FloatArray
    t2: FloatArray
    own1: FloatArray
    own2: FloatArray
    joint1: FloatArray
    joint2: FloatArray
    rc: FloatArray
    distance: FloatArray  # d'Bd (...,)
    shared: BoolArray  # whether the sides have a direction in common (...,)
    bias_share: FloatArray  # share of the expected squared bias that falls on side one (...,)

    @classmethod
    def of(cls, one: Side, two: Side) -> "_Forms":
        """Compute the table's rows from B to t for a stack of pairs of sides."""
        pair = Geometry.of(one, two)
        K, Kt = pair.K, np.swapaxes(pair.K, -1, -2)
        C1, C2 = (linalg.symmetrise(K @ side.inverse @ Kt) for side in (one, two))
        t1, t2 = (np.trace(C, axis1=-2, axis2=-1) for C in (C1, C2))
        joint1, joint2 = (linalg.trace_product(pair.joint, side.G) for side in (one, two))
        own1, own2 = (linalg.trace_product(side.A, side.inverse) for side in (one, two))
        shared = t1 + t2 > SHARED * (own1 + own2)
        return cls(
            *(C1, C2, t1, t2, own1, own2, joint1, joint2),
            rc=pair.rc,
            distance=pair.distance,
            shared=shared,
            bias_share=pair.bias_share(one, two, np.where(shared, t1 + t2, 1.0)),
        )

    def saved(self, rho: FloatArray) -> FloatArray:
        """Return m0 (..., R), the variance that joining saves on the rows at hand."""
        m0: FloatArray = (
            rho * (self.own1 - self.joint1)[..., None] + (self.own2 - self.joint2)[..., None]
        )
        return m0

    def saved_on_new_rows(self, one: Side, two: Side, rho: FloatArray) -> FloatArray:
        """Return m_new (..., R), the variance that joining saves over new designs."""
        joint = new_row_factor(one.n + two.n, self.rc)
        first = less(times(self.own1, new_row_factor(one.n, one.rank)), times(self.joint1, joint))
        second = less(times(self.own2, new_row_factor(two.n, two.rank)), times(self.joint2, joint))
        m_new: FloatArray = rho * first[..., None] + second[..., None]
        return m_new


class _Noise(NamedTuple):
    """What is taken for the noise of both sides."""

    rho: FloatArray  # grid of noise ratios (..., R)
    level: float  # what is left of delta after the interval of rho is paid for
    variance: FloatArray  # estimated variance of Kd (...,)
    denominators: list[tuple[FloatArray, FloatArray]]  # (c_j, nu_j), each (..., R) or (..., 1)


def _equal_noise(one: Side, two: Side, forms: _Forms, nu: FloatArray, delta: float) -> _Noise:
    """Both sides have the same noise variance: rho is one."""
    rho, total = np.ones((*nu.shape, 1)), forms.t1 + forms.t2
    variance = _pooled_variance(one, two, rho, nu)[..., 0] * total
    return _Noise(rho, delta, variance, [(total[..., None], nu[..., None])])


def _unequal_noise(
    sides: tuple[Side, Side], forms: _Forms, nu1: FloatArray, nu2: FloatArray, delta: float
) -> _Noise:
    """Each side has a noise variance of its own: rho lies on a grid over its F interval."""
    one, two = sides
    spent = RATIO_SHARE * delta
    rho = _noise_ratios(one, two, nu1, nu2, spent)
    variance = one.s2 * forms.t1 + two.s2 * forms.t2
    first = rho * forms.t1[..., None], nu1[..., None]
    second = forms.t2[..., None], nu2[..., None]
    return _Noise(rho, delta - spent, variance, [first, second])


@dataclass(frozen=True, eq=False)
class PairTests:
    """Both tests of a stack of pairs over the grid of rho; see the module's symbol table.

    A first axis of 2 holds the test for "join" and the test for "apart", which may estimate the
    noise differently (`criterion.robust`).

    Parameters
    ----------
    e : array (2, ..., R, p)
    saved, saved_on_new_rows : arrays (..., R)
        m0 and m_new, the non-centralities at which joining changes nothing.
    denominators : list of (c_j, nu_j)
        Coefficients and degrees of freedom of the chi-squares below, each (2, ..., R).
    Q : array (2, ...)
    level : float
        The level of each test.
    pooled, nu : arrays (2, ..., R), (2, ...)
        Estimate of sigma2^2 given rho, and its degrees of freedom.
    known : array of bool (...,)
        Where the data allow a test: noise can be estimated and the sides share a direction.
    sway : array (...,)
        Variance of sqrt(m) over designs, relative to m. Only the test for "apart" uses it.
    """

    e: FloatArray
    saved: FloatArray
    saved_on_new_rows: FloatArray
    denominators: list[tuple[FloatArray, FloatArray]]
    Q: FloatArray
    level: float
    pooled: FloatArray
    nu: FloatArray
    known: BoolArray
    sway: FloatArray

    @classmethod
    def of(cls, one: Side, two: Side, delta: float, equal_noise: bool) -> "PairTests":
        """Set up both tests for a stack of pairs of sides."""
        forms = _Forms.of(one, two)
        nu = one.nu + two.nu
        enough = (nu >= 1) if equal_noise else (np.minimum(one.nu, two.nu) >= 1)
        known = forms.shared & enough
        nu1, nu2, nu = (np.where(known, x, 1.0) for x in (one.nu, two.nu, nu))
        if equal_noise:
            noise = _equal_noise(one, two, forms, nu, delta)
        else:
            noise = _unequal_noise((one, two), forms, nu1, nu2, delta)
        rho, share = noise.rho, forms.bias_share
        spread = rho[..., None, None] * forms.C1[..., None, :, :] + forms.C2[..., None, :, :]
        return cls(
            e=_for_both(np.maximum(np.linalg.eigvalsh(spread), 0.0)),
            saved=forms.saved(rho),
            saved_on_new_rows=forms.saved_on_new_rows(one, two, rho),
            denominators=[
                (_for_both(np.broadcast_to(c, rho.shape)), _for_both(np.broadcast_to(x, rho.shape)))
                for c, x in noise.denominators
            ],
            Q=_for_both(forms.distance / np.where(known, noise.variance, 1.0)),
            level=noise.level,
            pooled=_for_both(_pooled_variance(one, two, rho, nu)),
            nu=_for_both(nu),
            known=known,
            sway=(share**2 / one.n + (1 - share) ** 2 / two.n) / 2,
        )

    def below(self, m: FloatArray) -> FloatArray:
        """Return P(T(m) <= Q) for m (2, ..., R): first the test for "join", then for "apart"."""
        e = self.e.copy()
        e[1, ..., -1] += self.sway[..., None] * m[1]
        return ratio_probability(e, m, self.denominators, self.Q[..., None])

    def p_values(self) -> FloatArray:
        """Return the p-values (2, ...) of the tests for "join" and for "apart", one if unknown.

        They are the largest over the grid of rho. The interval of rho is not paid for.
        """
        finite = np.isfinite(self.saved_on_new_rows)
        m = np.stack([self.saved, np.where(finite, self.saved_on_new_rows, 0.0)])
        below = self.below(np.maximum(m, 0.0))
        # Where joining saves no variance at some rho, it can only lose there: no join at that rho,
        # and "apart" needs no test.
        join = np.where(self.saved >= 0, below[0], 1.0)
        apart = np.where(self.saved_on_new_rows < 0, 0.0, 1 - below[1])
        apart = np.where(finite, apart, 1.0)
        p = np.stack([np.max(join, axis=-1), np.max(apart, axis=-1)])
        return np.where(self.known, p, 1.0)

    def decide(self) -> tuple[BoolArray, BoolArray]:
        """Return where to join and where to keep apart, (...,) each."""
        return self.decide_by(self.p_values())

    def decide_by(self, p_values: FloatArray) -> tuple[BoolArray, BoolArray]:
        """Return the same from the tests' p-values (2, ...)."""
        join, apart = (p_values <= self.level) & self.known
        return join & ~apart, apart & ~join


def _for_both(values: FloatArray) -> FloatArray:
    """Return values (...) for both tests, (2, ...)."""
    return np.stack([values, values])


def _noise_ratios(
    one: Side, two: Side, nu1: FloatArray, nu2: FloatArray, alpha: float
) -> FloatArray:
    """Return a log grid (..., R) over the F interval of rho at confidence 1 - alpha."""
    ratio = np.log(one.s2) - np.log(two.s2)
    low = ratio - np.log(fdtri(nu1, nu2, 1 - alpha / 2))
    high = ratio + np.log(fdtri(nu2, nu1, 1 - alpha / 2))
    points = max(GRID, 1 + int(np.ceil(np.max(high - low, initial=0.0) / GRID_STEP)))
    steps = np.linspace(0.0, 1.0, points)
    grid: FloatArray = np.exp(low[..., None] + (high - low)[..., None] * steps)
    return grid


def times(variance: FloatArray, factor: FloatArray) -> FloatArray:
    """Return variances (..., B) times factors (B,) that may be infinite; zero stays zero."""
    factors = np.broadcast_to(factor, variance.shape)
    return np.multiply(variance, factors, out=np.zeros(variance.shape), where=variance != 0)


def less(own: FloatArray, joint: FloatArray) -> FloatArray:
    """Return own - joint, infinite where either is: such a pair is never kept apart."""
    known = np.isfinite(own) & np.isfinite(joint)
    return np.where(known, own - np.where(known, joint, 0.0), np.inf)


def _pooled_variance(one: Side, two: Side, rho: FloatArray, nu: FloatArray) -> FloatArray:
    """Return the estimate (..., R) of sigma2^2 from both sides' residuals if the ratio is rho."""
    rss1, rss2 = (np.maximum(side.nu, 0.0) * side.s2 for side in (one, two))
    pooled: FloatArray = (rss1[..., None] / rho + rss2[..., None]) / nu[..., None]
    return pooled


def decide(
    one: Side, two: Side, *, delta: float = 0.1, equal_noise: bool = False
) -> tuple[BoolArray, BoolArray]:
    """Return where to join and where to keep apart, for a stack of pairs of sides."""
    return PairTests.of(one, two, delta, equal_noise).decide()
