"""Which datasets to train together with a learner, judged on held-out rows.

Proposals for labels enter: those of the linear analysis and of the analysis with the learner's
prediction as a column. Each is improved by moving datasets (`learners.moves`), and one model is
trained for each cluster. The partition with the lowest loss leaves, unless one model of all rows
that knows the name is as good: then all datasets are one cluster.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from conjoin._typing import FloatArray, IntArray, Progress
from conjoin.engine.entries import Rows
from conjoin.engine.learning import LearnedColumns
from conjoin.engine.stability import Contest
from conjoin.learners.crossfit import PredictedColumn
from conjoin.learners.grouped import grouped_column
from conjoin.learners.moves import moved_labels
from conjoin.models.row_losses import row_losses
from conjoin.progress_parts import report
from conjoin.strategies.average import summarise

# Rows up to which clusters are trained and moved: each proposal costs as much as the learner's own
# cross-validation. With more rows the proposal of the corrected analysis is kept.
MOST_ROWS = 50_000
# Times the loss of "named" from which the models of clusters are not trained to the end.
FAR = 1.5
# Clusters at most for which models are trained. Each has to be cross-fitted, and with more of them
# each has fewer rows than a learner needs.
MOST_CLUSTERS = 12


class FoundClusters(NamedTuple):
    """Clusters of a learner.

    Parameters
    ----------
    labels : array (K,)
    column : PredictedColumn, optional
        Predictions of one model for each cluster; None for a single cluster, whose model is that of
        "named".
    contest : Contest, optional
        The best clusters that were tried against "named"; None if none were tried.
    """

    labels: IntArray
    column: PredictedColumn | None
    contest: Contest | None


def find_clusters(
    learned: LearnedColumns,
    rows: Rows,
    proposals: Iterable[IntArray],
    progress: Progress | None = None,
) -> "FoundClusters":
    """Return the clusters whose models predict best, and how they compare with one model."""
    K = len(rows.table.names)
    best: IntArray = np.zeros(K, dtype=np.int64)
    column, nearest = None, None
    lowest = named = rows.losses(learned.found["named"].held_out)
    tried = _distinct(proposals, len(rows.table.y))
    for number, labels in enumerate(tried):
        found, other = _improved(learned, labels)
        losses = FAR * named if other is None else rows.losses(other.held_out)
        if nearest is None or rows.mean_loss(losses) < rows.mean_loss(nearest):
            nearest = losses
        if other is not None and is_better(losses, lowest, rows):
            best, column, lowest = found, other, losses
        report(progress, number + 1, len(tried))
    if nearest is None:
        return FoundClusters(best, column, None)
    contest = Contest(nearest, named, rows.weights, lead=-1.0, most=_most_clusters(K))
    return FoundClusters(best, column, contest)


def _most_clusters(datasets: int) -> int:
    return min(datasets - 1, MOST_CLUSTERS)


def _distinct(proposals: Iterable[IntArray], rows: int) -> list[IntArray]:
    """Return proposals of several clusters that are worth a try, each once."""
    found: dict[bytes, IntArray] = {}
    for labels in proposals:
        several = 1 < int(labels.max()) + 1 <= _most_clusters(len(labels))
        if several and rows <= MOST_ROWS:
            found[labels.tobytes()] = labels
    return list(found.values())


def _improved(learned: LearnedColumns, labels: IntArray) -> tuple[IntArray, PredictedColumn | None]:
    """Move datasets once, and train one model for each cluster.

    Where the first models of the clusters are far worse than "named", none are trained.
    """
    task, pooled = learned.task, learned.found["pooled"]
    rows, group = task.rows, task.group
    quick = task.learner.hastened(pooled.settings)
    moved, losses = moved_labels(task.learner, rows, group, labels, quick)
    named = task.in_task_order(learned.found["named"]).held_out
    if np.mean(losses) > FAR * np.mean(row_losses(named, rows.y, rows.response)):
        return moved, None
    rest = task.in_task_order(pooled)
    column = grouped_column(task.learner, rows, group, moved, rest)
    return moved, task.in_table_order(column)


def is_better(losses: FloatArray, lowest: FloatArray, rows: Rows, sure: float = 1.0) -> bool:
    """Say whether losses (F, K) are lower by more than `sure` standard errors."""
    w = np.bincount(rows.dataset, rows.table.weights, minlength=len(rows.table.names))
    both = np.stack([losses, lowest])
    mean, difference, error = summarise(both, w.astype(np.float64), rows.weights)
    return bool(mean[0] < mean[1] and difference[1] > sure * error[1])
