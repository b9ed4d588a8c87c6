"""What a learner is given, and what it returns.

`LearnerRows` enter a learner's `cross_fit` and `fit`; a model leaves, whose `predict` takes columns
and the number of each row's dataset, and returns linear predictors: numbers as they are, log-odds
of classes, logarithms of expected counts.
"""

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from conjoin._typing import BoolArray, FloatArray, IntArray, Progress
from conjoin.families import Response
from conjoin.text import quoted

UNKNOWN = -1  # the number of a dataset that was not there at fitting
# Rows from which memory and time are saved at the cost of the last digits: two halves judge instead
# of five parts, and steps are larger. A model of half a million rows is hardly worse than one of a
# million, and each takes minutes.
LARGE = 300_000


@dataclass(frozen=True, eq=False)
class LearnerRows:
    """Rows that a learner is trained on, in an order that depends on their values alone.

    Parameters
    ----------
    X : array (n, columns)
        Numbers, and categories as whole numbers from 0; missing values are nan.
    y, w : arrays (n,)
        Target (of classes the number of the class) and row weights.
    dataset : array (n,)
        Number of each row's dataset.
    datasets : int
        How many datasets there are.
    names : tuple of str
        Names of the columns.
    categories : tuple of int
        Positions of the columns that are categories.
    response : Response
        What the target is.
    named : bool
        Whether the learner sees the dataset as one more category.
    past : Past, optional
        Where rows are ordered in time: what a model of each group may see.
    labels : tuple of str, optional
        Names of the datasets, for messages.
    """

    X: FloatArray
    y: FloatArray
    w: FloatArray
    dataset: IntArray
    datasets: int
    names: tuple[str, ...]
    categories: tuple[int, ...]
    response: Response = Response()
    named: bool = True
    past: "Past | None" = None
    labels: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.y)

    def take(self, rows: Any) -> "LearnerRows":
        """Select rows by their numbers or by a mask."""
        own = (one[rows] for one in (self.X, self.y, self.w, self.dataset))
        past = None if self.past is None else self.past.take(rows)
        return replace(self, past=past, **dict(zip(("X", "y", "w", "dataset"), own)))

    def outside(self, group: IntArray, g: int) -> BoolArray:
        """Say which rows (n,) train the model that predicts a group: the others, or earlier ones.

        `group` (n,) numbers the groups from 0.
        """
        return group != g if self.past is None else self.past.trains(g)

    def judging(self, group: IntArray) -> int:
        """Return how many groups, the first ones, choose settings."""
        return group_count(group) if self.past is None else self.past.judging

    def in_words(self) -> str:
        """Return how many rows there are, and of which datasets."""
        return rows_in_words(self.dataset, self.labels)

    @property
    def lines(self) -> int:
        """Linear predictors of a row: one, or one for each of more than two classes."""
        return lines_of(self.response)


@dataclass(frozen=True, eq=False)
class Past:
    """What models see where rows are ordered in time (`engine.ordering`).

    Parameters
    ----------
    cell : array (n,)
        Cell of every row: a piece of time, or one of two halves of the earliest rows.
    sees : array of bool (groups, cells)
        Which cells train the model that predicts a group.
    judging : int
        Groups, the first ones, that choose settings: those that are predicted forward. The others
        are the halves of the earliest rows, which predict each other.
    """

    cell: IntArray
    sees: BoolArray
    judging: int

    def take(self, rows: Any) -> "Past":
        """Select rows by their numbers or by a mask."""
        return replace(self, cell=self.cell[rows])

    def trains(self, g: int) -> BoolArray:
        """Say which rows (n,) train the model that predicts group g."""
        return self.sees[g][self.cell]


class Model(Protocol):
    """A trained learner."""

    def predict(self, X: FloatArray, dataset: IntArray) -> FloatArray:
        """Return linear predictors (n, lines) of rows; a dataset may be `UNKNOWN`."""

    def to_plain(self, objects: list[Any]) -> dict[str, Any]:
        """Return plain values for a model file; what is not plain is appended to `objects`."""


@dataclass(frozen=True, eq=False)
class CrossFitted:
    """Every row predicted by a model that has not seen it.

    Parameters
    ----------
    held_out : array (n, lines)
        Linear predictors.
    settings : plain mapping
        What was chosen by the left-out loss, such as rounds and leaves; `fit` takes it.
    models : tuple of Model
        The model outside each group, if they were to be kept.
    """

    held_out: FloatArray
    settings: dict[str, Any]
    models: tuple["Model", ...] = ()


class Learner(Protocol):
    """What can be trained on rows."""

    @property
    def name(self) -> str:
        """Short name for tables, such as "boosting"."""

    @property
    def takes_categories(self) -> bool:
        """Whether it takes categories as codes and missing values as nan."""

    def cross_fit(
        self,
        rows: LearnerRows,
        group: IntArray,
        progress: Progress | None = None,
        *,
        keep: bool = False,
    ) -> CrossFitted:
        """Predict each group (n,) of rows by a model of the others; choose the settings.

        With `keep` the models are returned as well.
        """

    def fit(self, rows: LearnerRows, settings: dict[str, Any]) -> Model:
        """Train on all rows with given settings."""

    def narrowed(self, settings: dict[str, Any]) -> "Learner":
        """Return the learner that has less to choose, since it was chosen once already."""

    def quicker(self) -> "Learner":
        """Return the learner in a form that takes less time, for many small models."""

    def for_few_rows(self) -> "Learner | None":
        """Return the learner for a single dataset of few rows; None if it has no such form."""

    def hastened(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Return settings that predict about as well in less time."""

    def given_settings(self) -> dict[str, Any] | None:
        """Return the settings if there is nothing to choose, else None."""

    @property
    def in_threads(self) -> bool:
        """Whether several models may be trained at the same time."""


def lines_of(response: Response) -> int:
    """Return the linear predictors of a row: one, or one for each of more than two classes."""
    count = len(response.classes)
    return count if count > 2 else 1


def rows_in_words(dataset: IntArray, labels: tuple[str, ...]) -> str:
    """Return how many rows there are, and of which datasets; a dataset may be `UNKNOWN`.

    >>> rows_in_words(np.array([0, 0, 2]), ("a", "b", "c")), rows_in_words(np.array([0]), ())
    ("3 rows of 2 datasets ('a', 'c')", '1 rows')
    """
    present = [str(labels[k]) for k in np.unique(dataset) if k != UNKNOWN] if labels else []
    several = f" of {len(present)} datasets ({quoted(present)})"
    one = f" of dataset {present[0]!r}" if present else ""
    return f"{len(dataset):,} rows{several if len(present) > 1 else one}"


def position_of(thing: Any, objects: list[Any]) -> int:
    """Return the position of a thing in a list; it is appended if it is not there."""
    for number, one in enumerate(objects):
        if one is thing:
            return number
    objects.append(thing)
    return len(objects) - 1


def group_count(group: IntArray) -> int:
    """Return the number of groups of rows."""
    return int(group.max(initial=-1)) + 1


def centred(scores: FloatArray) -> FloatArray:
    """Return scores (n, lines) of classes that sum to zero; a single line stays as it is."""
    if scores.shape[1] == 1:
        return scores
    return scores - np.mean(scores, axis=1, keepdims=True)
