"""Rows that sums of products single out, whatever combination of columns is looked at.

Rows of columns enter; `Alone` leaves: the row that stands out most, a combination of columns that
is constant but for few rows, and how well the other columns give the last one, or ones.

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

from conjoin._typing import BoolArray, FloatArray

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
        Share of the variance of the last column that the others leave; 1 if it is constant. Of
        several last columns, the least share of any combination of them.
    """

    leverage: float
    column: int
    few: int
    of: int
    unexplained: float


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums of products of rows, from which most tables are seen to single out nobody.

    Parameters
    ----------
    rows : int
    total, heaviest : float
        Sum of the weights of rows, and the largest; the number of rows, and 1, without weights.
    center : array (columns,)
        Means.
    products : array (columns, columns)
        Sums of products around the means.
    low, high : arrays (columns,)
        Ends of the columns; they stay at the site.
    far : array (columns,)
        Largest distance from the mean, times the root of the row's weight.
    """

    rows: int
    total: float
    heaviest: float
    center: FloatArray
    products: FloatArray
    low: FloatArray
    high: FloatArray
    far: FloatArray

    @classmethod
    def of(cls, values: FloatArray, weights: FloatArray | None = None) -> "Sums":
        """Sum up rows of columns (n, columns), in blocks, so that no copy of all rows is made."""
        n, p = values.shape
        total = float(n if weights is None else weights.sum())
        center = values.mean(axis=0) if weights is None else weights @ values / total
        S, far = np.zeros((p, p)), np.zeros(p)
        low, high = np.full(p, np.inf), np.full(p, -np.inf)
        for first in range(0, n, BLOCK):
            block = values[first : first + BLOCK]
            low, high = np.minimum(low, block.min(axis=0)), np.maximum(high, block.max(axis=0))
            Z = block - center
            if weights is not None:
                Z *= np.sqrt(weights[first : first + BLOCK, None])
                far = np.maximum(far, np.abs(Z).max(axis=0))
            S += Z.T @ Z
        if weights is None:
            far = np.maximum(high - center, center - low)
        heaviest = 1.0 if weights is None else float(weights.max())
        return cls(n, total, heaviest, center, S, low, high, far)

    @property
    def constant(self) -> BoolArray:
        """Which columns do not vary, but for rounding."""
        size = np.maximum(np.abs(self.low), np.abs(self.high))
        scale = np.sqrt(np.diagonal(self.products))
        return np.asarray(scale <= np.sqrt(self.rows) * 1e-12 * size)

    @property
    def unit(self) -> FloatArray:
        """What columns are divided by, so that their sums of squares are one."""
        return np.where(self.constant, 1.0, np.sqrt(np.diagonal(self.products)))

    def correlations(self) -> FloatArray:
        """Return the correlation matrix; zero for columns that do not vary."""
        constant, unit = self.constant, self.unit
        R = self.products / unit[:, None] / unit[None, :]
        return np.where(constant[:, None] | constant[None, :], 0.0, R)

    def glance(self, rows: int, dominance: float) -> Alone | None:
        """Return what stands out, if sums show that nothing does; None if rows must be looked at.

        No leverage is above the bound used here. Where rows are many it is small.
        """
        R = self.correlations()
        spread, _, kept = _directions(R)
        far = np.where(self.constant, 0.0, self.far / self.unit)
        most = self.heaviest / self.total + np.sum(far**2) / spread[kept].min(initial=1.0)
        if most >= min(dominance, 1 / max(rows - 1, 1)):
            return None
        return Alone(float(most), -1, 0, -1, _unexplained(R, self.constant, 1))


def _directions(R: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return eigenvalues and -vectors of a correlation matrix, and which are above rounding."""
    spread, V = np.linalg.eigh(R)
    return spread, V, spread > COLLINEAR * max(float(spread.max(initial=0.0)), 1.0)


def stands_alone(
    values: FloatArray,
    rows: int,
    dominance: float,
    weights: FloatArray | None = None,
    sums: Sums | None = None,
    targets: int = 1,
) -> Alone:
    """Return what stands out among rows of columns (n, columns).

    Combinations that are constant in all but fewer than `rows` rows are sought where leverages
    allow them. With `weights` (n,), sums of products are weighted with them. `sums` are those of
    the rows, if they are known. The last `targets` columns are those that others may give.

    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 50))
    >>> total = a + b
    >>> total[7] += 3.0
    >>> found = stands_alone(np.column_stack([a, b, total]), 11, 0.9)
    >>> round(found.leverage, 6), found.column, found.few, found.of
    (1.0, -1, 1, 0)
    """
    if weights is not None and not weights.sum() > 0:
        return Alone(1.0, -1, 0, 0, 1.0)
    sums = Sums.of(values, weights) if sums is None else sums
    found = sums.glance(rows, dominance) if targets == 1 else None
    if found is not None:
        return found
    constant, R = sums.constant, sums.correlations()
    spread, V, kept = _directions(R)
    root = np.ones(len(values)) if weights is None else np.sqrt(weights)
    whiten = V[:, kept] / np.sqrt(spread[kept])

    def scaled(own: slice) -> FloatArray:
        part = (values[own] - sums.center) * root[own, None] / sums.unit
        return np.where(constant, 0.0, part)

    h = root**2 / sums.total
    for first in range(0, len(values), BLOCK):
        own = slice(first, first + BLOCK)
        whitened = scaled(own) @ whiten
        h[own] += np.einsum("ij,ij->i", whitened, whitened)
    row = int(np.argmax(h)) if len(h) else 0
    worst = float(h.max(initial=0.0))
    by_column = scaled(slice(row, row + 1))[0] ** 2
    column = int(np.argmax(by_column)) if by_column.size else -1
    if not by_column.size or by_column[column] <= dominance:
        column = -1
    few, of = 0, -1
    if rows > 1 and worst >= 1 / (rows - 1):
        few, of = _fewest(scaled(slice(None)), root, ~constant, rows)
    return Alone(worst, column, few, of, _unexplained(R, constant, targets))


def _unexplained(R: FloatArray, constant: BoolArray, targets: int) -> float:
    """Return the share of the last columns that least squares on the others leaves.

    Of several columns it is the least share of a combination: the least eigenvalue of what is left
    of them, in directions in which they have variance one.
    """
    varying = np.flatnonzero(~constant[-targets:]) + len(R) - targets
    if not len(varying) or len(R) <= targets:
        return 1.0
    G, h = R[:-targets, :-targets], R[:-targets, varying]
    own = R[np.ix_(varying, varying)]
    explained = h.T @ np.linalg.pinv(G, rcond=COLLINEAR, hermitian=True) @ h
    spread, V = np.linalg.eigh(own)
    whiten = V / np.sqrt(np.maximum(spread, COLLINEAR))
    left = np.linalg.eigvalsh(whiten.T @ (own - explained) @ whiten)
    return float(np.clip(left[0], 0.0, 1.0))


def _fewest(Z: FloatArray, root: FloatArray, varies: BoolArray, rows: int) -> tuple[int, int]:
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
