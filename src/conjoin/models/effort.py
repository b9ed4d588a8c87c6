"""How much work a collection is worth: rules by size, in one place.

Moments of all datasets enter, or their sizes; yes or no, or a number of operations, leaves. The
limits were set by time, not by error.
"""

import numpy as np

from conjoin._typing import IntArray
from conjoin.moments import Moments
from conjoin.moments.resample import stream

# Rows of all datasets together below which variances are estimated again outside every fold. With
# few rows even a handful of variances remember the rows they were fitted to.
FEW_ROWS = 10_000
# Operations of one pass over all datasets (K p^3): up to SMALL, refitting variances outside every
# fold is quick; from LARGE on, searches take fewer steps and fewer starts.
SMALL, LARGE = 3e6, 3e7
# Operations of one pass from which two threads finish sooner than one: below, waking them costs
# more than they save.
LEAST_SHARED = 5e5
# Datasets from which a search tries one start instead of seven, and a partition is validated on two
# halves of the folds instead of on pairs of folds.
MANY_DATASETS = 300
# Operations of a pass (K p^3), and numbers in the moments of all folds (K F p^2, 800 MB), from
# which datasets with few rows for their columns are worked on by their rows. Below, a search for
# clusters takes at most a few minutes.
MANY_OPERATIONS, MANY_VALUES = 5e8, 1e8
# How many times cheaper systems of rows must be than systems of columns: where they are not, most
# datasets have rows enough for a search that is worth its time.
CLEARLY_CHEAPER = 4
# Datasets from which variances are estimated. Beyond, a random part of so many is used: a variance
# from 10,000 datasets has a standard error of 1.4 %, which changes no coefficient visibly.
MOST_FOR_VARIANCES = 10_000


def operations(moments: Moments) -> float:
    """Return the work of one pass over all datasets: K p^3 operations."""
    return float(moments.shape[0] * moments.p**3)


def is_small(moments: Moments) -> bool:
    """Say whether variances are refitted outside every fold: there it matters, and is quick."""
    return bool(moments.n.sum() < FEW_ROWS and operations(moments) < SMALL)


def is_quick(moments: Moments) -> bool:
    """Say whether a pass over all datasets is too short for threads."""
    return operations(moments) < LEAST_SHARED


def is_large(moments: Moments) -> bool:
    """Say whether a pass over all datasets is long, so that searches must be short."""
    return operations(moments) > LARGE


def some_datasets(count: int) -> IntArray | None:
    """Return the numbers of the datasets from which variances are estimated; None for all.

    They are drawn at random, since names in order may follow a pattern. Datasets are sorted by
    name, so the draw depends on nothing but their number.
    """
    if count <= MOST_FOR_VARIANCES:
        return None
    drawn = stream(0, "variances").choice(count, MOST_FOR_VARIANCES, replace=False)
    return np.sort(drawn)


def works_by_rows(sizes: IntArray, columns: int, folds: int) -> bool:
    """Say whether rows should stand for moments: datasets are small, and there is much work.

    `sizes` (K,) are the rows of the datasets. A system of n rows takes n^2 p + n^3 operations, one
    of p columns p^3.

    >>> works_by_rows(np.full(38_000, 2), 150, 10), works_by_rows(np.full(1_000, 200), 11, 10)
    (True, False)
    """
    K, p = len(sizes), columns
    n = np.minimum(sizes, p + 1).astype(np.float64)
    by_rows, by_columns = float(np.sum(n**2 * p + n**3)), float(K) * p**3
    much = by_columns > MANY_OPERATIONS or float(K) * folds * p**2 > MANY_VALUES
    return much and CLEARLY_CHEAPER * by_rows < by_columns
