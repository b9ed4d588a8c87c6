"""Clusters of a learner without joins that do harm.

Clusters and the models in use enter. The held-out rows of a dataset say whether a model of its own
predicts them better than its cluster's. Such a dataset is judged against the rest of its cluster by
cross-validation (`LearnerJudge`), and leaves it where the join does harm. Datasets that left are
joined with each other where that is sound. Clusters leave, with the joins that made them.

Nothing is trained where no dataset is suspected, which is the usual case.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.engine.entries import Rows
from conjoin.engine.learner_clusters import FoundClusters
from conjoin.engine.learner_verdicts import LearnerJudge, harms
from conjoin.engine.learning import LearnedColumns
from conjoin.grouping.agglomerative import Tree
from conjoin.grouping.refine import Join, make_sound, tree_joins
from conjoin.learners.crossfit import PredictedColumn
from conjoin.learners.grouped import grouped_column
from conjoin.models.row_losses import row_losses

# Standard errors by which a model of its own must be better before a dataset is judged again.
SURE = 1.0


@dataclass(frozen=True, eq=False)
class SoundClusters:
    """Clusters in which no dataset is known to be better off alone.

    Parameters
    ----------
    clusters : FoundClusters
    joins : tuple of (group, group), optional
        The joins that made them; None if no dataset left its cluster.
    falls : array (n,), optional
        Loss of each row of the table by the dataset's own model less that by its cluster's; None
        where datasets have no models of their own.
    """

    clusters: FoundClusters
    joins: tuple[Join, ...] | None
    falls: FloatArray | None


def without_harm(
    learned: LearnedColumns, rows: Rows, found: FoundClusters, judge: LearnerJudge, tree: Tree
) -> SoundClusters:
    """Return the clusters without the datasets that they harm."""
    if "separate" not in learned.found:
        return SoundClusters(found, None, None)
    falls = _falls(learned, rows, found.column)
    labels = found.labels
    harmed = [
        int(k) for k in _suspects(falls, rows.dataset, labels) if _is_harmed(int(k), labels, judge)
    ]
    if not harmed:
        return SoundClusters(found, None, falls)
    left: BoolArray = np.isin(np.arange(len(labels)), harmed)
    apart = np.where(left, labels.max() + 1, labels)
    ask = _Among(judge, frozenset(harmed))
    sizes = np.bincount(rows.dataset, minlength=len(labels)).astype(np.float64)
    sound = make_sound(apart, sizes, tree_joins(tree), ask.changes, ask.apart)
    column = _column(learned, sound.labels)
    clusters = FoundClusters(sound.labels, column, found.contest)
    return SoundClusters(clusters, sound.joins, _falls(learned, rows, column))


def _falls(learned: LearnedColumns, rows: Rows, column: PredictedColumn | None) -> FloatArray:
    """Return by how much the loss of each row is lower with its cluster's model than alone."""
    together = learned.found["named"] if column is None else column
    y, response = rows.table.y, rows.table.response
    own, both = (
        row_losses(one.held_out, y, response) for one in (learned.found["separate"], together)
    )
    return np.asarray(own - both, dtype=np.float64)


def _suspects(falls: FloatArray, dataset: IntArray, labels: IntArray) -> IntArray:
    """Return the datasets with mates that their own models predict better, beyond chance."""
    K = len(labels)
    n = np.bincount(dataset, minlength=K)
    size = 2.0 ** np.frexp(np.abs(falls).max())[1]  # losses of 1e240 have no squares
    mean = np.bincount(dataset, falls / size, minlength=K) / n
    square = np.bincount(dataset, (falls / size) ** 2, minlength=K) / n
    spread = np.sqrt(np.maximum(square - mean**2, 0.0) / np.maximum(n - 1, 1))
    mates = np.bincount(labels)[labels] > 1
    return np.flatnonzero(mates & (mean < -SURE * spread))


def _is_harmed(k: int, labels: IntArray, judge: LearnerJudge) -> bool:
    """Say whether a dataset is better off without the rest of its cluster."""
    rest = tuple(int(i) for i in np.flatnonzero(labels == labels[k]) if i != k)
    found = judge.on_pairs([((k,), rest)])[0]
    return found is not None and harms(found)


def _column(learned: LearnedColumns, labels: IntArray) -> PredictedColumn | None:
    """Train one model for each cluster; None for a single one, whose model is "named"."""
    if labels.max() == 0:
        return None
    if labels.max() == len(labels) - 1:
        return learned.found["separate"]
    task = learned.task
    rest = task.in_task_order(learned.found["pooled"])
    found = grouped_column(task.learner, task.rows, task.group, labels, rest)
    return task.in_table_order(found)


@dataclass(frozen=True, eq=False)
class _Among:
    """What a learner says of joins among some datasets; joins of others stay as they are."""

    judge: LearnerJudge
    some: frozenset[int]

    def changes(self, joins: Sequence[Join]) -> tuple[FloatArray, FloatArray]:
        """Return the change of the error by each join, with its standard error."""
        asked = [join for join in joins if join[0][0] in self.some]
        known = dict(zip(asked, self.judge.on_pairs(asked)))
        change, error = np.zeros(len(joins)), np.zeros(len(joins))
        for i, join in enumerate(joins):
            one = known.get(join)
            if one is not None:
                change[i], error[i] = -one.gain, one.standard_error
            elif join in known:  # it takes too long, or rows are too few: they stay apart
                change[i] = np.inf
        return np.nan_to_num(change, nan=np.inf, posinf=np.inf), np.nan_to_num(error)

    def apart(self, joins: Sequence[Join]) -> BoolArray:
        """Say for each join whether the verdict is "apart"."""
        asked = [join if join[0][0] in self.some else None for join in joins]
        known = iter(self.judge.on_pairs([join for join in asked if join is not None]))
        verdicts = [None if join is None else next(known) for join in asked]
        return np.array([one is not None and one.verdict == "apart" for one in verdicts])
