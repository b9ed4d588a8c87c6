"""One model of a learner for each cluster of datasets, or for each dataset.

Rows, labels of datasets and a model of all rows enter; a column of predictions leaves
(`learners.crossfit`). A cluster with too few rows keeps the predictions of the model of all rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from conjoin._typing import BoolArray, FloatArray, IntArray, Progress
from conjoin.learners.crossfit import PredictedColumn
from conjoin.learners.rows import UNKNOWN, Learner, LearnerRows, Model, Past
from conjoin.progress_parts import report

# Rows from which a cluster gets a model of its own: trees of fewer rows have a handful of leaves.
FEWEST_ROWS = 50


@dataclass(frozen=True, eq=False)
class GroupedModel:
    """Models of clusters; datasets of other clusters, and unknown ones, get the model of all rows.

    Parameters
    ----------
    labels : array (K,)
        Cluster of each dataset.
    models : mapping of int to Model
        Models by cluster.
    rest : Model
        The model of all rows.
    """

    labels: IntArray
    models: Mapping[int, Model]
    rest: Model

    def predict(self, X: FloatArray, dataset: IntArray) -> FloatArray:
        """Return linear predictors (n, lines) of rows."""
        found = self.rest.predict(X, dataset)
        label = np.where(dataset == UNKNOWN, UNKNOWN, self.labels[np.maximum(dataset, 0)])
        for cluster, model in self.models.items():
            own = label == cluster
            if own.any():
                found[own] = model.predict(X[own], dataset[own])
        return found

    def to_plain(self, objects: list[Any]) -> dict[str, Any]:
        """Return plain values for a model file; what is not plain is appended to `objects`."""
        return {
            "kind": "grouped",
            "labels": self.labels.tolist(),
            "clusters": list(self.models),
            "models": [model.to_plain(objects) for model in self.models.values()],
            "rest": self.rest.to_plain(objects),
        }


def grouped_column(
    learner: Learner,
    rows: LearnerRows,
    group: IntArray,
    labels: IntArray,
    rest: PredictedColumn,
    fewest: int = FEWEST_ROWS,
    progress: Progress | None = None,
) -> PredictedColumn:
    """Cross-fit the learner in every cluster of `fewest` rows, and train it on all rows of each."""
    held_out, models = rest.held_out.copy(), {}
    label, clusters = labels[rows.dataset], int(labels.max()) + 1
    for cluster in range(clusters):
        report(progress, cluster, clusters)
        own: BoolArray = label == cluster
        past = None if rows.past is None else rows.past.take(own)
        if not has_enough(rows.y[own], group[own], int(group.max()) + 1, fewest, past):
            continue
        several = int(np.sum(labels == cluster)) > 1
        part = replace(rows.take(own), named=several)
        found = learner.cross_fit(part, group[own])
        held_out[own] = found.held_out
        models[cluster] = learner.fit(part, found.settings)
    return PredictedColumn(held_out, GroupedModel(labels, models, rest.model), rest.settings)


def has_enough(
    y: FloatArray,
    group: IntArray,
    groups: int,
    fewest: int = FEWEST_ROWS,
    past: Past | None = None,
) -> bool:
    """Say whether rows are enough to train and judge a model.

    There are some in every group (n,), and the target (n,) varies among the rows that train for it.
    """
    if len(y) < fewest or len(np.unique(group)) < groups:
        return False
    training = (y[group != g if past is None else past.trains(g)] for g in range(groups))
    return all(len(one) > 0 and np.ptp(one) > 0 for one in training)
