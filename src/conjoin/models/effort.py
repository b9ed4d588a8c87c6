"""How much work a collection is worth: rules by size, in one place.

Moments of all datasets enter; yes or no, or a number of operations, leaves. The limits were set by
time, not by error.
"""

from conjoin.moments import Moments

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
