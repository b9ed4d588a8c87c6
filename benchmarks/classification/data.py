"""The data side of the classification arena: sets as numbers with classes, and the error.

Reading, encoding, splits and scaling are those of the regression arena (`benchmarks.arena.data`);
new are the classes and the log loss:

>>> from benchmarks.arena.data import splits, standardise  # doctest: +SKIP
>>> from benchmarks.classification.data import load  # doctest: +SKIP
>>> districts = load("contraception")  # doctest: +SKIP
>>> X_train, X_test, columns = standardise(districts, splits(districts, 0.5, 0))  # doctest: +SKIP
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.arena.data import (
    FloatArray,
    Split,
    TextArray,
    group_names,
    predictors,
    read_table,
)
from benchmarks.classification.sets import SETS, Cuts, OneOf, Reached, Rule

SMALLEST = 1e-15  # probabilities are kept this far from 0 and 1


@dataclass(frozen=True)
class ClassSet:
    """A set as numbers, before standardising.

    Attributes
    ----------
    name : str
        Name of the set.
    X : ndarray of shape (rows, columns)
        Predictors, finite.
    y : ndarray of shape (rows,)
        Class of every row, as text.
    groups : ndarray of shape (rows,)
        Name of the group of every row.
    columns : tuple of str
        Names of the predictors.
    """

    name: str
    X: FloatArray
    y: TextArray
    groups: TextArray
    columns: tuple[str, ...]


def load(name: str, root: Path | None = None) -> ClassSet:
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
    ClassSet
        Finite numbers, not standardised.
    """
    if name not in SETS:
        raise KeyError(f"No set is called {name!r}; the sets are {', '.join(SETS)}.")
    spec = SETS[name]
    table = read_table(spec.table, root)
    known, y = classes_of(table, spec.table.target, spec.rule)
    table = table[known].reset_index(drop=True)
    X, groups = predictors(table, spec.table), group_names(table, spec.table.by)
    return ClassSet(name, X.to_numpy(), y[known], groups, tuple(X.columns))


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


def group_log_loss(losses: FloatArray, groups: TextArray) -> float:
    """Return the mean over groups of the mean log loss; rows without a loss are passed over.

    Examples
    --------
    >>> import numpy as np
    >>> group_log_loss(np.array([1.0, 3.0, 4.0, np.nan]), np.array(["a", "a", "b", "c"]))
    3.0
    """
    known = np.isfinite(losses)
    _, codes = np.unique(groups[known].astype(str), return_inverse=True)
    return float(np.mean(np.bincount(codes, weights=losses[known]) / np.bincount(codes)))


def training_classes(data: ClassSet, split: Split) -> TextArray:
    """Return the classes of the training rows, sorted: the columns of all predictions."""
    return np.unique(data.y[split.train].astype(str)).astype(object)


def split_error(data: ClassSet, split: Split, probabilities: FloatArray) -> tuple[float, str]:
    """Return the error on a split's test rows, and a remark if rows had to be left out."""
    classes = training_classes(data, split)
    losses = log_losses(data.y[split.test], probabilities, classes)
    unseen = int(np.sum(np.isnan(losses)))
    remark = f"{unseen} test rows of classes unseen in training left out" if unseen else ""
    return group_log_loss(losses, data.groups[split.test]), remark
