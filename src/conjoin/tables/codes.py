"""Columns of whole numbers that are codes by what is in them, such as a weekday from 1 to 7.

The values of a column, the target and where datasets start enter; whether the numbers name things,
and do not count or order them, leaves. Names of columns play no part here (`tables.suspects`).

A column is called a code if all of this holds:

- Its values are 0, 1, 2, ... or 1, 2, 3, ..., none left out: years and sizes are not.
- Every dataset has nearly all of them, and all are about as frequent. Counts, such as rooms, have
  rare large values.
- A line is a bad description of the target: means of the target by value, inside datasets, go up
  and down. Doses, ranks and days of a study have a trend.

On 20 real tables (shops, bikes, houses, flights, incomes) this names weekday, month, season, team
and cluster, and no count, rating, year or hour.
"""

import numpy as np
from scipy.special import fdtrc

from conjoin._typing import BoolArray, FloatArray, IntArray

FEWEST, MOST = 3, 20  # values of a code; hours (24) and days of a month (31) are near their next
# Share of the mean frequency that the rarest value has at least. In the tables above it is 0.31 or
# more for codes, and 0.08 or less for counts and ratings.
EVEN = 0.25
PRESENT = 0.9  # share of the values that datasets have, on average over rows
LINEAR = 0.8  # share of the differences between values that a line explains in a true number
# Share of the variance inside datasets that a line misses: with less, nothing is to be gained.
WORTH = 0.01
SURE = 0.001  # level of the test that a line misses something; there are many columns


def is_code(values: FloatArray, y: FloatArray, starts: IntArray) -> bool:
    """Say whether the whole numbers of a column (n,) name things, by the target y (n,).

    Dataset k has rows starts[k] to starts[k+1].

    >>> day, shop = np.tile(np.arange(1.0, 8.0), 40), np.arange(0, 281, 70)
    >>> is_code(day, np.where(day == 3, 5.0, 1.0) + 0.1 * np.cos(np.arange(280.0)), shop)
    True
    >>> is_code(day, 2 * day + np.cos(np.arange(280.0)), shop)
    False
    """
    levels = _levels(values)
    if levels is None:
        return False
    dataset = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    seen: BoolArray = np.zeros((len(starts) - 1, len(levels)), dtype=np.bool_)
    level = values.astype(np.intp) - int(levels[0])
    seen[dataset, level] = True
    if np.average(seen.mean(axis=1), weights=np.diff(starts)) < PRESENT:
        return False
    return _line_misses(level, _standardised(y, dataset))


def _levels(values: FloatArray) -> FloatArray | None:
    """Return the values of a column if they can be those of a code."""
    first, last = float(values.min()), float(values.max())
    if first not in (0.0, 1.0) or not FEWEST - 1 <= last - first < MOST:
        return None
    levels, count = np.unique(values, return_counts=True)
    whole = len(levels) == last - first + 1 and bool(np.all(levels == np.rint(levels)))
    return levels if whole and count.min() >= EVEN * count.mean() else None


def _standardised(y: FloatArray, dataset: IntArray) -> FloatArray:
    """Return the target with mean 0 and variance 1 inside each dataset; 0 where it is constant."""
    size = np.bincount(dataset)
    centred = y - (np.bincount(dataset, y) / size)[dataset]
    variance = np.bincount(dataset, centred**2) / size
    scale = np.sqrt(np.where(variance > 0, variance, 1.0))
    return centred / scale[dataset]


def _line_misses(level: IntArray, z: FloatArray) -> bool:
    """Say whether means of z (n,) by level (n,) are far from a line, and surely so."""
    n, count = len(z), np.bincount(level)
    mean = np.bincount(level, z) / count
    x = np.arange(len(count)) - np.average(np.arange(len(count)), weights=count)
    mean = mean - np.average(mean, weights=count)
    between = float(np.sum(count * mean**2))
    line = float(np.sum(count * x * mean)) ** 2 / float(np.sum(count * x**2))
    within, missed = float(z @ z) - between, between - line
    if not (within > 0 and line < LINEAR * between and missed > WORTH * n):
        return False
    degrees = len(count) - 2, n - len(count)
    test = missed / degrees[0] / (within / degrees[1])
    return bool(fdtrc(*degrees, test) < SURE)
