"""What a learner sees of a table: numbers and categories as they are, missing values as missing.

Features of the linear engine enter (`tables.schema`): categories as 0/1 features, missing numbers
filled in. A `LearnerColumns` undoes this, so that trees see one column where the table has one.
"""

from dataclasses import dataclass

import numpy as np

from conjoin._typing import FloatArray
from conjoin.tables.encoding import Category, Encoding, Flag, Number
from conjoin.tables.schema import Schema


@dataclass(frozen=True)
class LearnerColumn:
    """One column of a learner.

    Parameters
    ----------
    name : str
        The column of the table, or the feature.
    features : tuple of int
        Positions of the features that it is made of.
    category : bool
        Whether it is a category: 0 is the reference, j the j-th feature that is 1.
    indicator : int, optional
        Position of the feature that is 1 where the value is missing.
    code : bool
        Whether the feature holds the numbers of categories.
    """

    name: str
    features: tuple[int, ...]
    category: bool = False
    indicator: int | None = None
    code: bool = False

    def values(self, X: FloatArray) -> FloatArray:
        """Return the column (n,) of rows of features (n, features)."""
        if self.category and not self.code:
            own = X[:, list(self.features)]
            return np.where(own.any(axis=1), np.argmax(own, axis=1) + 1.0, 0.0)
        values = X[:, self.features[0]]
        return values if self.indicator is None else np.where(X[:, self.indicator], np.nan, values)


@dataclass(frozen=True)
class LearnerColumns:
    """The columns that a learner is given, made from the features of the engine.

    Examples
    --------
    >>> from conjoin.tables import collect
    >>> table = {"by": ["a", "a", "b", "b", "b"], "c": ["u", "v", "v", "u", "u"]}
    >>> rows = collect({**table, "y": [1, 2, 3, 5, 4]}, target="y", by="by")
    >>> LearnerColumns.of(rows.schema).transform(rows.in_table_order().X).ravel()
    array([0., 1., 1., 0., 0.])
    """

    columns: tuple[LearnerColumn, ...]

    @classmethod
    def of(cls, schema: Schema, *, codes: bool = False) -> "LearnerColumns":
        """Find the columns behind the features of a schema.

        With `codes`, numbers that stand for very many categories are categories.
        """
        position = {name: j for j, name in enumerate(schema.features)}
        if schema.representation is not None:
            return cls(tuple(LearnerColumn(name, (j,)) for name, j in position.items()))
        found: list[LearnerColumn] = []
        for encoding in schema.encodings:
            found += _columns(encoding, position, codes)
        return cls(tuple(found))

    @classmethod
    def plain(cls, schema: Schema) -> "LearnerColumns":
        """Take the features as they are, for learners that know neither categories nor gaps."""
        return cls(tuple(LearnerColumn(n, (j,)) for j, n in enumerate(schema.features)))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def categories(self) -> tuple[int, ...]:
        """Positions of the columns that are categories."""
        return tuple(j for j, column in enumerate(self.columns) if column.category)

    def transform(self, X: FloatArray) -> FloatArray:
        """Return the columns (n, columns) of rows of features (n, features)."""
        found = np.empty((len(X), len(self.columns)))
        for j, column in enumerate(self.columns):
            found[:, j] = column.values(X)
        return found


def _columns(encoding: Encoding, position: dict[str, int], codes: bool) -> list[LearnerColumn]:
    """Return the columns of a learner that a column of the table becomes."""
    names = [name for name in encoding.features() if name in position]
    if not names:
        return []
    if isinstance(encoding, Category):
        return [LearnerColumn(encoding.name, tuple(position[n] for n in names), category=True)]
    code = codes and isinstance(encoding, Number) and encoding.code
    if isinstance(encoding, Number | Flag) and encoding.indicator:
        value, missing = encoding.features()
        if value in position:
            own = (position[value],)
            return [LearnerColumn(value, own, code, position.get(missing), code)]
    if code:
        return [LearnerColumn(encoding.name, (position[encoding.name],), category=True, code=True)]
    return [LearnerColumn(name, (position[name],)) for name in names]
