"""Sets of the classification side as numbers with classes, and the log loss.

`load` takes the name of a set and returns an `ArenaSet` whose target is text. `split_error` takes
probabilities of the test rows and returns the error.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.arena.classification.sets import SETS, Cuts, OneOf, Reached, Rule
from benchmarks.arena.data import (
    ArenaSet,
    FloatArray,
    Split,
    TextArray,
    entry,
    group_names,
    mean_over_groups,
    predictors,
    read_table,
)

# Probabilities stay this far from 0 and 1, so that a certain mistake costs 34.5 and not infinity.
SMALLEST = 1e-15


def load(name: str, root: Path | None = None) -> ArenaSet:
    """Read a set and turn it into numbers and classes.

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
    table = read_table(spec.table, root)
    known, y = classes_of(table, spec.table.target, spec.rule)
    table = table[known].reset_index(drop=True)
    X, groups = predictors(table, spec.table), group_names(table, spec.table.by)
    return ArenaSet(name, X.to_numpy(), y[known], groups, tuple(X.columns))


def classes_of(table: pd.DataFrame, target: str, rule: Rule) -> tuple[np.ndarray, TextArray]:
    """Return which rows have a class, and the class of every row as text.

    Examples
    --------
    >>> import pandas as pd
    >>> marks = pd.DataFrame({"mark": [5, 6, 8]})
    >>> classes_of(marks, "mark", Cuts((6, 7), ("low", "middle", "high")))[1].tolist()
    ['low', 'middle', 'high']
    """
    known = table[target].notna().to_numpy()
    if isinstance(rule, Cuts):
        places = np.searchsorted(rule.edges, table[target].to_numpy(), side="right")
        return known, np.array(rule.names, dtype=object)[places]
    if isinstance(rule, Reached):
        reached = (table[target] >= table[rule.column]).to_numpy()
        return known & table[rule.column].notna().to_numpy(), _text(np.where(reached, "yes", "no"))
    if isinstance(rule, OneOf):
        ones = table[list(rule.columns)].to_numpy() == 1
        return ones.sum(axis=1) == 1, np.array(rule.names, dtype=object)[ones.argmax(axis=1)]
    return known, _text(table[target].astype(str).str.strip().to_numpy())


def _text(values: np.ndarray) -> TextArray:
    return np.array([str(value) for value in values], dtype=object)


def log_losses(y: TextArray, probabilities: FloatArray, classes: TextArray) -> FloatArray:
    """Return the log loss of every row; NaN where the class is none of `classes`.

    Probabilities are clipped to [1e-15, 1 - 1e-15] and then divided by their sum.

    Examples
    --------
    >>> import numpy as np
    >>> y, classes = np.array(["a", "b", "c"]), np.array(["a", "b"])
    >>> log_losses(y, np.array([[0.5, 0.5], [0.0, 2.0], [1.0, 0.0]]), classes).round(3).tolist()
    [0.693, 0.0, nan]
    """
    clipped = np.clip(probabilities, SMALLEST, 1 - SMALLEST)
    clipped = clipped / clipped.sum(axis=1, keepdims=True)
    ones = y.astype(str)[:, None] == classes.astype(str)[None, :]
    losses = -np.log(np.where(ones, clipped, 1.0)).sum(axis=1)
    return np.where(ones.any(axis=1), losses, np.nan)


def shape(data: ArenaSet, split: Split) -> tuple[int, ...]:
    """Return the shape that predictions must have: test rows, classes of the training rows."""
    return len(split.test), len(training_classes(data, split))


def training_classes(data: ArenaSet, split: Split) -> TextArray:
    """Return the classes of the training rows, sorted: the columns of all predictions."""
    return np.unique(data.y[split.train].astype(str)).astype(object)


def split_error(data: ArenaSet, split: Split, probabilities: FloatArray) -> tuple[float, str]:
    """Return the error on a split's test rows, and a remark if rows had to be left out."""
    classes = training_classes(data, split)
    losses = log_losses(data.y[split.test], probabilities, classes)
    known = np.isfinite(losses)
    unseen = int(np.sum(~known))
    remark = f"{unseen} test rows of classes unseen in training left out" if unseen else ""
    return mean_over_groups(losses[known], data.groups[split.test][known]), remark
