"""The checked form in which data travel to the mathematics."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from conjoin._typing import FloatArray, IntArray
from conjoin.families import Response
from conjoin.tables.schema import Schema


@dataclass(frozen=True, eq=False)
class DatasetCollection:
    """Rows of all datasets, one dataset after another, finite and in float64.

    Parameters
    ----------
    names : tuple of str
        Datasets, in natural order of their names.
    schema : Schema
        Where the features, the columns of X, come from.
    X : array, shape (rows, features)
    y : array, shape (rows,)
    weights : array, shape (rows,)
    starts : array, shape (datasets + 1,)
        Dataset k has rows starts[k] to starts[k+1].
    ends : (array, array), optional
        Least and greatest value of each feature, where more rows are known than these.

    For a target of classes y holds their numbers.
    """

    names: tuple[str, ...]
    schema: Schema
    X: FloatArray
    y: FloatArray
    weights: FloatArray
    starts: IntArray
    ends: tuple[FloatArray, FloatArray] | None = None

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the columns of X."""
        return self.schema.features

    @property
    def response(self) -> Response:
        """What the target is."""
        return self.schema.response

    def rows(self, k: int) -> slice:
        """Return the rows of dataset k."""
        return slice(int(self.starts[k]), int(self.starts[k + 1]))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rows of each dataset."""
        return tuple(int(j - i) for i, j in zip(self.starts[:-1], self.starts[1:]))

    @cached_property
    def limits(self) -> dict[str, tuple[float, float]]:
        """How far from the rows a model of these data is followed, by column."""
        low, high = self.ends or (self.X.min(axis=0), self.X.max(axis=0))
        return limits_of(self.features, low, high)


def limits_of(
    features: Sequence[str], low: FloatArray, high: FloatArray
) -> dict[str, tuple[float, float]]:
    """Return the range of each column, widened by its own width on either side."""
    width = high - low
    return {name: (float(a), float(b)) for name, a, b in zip(features, low - width, high + width)}


def natural_key(name: str) -> tuple[tuple[int, float, str], ...]:
    """Sort key under which 'store 2' comes before 'store 10'."""
    parts = re.split(r"(\d+(?:\.\d+)?)", name)
    return tuple((0, float(part), "") if i % 2 else (1, 0.0, part) for i, part in enumerate(parts))


def natural_order(names: Sequence[str]) -> list[str]:
    """Return the names in natural order; names that only look alike are settled by their text."""
    return sorted(names, key=lambda name: (natural_key(name), name))
