"""The analysis with a learner's prediction as one more column ("corrected").

Columns of predictions and the rows of the table enter; the analysis of [columns, prediction]
leaves. Where rows are few, fits outside a fold see predictions that were made anew without the
fold (`learners.crossfit`), so that its errors are honest.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from conjoin._typing import FloatArray, IntArray, Progress
from conjoin.api.request import Request
from conjoin.engine.analysed import Analysed
from conjoin.engine.entries import Layout
from conjoin.engine.learning import LearnedColumns
from conjoin.engine.study import Study, make_study
from conjoin.execution import give_back_memory
from conjoin.learners.schema import LearnedSchema
from conjoin.models.glm_rows import GlmRows
from conjoin.models.likelihood import Likelihood, OtherRows
from conjoin.models.padded_rows import SortedRows
from conjoin.models.problem import LeastSquares, Problem, RowLeastSquares
from conjoin.moments import Moments
from conjoin.moments.made import beside
from conjoin.tables import DatasetCollection

# Steps 3 to 7 for a table, of a collection or of moments that were formed elsewhere, its study and
# what reports progress.
Analyse = Callable[[Any, Study, Progress | None], Analysed]


def correct(
    learned: LearnedColumns,
    schema: LearnedSchema,
    layout: Layout,
    table: DatasetCollection,
    request: Request,
    study: Study,
    analyse: Analyse,
    progress: Progress | None = None,
) -> Analysed:
    """Do the steps again with the learner's prediction as one more column."""
    one = learned.found["named"]
    used = layout.corrected_columns() - layout.inputs

    def wide(prediction: FloatArray) -> FloatArray:
        return beside(table.X, prediction[:, used])

    own = schema.predictions
    narrow = replace(own, models=dict([next(iter(own.models.items()))]), shown=len(used))
    more = replace(
        table,
        X=with_prediction(table, learned, layout),
        schema=LearnedSchema.of(table.schema, narrow),
    )
    found = make_study(more, request, study.dealt)
    give_back_memory()
    if one.nested and isinstance(found.given, RowLeastSquares):
        found = replace(found, given=_nested_rows(found, wide, one.nested, learned.group, study))
    elif one.nested:
        others = [
            _outside(wide(inner), found, table, learned.group != g)
            for g, inner in enumerate(one.nested)
        ]
        found = replace(found, given=_nested(found, others, learned.group, study))
    analysed = analyse(more, found, progress)
    give_back_memory()
    return analysed


def with_prediction(
    table: DatasetCollection, learned: LearnedColumns, layout: Layout
) -> FloatArray:
    """Return the columns of the table (n, p) with the learner's prediction beside them."""
    used = layout.corrected_columns() - layout.inputs
    prediction = learned.found["named"].held_out
    return beside(table.X, prediction if layout.lines == 1 else prediction[:, used])


def _outside(X: FloatArray, study: Study, table: DatasetCollection, kept: Any) -> SortedRows:
    """Return the rows that are kept, in the coordinates of a study."""
    K = len(table.names)
    dataset = np.repeat(np.arange(K), table.sizes)[kept]
    starts = np.searchsorted(dataset, np.arange(K + 1))
    Z, t = study.basis.design(X[kept]), study.basis.response(table.y[kept])
    return SortedRows(Z, t, table.weights[kept], starts)


def _nested(found: Study, others: list[SortedRows], group: IntArray, study: Study) -> Problem:
    """Return the problem whose fits outside a fold see nothing of its group."""
    given = found.given
    first = _group_of_folds(group, study)
    if isinstance(given, Likelihood):
        family, phi = given.rows.family, given.rows.phi
        one_fold = [np.zeros(len(rows.y), dtype=int) for rows in others]
        outside = [GlmRows.of(rows, fold, 1, family) for rows, fold in zip(others, one_fold)]
        nested = OtherRows(tuple(replace(rows, phi=phi) for rows in outside), first)
        return replace(given, others=nested)
    assert isinstance(given, LeastSquares)
    moments = [Moments.by_dataset(rows.X, rows.y, rows.starts, rows.w) for rows in others]
    stack = Moments.stack([moments[g] for g in first])
    return LeastSquares(given.folds, stack.each(lambda array: np.swapaxes(array, 0, 1)))


def _nested_rows(
    found: Study,
    wide: Callable[[FloatArray], FloatArray],
    nested: Sequence[FloatArray],
    group: IntArray,
    study: Study,
) -> RowLeastSquares:
    """Return the same where rows stand for moments."""
    assert isinstance(found.given, RowLeastSquares)
    columns = nested[0].shape[1]
    # A basis may mix columns, so the design is made anew and its last columns are taken from it.
    first = 0 if found.basis.matrix is not None else -columns
    made = [found.basis.design(wide(inner))[:, first:] for inner in nested]
    return RowLeastSquares(found.given.folds, tuple(made[g] for g in _group_of_folds(group, study)))


def _group_of_folds(group: IntArray, study: Study) -> tuple[int, ...]:
    """Return the group of rows (n,) that each fold belongs to."""
    assert study.dealt is not None  # a learner reads rows
    F = int(study.given.folds.shape[1])
    return tuple(int(group[np.argmax(study.dealt.fold == f)]) for f in range(F))
