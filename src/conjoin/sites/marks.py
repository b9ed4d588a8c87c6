"""Groups of rows whose number can be read from sums of products.

The columns of a site enter; `Marks` leave: for every level of a category, every value of a column
with few values, and the unusual values of a column that is mostly constant, which rows have it.

Sums of products of 0/1 columns are counts: of a level, of its complement, and of the rows that have
two levels. So are n, sum x and sum x^2 of a column with three known values. The product of a level
with a column that is mostly zero is a sum over the rows that have the level and are not zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from conjoin._typing import BoolArray, FloatArray, IntArray

# n, the sum and the sum of squares are three equations: they give the numbers of rows of up to
# three known values, and of no more.
MOST_VALUES = 3
# A column is mostly constant if one value fills half of it: a sum of its deviations from that value
# is then a sum over the minority.
MOSTLY = 0.5
# Rows looked at first, to see quickly that a column has many values none of which is frequent. A
# value in half of all rows is in a third of these, unless rows are in a very special order.
GLANCE = 1000
GLANCED_SHARE = 1 / 3


@dataclass(frozen=True, eq=False)
class Marks:
    """Groups of rows.

    Parameters
    ----------
    labels : tuple of str
        What the rows of each group have, such as "smoker = 1".
    column : array (marks,)
        The column of the table, by its number; groups of one column exclude each other.
    feature : array (marks,)
        The feature of the group; -1 for the reference category.
    rows : array (n, marks)
        Which rows are in each group.
    """

    labels: tuple[str, ...]
    column: IntArray
    feature: IntArray
    rows: BoolArray

    def counts(self, chosen: IntArray | None = None) -> FloatArray:
        """Return how many of the chosen rows are in both of two groups (marks, marks)."""
        some = self.rows if chosen is None else self.rows[chosen]
        # Integers up to 2^24 are exact in single precision, which halves the time.
        part: FloatArray = some.astype("float32" if len(some) < 2**24 else "float64")
        return np.asarray(part.T @ part, np.float64)

    def too_few(self, counts: FloatArray, rows: int, zeros: bool) -> BoolArray:
        """Return which groups and crossings have too few rows (marks, marks).

        No rows are not too few, unless two groups that have rows cross and `zeros` is False.
        """
        crossing = self.column[:, None] != self.column[None, :]
        held = np.diag(counts) > 0
        barred = (counts > 0) | (not zeros and held[:, None] & held[None, :])
        few: BoolArray = (counts < rows) & barred & (crossing | np.eye(len(counts), dtype=bool))
        return few


def find_marks(
    columns: Sequence[FloatArray], names: Sequence[str], sources: Sequence[str]
) -> Marks:
    """Return the groups of rows of columns (n,), by the column of the table of each.

    >>> second, third = np.array([0.0, 0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0, 0.0])
    >>> marks = find_marks([second, third], ["ward=B", "ward=C"], ["ward", "ward"])
    >>> marks.labels, marks.rows.sum(axis=0).tolist()
    (('ward=B', 'ward=C', 'ward = reference category'), [1, 1, 2])
    """
    found: list[tuple[str, int, int, BoolArray]] = []
    known = {source: number for number, source in enumerate(dict.fromkeys(sources))}
    done: set[int] = set()
    for source, number in known.items():
        levels = category(columns, [j for j, one in enumerate(sources) if one == source])
        done |= set(levels)
        found += [(names[j], number, j, columns[j] == 1) for j in levels]
        if levels:
            rest = ~np.any([columns[j] == 1 for j in levels], axis=0)
            found.append((f"{source} = reference category", number, -1, rest))
    # Two features of one column that do not exclude each other count as different columns.
    for j in sorted(set(range(len(names))) - done):
        number = len(known) + j
        found += [(label, number, j, rows) for label, rows in _few_values(columns[j], names[j])]
    labels, owners, features, rows = zip(*found) if found else ((), (), (), ())
    return Marks(
        tuple(labels),
        np.array(owners, np.int64),
        np.array(features, np.int64),
        np.stack(rows, axis=1) if found else np.zeros((len(columns[0]), 0), bool),
    )


def category(columns: Sequence[FloatArray], features: Sequence[int]) -> list[int]:
    """Return the features that are 0/1 and exclude each other; none if there are not two."""
    levels = [
        j for j in features if _only_0_and_1(columns[j][:GLANCE]) and _only_0_and_1(columns[j])
    ]
    if len(levels) < 2 or np.any(np.sum([columns[j] for j in levels], axis=0) > 1):
        return []
    return levels


def _only_0_and_1(column: FloatArray) -> bool:
    return bool(np.all((column == 0) | (column == 1)))


def _few_values(column: FloatArray, name: str) -> list[tuple[str, BoolArray]]:
    """Return the groups of one column: one for each of few values, or those that are unusual."""
    glance = np.unique(column[:: max(len(column) // GLANCE, 1)], return_counts=True)
    if len(glance[0]) > MOST_VALUES and glance[1].max() < GLANCED_SHARE * glance[1].sum():
        return []
    values, counts = np.unique(column, return_counts=True)
    if len(values) <= MOST_VALUES:
        return [(f"{name} = {value:g}", column == value) for value in values]
    if counts.max() < MOSTLY * len(column):
        return []
    usual = values[np.argmax(counts)]
    return [(f"{name} other than {usual:g}", column != usual)]
