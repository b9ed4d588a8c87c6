"""The scatter of scores where the noise of a row depends on the rows before it.

Enters: rows sorted by dataset, with the time of each. Leaves: a `Scatter` for verdicts. Every
dataset is cut into blocks of time, and the blocks are the clusters of `models.clustered`.
Neighbouring blocks depend on each other too, so their covariance is too small. It is raised by what
first-order autoregressive noise would need:

==========  ==========================================================================
symbol      meaning
==========  ==========================================================================
T           different times of a dataset; rows of one time are averaged
rho         correlation of neighbouring residuals, corrected for the fit
v(m)        variance of a sum of m values: m + 2 sum of (m - j) rho^j
C, L        blocks of a dataset, and times in each: T / C
kappa       (C - 1) v(C L) / (C^2 v(L) - v(C L)), at least 1: the variance of the sum of
            all values over what C blocks show of it
==========  ==========================================================================

Residuals follow the noise less than they should, so rho is too low where rows are few. Each column
of the fit takes about one degree of freedom, and the noise left is less correlated. The correction
is Kendall's (1954), with one term for each column. The covariance for "join" takes a rho that is
one standard error lower, that for "apart" one that is as much higher.
"""

from dataclasses import dataclass, replace

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.models.clustered import clustered_scatter
from conjoin.models.ols import fit_ols
from conjoin.models.scatter import LEAST_NU, Scatter
from conjoin.moments import Moments

# Blocks of a dataset: as many as are longer than SPAN times the correlation length of the noise,
# but within these limits. Few blocks leave few degrees of freedom, many are correlated.
FEWEST_BLOCKS, MOST_BLOCKS = 6, 24
# Correlation lengths, (1 + rho) / (1 - rho), in a block: with two, the covariance of blocks is
# about a quarter too small, which kappa mends.
SPAN = 2.0
# Largest correlation that is believed: beyond, noise is a random walk, and no number of rows is
# enough for a verdict.
LARGEST = 0.98


def serial_scatter(
    Z: FloatArray,
    t: FloatArray,
    w: FloatArray,
    starts: IntArray,
    time: FloatArray,
    moments: Moments | None = None,
) -> Scatter:
    """Return the scatter of rows sorted by dataset, where noise depends on the time (N,)."""
    moments = Moments.by_dataset(Z, t, starts, w) if moments is None else moments
    fit = fit_ols(moments)
    residual = np.concatenate(
        [t[i:j] - Z[i:j] @ b for i, j, b in zip(starts[:-1], starts[1:], fit.beta)]
    )
    blocks = TimeBlocks.of(residual[:, None], w, starts, time, fit.rank)
    return blocks.raised(clustered_scatter(Z, t, w, starts, blocks.block, moments))


@dataclass(frozen=True, eq=False)
class TimeBlocks:
    """Blocks of time, and what they do not show of the noise; see the module's table.

    Parameters
    ----------
    block : array (N,)
        The block of every row in its dataset.
    kappa : array (2, K)
        For "join" and for "apart".
    effective : array (K,)
        Independent times that are worth as much as those of a dataset.
    """

    block: IntArray
    kappa: FloatArray
    effective: FloatArray

    @classmethod
    def of(
        cls, residual: FloatArray, w: FloatArray, starts: IntArray, time: FloatArray, rank: IntArray
    ) -> "TimeBlocks":
        """Cut datasets into blocks, by their residuals (N, m) of m linear predictors.

        `rank` (K,) counts the columns that each predictor was fitted with.
        """
        K = len(starts) - 1
        block = np.empty(len(time), dtype=np.int64)
        kappa, effective = np.ones((2, K)), np.empty(K)
        for k, (i, j) in enumerate(zip(starts[:-1].tolist(), starts[1:].tolist())):
            place, mean = _series(time[i:j], residual[i:j], w[i:j])
            T = len(mean)
            rho, error = correlation(mean, int(rank[k]))
            C = _blocks(T, rho)
            block[i:j] = place * C // max(T, 1)
            kappa[:, k] = [_kappa(T, C, min(r, LARGEST)) for r in (rho - error, rho + error)]
            effective[k] = max(T * (1 - rho) / (1 + rho), LEAST_NU)
        return cls(block, kappa, effective)

    def raised(self, found: Scatter) -> Scatter:
        """Return the scatter of the blocks, raised by what they do not show."""
        by = self.kappa[:, :, None, None]
        return replace(
            found,
            unbiased=found.unbiased * by[0],
            cautious=found.cautious * by[1],
            nu=np.clip(found.nu, LEAST_NU, self.effective),
            inflation=found.inflation * self.kappa[0],
        )


def _series(time: FloatArray, residual: FloatArray, w: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the place (n,) of every row among the different times, and mean residuals (T, m)."""
    _, place = np.unique(time, return_inverse=True)
    total = np.maximum(np.bincount(place, w), np.finfo(float).tiny)
    means = [np.bincount(place, w * one) / total for one in residual.T]
    return place.astype(np.int64), np.stack(means, axis=1)


def correlation(series: FloatArray, rank: int) -> tuple[float, float]:
    """Return the correlation of neighbours, corrected for a fit of given rank, and its error.

    A series (T, m) of several values has one correlation, that of all of them.
    """
    T, squares = len(series), float(np.sum(series**2))
    if T < 3 or squares <= 0:
        return 0.0, 0.0
    raw = float(np.sum(series[1:] * series[:-1])) / squares * T / (T - 1)
    rho = (raw * T + rank) / max(T - 2 - rank, 1)
    rho = min(max(rho, 0.0), LARGEST)
    return rho, float(np.sqrt((1 - min(abs(raw), LARGEST) ** 2) / T))


def _blocks(T: int, rho: float) -> int:
    """Return the number of blocks of T times."""
    wanted = T * (1 - rho) / (1 + rho) / SPAN
    return max(min(int(wanted), MOST_BLOCKS, T), min(FEWEST_BLOCKS, T), 1)


def _kappa(T: int, C: int, rho: float) -> float:
    """Return the factor on the covariance of C blocks of T times."""
    if rho <= 0 or C < 2:
        return 1.0
    whole, part = _variance(T, rho), _variance(T / C, rho)
    shown = C**2 * part - whole
    return max((C - 1) * whole / shown, 1.0) if shown > 0 else 1.0


def _variance(m: float, rho: float) -> float:
    """Return v(m) in closed form."""
    return m * (1 + rho) / (1 - rho) - 2 * rho * (1 - rho**m) / (1 - rho) ** 2


def dependent_scatter(
    Z: FloatArray,
    t: FloatArray,
    w: FloatArray,
    starts: IntArray,
    moments: Moments,
    time: FloatArray | None,
    who: IntArray | None,
) -> Scatter:
    """Return the scatter by person, else by stretch of time, else row by row."""
    if who is not None:
        return clustered_scatter(Z, t, w, starts, who, moments)
    if time is not None:
        return serial_scatter(Z, t, w, starts, time, moments)
    return Scatter.of_rows(Z, t, w, starts, moments=moments)
