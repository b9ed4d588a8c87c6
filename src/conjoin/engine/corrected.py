"""The analysis with a learner's prediction as one more column ("corrected").

Columns of predictions and the rows of the table enter; the analysis of [columns, prediction]
leaves. Where rows are few, fits outside a fold see predictions that were made anew without the
fold (`learners.crossfit`), so that its errors are honest.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.api.request import Request
from conjoin.engine.entries import Layout
from conjoin.engine.learning import LearnedColumns
from conjoin.engine.remote import Reduced
from conjoin.engine.steps import Analysed
from conjoin.engine.study import Study, make_study
from conjoin.learners.schema import LearnedSchema
from conjoin.models.problem import LeastSquares
from conjoin.moments import Moments
from conjoin.tables import DatasetCollection

Analyse = Callable[[DatasetCollection | Reduced, Study], Analysed]


def correct(
    learned: LearnedColumns,
    schema: LearnedSchema,
    layout: Layout,
    table: DatasetCollection,
    request: Request,
    study: Study,
    analyse: Analyse,
) -> Analysed:
    """Do the steps again with the learner's prediction as one more column."""
    one = learned.found["named"]
    used = layout.corrected_columns() - layout.inputs

    def wide(prediction: FloatArray) -> FloatArray:
        return np.concatenate([table.X, prediction[:, used]], axis=1)

    own = schema.predictions
    narrow = replace(own, models=dict([next(iter(own.models.items()))]), shown=len(used))
    more = replace(table, X=wide(one.held_out), schema=LearnedSchema.of(table.schema, narrow))
    found = make_study(more, request, study.dealt)
    if one.nested:
        others = [
            _outside(wide(inner), found, table, learned.group != g)
            for g, inner in enumerate(one.nested)
        ]
        found = replace(found, given=_nested(found, others, learned.group, study))
    return analyse(more, found)


def _outside(X: FloatArray, study: Study, table: DatasetCollection, kept: Any) -> Moments:
    """Return the moments (K,) of the rows that are kept."""
    K = len(table.names)
    dataset = np.repeat(np.arange(K), table.sizes)[kept]
    starts = np.searchsorted(dataset, np.arange(K + 1))
    Z, t = study.basis.design(X[kept]), study.basis.response(table.y[kept])
    return Moments.by_dataset(Z, t, starts, table.weights[kept])


def _nested(found: Study, others: list[Moments], group: IntArray, study: Study) -> LeastSquares:
    """Return the problem whose fits outside a fold see nothing of its group."""
    assert isinstance(found.given, LeastSquares)
    assert study.dealt is not None
    F = int(found.given.folds.shape[1])
    first = [int(group[np.argmax(study.dealt.fold == f)]) for f in range(F)]
    stack = Moments.stack([others[g] for g in first])
    return LeastSquares(found.given.folds, stack.each(lambda array: np.swapaxes(array, 0, 1)))
