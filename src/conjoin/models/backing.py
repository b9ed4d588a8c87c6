"""How many rows a verdict on classes or counts rests on, and whether they are enough.

Enters: rows, information and class counts of datasets (`GlmRows.backing`). Leaves: where
coefficients are close enough to normal for a verdict, how many times as many rows would be enough,
and which pairs lack a class on one side. Elsewhere the verdict is "undecided".

The limits hold the level of verdicts in simulation (tests/statistical/test_classification_levels).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from conjoin._typing import BoolArray, FloatArray

# Rows needed for each parameter of a class, and the same with rows counted by their information (a
# row at fifty-fifty counts one, a certain row nothing). With fewer, coefficients of a logistic
# regression are not close to normal and verdicts would not hold their level.
FEWEST_ROWS, FEWEST_MASS = 10.0, 5.0
# Rows needed for each parameter outside the most frequent class: the rare rows carry the
# information, however many frequent ones there are.
FEWEST_RARE = 4.0
# For a class of share pi, n pi (1 - pi) must be this many times (1 - 2 pi)^2. The ratio is one over
# the squared skewness of the class count: below 20 (a skewness above 0.22) estimates of a rare
# class are too skewed for a normal law.
LEAST_EVEN = 20.0
# A class counts as absent on one side of a pair if it has fewer rows there, while its share on the
# other side would predict as many or more. Four expected rows are missed by chance in 1 of 55
# Poisson counts (exp(-4)).
FEWEST_SHARED = 4.0


@dataclass(frozen=True, eq=False)
class Backing:
    """What a verdict on datasets (K,), or on groups of them, rests on.

    Parameters
    ----------
    rows : array (K,)
        Number of rows.
    mass : array (K,)
        Rows counted by their information.
    counts : array (K, C)
        Rows of each class; a single column of zeros for targets without classes.
    """

    rows: FloatArray
    mass: FloatArray
    counts: FloatArray

    def of(self, groups: Sequence[Sequence[int]]) -> "Backing":
        """Return the same for groups of datasets."""
        index = [np.asarray(group, dtype=int) for group in groups]
        return Backing(
            *(
                np.array([values[i].sum(axis=0) for i in index])
                for values in (self.rows, self.mass, self.counts)
            )
        )

    def enough(self, columns: int) -> BoolArray:
        """Say where the rows are enough for models with so many columns (K,)."""
        return self.short(columns) <= 1.0

    def lacking(self) -> BoolArray:
        """Say for pairs of groups (B,), given one after another, whether a side lacks a class.

        The likelihood of a class that never occurs has no maximum. There is no information near
        it, so moments would find any other coefficients just as good.
        """
        counts = self.counts.reshape(-1, 2, self.counts.shape[1])
        rows = np.maximum(self.rows, 1.0).reshape(-1, 2, 1)
        if counts.shape[2] == 1:
            return np.zeros(len(counts), dtype=bool)
        expected = (counts / rows)[:, ::-1] * rows
        lacks = (counts < FEWEST_SHARED) & (expected >= FEWEST_SHARED)
        return np.asarray(lacks.any(axis=(1, 2)))

    def short(self, columns: int) -> FloatArray:
        """Return how many times as many rows would be enough (K,).

        It is infinite where a class is absent, and at most 1 where the rows are enough.
        """
        needs = [(FEWEST_ROWS * columns, self.rows), (FEWEST_MASS * columns, self.mass)]
        if self.counts.shape[1] > 1:
            most = self.counts.max(axis=1)
            share = most / np.maximum(self.rows, 1.0)
            uneven = np.maximum(2 * share - 1, 0.0) ** 2
            needs.append((FEWEST_RARE * columns, self.rows - most))
            needs.append((LEAST_EVEN * uneven, self.rows * share * (1 - share)))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            factors = [np.where(np.equal(need, 0), 0.0, need / there) for need, there in needs]
        return np.asarray(np.max(factors, axis=0))
