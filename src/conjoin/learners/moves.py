"""Clusters of datasets for a learner, improved on held-out rows.

Rows, groups of rows and labels of datasets enter; labels leave. The model of each cluster is
trained outside every group. A dataset moves to the cluster whose model predicts its held-out rows
best, if that is better than its own cluster's by more than a standard error. Its own cluster's
model has learned from the dataset's other rows, so a dataset only leaves for good reasons.

==========  ====================================================================  ============
symbol      meaning                                                               shape
==========  ====================================================================  ============
l_ic        loss of row i under the model of cluster c outside the row's group    (n, C)
d_k         mean of l_ic - l_i,own over the rows of dataset k                     (K,)
s_k         standard error of d_k over rows                                       (K,)
==========  ====================================================================  ============
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.execution import in_workers
from conjoin.learners.grouped import has_enough
from conjoin.learners.rows import Learner, LearnerRows, Model
from conjoin.models.row_losses import row_losses

# Standard errors by which another cluster must be better.
SURE = 1.0


def moved_labels(
    learner: Learner,
    rows: LearnerRows,
    group: IntArray,
    labels: IntArray,
    settings: dict[str, Any],
) -> tuple[IntArray, FloatArray]:
    """Return the labels (K,) after every dataset moved where it is predicted best.

    The second value are losses of the rows (n,) under the models of their clusters before.
    """
    losses = cluster_losses(learner, rows, group, labels, settings)
    K, own = len(labels), labels[rows.dataset]
    own_loss = losses[np.arange(len(rows)), own]
    n = np.bincount(rows.dataset, minlength=K)
    size = 2.0 ** np.frexp(own_loss.max())[1]  # losses of 1e240 have no squares
    found = labels.copy()
    best = np.full(K, 0.0)
    for c in range(losses.shape[1]):
        if np.isinf(losses[:, c]).any():  # too few rows for a model: nobody comes
            continue
        change = (losses[:, c] - own_loss) / size
        mean = np.bincount(rows.dataset, change, minlength=K) / n
        square = np.bincount(rows.dataset, change**2, minlength=K) / n
        spread = np.sqrt(np.maximum(square - mean**2, 0.0) / np.maximum(n - 1, 1))
        better = (mean < best) & (mean < -SURE * spread)
        found[better], best[better] = c, mean[better]
    return np.unique(found, return_inverse=True)[1].astype(np.int64), own_loss


def cluster_losses(
    learner: Learner,
    rows: LearnerRows,
    group: IntArray,
    labels: IntArray,
    settings: dict[str, Any],
) -> FloatArray:
    """Return l_ic (n, C); infinite for clusters with too few rows for a model."""
    C, G = int(labels.max()) + 1, int(group.max()) + 1
    losses = np.full((len(rows), C), np.inf)
    label = labels[rows.dataset]
    for c in range(C):
        inside = label == c
        past = None if rows.past is None else rows.past.take(inside)
        if not has_enough(rows.y[inside], group[inside], G, past=past):
            losses[inside, c] = 0.0  # nobody comes, and nobody leaves
            continue
        # Without names: the model must say something about datasets that it has not seen.
        members = replace(rows, named=False)
        for g, model in enumerate(_trained(learner, members, inside, group, settings)):
            judged = group == g
            linear = model.predict(rows.X[judged], rows.dataset[judged])
            losses[judged, c] = row_losses(linear, rows.y[judged], rows.response)
    return losses


def _trained(
    learner: Learner,
    rows: LearnerRows,
    inside: BoolArray,
    group: IntArray,
    settings: dict[str, Any],
) -> Iterator[Model]:
    """Give the model of some rows outside each group, in threads or in workers of joblib."""
    groups = range(int(group.max()) + 1)
    train = partial(_outside, learner, rows, inside, group, settings)
    return in_workers(train, groups, alone=not learner.in_threads)


def _outside(
    learner: Learner,
    rows: LearnerRows,
    inside: BoolArray,
    group: IntArray,
    settings: dict[str, Any],
    g: int,
) -> Model:
    """Return the model of some rows outside one group."""
    return learner.fit(rows.take(inside & rows.outside(group, g)), settings)
