"""What may leave a site: rules, and what breaks them.

`Rules` are the limits, `Leaving` the encoded columns of a site with the dataset and the fold of
every row, and a `Finding` says what breaks a rule. `check` in `sites.check` gets the first two and
returns findings: with none, moments by dataset and fold may leave. `mend` in `sites.mending` merges
levels and takes fewer folds, until nothing is found or nothing helps.

What leaves is the matrix P = Z'Z of every dataset and fold, with Z = [1, columns, target]. Centre
and scale do not matter, because the receiver can undo them. All rules are about what P discloses:

==============  ==============================================================================
rule            what it prevents
==============  ==============================================================================
rows            moments of few rows are those rows
columns         with as many columns as rows, P can be solved for the rows
level           the row of P that belongs to a rare level is the sum of its few rows
crossing        so is the product of two levels that few rows share
dominance       a sum of squares that is nearly one value discloses it, in any combination
few rows        a combination of columns that is constant but for few rows singles them out
perfect fit     if columns give the target exactly, whoever knows the columns knows the target
weights         coefficients that the coordinator chose leave weight on few rows only
numbers         many rounds give as many equations as there are values
==============  ==============================================================================

Zero is no small count: rules of the field bar 1 to 10. `zeros=False` bars zero too.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np

from conjoin._typing import AnyArray, FloatArray, IntArray
from conjoin.errors import ArgumentError
from conjoin.sites.marks import Marks, find_marks
from conjoin.text import listed

MOST_ROWS = 10**12  # more than any site has, and far below what a float counts exactly


@dataclass(frozen=True)
class Rules:
    """Limits for what leaves a site.

    Parameters
    ----------
    rows : int, default 11
        Fewest rows of a fold, of a level, of its complement, and of every crossing of two levels.
        United States Medicare and PCORnet bar counts of 1 to 10.
    share : float, default 1/3
        Most columns for each row of a fold, as in DataSHIELD.
    dominance : float, default 0.9
        Most that one row may make up of a sum of squares, of any combination of columns.
    numbers : float, default 1/2
        Most numbers that leave in all rounds together, for each value of the table.
    zeros : bool, default True
        Whether it may leave that no row has two levels, each of which some rows have.

    Examples
    --------
    >>> Rules().rows, Rules(rows=20).looser()
    (11, ())
    >>> Rules(rows=5).looser()
    ('rows is 5, the default is 11',)
    """

    rows: int = 11
    share: float = 1 / 3
    dominance: float = 0.9
    numbers: float = 0.5
    zeros: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.rows, bool) or not isinstance(self.rows, int) or self.rows < 1:
            raise ArgumentError(
                f"Rule 'rows' must be a whole number of at least 1, not {self.rows!r}."
            )
        if self.rows > MOST_ROWS:
            raise ArgumentError(f"Rule 'rows' must be at most {MOST_ROWS:,}: no site has more.")
        for name in ("share", "dominance", "numbers"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 1:
                raise ArgumentError(
                    f"Rule {name!r} must be a number above 0 and at most 1, not {value!r}."
                )
        if not isinstance(self.zeros, bool):
            raise ArgumentError(f"Rule 'zeros' must be true or false, not {self.zeros!r}.")

    def looser(self, than: "Rules | None" = None) -> tuple[str, ...]:
        """Return the limits that allow more than those of other rules, the default ones if None."""
        other, words = Rules() if than is None else than, "the default" if than is None else "asked"
        found = []
        for one in fields(self):
            mine, yours = getattr(self, one.name), getattr(other, one.name)
            if mine < yours if one.name == "rows" else mine > yours:
                found.append(f"{one.name} is {mine:g}, {words} is {yours:g}")
        return tuple(found)

    def check(self, i_know: bool = False) -> None:
        """Refuse limits below the default ones.

        Raises
        ------
        ArgumentError
            If a limit allows more than the default and `i_know` is False.
        """
        looser = self.looser()
        if looser and not i_know:
            raise ArgumentError(
                f"Disclosure rules may only be made stricter: {listed(looser)}. Leave the rule "
                "out, or give --i-know (i_know=True) if your data officer agreed to it."
            )

    def strictest(self, other: "Rules") -> "Rules":
        """Return the stricter of every two limits: those of a plan and those of a site."""
        return Rules(
            rows=max(self.rows, other.rows),
            share=min(self.share, other.share),
            dominance=min(self.dominance, other.dominance),
            numbers=min(self.numbers, other.numbers),
            zeros=self.zeros and other.zeros,
        )

    def to_plain(self) -> dict[str, Any]:
        """Return the limits as plain values, for a file."""
        return asdict(self)

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> "Rules":
        """Return the rules that `to_plain` wrote.

        Raises
        ------
        ArgumentError
            If there is an unknown rule, or a value that a rule cannot have.
        """
        known = {one.name for one in fields(cls)}
        unknown = sorted(set(values) - known)
        if unknown:
            raise ArgumentError(
                f"Unknown disclosure rule {unknown[0]!r}; the rules are {listed(sorted(known))}."
            )
        return cls(**values)


@dataclass(frozen=True, eq=False)
class Leaving:
    """Rows of a site, as they are about to be summed.

    Parameters
    ----------
    names : tuple of str
        Features: the columns after encoding, without the intercept.
    sources : tuple of str
        The column of the table that each feature came from. 0/1 features of one source that exclude
        each other are the levels of a category.
    X : array (n, features)
        Encoded columns, in any units.
    target : str
        Name of the target.
    y : array (n,)
        The target; classes as their numbers from 0 on.
    datasets : tuple of str
        Names of the site's datasets.
    dataset : array (n,)
        Number of every row's dataset.
    fold : array (n,)
        Number of every row's fold; all 0 if moments leave without folds.
    readings : mapping of column to str
        How the plan reads columns of numbers and dates, for the site's ledger (`Plan.readings`).
    classes : tuple of str
        Names of the classes, if there are more than two: each but the first then counts as a 0/1
        column, since rounds send sums of every class.
    """

    names: tuple[str, ...]
    sources: tuple[str, ...]
    X: FloatArray
    target: str
    y: FloatArray
    datasets: tuple[str, ...]
    dataset: IntArray
    fold: IntArray
    readings: Mapping[str, str] = field(default_factory=dict)
    classes: tuple[str, ...] = ()

    @property
    def outputs(self) -> int:
        """Columns of the target: one, or the number of several classes less one."""
        return max(len(self.classes) - 1, 1)

    @property
    def columns(self) -> tuple[str, ...]:
        """Features and, last, the target; of several classes each but the first."""
        return (*self.names, *(self._names_of_classes()[1:] or (self.target,)))

    @property
    def owners(self) -> tuple[str, ...]:
        """The column of the table that each of `columns` comes from."""
        return (*self.sources, *(self.target,) * self.outputs)

    def values(self) -> FloatArray:
        """Return the columns as rows of numbers (n, columns)."""
        return np.column_stack([self.X, *self._of_target()])

    def by_column(self) -> list[FloatArray]:
        """Return the columns, an array (n,) each."""
        return [*self.X.T, *self._of_target()]

    def _of_target(self) -> list[FloatArray]:
        several = [(self.y == c).astype(np.float64) for c in range(1, len(self.classes))]
        return several or [self.y]

    def marks(self) -> Marks:
        """Return the groups of rows whose number can be read from sums."""
        found = find_marks(self.by_column(), self.columns, self.owners)
        if not self.classes:
            return found
        first = f"{self.target} = reference category"
        own = self._names_of_classes()[0]
        return replace(found, labels=tuple(own if one == first else one for one in found.labels))

    def _names_of_classes(self) -> tuple[str, ...]:
        return tuple(f"{self.target}={one}" for one in self.classes)

    def levels(self) -> tuple[int, ...]:
        """Return the features that are levels of a category: named "column=level"."""
        pairs = enumerate(zip(self.names, self.sources))
        return tuple(j for j, (name, source) in pairs if name.startswith(f"{source}="))

    def of_dataset(self, k: int) -> "Leaving":
        """Return the rows of one dataset, which is then the only one."""
        own = self.dataset == k
        one = self if own.all() else self.chosen(own)
        return replace(one, datasets=(self.datasets[k],), dataset=np.zeros_like(one.dataset))

    def chosen(self, rows: AnyArray) -> "Leaving":
        """Return some of the rows."""
        return replace(
            self, X=self.X[rows], y=self.y[rows], dataset=self.dataset[rows], fold=self.fold[rows]
        )

    def without_folds(self) -> "Leaving":
        """Return the same rows in one fold."""
        return replace(self, fold=np.zeros_like(self.fold))

    def cells(self) -> Iterator[tuple[int, IntArray]]:
        """Yield every fold that has rows, and their positions."""
        for fold in np.unique(self.fold):
            yield int(fold), np.flatnonzero(self.fold == fold)


@dataclass(frozen=True)
class Finding:
    """Something that would be disclosed.

    Parameters
    ----------
    rule : str
        Which rule is broken, as in the module's table.
    dataset : str
        The dataset.
    folds : tuple of int
        Folds in which it is broken; empty if the dataset as a whole breaks it.
    columns : tuple of str
        Features or target concerned.
    value, limit : float
        The worst value, and what the rule allows.
    sentence : str
        What would be disclosed, for the site's eyes only: it may contain small counts.
    merge : bool
        Whether merging levels of a category can mend it.
    fewer_folds : bool
        Whether taking fewer folds can mend it: the dataset as a whole keeps the rule.
    target : str
        The target, which cannot be left out.
    classes : int
        Number of classes, if the target has more than two.
    """

    rule: str
    dataset: str
    folds: tuple[int, ...]
    columns: tuple[str, ...]
    value: float
    limit: float
    sentence: str
    merge: bool = False
    fewer_folds: bool = False
    target: str = ""
    classes: int = 0

    def advice(self) -> str:
        """Return what the site can do about it."""
        if self.rule == "difference":
            return "send the earlier file again, or wait until more rows have changed"
        if self.rule == "values":
            return "send the earlier file again, or ask for a plan with the earlier limits and fill"
        if self.rule == "reading":
            return (
                "send the earlier file again, or ask for a plan with the earlier limits, fill and "
                "unit, or give --i-know (i_know=True) if your data officer agreed to it"
            )
        steps = []
        if self.fewer_folds:
            steps.append("export with fewer folds")
        if self.merge:
            steps.append("merge rare levels")
        columns = [name for name in self.columns if name != self.target]
        if columns:
            steps.append(f"leave out {' or '.join(columns)}")
        if self.classes and self.target in self.columns:
            steps.append(f"ask for a plan that joins classes of {self.target}")
        if self.rule == "dominance":
            steps.append("set limits for the column in the plan")
        if not steps:
            steps.append("leave out the dataset, or join it with another of the site")
        return " or ".join(steps)
