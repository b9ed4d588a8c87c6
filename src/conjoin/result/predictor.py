"""The one way from rows to predictions, for Python, estimators and files.

Rows of a table enter (`encode`), or rows of features (`predict`); predictions leave, with what was
noticed on the way: datasets that were not there at fitting, rows without a name, rows far outside
the training range.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from conjoin._typing import AnyArray, FloatArray
from conjoin.api.request import PredictionOptions
from conjoin.errors import ArgumentError, DataError
from conjoin.families import expected, most_likely, softmax
from conjoin.result.fits import Fit, beyond_sentence, check_rows, limited, linear_predictors
from conjoin.result.placement import Placement
from conjoin.tables.frame import in_memory, is_table, to_array, to_frame
from conjoin.tables.names import dataset_names, name_of
from conjoin.tables.schema import Schema
from conjoin.text import quoted

Names = Sequence[str | None]
# The model that a row gets, as predictions call it; report and `explain` use the same names.
SOURCES = {
    "own": "in use",
    "assigned": "assigned",
    "pooled": "model for all (dataset not seen at fitting)",
    "nearest": "nearest cluster (dataset not seen at fitting)",
    "nameless": "model for all (no dataset named)",
}
# Datasets of a cluster under whose names rows of an unknown dataset are predicted; the mean of more
# hardly changes, and each is a pass of the learner over the rows.
MOST_MEMBERS = 10


@dataclass(frozen=True)
class Noticed:
    """What a reader of predictions should know; two of them add up.

    Parameters
    ----------
    rows : int
        Rows predicted.
    unseen : frozenset of str
        Datasets that were not there at fitting.
    unseen_rows : int
        Rows of these datasets.
    nameless : int
        Rows that name no dataset.
    beyond : int
        Rows with a value beyond the limits.
    beyond_by_column : mapping of column to int
        How often each column was beyond its limits.
    """

    rows: int = 0
    unseen: frozenset[str] = frozenset()
    unseen_rows: int = 0
    nameless: int = 0
    beyond: int = 0
    beyond_by_column: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: "Noticed") -> "Noticed":
        columns = {**self.beyond_by_column, **other.beyond_by_column}
        return Noticed(
            self.rows + other.rows,
            self.unseen | other.unseen,
            self.unseen_rows + other.unseen_rows,
            self.nameless + other.nameless,
            self.beyond + other.beyond,
            {
                name: self.beyond_by_column.get(name, 0) + other.beyond_by_column.get(name, 0)
                for name in columns
            },
        )

    def unseen_sentence(self, on_unseen: str) -> str | None:
        """Say which datasets were not there at fitting, and which model they get."""
        if not self.unseen:
            return None
        model = "model for all" if on_unseen == "pooled" else "model of the nearest cluster"
        many = len(self.unseen) > 1
        return (
            f"{len(self.unseen):,} {'datasets were' if many else 'dataset was'} not there at "
            f"fitting ({quoted(sorted(self.unseen))}); {'they get' if many else 'it gets'} the "
            f"{model} ({self.unseen_rows:,} of {self.rows:,} rows)."
        )

    def nameless_sentence(self) -> str | None:
        """Say how many rows name no dataset."""
        if not self.nameless:
            return None
        return (
            f"{self.nameless:,} of {self.rows:,} rows name no dataset; they get the model for all."
        )

    def beyond_sentence(self) -> str | None:
        """Say how many rows lie far outside the training range."""
        if not self.beyond:
            return None
        worst = max(self.beyond_by_column, key=lambda name: self.beyond_by_column[name])
        return beyond_sentence(self.beyond, self.rows, worst)


@dataclass(frozen=True, eq=False)
class Predicted:
    """Linear predictors of rows (rows, lines), and what was noticed."""

    linear: FloatArray
    noticed: Noticed


@dataclass(frozen=True, eq=False)
class Predictor:
    """Models of datasets and clusters that predict rows of a table.

    Parameters
    ----------
    schema : Schema
        Columns of the table, and the features they become.
    datasets : mapping of dataset name to model
        The model of each dataset.
    clusters : sequence of models
        One model for each cluster.
    pooled : model
        One model for all, for datasets that were not there at fitting.
    added : mapping of dataset name to model, optional
        Datasets that got a model after fitting.
    members : sequence of sequences of str, optional
        Datasets of each cluster, where features depend on the dataset (learners).
    """

    schema: Schema
    datasets: Mapping[str, Fit]
    clusters: Sequence[Fit]
    pooled: Fit
    added: Mapping[str, Fit] = field(default_factory=dict)
    members: Sequence[Sequence[str]] = ()

    def encode(
        self, X: Any, dataset: Any = None, what: str = "X"
    ) -> tuple[FloatArray, list[str | None]]:
        """Return the features of rows, and the name of each row's dataset (None if unknown)."""
        if is_table(X):
            by = self.schema.roles.by if dataset is None else ()
            frame = in_memory(to_frame(X, what, wanted={*self.schema.columns, *by}))
            rows = self.schema.encode(frame, what)
            if dataset is None:
                found = dataset_names(frame, by)
                return self.schema.extend(rows, found), found
        else:
            rows = self.schema.represent(check_rows(X, self.schema.inputs))
        if dataset is None:
            raise DataError(
                "X does not say which dataset a row belongs to; pass dataset=... (a name, or one "
                "for each row)."
            )
        names = _names_of_rows(dataset, len(rows))
        return self.schema.extend(rows, names), names

    def encode_new(self, X: Any, what: str = "X") -> FloatArray:
        """Return the features of rows of a dataset that was not there at fitting."""
        name = "new"
        while name in self.datasets:
            name += "_"
        return self.encode(X, name, what)[0]

    def predict(
        self,
        rows: FloatArray,
        names: Names,
        options: PredictionOptions,
        nearest: Mapping[str, int] | None = None,
    ) -> Predicted:
        """Return the linear predictors of rows of features (n, features).

        `nearest` are the clusters of unseen datasets, for on_unseen="nearest" (see `places`).
        """
        rows, noticed = self.notice(rows, names, options)
        if noticed.unseen and options.on_unseen == "raise":
            raise DataError(
                f"Dataset {min(noticed.unseen)!r} was not there at fitting; known are "
                f"{quoted(list(self.datasets))}. Choose on_unseen='pooled' or 'nearest' to predict "
                "it all the same."
            )
        position, intercept, coef = self._table
        k = np.array([0 if n is None else position.get(n, 0) for n in names], dtype=np.int64)
        linear: FloatArray = intercept[k] + np.einsum("ij,isj->is", rows, coef[k])
        if nearest:
            own_names = np.array(names, dtype=object)
            for name in sorted(noticed.unseen & nearest.keys()):
                own = own_names == name
                linear[own] = self._as_member(rows[own], nearest[name])
        return Predicted(linear, noticed)

    def _as_member(self, rows: FloatArray, cluster: int) -> FloatArray:
        """Return linear predictors of rows of an unknown dataset by the model of a cluster.

        A learner that knows names has learned nothing for an unknown one. So the rows are predicted
        under the names of the cluster's datasets, and the mean counts. With a single cluster that
        would say no more than the pooled model, which was trained for unknown datasets.
        """
        model = self.clusters[cluster]
        if not self.members:
            return linear_predictors(model, rows)
        if len(self.clusters) == 1:
            return linear_predictors(self.pooled, rows)
        inputs = rows[:, : len(self.schema.inputs)]
        names = self.members[cluster][:MOST_MEMBERS]
        found = [
            linear_predictors(model, self.schema.extend(inputs, [name] * len(rows)))
            for name in names
        ]
        mean: FloatArray = np.mean(found, axis=0)
        return mean

    def notice(
        self, rows: FloatArray, names: Names, options: PredictionOptions
    ) -> tuple[FloatArray, Noticed]:
        """Return the rows within the limits, and what is to be said of them."""
        unseen = frozenset(n for n in set(names) if n is not None and self._is_unseen(n))
        noticed = Noticed(
            rows=len(rows),
            unseen=unseen,
            unseen_rows=sum(name in unseen for name in names) if unseen else 0,
            nameless=sum(name is None for name in names),
        )
        limits = self.pooled.limits
        if not options.limit or not limits:
            return rows, noticed
        rows, beyond = limited(rows, limits)
        counts = dict(zip(limits, beyond.sum(axis=0).tolist()))
        several = int(beyond.any(axis=1).sum())
        return rows, replace(noticed, beyond=several, beyond_by_column=counts)

    def places(self, rows: FloatArray, names: Names, placement: Placement) -> dict[str, int]:
        """Return the nearest cluster of each dataset that was not there at fitting."""
        own_names = np.array(names, dtype=object)
        unseen = sorted({n for n in names if n is not None and self._is_unseen(n)})
        return {name: placement.nearest(rows[own_names == name]) for name in unseen}

    def _is_unseen(self, name: str) -> bool:
        return name not in self.datasets and name not in self.added

    def sources(self, names: Names, on_unseen: str) -> list[str]:
        """Return which model each row gets, in words (see `SOURCES`)."""
        unseen = SOURCES[on_unseen if on_unseen in SOURCES else "pooled"]
        known: dict[str | None, str] = {None: SOURCES["nameless"]}
        for name in set(names):
            if name is not None:
                own = SOURCES["own"] if name in self.datasets else SOURCES["assigned"]
                known[name] = unseen if self._is_unseen(name) else own
        return [known[name] for name in names]

    def probabilities(self, linear: FloatArray) -> FloatArray:
        """Return the probability of each class (rows, classes)."""
        if not self.schema.response.classes:
            raise ArgumentError(
                f"The target {self.schema.roles.target!r} has no classes, so there are no "
                "probabilities; use predict, or fit with family='logistic'."
            )
        return softmax(linear)

    def targets(self, linear: FloatArray) -> AnyArray:
        """Return the expected numbers, or the most likely classes (rows,)."""
        response = self.schema.response
        if response.classes:
            return most_likely(softmax(linear), response.classes)
        return expected(linear, response)

    @cached_property
    def _table(self) -> tuple[dict[str, int], FloatArray, FloatArray]:
        """Position of each dataset among the models; their intercepts and coefficients.

        The pooled model is the first. Intercepts are (datasets + 1, lines), coefficients
        (datasets + 1, lines, features).
        """
        own = {**self.datasets, **self.added}
        models = [model.lines for model in (self.pooled, *own.values())]
        position = {name: k for k, name in enumerate(own, start=1)}
        intercept = np.array([[line.intercept for line in lines] for lines in models])
        coef = np.array([[list(line.coef.values()) for line in lines] for lines in models])
        return position, intercept, coef


def _names_of_rows(dataset: Any, rows: int) -> list[str | None]:
    """Return the name of each row's dataset from one name, or from one name for each row."""
    if isinstance(dataset, str) or np.ndim(dataset) == 0:
        return [None if dataset is None else name_of(dataset)] * rows
    values = dataset.to_list() if hasattr(dataset, "to_list") else to_array(dataset).tolist()
    if len(values) != rows:
        raise DataError(f"dataset has {len(values)} names for {rows} rows of X.")
    return [None if v is None or v != v else name_of(v) for v in values]
