"""Rows that sums of products single out, whatever combination of columns is looked at.

Rows of columns enter; `Alone` leaves: the row that stands out most, a combination of columns that
is constant but for few rows, and how well the other columns give the last one.

With Z = [1, columns], whoever knows Z'Z knows sum_i (v'z_i)^2 for every v. Row i makes up the share
(v'z_i)^2 / sum_j (v'z_j)^2 of it. The largest share over all v is the leverage of the row,
h_i = z_i' (Z'Z)^- z_i. So one leverage answers the question "does one value make up most of a sum
of squares?" for all columns and all their combinations at once.

If v'z is zero in all rows but those of a set S, the leverages of S sum to at least 1. So S has at
least 1 / max h rows, and no search is needed where leverages are small. Otherwise the combination
is sought by least absolute deviations of every column from the others, which favour residuals
that are mostly zero (reweighted least squares). Finding the smallest set for certain is a hard
problem (the least distance of a code), so this search can miss one.
"""

from dataclasses import dataclass

import numpy as np

from conjoin._typing import FloatArray

# Eigenvalues of the correlation matrix below this count as zero: sums of products in double
# precision show such directions to four digits at best.
COLLINEAR = 1e-12
# Steps of reweighting: the floor of the weights shrinks tenfold in two steps, and needs 18 of them
# to reach its end.
STEPS = 30
# Rows of which products are formed at a time: some hundred kilobytes, which stay in the cache.
BLOCK = 4096
# Residuals below this share of a standard deviation count as zero.
ZERO = 1e-6


@dataclass(frozen=True)
class Alone:
    """What stands out among rows.

    Parameters
    ----------
    leverage : float
        Largest share of one row in a sum of squares, over all combinations of columns; a bound on
        it where that is below all limits.
    column : int
        The column in which that row stands out by itself most; -1 if it takes a combination.
    few : int
        Fewest rows found in which a combination of columns is not constant; 0 if none was sought.
    of : int
        The column that this combination gives in all other rows.
    unexplained : float
        Share of the variance of the last column that the others leave; 1 if it is constant.
    """

    leverage: float
    column: int
    few: int
    of: int
    unexplained: float


def stands_alone(
    values: FloatArray, rows: int, dominance: float, weights: FloatArray | None = None
) -> Alone:
    """Return what stands out among rows of columns (n, columns).

    Combinations that are constant in all but fewer than `rows` rows are sought where leverages
    allow them. With `weights` (n,), sums of products are weighted with them.

    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 50))
    >>> total = a + b
    >>> total[7] += 3.0
    >>> found = stands_alone(np.column_stack([a, b, total]), 11, 0.9)
    >>> round(found.leverage, 6), found.column, found.few, found.of
    (1.0, -1, 1, 0)
    """
    root = None if weights is None else np.sqrt(weights)
    total = float(len(values) if weights is None else weights.sum())
    if total <= 0:
        return Alone(1.0, -1, 0, 0, 1.0)
    center = values.mean(axis=0) if weights is None else weights @ values / total
    S, far, size = _products(values, center, root)
    scale = np.sqrt(np.diagonal(S))
    # Rounding of a constant column is no variation.
    constant = scale <= np.sqrt(len(values)) * 1e-12 * size
    unit = np.where(constant, 1.0, scale)
    R = np.where(constant[:, None] | constant[None, :], 0.0, S / unit[:, None] / unit[None, :])
    spread, V = np.linalg.eigh(R)
    kept = spread > COLLINEAR * max(float(spread.max(initial=0.0)), 1.0)
    unexplained = _unexplained(R, bool(constant[-1]))
    far = np.where(constant, 0.0, far / unit)
    heaviest = 1.0 if weights is None else float(weights.max())
    # No leverage is above this. Where rows are many it is small, and nothing more is computed.
    most = heaviest / total + np.sum(far**2) / spread[kept].min(initial=1.0)
    if most < min(dominance, 1 / max(rows - 1, 1)):
        return Alone(float(most), -1, 0, -1, unexplained)
    root = np.ones(len(values)) if root is None else root
    Z = np.where(constant, 0.0, (values - center) * root[:, None] / unit)
    whitened = Z @ (V[:, kept] / np.sqrt(spread[kept]))
    h = np.sum(whitened**2, axis=1) + root**2 / total
    row = int(np.argmax(h)) if len(h) else 0
    worst = float(h.max(initial=0.0))
    by_column = Z[row] ** 2
    column = int(np.argmax(by_column)) if by_column.size else -1
    if not by_column.size or by_column[column] <= dominance:
        column = -1
    few, of = 0, -1
    if rows > 1 and worst >= 1 / (rows - 1):
        few, of = _fewest(Z, root, ~constant, rows)
    return Alone(worst, column, few, of, unexplained)


def _products(
    values: FloatArray, center: FloatArray, root: FloatArray | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return sums of products around a centre, the largest deviations, and the largest values.

    Rows are multiplied by `root` (n,) before the first two. They are taken in blocks, so that no
    copy of all rows is made.
    """
    p = values.shape[1]
    S, far, size = np.zeros((p, p)), np.zeros(p), np.zeros(p)
    for first in range(0, len(values), BLOCK):
        block = values[first : first + BLOCK]
        low, high = block.min(axis=0), block.max(axis=0)
        size = np.maximum(size, np.maximum(high, -low))
        Z = block - center
        if root is None:
            far = np.maximum(far, np.maximum(high - center, center - low))
        else:
            Z *= root[first : first + BLOCK, None]
            far = np.maximum(far, np.abs(Z).max(axis=0))
        S += Z.T @ Z
    return S, far, size


def _unexplained(R: FloatArray, constant: bool) -> float:
    """Return the share of the last column that least squares on the others leaves."""
    if constant or len(R) < 2:
        return 1.0
    G, h = R[:-1, :-1], R[:-1, -1]
    explained = h @ np.linalg.pinv(G, rcond=COLLINEAR, hermitian=True) @ h
    return float(np.clip(1 - explained, 0.0, 1.0))


def _fewest(Z: FloatArray, root: FloatArray, varies: FloatArray, rows: int) -> tuple[int, int]:
    """Return the fewest rows left by the combinations found, and the column; 0 if not few."""
    Z = np.column_stack([root / np.sqrt(np.sum(root**2)), Z])
    best = (0, -1)
    for j in 1 + np.flatnonzero(varies):
        others = [i for i in range(Z.shape[1]) if i != j]
        left = np.abs(_least_absolute(Z[:, others], Z[:, j])) > ZERO
        count = int(np.sum(left & (root > 0)))
        if 0 < count < rows and (not best[0] or count < best[0]):
            best = (count, int(j) - 1)
    return best


def _least_absolute(X: FloatArray, y: FloatArray) -> FloatArray:
    """Return residuals (n,) of a fit of least absolute deviations, in units of the norm of y."""
    weight = np.ones(len(y))
    left = y
    for step in range(STEPS):
        A = X * weight[:, None]
        beta = np.linalg.lstsq(A, y * weight, rcond=1e-13)[0]
        left = y - X @ beta
        # The floor shrinks step by step, so that early zeros can be left again.
        floor = max(10.0 ** -(step / 2), 1e-9) * float(np.abs(left).max(initial=0.0))
        if floor <= ZERO * 1e-3:
            break
        weight = 1 / np.sqrt(np.maximum(np.abs(left), floor))
        weight /= weight.max()
    return left
