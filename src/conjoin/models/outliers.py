"""Gross errors: values far beyond what the tail of their own column explains.

Values of one column, sorted by dataset, enter; the positions of gross errors leave.

A value is measured by its distance to the median of its dataset, in units of a robust spread. Small
datasets borrow the spread of the others. The largest distances are then compared with the tail just
below them. If the tail is that of a Pareto law with index 1/g, the spacings of the logarithms,
j * log(z_j / z_(j+1)), are independent exponential draws with mean g. A gross error is far from the
median, isolated, and its spacing is far above those of the tail. Heavy tails have large spacings,
so an ordinary skewed column has no gross error, however far its largest values are.

==========  =====================================================  ============
symbol      meaning                                                shape
==========  =====================================================  ============
v           values of the column                                   (N,)
m, s        median and spread of each dataset                      (K,)
z           |v - m| / s                                            (N,)
g           mean spacing of the tail below the j largest           number
==========  =====================================================  ============
"""

import numpy as np

from conjoin._typing import BoolArray, FloatArray, IntArray

# Robust distance from which a value can be a gross error: a normal value is as far as 10 spreads
# once in 1e23 rows. Between 7 and 15 the same rows are flagged in 24 real tables.
FAR = 10.0
# A gross error is so many times as far out as the next value. Heavy tails need more (see LEVEL).
ISOLATED = 2.0
# Probability that an ordinary Pareto tail has a spacing as large as that of a gross error. It is
# that of one length of the tail; the smallest of five makes it about 1e-3.
LEVEL = 5e-4
# Share of the rows that can be gross errors, and how many can be in any case. More are a part of
# the column: a code, a top value, another unit.
MOST_SHARE, MOST_AT_LEAST = 0.0005, 3
# Values of the tail that gross errors are compared with: these numbers up to 5 % of the rows. A
# long tail has less noise, a short one has no part of the bulk, whose spacings are larger.
TAILS, TAIL_SHARE = (10, 20, 50, 100, 200), 0.05
# Where the rest of a column is within so many spreads, its tail is short, and a value that is so
# many times as far out is a gross error. In small tables the spacings alone could not show that.
SHORT, FAR_BEYOND = 6.0, 5.0
FEWEST_SHORT = 100  # rows from which a column shows that its tail is short
FEWEST_ALONE = 200  # rows of a dataset whose tail is looked at alone: 10 values are its tail
FEWEST_ROWS = 30  # rows that a column needs: the bulk must be larger than its tail
FEWEST_OWN = 8  # rows that a dataset needs for a median of its own: with 7, 3 errors could shift it
BORROWED = 10.0  # rows that the common spread counts for in the spread of a dataset
USUAL = 0.25  # share of the positive values that are smaller than a value of usual size
TO_SIGMA = 1.4826  # spread of normal values over their median absolute deviation
MOST_PADDING = 2  # empty places for each value, up to which values are sorted as rows of a table


def gross_errors(values: FloatArray, starts: IntArray) -> IntArray:
    """Return the positions of gross errors in a column, in ascending order.

    Parameters
    ----------
    values : array (N,)
        Finite values of the column, sorted by dataset.
    starts : array (K + 1,)
        Dataset k has the rows starts[k] to starts[k+1].

    Returns
    -------
    array of int

    Examples
    --------
    >>> values = np.random.default_rng(0).normal(size=300)
    >>> values[7] = 99999999.0
    >>> gross_errors(values, np.array([0, 100, 300]))
    array([7])
    """
    if len(values) < FEWEST_ROWS:
        return np.zeros(0, dtype=np.int64)
    wrong_sign = _wrong_signs(values)
    if not may_be_far(values, starts):
        return wrong_sign
    z = robust_distances(values, starts)
    found = [wrong_sign, _isolated(z, LEVEL, may_be_short=True)]
    # Another dataset may have the heavier tail, so each large one is looked at alone as well.
    far = np.maximum.reduceat(np.append(z, 0.0), starts[:-1]) >= FAR
    for k in np.flatnonzero(far & (np.diff(starts) >= FEWEST_ALONE)):
        part = slice(int(starts[k]), int(starts[k + 1]))
        alone = starts[k] + _isolated(z[part], LEVEL / (len(starts) - 1))
        if len(alone):
            others = np.append(np.delete(z, np.r_[part]), np.zeros(MOST_AT_LEAST + 1))
            usual = np.partition(others, -MOST_AT_LEAST - 1)[-MOST_AT_LEAST - 1]
            found.append(alone[z[alone] >= ISOLATED * usual])
    return np.unique(np.concatenate(found))


def may_be_far(values: FloatArray, starts: IntArray) -> bool:
    """Say whether a value may be far out, from means and standard deviations, which are cheap.

    A share e of rows at distance FAR makes the standard deviation sqrt(1 + e FAR^2) times as large.
    """
    low, high = values.min(), values.max()
    if low == high:
        return False
    sizes = np.diff(starts)
    used = starts[:-1][sizes > 0]
    n = sizes[sizes > 0]
    shift = values - values[used].repeat(n)  # keeps the digits of large values
    total, squares = np.add.reduceat(shift, used), np.add.reduceat(shift * shift, used)
    mean = total / n
    spread = np.sqrt(np.maximum(squares / n - mean**2, 0.0))
    most = np.maximum.reduceat(shift, used) - mean
    least = mean - np.minimum.reduceat(shift, used)
    share = np.maximum(2 * MOST_AT_LEAST / n, MOST_SHARE)
    needed = FAR / np.sqrt(1 + share * FAR**2)
    far = np.maximum(most, least) >= needed * spread
    if np.any(far & (spread > 0) & (n >= FEWEST_OWN)):
        return True
    # Small datasets are measured against all rows.
    centre, width = float(np.mean(values)), float(np.std(values))
    bound = FAR / np.sqrt(1 + max(2 * MOST_AT_LEAST / len(values), MOST_SHARE) * FAR**2)
    return max(high - centre, centre - low) >= bound * width


def robust_distances(values: FloatArray, starts: IntArray) -> FloatArray:
    """Return the distance of each value from the median of its dataset, in robust spreads (N,).

    Datasets with few rows are measured against the median and the spread of all rows.
    """
    sizes = np.diff(starts)
    dataset = np.repeat(np.arange(len(sizes)), sizes)
    own = sizes >= FEWEST_OWN
    middle = np.where(own, medians(values, starts, dataset), np.median(values))
    distance = np.abs(values - middle[dataset])
    spread = robust_spreads(distance, starts, dataset)
    if not own.all():
        all_rows = TO_SIGMA * _typical(np.abs(values - np.median(values)))
        spread = np.where(own, spread, all_rows)
    return distance / np.where(spread > 0, spread, np.inf)[dataset]


def robust_spreads(distance: FloatArray, starts: IntArray, dataset: IntArray) -> FloatArray:
    """Return the robust spread of each dataset (K,) from distances to its middle (N,).

    It is the median distance, mixed with that of all datasets as if these had BORROWED rows.
    """
    sizes = np.diff(starts)
    spread = TO_SIGMA * medians(distance, starts, dataset)
    common = TO_SIGMA * _typical(distance[(sizes >= FEWEST_OWN)[dataset]])
    mixed = np.sqrt((sizes * spread**2 + BORROWED * common**2) / (sizes + BORROWED))
    # Where more than half of the values are equal, the spread is zero and says nothing.
    return np.where(spread > 0, mixed, common)


def _typical(distances: FloatArray) -> float:
    """Return the median distance; of those above zero if more than half are zero."""
    if not len(distances):
        return 0.0
    median = float(np.median(distances))
    positive = distances[distances > 0]
    return median if median > 0 or not len(positive) else float(np.median(positive))


def medians(values: FloatArray, starts: IntArray, dataset: IntArray) -> FloatArray:
    """Return the median of each dataset (K,); 0 for one without rows."""
    sizes = np.diff(starts)
    K, most = len(sizes), int(sizes.max(initial=0))
    if 0 < K * most <= MOST_PADDING * len(values):
        # Datasets of similar size: rows of a table are sorted ten times as fast as all together.
        table = np.full((K, most), np.inf)
        table[dataset, np.arange(len(values)) - starts[dataset]] = values
        table.sort(axis=1)
        middle = np.stack([np.maximum(sizes - 1, 0) // 2, np.minimum(sizes // 2, most - 1)])
        low, high = table[np.arange(K), middle]
        return np.where(sizes > 0, (low + high) / 2, 0.0)
    ordered = values[np.lexsort((values, dataset))]
    last = max(len(values) - 1, 0)
    low = ordered[np.minimum(starts[:-1] + np.maximum(sizes - 1, 0) // 2, last)]
    high = ordered[np.minimum(starts[:-1] + sizes // 2, last)]
    return np.where(sizes > 0, (low + high) / 2, 0.0)


def _isolated(z: FloatArray, level: float, *, may_be_short: bool = False) -> IntArray:
    """Return the positions of distances that stand apart from the tail below them.

    With `may_be_short` columns with a short tail are treated as such, unless most values are equal.
    """
    count = min(rows_to_look_at(len(z)), len(z))
    top = np.argpartition(z, len(z) - count)[len(z) - count :]
    top = top[np.argsort(-z[top], kind="stable")]
    short = may_be_short and len(z) >= FEWEST_SHORT and bool(np.median(z) > 0)
    return np.sort(top[: count_isolated(z[top], len(z), level, short=short)])


def rows_to_look_at(rows: int) -> int:
    """Return how many of the farthest values are needed to tell gross errors from a tail."""
    return _most(rows) + _tails(rows)[-1] + 1


def _most(rows: int) -> int:
    return max(MOST_AT_LEAST, int(MOST_SHARE * rows))


def _tails(rows: int) -> list[int]:
    return [k for k in TAILS if k <= max(TAIL_SHARE * rows, TAILS[0])]


def count_isolated(
    z: FloatArray, rows: int, level: float = LEVEL, *, short: bool = False, most: int | None = None
) -> int:
    """Return how many of the farthest values stand apart from the tail below them.

    Parameters
    ----------
    z : array
        The largest distances of a column, in descending order.
    rows : int
        Rows of the column.
    level : float
        Probability that an ordinary tail looks so.
    short : bool, default False
        Whether the column may have a short tail.
    most : int, optional
        Most values that can stand apart; by default a share of the rows.

    Returns
    -------
    int

    Examples
    --------
    >>> count_isolated(np.append(1e6, np.linspace(3, 2, 30)), 200)
    1
    """
    tails, most = _tails(rows), _most(rows) if most is None else most
    logs = np.log(np.maximum(z, np.finfo(float).tiny))
    found = 0
    for j in range(1, min(most, len(z) - tails[-1] - 1) + 1):
        if z[j - 1] < FAR:
            break
        gap = logs[j - 1] - logs[j]
        if short and z[j] <= SHORT and gap >= np.log(FAR_BEYOND):
            found = j
        elif gap >= np.log(ISOLATED) and j * gap >= _largest_spacing(logs[j:], tails, level):
            found = j
    return found


def _largest_spacing(logs: FloatArray, tails: list[int], level: float) -> float:
    """Return the spacing that an ordinary tail exceeds with a small probability.

    A spacing over the mean of k others follows a law of F with 2 and 2 k degrees of freedom.
    """
    means = [float(np.mean(logs[:k] - logs[k])) for k in tails]
    return min(k * (level ** (-1 / k) - 1) * mean for k, mean in zip(tails, means))


def _wrong_signs(values: FloatArray) -> IntArray:
    """Return the positions of negative values of usual size in a column that is positive otherwise.

    All but a few values must be positive, and the negative ones must be as large as a quarter of
    them, so that a value just below zero is not one of them.
    """
    negative: BoolArray = values < 0
    count = int(negative.sum())
    if not 0 < count <= MOST_AT_LEAST or len(values) < FEWEST_ROWS * count:
        return np.zeros(0, dtype=np.int64)
    rest = values[~negative]
    size = -values[negative]
    if rest.min() <= 0 or np.any(size < np.quantile(rest, USUAL)):
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(negative)
