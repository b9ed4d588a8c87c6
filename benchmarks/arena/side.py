"""What a side of the arena consists of: sets, contestants, error, conjoin's own runs, page.

`benchmarks.arena.regression.side` and `benchmarks.arena.classification.side` each define one
`Side`; the commands (`run`, `ours`, `table`, `ceiling`) work with any of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import conjoin
from benchmarks.arena.contest import Factory
from benchmarks.arena.data import ArenaSet, FloatArray, Split, Task


@dataclass(frozen=True)
class Page:
    """The words of a page beside its tables.

    Attributes
    ----------
    title : str
        Heading of the page.
    error : str
        What the error of a set is.
    reference : str
        What the two reference models are.
    names : str
        What names of contestants mean that do not explain themselves, if there are any.
    blanks : str
        What an empty cell of the second table means, if there are any.
    others : tuple of str
        Two other references, for a further table, if there are any.
    why : str
        What these are.
    """

    title: str
    error: str
    reference: str
    names: str = ""
    blanks: str = ""
    others: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True)
class Own:
    """How conjoin is fitted and used on a side.

    Attributes
    ----------
    options : mapping
        Arguments of `conjoin.partition` beside the table, its target and its groups.
    predict : callable
        Returns the predictions of a strategy for the test rows of a task.
    methods : mapping
        Other partition methods: contestant's name and arguments of `conjoin.partition`.
    best_average : callable
        Returns the average of the strategies' predictions (strategies, test rows, ...) that has the
        least error on the test rows of a split.
    """

    options: Mapping[str, object]
    predict: Callable[[conjoin.Partition, str, Task], FloatArray]
    methods: Mapping[str, Mapping[str, object]]
    best_average: Callable[[ArenaSet, Split, FloatArray], FloatArray]


def used_columns(result: conjoin.Partition) -> list[int]:
    """Return the positions of the columns x0, x1, ... that a result uses."""
    return [int(name[1:]) for name in result.schema.inputs]


@dataclass(frozen=True)
class Side:
    """One side of the arena.

    Attributes
    ----------
    name : str
        "regression" or "classification"; also the name of its folder.
    sets : tuple of str
        Names of the sets.
    load : callable
        Returns the set of a name.
    contestants : mapping
        The rivals: a factory for every name.
    shape : callable
        Returns the shape that predictions must have, given a set and a split.
    error : callable
        Returns the error and a remark (or an empty text), given a set, a split and predictions.
    own : Own
        How conjoin competes.
    page : Page
        Words of the page.
    """

    name: str
    sets: tuple[str, ...]
    load: Callable[[str], ArenaSet]
    contestants: Mapping[str, Factory]
    shape: Callable[[ArenaSet, Split], tuple[int, ...]]
    error: Callable[[ArenaSet, Split, FloatArray], tuple[float, str]]
    own: Own
    page: Page

    @property
    def results(self) -> Path:
        """CSV file of the stored results."""
        return Path(__file__).parent / self.name / "results.csv"
