"""A trained learner as users get it: rows of a table enter `predict`, predictions leave."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from conjoin._typing import AnyArray, FloatArray
from conjoin.errors import ArgumentError
from conjoin.families import Label, expected, most_likely, softmax
from conjoin.learners.columns import LearnerColumns
from conjoin.learners.rows import UNKNOWN, Model
from conjoin.result.fits import check_rows
from conjoin.tables.frame import in_memory, is_table, to_frame
from conjoin.tables.schema import Schema


@dataclass(frozen=True, eq=False)
class LearnedFit:
    """A model of any learner.

    Parameters
    ----------
    learner : str
        Name of the learner, such as "boosting".
    rows : int
        Rows that it was trained on.
    error : float
        Cross-validated error: mean squared error, log loss of classes, half the mean deviance of
        counts. It is that of models trained on four fifths of the rows.
    settings : mapping
        What the learner chose by itself, such as the rounds of boosting.
    schema : Schema
        Columns of the table, and the features they become.
    columns : LearnerColumns
        What the model sees of the features.
    model : Model
        The trained model.

    Examples
    --------
    >>> import conjoin
    >>> from conjoin.datasets import make_pair
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> one, two = make_pair(p=2, n=60, d=0.0).tables().values()
    >>> found = conjoin.compare(one, two, target="y", learner=KNeighborsRegressor())
    >>> found.fit_joined.learner, found.fit_joined.predict(one).shape
    ('KNeighborsRegressor', (60,))
    """

    learner: str
    rows: int
    error: float
    settings: Mapping[str, Any] = field(repr=False)
    schema: Schema = field(repr=False)
    columns: LearnerColumns = field(repr=False)
    model: Model = field(repr=False)

    @property
    def family(self) -> str:
        """What the target is: "gaussian", "logistic" or "poisson"."""
        return self.schema.response.family

    @property
    def classes(self) -> tuple[Label, ...]:
        """The classes, in the order of `predict_proba`; empty for numbers and counts."""
        return self.schema.response.classes

    def predict(self, X: Any) -> AnyArray:
        """Predict rows: expected numbers or counts, or the most likely class (rows,).

        Parameters
        ----------
        X : frame, mapping of columns, or array (rows, features)
            Columns are found by name, as in the tables that were compared. Those of an array come
            in the order of `schema.features`.

        Raises
        ------
        DataError
            If X lacks a column, or a column has another type than before.
        """
        linear = self._linear(X)
        if self.classes:
            return most_likely(softmax(linear), self.classes)
        return expected(linear, self.schema.response)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class (rows, classes); `X` as in `predict`."""
        if not self.classes:
            raise ArgumentError(
                f"The target {self.schema.roles.target!r} has no classes, so there are no "
                "probabilities; use predict."
            )
        return softmax(self._linear(X))

    def _linear(self, X: Any) -> FloatArray:
        if is_table(X):
            frame = in_memory(to_frame(X, "X", wanted=set(self.schema.columns)))
            features = self.schema.encode(frame)
        else:
            features = check_rows(X, self.schema.features)
        unknown = np.full(len(features), UNKNOWN)
        return self.model.predict(self.columns.transform(features), unknown)
