"""Between study and choice: predictions of a learner as columns beside those of the table.

A linear analysis and the rows of its table enter. Columns of held-out predictions leave, with the
models of all rows: the learner with the dataset's name, without it, on the residuals of the linear
average, and one for each dataset.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from conjoin._typing import FloatArray, IntArray, Progress
from conjoin.engine.curves import FEW_ROWS as FEW_CURVE_ROWS
from conjoin.engine.curves import find_curves
from conjoin.engine.study import Study
from conjoin.execution import give_back_memory
from conjoin.learners.blended import Blended
from conjoin.learners.boosting import Boosting
from conjoin.learners.columns import LearnerColumns
from conjoin.learners.crossfit import PredictedColumn, groups_of_folds, predict_column
from conjoin.learners.forward import forward_groups
from conjoin.learners.grouped import grouped_column, has_enough
from conjoin.learners.rows import LARGE, Learner, LearnerRows, Past
from conjoin.models.row_losses import row_losses
from conjoin.moments.made import made_rows
from conjoin.progress_parts import by_costs, report, split_progress
from conjoin.tables import DatasetCollection

# Coefficients for each row from which classes have lines alone. Fits take the third power of their
# number: for 50 classes in 240 rows (11 a row) over six minutes, for 11 in 222 (0.7) seconds.
MOST_FOR_A_ROW = 5
# Groups of rows that are held out together. Each is a model of its own; five leave four fifths of
# the rows for training and are what LightGBM's own cross-validation has by default.
GROUPS = 5
# The same for curves up to `FEW_CURVE_ROWS` rows: as many as lines have by default. A fit takes
# milliseconds, and the error of a curve between neighbours falls steeply with their distance, so
# models of four fifths of the rows would say too little about one of all rows.
CURVE_GROUPS = 10
# Rows up to which columns are nested in validation: there one level would flatter (see
# `learners.crossfit`), and models of few rows are quick. Datasets with fewer rows than FEW_OWN on
# average are nested whatever the number of rows.
FEW_ROWS, FEW_OWN = 20_000, 40
# The same for classes and counts, whose rows are passed over many times.
FEW_CLASS_ROWS = 5_000
# Rows from which the model without names and the residual model are judged on two halves instead
# of five parts, to save time; half of so many rows are enough to learn from. From MOST_RESIDUAL on
# there is no residual model: with so many rows the trees themselves follow each dataset.
MANY_ROWS, MOST_RESIDUAL = 50_000, 150_000
# Rows up to which the residual model has small steps, or several shapes of trees. It is often the
# best of all where rows are few.
PATIENT_ROWS = 5_000
# How long the models with names, without, of residuals and of one dataset take in proportion, for
# the progress bar.
COSTS, SEPARATE_COST = (6, 2, 1), 0.5
# Datasets and rows up to which every dataset gets a model of its own: each is cross-fitted.
MOST_SEPARATE, MOST_SEPARATE_ROWS = 24, 50_000
# Datasets and rows up to which trees for few rows are tried as well, and rows from which a dataset
# gets them. A model takes a tenth of a second; of 8 rows 6 are left to learn from in a fold.
MOST_FINE, MOST_FINE_ROWS, FEWEST_FINE = 100, 5_000, 8


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
        By kind: "named", "pooled", "residual", "separate", "clusters", "curves".
    curve_lines : array (K, p), optional
        The lines beside the curves, in working coordinates; None without curves.
    """

    task: "LearningTask"
    group: IntArray
    found: dict[str, PredictedColumn] = field(default_factory=dict)
    curve_lines: FloatArray | None = None

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
        dataset = table.dataset_of_rows
        assert study.dealt is not None  # a learner reads rows
        group, past = groups_and_past(study)
        order = np.lexsort((table.weights, study.dealt.rank, dataset)).astype(np.int32)
        make = partial(_rows_in_order, columns, table.X, order)
        rows = LearnerRows(
            made_rows(make, len(order), len(columns.names)),
            table.y[order],
            table.weights if np.ptp(table.weights) == 0 else table.weights[order],
            dataset,  # the order is one inside datasets
            K,
            columns.names,
            columns.categories,
            table.response,
            past=None if past is None else past.take(order),
            labels=table.names,
        )
        return cls(learner, columns, rows, order, group[order])

    def column(
        self,
        *,
        named: bool = True,
        nested: bool = False,
        target: FloatArray | None = None,
        keep: bool = False,
        progress: Progress | None = None,
    ) -> PredictedColumn:
        """Cross-fit the learner; predictions come in the order of `rows`."""
        rows = replace(self.rows, named=named)
        group = self.group
        if target is not None:
            rows = replace(rows, y=target)
        most = MANY_ROWS if not named or target is not None else LARGE
        if len(rows) > most and not nested and rows.past is None:
            group = group % 2
        return predict_column(
            self.learner, rows, group, nested=nested, keep=keep, progress=progress
        )

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


def _rows_in_order(
    columns: LearnerColumns, X: FloatArray, order: IntArray, rows: Any
) -> FloatArray:
    """Return some rows of features (n, features) as a learner sees them, in an order (n,)."""
    return columns.transform(X[order[rows]])


def held_out_groups(study: Study) -> IntArray:
    """Return the group (n,) of every row that is held out together."""
    return groups_and_past(study)[0]


def groups_and_past(study: Study, most: int = GROUPS) -> tuple[IntArray, Past | None]:
    """Return the group (n,) of every row, and what models see where rows are ordered in time.

    There are at most so many groups of folds, or of origins.
    """
    dealt = study.dealt
    assert dealt is not None  # a learner reads rows
    if dealt.forward is not None:
        return forward_groups(dealt.forward, dealt.rank, most)
    return group_of_folds(study, most).astype(np.int8)[dealt.fold], None


def group_of_folds(study: Study, most: int = GROUPS) -> IntArray:
    """Return the group (F,) of every fold; there are at most so many."""
    folds = int(study.given.folds.shape[1])
    return groups_of_folds(np.arange(folds), folds, min(most, folds))


def enough_rows(table: DatasetCollection, study: Study) -> bool:
    """Say whether there are enough rows for a learner: some in every group, and targets vary.

    Each line of a class has a coefficient for the predictions of all classes. They are a hundred
    times as many for 50 classes as for five, and with a few rows of each class they tell nothing.
    """
    lines = len(table.response.classes)
    if lines > 2 and lines * (1 + table.X.shape[1] + lines) > MOST_FOR_A_ROW * len(table.y):
        return False
    group, past = groups_and_past(study)
    groups = min(GROUPS, int(study.given.folds.shape[1])) if past is None else len(past.sees)
    return has_enough(table.y, group, groups, past=past)


def learn_columns(
    learner: Learner,
    table: DatasetCollection,
    study: Study,
    linear: Callable[[], FloatArray],
    progress: Progress | None = None,
    *,
    keep: bool = False,
) -> LearnedColumns:
    """Train the learner in every way; `linear` makes held-out linear predictions (n, lines).

    With `keep` the rows are a sample: the models outside each group are kept for the other rows,
    and there is nothing that needs all rows (nested predictions, a model for each dataset).
    """
    task = LearningTask.of(learner, columns_of(learner, table), table, study)
    n, K = len(task.rows), task.rows.datasets
    few = FEW_ROWS if study.given.exact else FEW_CLASS_ROWS
    # Models of the past have seen nothing of the groups after them, so nothing is to be nested.
    nested = not keep and task.rows.past is None and (n <= few or n < FEW_OWN * K)
    if n > LARGE:
        task = replace(task, learner=learner.quicker())
    own = SEPARATE_COST * K if not keep and K <= MOST_FINE else 0.1  # a little time for the rest
    first, second, third, last = by_costs(progress, (*COSTS, own))
    found = {"named": task.column(nested=nested, keep=keep, progress=first)}
    # The others compare and help; larger steps do for them, and for the clusters that follow.
    chosen = task.learner.narrowed(found["named"].settings)
    narrow = replace(task, learner=chosen.quicker())
    found["pooled"] = narrow.column(named=False, keep=keep, progress=second)
    if table.response.family == "gaussian" and n <= MOST_RESIDUAL:
        residual = task.rows.y - linear()[task.order, 0]
        patient = replace(task, learner=chosen) if n <= PATIENT_ROWS else narrow
        found["residual"] = patient.column(target=residual, keep=keep, progress=third)
    if not keep:
        found |= separate_column(task, narrow.learner, found["pooled"], last)
    report(last, 1, 1)
    give_back_memory()
    done = {name: task.in_table_order(one) for name, one in found.items()}
    group = held_out_groups(study)
    held_out = groups_and_past(study, CURVE_GROUPS if n <= FEW_CURVE_ROWS else GROUPS)
    curves = None if keep else find_curves(table, study, task.columns, *held_out)
    give_back_memory()
    if curves is None:
        return LearnedColumns(narrow, group, done)
    return LearnedColumns(narrow, group, {**done, "curves": curves.column}, curves.coef)


def columns_of(learner: Learner, table: DatasetCollection) -> LearnerColumns:
    """Return the columns of the table as a learner takes them."""
    if not learner.takes_categories:
        return LearnerColumns.plain(table.schema)
    # Other libraries have limits for the number of categories.
    return LearnerColumns.of(table.schema, codes=isinstance(learner, Boosting | Blended))


def separate_column(
    task: LearningTask, learner: Learner, pooled: PredictedColumn, progress: Progress | None = None
) -> dict[str, PredictedColumn]:
    """Return the column of one model for each dataset, of the trees with the lower loss."""
    rows, group = task.rows, task.group
    n, own = len(rows), np.arange(rows.datasets)
    fine, found = task.learner.for_few_rows(), []
    first, second = split_progress(progress, 0.5)
    if rows.datasets <= MOST_SEPARATE and n <= MOST_SEPARATE_ROWS:
        found.append(grouped_column(learner, rows, group, own, pooled, progress=first))
    few = rows.response.family == "gaussian" and n <= MOST_FINE_ROWS
    if fine is not None and few and rows.datasets <= MOST_FINE:
        found.append(grouped_column(fine, rows, group, own, pooled, FEWEST_FINE, second))
    if not found:
        return {}
    size = np.bincount(rows.dataset, rows.w)[rows.dataset]

    def loss(column: PredictedColumn) -> float:
        each = row_losses(column.held_out, rows.y, rows.response)
        return float(np.sum(rows.w * each / size))

    return {"separate": min(found, key=loss)}
