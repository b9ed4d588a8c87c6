"""The two tests of a pair with a covariance that allows any noise and any shape of the truth.

Two sides (`criterion.side`) with the scatter of their scores (`models.scatter`) enter; the tests
(`PairTests`) leave. The symbols are those of `criterion.pair_tests` and
`models.scatter`.

The tests of `criterion.pair_tests` take the covariance of a side's coefficients to be s2 G^+: all
rows have the same noise, and the line is the truth. Ordinary tables have neither. Here it is the
sandwich V = G^+ M G^+, with which everything that depends on the noise is formed anew:

===========  =========================================================================
t            tr(B V) of a side, instead of s2 tr(B G^+)
e            eigenvalues of K (V1 + V2) K'
own, joint   tr(A V) of a side; tr(Gc^+ (A1 + A2) Gc^+ M) of a side
Q            d'Bd / (t1 + t2)
===========  =========================================================================

The target is then the best linear predictor of each side, whatever the truth. Each side has its own
covariance, so no ratio of noise variances has to be searched over.

**Two covariances.** The test for "join" uses HC2, which is unbiased with equal noise: the variance
that joining saves is not overstated. The test for "apart" uses HC3, which is cautious where rows
have much leverage: a difference must be large against it.

**A heavy tail** of the columns (`Scatter.heavy`) means that new rows may be unlike all rows at
hand. Then separate fits may cost far more on new rows than can be seen, so the upper limit of the
gain is infinite unless the verdict is "apart".

**A row that is fitted exactly**, such as the only one with a rare flag, has no residual, so nothing
is known of its noise. "apart" must also hold without such rows (`without_exact_rows`).
"""

from dataclasses import replace

import numpy as np

from conjoin import linalg
from conjoin._typing import BoolArray, FloatArray
from conjoin.criterion.pair_tests import SHARED, Geometry, PairTests, less, times
from conjoin.criterion.risk import new_row_factor
from conjoin.criterion.side import Side
from conjoin.models.scatter import Scatter

Sides = tuple[Side, Side]
Scatters = tuple[Scatter, Scatter]


def robust_tests(sides: Sides, scatters: Scatters, delta: float) -> PairTests:
    """Set up both tests for a stack of pairs of sides (B,).

    Parameters
    ----------
    sides : two Side (B,)
    scatters : two Scatter (B,)
    delta : float
        Level of each test.

    Returns
    -------
    PairTests
        With a grid of a single point: nothing is unknown but the variances themselves.
    """
    one, two = sides
    pair = Geometry.of(one, two)
    K, Kt = pair.K, np.swapaxes(pair.K, -1, -2)
    meats = _meats(scatters)
    C = [
        linalg.symmetrise(K @ (side.inverse @ M @ side.inverse) @ Kt)
        for side, M in zip(sides, meats)
    ]
    t = np.stack([np.trace(c, axis1=-2, axis2=-1) for c in C], axis=1)
    total = t.sum(axis=1)
    saved, on_new_rows = _saved(sides, pair, meats)
    known = _known(sides, total[0], saved[2])
    safe = np.where(known, total, 1.0)
    nu = np.stack([scatter.nu for scatter in scatters])
    plain = linalg.trace_product(pair.B, one.inverse + two.inverse)
    share = pair.bias_share(one, two, np.where(plain > 0, plain, 1.0))
    return PairTests(
        e=np.maximum(np.linalg.eigvalsh(C[0] + C[1]), 0.0)[..., None, :],
        saved=saved[0][..., None],
        saved_on_new_rows=on_new_rows[1][..., None],
        denominators=[
            (_as_grid(t[:, k]), np.broadcast_to(nu[k][..., None], (2, *nu[k].shape, 1)))
            for k in (0, 1)
        ],
        Q=pair.distance / safe,
        level=delta,
        pooled=np.ones((2, *known.shape, 1)),
        nu=np.where(known, total**2, 1.0) / np.where(known, np.sum(t**2 / nu, axis=1), 1.0),
        known=known,
        sway=(share**2 / one.n + (1 - share) ** 2 / two.n) / 2,
    )


def without_exact_rows(sides: Sides, scatters: Scatters) -> tuple[Sides, Scatters]:
    """Return both sides (B,) without the rows that their fits reach exactly.

    All other rows keep their fits. A direction that only such a row determines is then in none of
    the Gram matrices of its side, and no difference counts there.
    """
    one, two = (_without(side, scatter) for side, scatter in zip(sides, scatters))
    return (one[0], two[0]), (one[1], two[1])


def _without(side: Side, scatter: Scatter) -> tuple[Side, Scatter]:
    G, M = np.moveaxis(scatter.known_alone, 1, 0)
    rest = linalg.symmetrise(side.G - G)
    inverse, rank = linalg.inverse_and_rank(rest)
    less_scatter = replace(scatter, unbiased=scatter.unbiased - M, cautious=scatter.cautious - M)
    return replace(side, G=rest, inverse=inverse, rank=rank.astype(float)), less_scatter


def heavy_tailed(scatters: Scatters) -> BoolArray:
    """Say for which pairs (B,) a column of either side has a heavy tail."""
    return scatters[0].heavy | scatters[1].heavy


def _meats(scatters: Scatters) -> list[FloatArray]:
    """Return M2 and M3 (2, B, p, p) of both sides."""
    return [np.stack([scatter.unbiased, scatter.cautious]) for scatter in scatters]


def _saved(
    sides: Sides, pair: Geometry, meats: list[FloatArray]
) -> tuple[tuple[FloatArray, FloatArray, FloatArray], FloatArray]:
    """Return the variance that joining saves.

    First (HC2, HC3, own variance of HC2), each (B,), on the rows at hand; then the saving (2, B) on
    new rows by HC2 and by HC3.
    """
    own = [
        linalg.trace_product(side.A, side.inverse @ M @ side.inverse)
        for side, M in zip(sides, meats)
    ]
    joint = [linalg.trace_product(pair.joint, M) for M in meats]
    at_hand = own[0] + own[1] - joint[0] - joint[1]
    factor = new_row_factor(sides[0].n + sides[1].n, pair.rc)
    on_new_rows = sum(
        less(times(o, new_row_factor(side.n, side.rank)), times(j, factor))
        for side, o, j in zip(sides, own, joint)
    )
    return (at_hand[0], at_hand[1], own[0][0] + own[1][0]), np.asarray(on_new_rows)


def _known(sides: Sides, variance: FloatArray, own: FloatArray) -> BoolArray:
    """Say where noise can be estimated and the sides share a direction (B,)."""
    known: BoolArray = (np.minimum(sides[0].nu, sides[1].nu) >= 1) & (variance > SHARED * own)
    return known


def _as_grid(values: FloatArray) -> FloatArray:
    """Return values (2, B) as (2, B, 1): the grid of rho has one point."""
    return values[..., None]
