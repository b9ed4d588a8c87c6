"""`DatasetCollection`: the checked rows of all datasets, as the mathematics takes them.

`tables.collect` makes it from tables; `engine` and `representations` read it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.families import Response
from conjoin.moments.made import narrow
from conjoin.tables.order import RowOrder
from conjoin.tables.schema import Schema


@dataclass(frozen=True, eq=False)
class DatasetCollection:
    """Rows of all datasets, one dataset after another, finite and in float64.

    Parameters
    ----------
    names : tuple of str
        Datasets, in natural order of their names.
    schema : Schema
        How columns of the tables become the features, the columns of X.
    X : array, shape (rows, features)
    y : array, shape (rows,)
        Target; for a target of classes, the number of the class.
    weights : array, shape (rows,)
    starts : array, shape (datasets + 1,)
        Dataset k has rows starts[k] to starts[k+1].
    ends : (array, array), optional
        Smallest and largest value of each feature, if they come from more rows than X has.
    positions : array, shape (rows,), optional
        Place of every row in the table that it came from; 0 is the first.
    order : RowOrder, optional
        When every row was, and whom it is about; None if nobody asked.
    """

    names: tuple[str, ...]
    schema: Schema
    X: FloatArray
    y: FloatArray
    weights: FloatArray
    starts: IntArray
    ends: tuple[FloatArray, FloatArray] | None = None
    positions: IntArray | None = None
    order: RowOrder | None = None

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the columns of X."""
        return self.schema.features

    @property
    def response(self) -> Response:
        """What the target is: a number, a class or a count."""
        return self.schema.response

    def rows(self, k: int) -> slice:
        """Return the rows of dataset k."""
        return slice(int(self.starts[k]), int(self.starts[k + 1]))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of rows of each dataset."""
        return tuple(int(j - i) for i, j in zip(self.starts[:-1], self.starts[1:]))

    @cached_property
    def dataset_of_rows(self) -> IntArray:
        """Number of every row's dataset (rows,)."""
        return narrow(np.repeat(np.arange(len(self.names)), self.sizes))

    def in_table_order(self) -> "DatasetCollection":
        """Return the rows of every dataset in the order of the table that they came from."""
        if self.positions is None:
            return self
        dataset = np.repeat(np.arange(len(self.names)), self.sizes)
        return self.in_order(np.lexsort((self.positions, dataset)))

    def in_order(self, by: IntArray) -> "DatasetCollection":
        """Return the rows in another order `by` (rows,), in which datasets stay where they are."""
        return replace(
            self,
            X=self.X[by],
            y=self.y[by],
            weights=self.weights[by],
            positions=None if self.positions is None else self.positions[by],
            order=None if self.order is None else self.order.take(by),
        )

    @cached_property
    def limits(self) -> dict[str, tuple[float, float]]:
        """Range of each feature beyond which models do not extrapolate."""
        low, high = self.ends or (self.X.min(axis=0), self.X.max(axis=0))
        return limits_of(self.features, low, high)


def limits_of(
    features: Sequence[str], low: FloatArray, high: FloatArray
) -> dict[str, tuple[float, float]]:
    """Return the range of each feature, extended by its own width on both sides."""
    width = high - low
    return {name: (float(a), float(b)) for name, a, b in zip(features, low - width, high + width)}
