"""The data of the arena: sets as numbers, training and test rows, scaling.

`read_table`, `predictors` and `group_names` turn an entry of a side's table of sets into numbers
(`ArenaSet`). `splits` draws training and test rows inside every group. `standardise` scales the
columns with the training rows only, and `task_of` hands the result to a contestant:

>>> from benchmarks.arena.data import splits, task_of  # doctest: +SKIP
>>> from benchmarks.arena.regression.measure import load  # doctest: +SKIP
>>> sleep = load("sleepstudy")  # doctest: +SKIP
>>> task = task_of(sleep, splits(sleep, 0.5, seed=0))  # doctest: +SKIP

The encoding is the same for every set:

- Numeric columns stay as they are.
- A missing number becomes the median, and an indicator column marks it.
- A category of up to `MAX_LEVELS` levels becomes 0/1 columns. Its most frequent level gets none, so
  that the columns and an intercept are linearly independent.
- A text column with more levels is left out, and so is a column with a single value.
"""

import os
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.arena.specs import Cycle, Date, SetSpec

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
TextArray = NDArray[np.object_]
Spec = TypeVar("Spec")

# The twelve months must fit. The tables of sets leave out codes of 16 levels and more.
MAX_LEVELS = 12
SHARED_VARIABLE = "CONJOIN_SHARED"
_MISSING = "missing"


@dataclass(frozen=True)
class ArenaSet:
    """A set as numbers, before standardising.

    Attributes
    ----------
    name : str
        Name of the set.
    X : ndarray of shape (rows, columns)
        Predictors, finite.
    y : ndarray of shape (rows,)
        Target: numbers in regression, classes as text in classification.
    groups : ndarray of shape (rows,)
        Name of the group of every row.
    columns : tuple of str
        Names of the predictors.
    """

    name: str
    X: FloatArray
    y: FloatArray | TextArray
    groups: TextArray
    columns: tuple[str, ...]


class Split(NamedTuple):
    """Row numbers of the training and of the test part, both ascending."""

    train: IntArray
    test: IntArray


class Task(NamedTuple):
    """What a contestant is given: rows to fit and rows to predict.

    Predictors are standardised, without an intercept column and without columns that are constant
    in training. Every group of the test rows has at least one training row.

    Attributes
    ----------
    X_train, X_test : ndarray of shape (rows, columns)
        Predictors.
    y_train : ndarray of shape (training rows,)
        Target of the training rows.
    groups_train, groups_test : ndarray of shape (rows,)
        Name of the group of every row.
    """

    X_train: FloatArray
    y_train: FloatArray | TextArray
    groups_train: TextArray
    X_test: FloatArray
    groups_test: TextArray


def shared_data() -> Path:
    """Find the folder with the data.

    Returns
    -------
    Path
        ``data`` inside the folder that the environment variable CONJOIN_SHARED names, else inside
        the folder ``shared`` next to the repository.

    Raises
    ------
    FileNotFoundError
        If there is no such folder.
    """
    named = os.environ.get(SHARED_VARIABLE)
    shared = Path(named) if named else Path(__file__).resolve().parents[3] / "shared"
    data = shared / "data"
    if not data.is_dir():
        raise FileNotFoundError(
            f"The arena's data folder {data} does not exist; put the folder 'shared' next to the "
            f"repository, or set {SHARED_VARIABLE} to the folder that contains 'data'."
        )
    return data


def entry(sets: Mapping[str, Spec], name: str) -> Spec:
    """Return the entry of a table of sets, or raise a KeyError that lists the names."""
    if name not in sets:
        raise KeyError(f"No set is called {name!r}; the sets are {', '.join(sets)}.")
    return sets[name]


def read_table(spec: SetSpec, root: Path | None = None) -> pd.DataFrame:
    """Read the rows of a set from its main and side tables; draw a sample if there are too many.

    Parameters
    ----------
    spec : SetSpec
        An entry of the table of sets.
    root : Path, optional
        Folder holding ``paper`` and ``bench``; found by `shared_data` if not given.

    Returns
    -------
    DataFrame
        All columns as read.
    """
    return _draw(_read(spec, shared_data() if root is None else root), spec)


def predictors(table: pd.DataFrame, spec: SetSpec) -> pd.DataFrame:
    """Turn the predictors of a set into finite numbers."""
    return encode(_used_columns(table, spec), spec.categories)


def _read(spec: SetSpec, root: Path) -> pd.DataFrame:
    """Read the main table and join the side tables."""
    table = _read_file(root / spec.file)
    for join in spec.joins:
        side = _read_file(root / join.file)
        new = [c for c in side.columns if c in join.on or c not in table.columns]
        table = table.merge(side[new], on=list(join.on), how="left", validate="many_to_one")
    return table


def _read_file(path: Path) -> pd.DataFrame:
    return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)


def _draw(table: pd.DataFrame, spec: SetSpec) -> pd.DataFrame:
    """Draw the rows of a set that is too large, in their old order."""
    if spec.sample is None or len(table) <= spec.sample:
        return table
    drawn = _generator(spec.name).choice(len(table), size=spec.sample, replace=False)
    return table.iloc[np.sort(drawn)].reset_index(drop=True)


def _generator(name: str, *more: int) -> np.random.Generator:
    """Return a random generator that depends only on the name of a set and further numbers."""
    return np.random.default_rng([zlib.crc32(name.encode()), *more])


def group_names(table: pd.DataFrame, by: Iterable[str]) -> TextArray:
    """Name the group of every row, as text."""
    parts = [table[column].astype(str).to_numpy(dtype=object) for column in by]
    return np.array([" | ".join(values) for values in zip(*parts, strict=True)], dtype=object)


def _used_columns(table: pd.DataFrame, spec: SetSpec) -> pd.DataFrame:
    """Drop the columns that are no predictors; replace dates, cycles and flags by their parts."""
    used = table.drop(columns=[spec.target, *spec.by, *spec.left_out])
    for date in spec.dates:
        parts = _date_parts(pd.to_datetime(used[date.column], format=date.format), date)
        used = pd.concat([used.drop(columns=date.column), parts], axis=1)
    for cycle in spec.cycles:
        waves = _waves(used[cycle.column], cycle)
        used = pd.concat([used.drop(columns=cycle.column), waves], axis=1)
    return used.assign(**{flag: used[flag].notna() for flag in spec.flags})


def _date_parts(when: "pd.Series[pd.Timestamp]", date: Date) -> pd.DataFrame:
    parts: dict[str, pd.Series] = {}
    for part in date.parts:
        if part == "days":
            parts["days"] = (when - when.min()).dt.days
        elif part == "month":
            parts["month"] = when.dt.month.astype(str)
        elif part == "weekday":
            parts["weekday"] = when.dt.day_of_week.astype(str)
        else:
            parts |= dict(_waves(when.dt.hour, Cycle("hour", 24)).items())
    return pd.DataFrame(parts)


def _waves(values: pd.Series, cycle: Cycle) -> pd.DataFrame:
    angle = 2 * np.pi * values.astype(np.float64) / cycle.period
    waves: dict[str, pd.Series] = {}
    for k in range(1, cycle.harmonics + 1):
        waves[f"{cycle.column} sin {k}"] = np.sin(k * angle)
        waves[f"{cycle.column} cos {k}"] = np.cos(k * angle)
    return pd.DataFrame(waves)


def encode(table: pd.DataFrame, categories: Iterable[str] = ()) -> pd.DataFrame:
    """Turn columns of any type into finite numbers.

    Parameters
    ----------
    table : DataFrame
        Predictors as read.
    categories : iterable of str
        Names of numeric columns that are codes; names that are not in the table are ignored.

    Returns
    -------
    DataFrame
        float64, no column constant; see the module's docstring for the rules.

    Examples
    --------
    >>> import pandas as pd
    >>> encode(pd.DataFrame({"a": [1.0, None, 3.0], "b": ["u", "u", "v"]}))
         a  a missing  b=v
    0  1.0        0.0  0.0
    1  2.0        1.0  0.0
    2  3.0        0.0  1.0
    """
    codes = set(categories)
    encoded: dict[str, FloatArray] = {}
    for name in table.columns:
        column = table[name]
        if name in codes or not pd.api.types.is_numeric_dtype(column):
            encoded |= _levels(name, column)
        else:
            values = column.to_numpy(dtype=np.float64, na_value=np.nan)
            missing = np.isnan(values)
            encoded[name] = np.where(missing, np.nanmedian(values), values)
            encoded[f"{name} missing"] = missing.astype(np.float64)
    kept = {name: x for name, x in encoded.items() if np.ptp(x) > 0}
    return pd.DataFrame(_without_repeated_indicators(kept))


def _levels(name: str, column: pd.Series) -> dict[str, FloatArray]:
    """Return a 0/1 column for every level but the most frequent one (the first in a tie)."""
    text = column.astype(object).where(column.notna(), _MISSING).astype(str).str.strip()
    counts = text.value_counts().sort_index(kind="stable")
    if len(counts) > MAX_LEVELS:
        return {}
    reference = counts.idxmax()
    return {
        f"{name}={level}": (text == level).to_numpy(dtype=np.float64)
        for level in counts.index
        if level != reference
    }


def _without_repeated_indicators(columns: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """Drop an indicator of missing values that another 0/1 column repeats, as it is or inverted.

    Columns that are missing together would otherwise bring the same indicator several times.
    """
    kept: dict[str, FloatArray] = {}
    seen: set[bytes] = set()
    binary = {name: x for name, x in columns.items() if np.isin(x, (0.0, 1.0)).all()}
    ordered = sorted(columns, key=lambda name: name.endswith(f" {_MISSING}"))
    for name in ordered:
        if name in binary:
            x = binary[name].astype(bool)
            if name.endswith(f" {_MISSING}") and x.tobytes() in seen:
                continue
            seen |= {x.tobytes(), (~x).tobytes()}
        kept[name] = columns[name]
    return {name: kept[name] for name in columns if name in kept}


def splits(data: ArenaSet, share: float, seed: int) -> Split:
    """Draw the training rows of every group.

    Parameters
    ----------
    data : ArenaSet
        The set.
    share : float
        Share of every group's rows used for training, rounded, at least one row.
    seed : int
        Number of the repetition.

    Returns
    -------
    Split
        The same for the same set, share and seed. With the same seed, a larger share contains the
        training rows of a smaller one. A group of one row has no test rows.
    """
    if not 0 < share < 1:
        raise ValueError(f"share must lie between 0 and 1, got {share!r}.")
    generator = _generator(data.name, seed)
    trained = np.zeros(len(data.groups), dtype=bool)
    for rows in rows_by_group(data.groups).values():
        size = max(1, int(np.floor(share * len(rows) + 0.5)))
        trained[generator.permutation(rows)[:size]] = True
    return Split(np.flatnonzero(trained), np.flatnonzero(~trained))


def standardise(data: ArenaSet, split: Split) -> tuple[FloatArray, FloatArray, tuple[str, ...]]:
    """Scale the columns by mean and standard deviation of the training rows.

    Parameters
    ----------
    data : ArenaSet
        The set.
    split : Split
        Its training and test rows.

    Returns
    -------
    X_train, X_test : ndarray
        Scaled predictors without the columns that are constant in training.
    columns : tuple of str
        Names of the columns that are left.
    """
    X_train = data.X[split.train]
    varies = np.ptp(X_train, axis=0) > 0
    X_train = X_train[:, varies]
    mean, deviation = X_train.mean(axis=0), X_train.std(axis=0)
    X_test = (data.X[split.test][:, varies] - mean) / deviation
    columns = tuple(np.array(data.columns, dtype=object)[varies])
    return (X_train - mean) / deviation, X_test, columns


def task_of(data: ArenaSet, split: Split) -> Task:
    """Return what a contestant is given on a split."""
    X_train, X_test, _ = standardise(data, split)
    groups = data.groups
    return Task(X_train, data.y[split.train], groups[split.train], X_test, groups[split.test])


def rows_by_group(groups: TextArray) -> dict[str, IntArray]:
    """Return the row numbers of every group, groups in the order of their names.

    Examples
    --------
    >>> import numpy as np
    >>> rows = rows_by_group(np.array(["b", "a", "b"]))
    >>> {group: numbers.tolist() for group, numbers in rows.items()}
    {'a': [1], 'b': [0, 2]}
    """
    names, codes = np.unique(groups.astype(str), return_inverse=True)
    order = np.argsort(codes, kind="stable")
    pieces = np.split(order, np.cumsum(np.bincount(codes))[:-1])
    return dict(zip(map(str, names), pieces, strict=True))


def mean_over_groups(losses: FloatArray, groups: TextArray) -> float:
    """Return the mean over groups of the mean loss, so that every group counts the same.

    Examples
    --------
    >>> import numpy as np
    >>> mean_over_groups(np.array([1.0, 1.0, 4.0]), np.array(["a", "a", "b"]))
    2.5
    """
    _, codes = np.unique(groups.astype(str), return_inverse=True)
    return float(np.mean(np.bincount(codes, weights=losses) / np.bincount(codes)))


def row_weights(groups: TextArray) -> FloatArray:
    """Return how much each row counts (rows,) where every group counts the same; they add up to 1.

    Examples
    --------
    >>> import numpy as np
    >>> row_weights(np.array(["a", "a", "b"])).tolist()
    [0.25, 0.25, 0.5]
    """
    _, codes = np.unique(groups.astype(str), return_inverse=True)
    counts = np.bincount(codes)
    return np.asarray(1 / (len(counts) * counts[codes]))
