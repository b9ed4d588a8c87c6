"""A schema whose features include the predictions of learners.

Features of the table (n, features) and the dataset of each row enter `extend`; the same rows with
one more column for each prediction leave. Models of the engine and of learners are then all linear
in these features: a learner's own prediction has coefficient 1 in its column.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.learners.columns import LearnerColumns
from conjoin.learners.rows import UNKNOWN, Model
from conjoin.tables.schema import Schema


@dataclass(frozen=True, eq=False)
class PredictionColumns:
    """Trained models whose predictions are columns.

    Parameters
    ----------
    learner : str
        Name of the learner, such as "boosting".
    columns : LearnerColumns
        What the models see of a row.
    models : mapping of str to Model
        By the name of the column; a model of classes has a column for each line.
    datasets : mapping of str to int
        Number of every dataset that was there at fitting.
    lines : int
        Linear predictors of a model.
    settings : mapping of str to plain values
        What the left-out loss chose for each model.
    shown : int, optional
        Number of columns that are features, by default all.
    leads : bool
        Whether clusters and verdicts are about the learner; else they are about lines.
    """

    learner: str
    columns: LearnerColumns
    models: Mapping[str, Model]
    datasets: Mapping[str, int]
    lines: int
    settings: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    shown: int | None = None
    leads: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        found = [name for model in self.models for name in self.names_of(model)]
        return tuple(found[: self.shown])

    def names_of(self, model: str) -> tuple[str, ...]:
        """Return the names of the columns of a model."""
        if self.lines == 1:
            return (model,)
        return tuple(f"{model} {line + 1}" for line in range(self.lines))

    def predict(self, X: FloatArray, names: Sequence[str | None]) -> FloatArray:
        """Return the columns (n, columns) of rows of features (n, features)."""
        codes: IntArray = np.array(
            [UNKNOWN if name is None else self.datasets.get(name, UNKNOWN) for name in names],
            dtype=np.int64,
        )
        rows = self.columns.transform(X)
        found = [model.predict(rows, codes) for model in self.models.values()]
        return np.concatenate(found, axis=1)


@dataclass(frozen=True)
class LearnedSchema(Schema):
    """Columns of a table, their encoding, and the predictions of learners."""

    predictions: PredictionColumns = field(kw_only=True, compare=False)

    @classmethod
    def of(cls, schema: Schema, predictions: PredictionColumns) -> "LearnedSchema":
        """Return a schema with the predictions of learners as further features."""
        s = schema
        return cls(s.roles, s.encodings, s.constant, s.response, predictions=predictions)

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the inputs, then of the predictions."""
        return (*self.inputs, *self.predictions.names)

    def extend(self, rows: FloatArray, names: Sequence[str | None]) -> FloatArray:
        """Return rows of inputs with the predictions beside them."""
        return np.concatenate([rows, self.predictions.predict(rows, names)], axis=1)
