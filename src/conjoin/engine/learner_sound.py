"""Clusters of a learner without joins that do harm.

Clusters and the models in use enter. The held-out rows of a dataset say whether a model of its own
predicts them better than its cluster's. Such a dataset is judged against the rest of its cluster by
cross-validation (`LearnerJudge`), and leaves it where the join does harm. Datasets that left are
joined with each other where that is sound. Clusters leave, with the joins that made them.

Nothing is trained where no dataset is suspected, which is the usual case.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from conjoin._typing import BoolArray, FloatArray, IntArray, Progress
from conjoin.api.request import Request
from conjoin.engine.entries import Rows
from conjoin.engine.learner_clusters import FoundClusters, find_clusters
from conjoin.engine.learner_verdicts import LearnerJudge, harms
from conjoin.engine.learning import LearnedColumns
from conjoin.grouping.refine import Group, Join, refine, smaller_sides, tree_joins
from conjoin.grouping.search import Search
from conjoin.learners.crossfit import PredictedColumn
from conjoin.learners.grouped import grouped_column
from conjoin.learners.rows import Learner
from conjoin.models.row_losses import row_losses

# Standard errors by which a model of its own must be better before a dataset is judged again.
SURE = 1.0
MakeJudge = Callable[[], LearnerJudge]


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
    joins: tuple[Join, ...] | None = None
    falls: FloatArray | None = None


def find_sound_clusters(
    learner: Learner,
    learned: LearnedColumns,
    rows: Rows,
    request: Request,
    proposals: Iterable[IntArray],
    search: Search | None,
    progress: Progress | None = None,
) -> tuple[SoundClusters, MakeJudge]:
    """Return the clusters whose models predict best, and what makes the judge of their joins.

    Joins are judged by the learner with the larger steps that `compare` takes. The judge is made
    when it is asked for, since it holds the rows once more.
    """
    asked = (request.delta, int(request.random_state))
    make = partial(LearnerJudge.of, learner.quicker(), learned.task, rows.table, *asked)
    sound = SoundClusters(find_clusters(learned, rows, proposals, progress))
    if search is not None:
        sound = without_harm(learned, rows, sound.clusters, make, search)
    return sound, partial(_knowing, make, sound.falls)


def _knowing(make: MakeJudge, falls: FloatArray | None) -> LearnerJudge:
    return make().knowing(falls)


def without_harm(
    learned: LearnedColumns, rows: Rows, found: FoundClusters, make: MakeJudge, search: Search
) -> SoundClusters:
    """Return the clusters without the datasets that they harm."""
    if "separate" not in learned.found:
        return SoundClusters(found)
    falls = _falls(learned, rows, found.column)
    labels = found.labels
    tree = tree_joins(search.tree)
    groups = [*((k,) for k in range(len(labels))), *smaller_sides(labels, tree)]
    suspects = _suspects(falls, rows.dataset, labels, groups)
    judge = make().knowing(falls) if suspects else None
    harmed = {k for one in suspects if judge and _is_harmed(one, labels, judge) for k in one}
    if judge is None or not harmed:
        return SoundClusters(found, None, falls)
    left: BoolArray = np.isin(np.arange(len(labels)), sorted(harmed))
    apart = np.where(left, labels.max() + 1, labels)
    ask = _Among(judge, frozenset(harmed))
    sizes = np.bincount(rows.dataset, minlength=len(labels)).astype(np.float64)
    sound = refine(apart, sizes, tree, search.near, ask.changes, ask.apart)
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


def _suspects(
    falls: FloatArray, dataset: IntArray, labels: IntArray, groups: Sequence[Group]
) -> list[Group]:
    """Return groups that predict better with models of their own than in their cluster.

    Every dataset of a group counts the same. A whole cluster is no suspect.
    """
    K = len(labels)
    n = np.bincount(dataset, minlength=K)
    size = 2.0 ** np.frexp(np.abs(falls).max())[1]  # losses of 1e240 have no squares
    mean = np.bincount(dataset, falls / size, minlength=K) / n
    square = np.bincount(dataset, (falls / size) ** 2, minlength=K) / n
    variance = np.maximum(square - mean**2, 0.0) / np.maximum(n - 1, 1)
    members = np.bincount(labels)
    found = []
    for one in groups:
        some = list(one)
        if len(some) < members[labels[some[0]]]:
            if np.sum(mean[some]) < -SURE * np.sqrt(np.sum(variance[some])):
                found.append(one)
    return found


def _is_harmed(one: Group, labels: IntArray, judge: LearnerJudge) -> bool:
    """Say whether a group is better off without the rest of its cluster.

    Where cross-validation would take too long, the models in use say so.
    """
    same = np.flatnonzero(labels == labels[one[0]])
    rest = tuple(int(i) for i in same if i not in one)
    found = judge.on_pairs([(one, rest)])[0]
    return harms(judge.in_use(one, rest) if found is None else found)


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
        asked = [join for join in joins if self._concerns(join)]
        known = dict(zip(asked, self.judge.on_pairs(asked)))
        change, error = np.zeros(len(joins)), np.zeros(len(joins))
        for i, join in enumerate(joins):
            one = known.get(join)
            if one is not None:
                change[i], error[i] = -one.gain, one.standard_error
            elif join in known:  # it takes too long, or rows are too few: they stay apart
                change[i] = np.inf
        return np.nan_to_num(change, nan=np.inf, posinf=np.inf), np.nan_to_num(error)

    def _concerns(self, join: Join) -> bool:
        return not self.some.isdisjoint((*join[0], *join[1]))

    def apart(self, joins: Sequence[Join]) -> BoolArray:
        """Say for each join whether the verdict is "apart"."""
        asked = [join if self._concerns(join) else None for join in joins]
        known = iter(self.judge.on_pairs([join for join in asked if join is not None]))
        verdicts = [None if join is None else next(known) for join in asked]
        return np.array([one is not None and one.verdict == "apart" for one in verdicts])
