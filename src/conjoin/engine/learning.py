"""Between study and choice: predictions of a learner as columns beside those of the table.

A linear analysis and the rows of its table enter. Columns of held-out predictions leave, with the
models of all rows: the learner with the dataset's name, without it, on the residuals of the linear
average, and one for each dataset.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from conjoin._typing import FloatArray, IntArray, Progress
from conjoin.engine.study import Study
from conjoin.learners.columns import LearnerColumns
from conjoin.learners.crossfit import PredictedColumn, groups_of_folds, predict_column
from conjoin.learners.forward import forward_groups
from conjoin.learners.grouped import grouped_column, has_enough
from conjoin.learners.rows import Learner, LearnerRows, Past
from conjoin.tables import DatasetCollection

# Groups of rows that are held out together. Each is a model of its own; five leave four fifths of
# the rows for training and are what LightGBM's own cross-validation has by default.
GROUPS = 5
# Rows up to which columns are nested in validation: there one level would flatter (see
# `learners.crossfit`), and models of few rows are quick. Datasets with fewer rows than FEW_OWN on
# average are nested whatever the number of rows.
FEW_ROWS, FEW_OWN = 20_000, 40
# Rows from which the model without names and the residual model are judged on two halves instead
# of five parts, to save time; half of so many rows are enough to learn from. From MOST_RESIDUAL on
# there is no residual model: with so many rows the trees themselves follow each dataset.
MANY_ROWS, MOST_RESIDUAL = 50_000, 150_000
# Datasets and rows up to which every dataset gets a model of its own: each is cross-fitted.
MOST_SEPARATE, MOST_SEPARATE_ROWS = 24, 50_000


@dataclass(frozen=True, eq=False)
class LearnedColumns:
    """Predictions of held-out rows, in the order of the table, with the models of all rows.

    Parameters
    ----------
    task : LearningTask
        The rows, and the learner with the settings that were chosen.
    group : array (n,)
        Rows that were held out together.
    found : mapping of str to PredictedColumn
        By kind: "named", "pooled", "residual", "separate", "clusters".
    """

    task: "LearningTask"
    group: IntArray
    found: dict[str, PredictedColumn] = field(default_factory=dict)

    @property
    def learner(self) -> str:
        """Name of the learner."""
        return self.task.learner.name


@dataclass(frozen=True, eq=False)
class LearningTask:
    """A learner and rows in an order that depends on their values alone, and the way back.

    Parameters
    ----------
    learner : Learner
    columns : LearnerColumns
        What the models see of a row.
    rows : LearnerRows
    order : array (n,)
        Position in the table of every row.
    group : array (n,)
        Rows that are held out together.
    """

    learner: Learner
    columns: LearnerColumns
    rows: LearnerRows
    order: IntArray
    group: IntArray

    @classmethod
    def of(
        cls, learner: Learner, columns: LearnerColumns, table: DatasetCollection, study: Study
    ) -> "LearningTask":
        """Take the rows of a collection in the order of their ranks."""
        K = len(table.names)
        dataset = np.repeat(np.arange(K), table.sizes)
        assert study.dealt is not None  # a learner reads rows
        group, past = groups_and_past(study)
        order = np.lexsort((table.weights, study.dealt.rank, dataset))
        rows = LearnerRows(
            columns.transform(table.X)[order],
            table.y[order],
            table.weights[order],
            dataset[order],
            K,
            columns.names,
            columns.categories,
            table.response,
            past=None if past is None else past.take(order),
        )
        return cls(learner, columns, rows, order, group[order])

    def column(
        self,
        *,
        named: bool = True,
        nested: bool = False,
        target: FloatArray | None = None,
        progress: Progress | None = None,
    ) -> PredictedColumn:
        """Cross-fit the learner; predictions come in the order of `rows`."""
        rows = replace(self.rows, named=named)
        group = self.group
        if target is not None:
            rows = replace(rows, y=target)
        if (not named or target is not None) and len(rows) > MANY_ROWS and rows.past is None:
            group = group % 2
        return predict_column(self.learner, rows, group, nested=nested, progress=progress)

    def in_table_order(self, column: PredictedColumn) -> PredictedColumn:
        """Return a column in the order of the table."""

        def back(values: FloatArray) -> FloatArray:
            found = np.empty_like(values)
            found[self.order] = values
            return found

        nested = tuple(back(one) for one in column.nested)
        return replace(column, held_out=back(column.held_out), nested=nested)

    def in_task_order(self, column: PredictedColumn) -> PredictedColumn:
        """Return a column of the table in the order of `rows`."""
        return replace(column, held_out=column.held_out[self.order], nested=())


def held_out_groups(study: Study) -> IntArray:
    """Return the group (n,) of every row that is held out together."""
    return groups_and_past(study)[0]


def groups_and_past(study: Study) -> tuple[IntArray, Past | None]:
    """Return the group (n,) of every row, and what models see where rows are ordered in time."""
    dealt, folds = study.dealt, int(study.given.folds.shape[1])
    assert dealt is not None  # a learner reads rows
    if dealt.forward is not None:
        return forward_groups(dealt.forward, dealt.rank, GROUPS)
    return groups_of_folds(dealt.fold, folds, min(GROUPS, folds)), None


def enough_rows(table: DatasetCollection, study: Study) -> bool:
    """Say whether there are enough rows for a learner: some in every group, and targets vary."""
    group, past = groups_and_past(study)
    groups = min(GROUPS, int(study.given.folds.shape[1])) if past is None else len(past.sees)
    return has_enough(table.y, group, groups, past)


def learn_columns(
    learner: Learner,
    columns: LearnerColumns,
    table: DatasetCollection,
    study: Study,
    linear: FloatArray,
    progress: Progress | None = None,
) -> LearnedColumns:
    """Train the learner in every way; `linear` (n, lines) are held-out linear predictions."""
    task = LearningTask.of(learner, columns, table, study)
    n, K = len(task.rows), task.rows.datasets
    # Models of the past have seen nothing of the groups after them, so nothing is to be nested.
    nested = study.given.exact and task.rows.past is None and (n <= FEW_ROWS or n < FEW_OWN * K)
    found = {"named": task.column(nested=nested, progress=progress)}
    # The others compare and help; larger steps do for them, and for the clusters that follow.
    narrow = replace(task, learner=learner.narrowed(found["named"].settings).quicker())
    found["pooled"] = narrow.column(named=False)
    if table.response.family == "gaussian" and n <= MOST_RESIDUAL:
        residual = task.rows.y - linear[task.order, 0]
        found["residual"] = narrow.column(target=residual)
    if K <= MOST_SEPARATE and n <= MOST_SEPARATE_ROWS:
        found["separate"] = grouped_column(
            narrow.learner, task.rows, task.group, np.arange(K), found["pooled"]
        )
    done = {name: task.in_table_order(one) for name, one in found.items()}
    return LearnedColumns(narrow, held_out_groups(study), done)
