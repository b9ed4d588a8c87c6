"""Sets of the regression side as numbers, and the squared error.

`load` takes the name of a set and returns an `ArenaSet` with a numeric target. `split_error` takes
predictions of the test rows and returns the error.
"""

from pathlib import Path

import numpy as np

from benchmarks.arena.data import (
    ArenaSet,
    FloatArray,
    Split,
    entry,
    group_names,
    mean_over_groups,
    predictors,
    read_table,
)
from benchmarks.arena.regression.sets import SETS


def load(name: str, root: Path | None = None) -> ArenaSet:
    """Read a set and turn it into numbers.

    Parameters
    ----------
    name : str
        A key of `SETS`.
    root : Path, optional
        Folder holding ``paper`` and ``bench``; found by `benchmarks.arena.data.shared_data` if not
        given.

    Returns
    -------
    ArenaSet
        Finite numbers, not standardised.
    """
    spec = entry(SETS, name)
    table = read_table(spec, root)
    y = table[spec.target].to_numpy(dtype=np.float64)
    X, groups = predictors(table, spec), group_names(table, spec.by)
    return ArenaSet(name, X.to_numpy(), np.log(y) if spec.log else y, groups, tuple(X.columns))


def shape(data: ArenaSet, split: Split) -> tuple[int, ...]:
    """Return the shape that predictions must have: one number for every test row."""
    return split.test.shape


def split_error(data: ArenaSet, split: Split, predictions: FloatArray) -> tuple[float, str]:
    """Return the mean over groups of the MSE on a split's test rows, and no remark."""
    squares = (data.y[split.test] - predictions) ** 2
    return mean_over_groups(squares, data.groups[split.test]), ""
