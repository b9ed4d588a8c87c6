r"""The paper's Algorithm 1: join where phi > psi, with its constants as published.

Two units (datasets, or datasets already joined) enter; phi, psi and a score of the pair leave.
Notation follows the paper's appendix "Replacing Parameters with Estimators".

==========  =====================================================================
symbol      meaning
==========  =====================================================================
a           log(1/delta); Algorithm 2 puts the hyper-parameter alpha here
delta       confidence level in the terms (1 + delta); it stays fixed while alpha varies
n0          n1 + n2 - p
s2c         residual variance of the joint fit, (rss1 + rss2 + Dd2) / n0
Dd2         |D(beta1 - beta2)|^2 with D'D = (G1^-1 + G2^-1)^-1
g           (beta1 - beta2)' B0 (beta1 - beta2)
Sigma       matrix with the non-zero spectrum of B0 (G1^-1 + G2^-1)
tau         n0 + 2 sqrt(n0 a) + 2 a, a factor that recurs in A1, A2 and c1, c3, c4
A1, A2      phi = A1 s2c + A2 Dd2
c1 .. c5    coefficients of the quadratic whose root is c0
psi         (sqrt(g) + c0 sqrt(tr Sigma + 2 sqrt(tr Sigma^2 a) + 2 |Sigma| a))^2
==========  =====================================================================

The inequality is kept as printed, although psi is not an upper bound. Wherever alpha < 1.0385 n0,
c3 and c0 are negative, so c0 is *subtracted* (docs/paper-notes.md). A negative discriminant makes
psi nan; the two units are then kept apart.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from conjoin import linalg
from conjoin._typing import FloatArray
from conjoin.checks import check_count, check_level, check_rows, check_share
from conjoin.criterion.base import PairScore, Unit
from conjoin.moments import Moments
from conjoin.moments.resample import canonical_order, draw, draw_moments, split_rows, stream
from conjoin.paper.design import (
    DesignConstants,
    Designs,
    Gaussian,
    design_constants,
    known_designs,
)


@dataclass(frozen=True, eq=False)
class PairStatistics:
    """All that phi and psi need from two samples; arrays are stacks (B,)."""

    n0: float
    A0: float
    n0_s2c: FloatArray
    Dd2: FloatArray
    g: FloatArray
    trace: FloatArray
    trace2: FloatArray
    norm: FloatArray

    def __getitem__(self, index: object) -> "PairStatistics":
        """Select along the stack."""
        names = ("n0_s2c", "Dd2", "g", "trace", "trace2", "norm")
        return PairStatistics(self.n0, self.A0, *(getattr(self, f)[index] for f in names))

    def column(self) -> "PairStatistics":
        """Return the stack as a column (B, 1), to combine with a row of alphas."""
        return self[..., None]


@dataclass(frozen=True, eq=False)
class Inequality:
    """Both sides of the inequality; every constant has its name in the paper."""

    A1: FloatArray
    A2: FloatArray
    phi: FloatArray
    c1: FloatArray
    c2: FloatArray
    c3: FloatArray
    c4: FloatArray
    c5: FloatArray
    c0: FloatArray
    psi: FloatArray

    @property
    def join(self) -> np.ndarray:
        """Where phi > psi; False where either is nan."""
        return self.phi > self.psi


def inequality(stats: PairStatistics, a: FloatArray | float, delta: float) -> Inequality:
    """Evaluate phi and psi at a = log(1/delta), or at Algorithm 2's alpha."""
    n0, m = stats.n0 if stats.n0 > 0 else np.nan, np.sqrt(stats.Dd2)
    a = np.asarray(a, dtype=np.float64)
    # The numbers below are those of the appendix "Replacing Parameters with Estimators".
    tau = n0 + 2 * np.sqrt(n0 * a) + 2 * a
    ratio = np.sqrt(a / n0)

    A1 = n0 * stats.A0 / (tau * (3 + 4 * ratio))
    A2 = -2 * stats.A0 * (1 + 2 * ratio) / (tau * (3 + 4 * ratio))
    phi = A1 * (stats.n0_s2c / n0) + A2 * stats.Dd2

    root_log = np.sqrt(np.log(4 / (1 + delta)))
    slope = np.sqrt(2 * n0) * (root_log + 1 / (2 * root_log))
    residual = np.sqrt(stats.n0_s2c)
    c1 = residual * np.sqrt(tau)
    c2 = residual * m
    c3 = -n0 / 8 * (1 + delta) / (np.sqrt(math.e) * root_log) - slope * np.sqrt(tau) + tau
    c4 = m * (slope - 2 * np.sqrt(tau))
    c5 = stats.Dd2
    with np.errstate(invalid="ignore", divide="ignore"):
        c0 = (c1 - c4 + np.sqrt((c1 - c4) ** 2 - 4 * c3 * (c5 - c2))) / (2 * c3)
    spread = stats.trace + 2 * np.sqrt(stats.trace2 * a) + 2 * stats.norm * a
    psi = (np.sqrt(stats.g) + c0 * np.sqrt(spread)) ** 2
    return Inequality(A1, A2, phi, c1, c2, c3, c4, c5, c0, psi)


@dataclass(frozen=True, eq=False)
class Fits:
    """Least squares on samples of one unit; `full_rank` if no sample has dependent columns."""

    moments: Moments
    G_inverse: FloatArray
    beta: FloatArray
    rss: FloatArray
    full_rank: bool

    @classmethod
    def of(cls, moments: Moments) -> "Fits":
        """Fit each sample of the stack."""
        G_inverse, ranks = linalg.inverse_and_rank(moments.G)
        full_rank = bool(np.all(ranks == moments.p))
        beta = linalg.matvec(G_inverse, moments.h)
        return cls(moments, G_inverse, beta, moments.sse(beta), full_rank)


def pair_statistics(
    one: Fits, two: Fits, constants: DesignConstants, least_alpha: float | None = None
) -> tuple[PairStatistics, FloatArray]:
    """Return the statistics of each pair of samples of two stacks, and the joint coefficients.

    With `least_alpha`, the norm of Sigma is exact only where phi > 0 at that alpha. Elsewhere phi
    is not positive at any larger alpha either, so psi cannot matter: the Frobenius norm is enough.
    """
    joint = one.moments + two.moments
    p = joint.p
    d: FloatArray = one.beta - two.beta
    pull = linalg.matvec(two.moments.G, d)
    # One factorisation of Gc gives |Dd|^2 = (G1 d)' Gc^-1 (G2 d) and beta_c = beta1 - Gc^-1 G2 d.
    step = linalg.solve(joint.G, pull, full_rank=one.full_rank or two.full_rank)
    beta_c: FloatArray = one.beta - step
    if not one.full_rank:  # beta1 lies in the span of its own rows only
        beta_c = linalg.solve(joint.G, joint.h, full_rank=two.full_rank)
    Dd2: FloatArray = np.maximum(linalg.dot(linalg.matvec(one.moments.G, d), step), 0.0)
    S = one.G_inverse + two.G_inverse
    Sigma = constants.root @ S @ constants.root.T
    n0 = float(np.max(joint.n)) - p
    n0_s2c = one.rss + two.rss + Dd2
    trace2 = linalg.trace_product(Sigma, Sigma)
    norm: FloatArray
    if least_alpha is None or n0 <= 0:
        norm = linalg.top_eigenvalue(Sigma)
    else:
        norm = np.array(np.sqrt(trace2))
        open_to_join = n0_s2c > 2 * (1 + 2 * np.sqrt(least_alpha / n0)) * Dd2
        norm[open_to_join] = linalg.top_eigenvalue(Sigma[open_to_join])
    stats = PairStatistics(
        n0=n0,
        A0=constants.A0,
        n0_s2c=n0_s2c,
        Dd2=Dd2,
        g=np.maximum(linalg.quadratic(d, constants.B0), 0.0),
        trace=np.trace(Sigma, axis1=-2, axis2=-1),
        trace2=trace2,
        norm=norm,
    )
    return stats, beta_c


@dataclass(frozen=True, eq=False)
class BoundUnit:
    """A unit prepared for Algorithm 1: its fit, and possible designs of its size."""

    unit: Unit
    fits: Fits
    designs: Designs


@dataclass(frozen=True)
class Bound:
    """The paper's high-probability criterion at level delta (Algorithm 1).

    Parameters
    ----------
    delta : float, default 0.1
        Confidence level of the inequality.
    known : mapping of dataset name to Gaussian, optional
        Known distributions of the features: W, A0 and B0 are computed from them by Monte Carlo.
        By default they are estimated from `share` of the rows, and models are fitted to the rest.
    share : float, default 0.4
        Share of the rows for estimating W, A0 and B0.
    resamples : int, default 1000
        Number of draws for each expectation.
    overparametrised : bool, default False
        Allow datasets with fewer rows than columns, fitted by the Moore-Penrose estimator. A0 and
        B0 leave out the bias of that estimator; see `conjoin.paper.moore_penrose_error`.

    Raises
    ------
    ArgumentError
        If a level or share is not between 0 and 1, or a count is not a positive whole number.
    DataError
        In `prepare`, if a dataset has too few rows.

    Examples
    --------
    The bound is cautious: it does not even join a dataset with its exact copy.

    >>> import conjoin
    >>> rows = {"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "y": [1.1, 1.9, 3.2, 3.9, 5.1, 6.0]}
    >>> conjoin.compare(rows, rows, target="y", method=Bound()).join
    False
    """

    delta: float = 0.1  # the paper gives no value; Tables 3 and 4 reproduce with 0.1
    known: Mapping[str, Gaussian] | None = field(default=None, repr=False)
    share: float = 0.4  # the share that Algorithm 2 uses for the same purpose
    resamples: int = 1000  # max_iterations in "Choice of Hyperparameters"
    overparametrised: bool = False

    def __post_init__(self) -> None:
        check_level("delta", self.delta)
        check_share("share", self.share)
        check_count("resamples", self.resamples)

    @property
    def threshold(self) -> float:
        """Join where phi - psi is positive."""
        return 0.0

    def prepare(self, unit: Unit, seed: int) -> BoundUnit:
        """Fit the unit and collect possible designs of its size."""
        p = unit.Z.shape[1]
        allow = self.overparametrised
        if self.known is not None:
            check_rows(unit.label, len(unit.t), p, "in all", overparametrised=allow)
            designs = known_designs(unit, self.known, len(unit.t), self.resamples, seed)
            return BoundUnit(unit, Fits.of(unit.moments), designs)
        rng = stream(seed, "bound", *unit.names)
        order = canonical_order(unit.Z, unit.t)
        estimate, rest = (
            order[rows] for rows in split_rows(len(order), (self.share, 1 - self.share), rng)
        )
        least = min(len(estimate), len(rest))
        part = f"in the smaller of the two parts that method='bound' makes of {len(order)}"
        check_rows(unit.label, least, p, part, overparametrised=allow)
        draws = draw(estimate, len(rest), self.resamples, rng)
        Z, t, w = unit.Z, unit.t, unit.weights
        designs = Designs.from_grams(
            Moments.from_rows(Z[estimate], t[estimate], w[estimate]).W,
            draw_moments(Z, t, w, draws).G,
        )
        return BoundUnit(unit, Fits.of(Moments.from_rows(Z[rest], t[rest], w[rest])), designs)

    def compare(self, a: BoundUnit, b: BoundUnit) -> PairScore:
        """Return phi, psi and their difference, divided by |A0| times the noise variance."""
        constants = design_constants(a.designs, b.designs)
        stats, _ = pair_statistics(a.fits, b.fits, constants)
        alpha = float(np.log(1 / self.delta))
        sides = inequality(stats, alpha, self.delta)
        phi, psi = float(sides.phi), float(sides.psi)
        noise = float(stats.n0_s2c) / stats.n0
        unit_of_gain = abs(constants.A0) * noise
        score = (phi - psi) / unit_of_gain if unit_of_gain > 0 else float("nan")
        score = -float("inf") if np.isnan(score) else score
        return PairScore(score, bool(phi > psi), phi, psi, alpha)
