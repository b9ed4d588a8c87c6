"""How far targets lie from predictions on held-out rows, on demand.

Rows, fits outside every fold and a study enter; the `Spread` of a strategy leaves, from which
predictions take their intervals. Where rows are elsewhere, or fits of folds are too many to keep,
scores are taken to be normal with the error of each dataset.
"""

from collections.abc import Mapping

import numpy as np

from conjoin._typing import FloatArray
from conjoin.engine.courses import course_of
from conjoin.engine.entries import Rows, held_out_lines
from conjoin.engine.study import Study
from conjoin.families import Response, expected, softmax
from conjoin.models.spread import Spread
from conjoin.result.course import Course
from conjoin.result.intervals import score_scale
from conjoin.strategies.improvement import HeldOut
from conjoin.strategies.validation import Validated
from conjoin.tables import DatasetCollection


def scores_of(linear: FloatArray, y: FloatArray, response: Response) -> FloatArray:
    """Return the score (n,) of every row under linear predictors (n, L); see `models.spread`."""
    if response.classes:
        right = softmax(linear)[np.arange(len(y)), y.astype(np.int64)]
        return np.asarray(1 - right, dtype=np.float64)
    mean = expected(linear, response)
    return (y - mean) / score_scale(mean, response)


def spread_of(
    fit: Validated,
    others: FloatArray | None,
    table: DatasetCollection | None,
    study: Study,
    errors: FloatArray,
    unseen_error: float,
) -> Spread:
    """Return the spread of a strategy of the linear engine.

    `others` (K, p) are coefficients of a model of all datasets but each one; errors (K,) and
    `unseen_error` those of the strategy and of one model for all, in the units of the target.
    """
    found = rows_and_lines(fit, table, study)
    if found is None or found[1] is None:
        return Spread.normal(np.sqrt(errors), float(np.sqrt(unseen_error)))
    rows, linear, away = found[0], found[1], None
    if others is not None:
        folds = np.broadcast_to(others, (rows.folds, *others.shape))
        away = held_out_lines(folds, study, rows.table.X, rows)
    return spread_of_rows(linear, away, rows)


def course_of_fit(
    fit: Validated, table: DatasetCollection | None, study: Study, held: Mapping[str, HeldOut]
) -> Course | None:
    """Return errors over time with those of a strategy by how far ahead; `held` are all losses."""
    found = rows_and_lines(fit, table, study)
    return None if found is None else course_of(held, study, *found)


def rows_and_lines(
    fit: Validated, table: DatasetCollection | None, study: Study
) -> tuple[Rows, FloatArray | None] | None:
    """Return the rows and their held-out linear predictors (n, L) under a strategy.

    None if rows are elsewhere. Predictors are None where fits of folds were too many to keep.
    """
    if table is None or study.dealt is None:
        return None
    rows = Rows.of(table, study)
    if fit.fold_coef is None:
        return rows, None
    return rows, held_out_lines(fit.fold_coef, study, table.X, rows)


def spread_of_rows(linear: FloatArray, away: FloatArray | None, rows: Rows) -> Spread:
    """Return the spread of held-out linear predictors (n, L).

    `away` (n, L) are those of models that have not seen the dataset of a row.
    """
    own, y = rows.tested, rows.table.y
    scores, far = (
        None if one is None else scores_of(one[own], y[own], rows.response)
        for one in (linear, away)
    )
    assert scores is not None
    return Spread.of(scores, rows.dataset[own], len(rows.table.names), far)
