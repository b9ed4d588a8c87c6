"""Lines with a smooth curve of one column for each dataset ("curves").

Rows of a table enter. The column whose curves explain the target best, and what lines and curves
predict for held-out rows, leave. Rows of one dataset that are neighbours in a column are often
alike: sales of one month and the next, prices of one year and the next. Lines cannot follow that,
and trees would need many rows of every dataset.

Curves are columns of the design (`learners.curves`) whose coefficients vary between datasets with
one common variance, beside lines with a variance for each coefficient. So all is partial pooling in
the space of rows (`models.row_space`), and variances are those of the best evidence.
"""

from dataclasses import dataclass, replace
from zlib import crc32

import numpy as np

from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.engine.study import Study
from conjoin.learners.columns import LearnerColumns
from conjoin.learners.crossfit import PredictedColumn
from conjoin.learners.curves import MOST_KNOTS, CurveModel, kernel, knots_of, whitening
from conjoin.learners.rows import group_count
from conjoin.models.partial import Family, Hyper, coefficients, fit_variances, posterior_of_rows
from conjoin.models.problem import RowLeastSquares
from conjoin.moments import RowFolds
from conjoin.tables import DatasetCollection

# Values of a column from which a curve may be more than a line and a bend.
FEWEST_VALUES = 5
# Rows of the datasets from which the column is chosen, and of those from which variances are
# estimated: the evidence of a column is clear by then, and so are a dozen variances.
SAMPLE_ROWS, VARIANCE_ROWS = 5_000, 20_000
# Columns of the table at most, and operations of a pass over all rows at most. Beyond, curves take
# longer than they are worth.
MOST_COLUMNS, MOST_OPERATIONS = 60, 4e9
# Steps of the optimiser for each column that is tried, and for the variances of the best.
TRIAL_STEPS, STEPS = 8, 25
# Rise of the log evidence from which curves are worth a strategy: 5 is 1 to 150.
CLEAR = 5.0
# Width of the kernel, in standard deviations of the column. A wider kernel with a larger variance
# has nearly the same curves between two knots, so the variance does what a width would do.
WIDTH = 1.0


@dataclass(frozen=True, eq=False)
class Curves:
    """Lines and curves of all datasets.

    Parameters
    ----------
    column : PredictedColumn
        The curves; `held_out` are lines and curves together.
    coef : array (K, p)
        The lines, in working coordinates.
    """

    column: PredictedColumn
    coef: FloatArray


@dataclass(frozen=True, eq=False)
class _Design:
    """Curves of one column as columns phi (N, M) of a design."""

    column: int
    knots: FloatArray
    width: float
    phi: FloatArray
    root: FloatArray

    @classmethod
    def of(cls, values: FloatArray, column: int) -> "_Design":
        known = values[np.isfinite(values)]
        knots, width = knots_of(known), WIDTH * float(known.std())
        root = whitening(knots, width)
        return cls(column, knots, width, kernel(values, knots, width) @ root, root)


def find_curves(
    table: DatasetCollection, study: Study, columns: LearnerColumns, group: IntArray
) -> Curves | None:
    """Return lines with curves of the best column; None where no column's curves are worth it.

    `group` (n,) numbers the rows that are held out together.
    """
    p = len(study.basis.scale) + int(study.basis.intercept)
    work = len(table.y) * (p + MOST_KNOTS) ** 2
    if not study.given.exact or p > MOST_COLUMNS or work > MOST_OPERATIONS:
        return None
    X = columns.transform(table.X)
    Z, t = study.basis.design(table.X), study.basis.response(table.y)
    groups = group_count(group)
    rows = RowFolds(Z, t, table.weights, table.starts, group, groups)
    best = _best_design(rows, X, columns, _sample(table, SAMPLE_ROWS))
    if best is None:
        return None
    wide = RowFolds(
        np.concatenate([Z, best.phi], axis=1), t, table.weights, table.starts, group, groups
    )
    hyper = fit_variances(
        wide.take(_sample(table, VARIANCE_ROWS)),
        _family(rows.p, len(best.knots), each=True),
        steps=STEPS,
    )
    return _fit(
        RowLeastSquares(wide), replace(hyper, relative=np.ones(rows.shape[0])), best, study, columns
    )


def _sample(table: DatasetCollection, rows: int) -> BoolArray:
    """Return a mask (N,) of datasets, drawn by their names, with so many rows or all."""
    sizes = np.asarray(table.sizes)
    order = np.argsort([crc32(name.encode()) for name in table.names], kind="stable")
    before = np.cumsum(sizes[order]) - sizes[order]
    kept = np.zeros(len(sizes), dtype=bool)
    kept[order[before < rows]] = True
    return np.repeat(kept, sizes)


def _best_design(
    rows: RowFolds, X: FloatArray, columns: LearnerColumns, kept: BoolArray
) -> _Design | None:
    """Return the column whose curves have the best evidence, if it is clearly better than none."""
    base = rows.take(kept)
    hyper = fit_variances(base, _family(rows.p, 0, each=False), steps=TRIAL_STEPS)
    best, least = None, posterior_of_rows(base, hyper).log_evidence + CLEAR
    for j, column in enumerate(columns.columns):
        if column.category or not _may_bend(X[:, j], rows.dataset):
            continue
        design = _Design.of(X[:, j], j)
        more = rows.take(kept, np.concatenate([rows.Z, design.phi], axis=1))
        family = _family(rows.p, len(design.knots), each=False)
        hyper = fit_variances(more, family, steps=TRIAL_STEPS)
        found = posterior_of_rows(more, hyper).log_evidence
        if found > least:
            best, least = design, found
    return best


def _may_bend(values: FloatArray, dataset: IntArray) -> bool:
    """Say whether a column has enough values, and varies inside datasets."""
    known = values[np.isfinite(values)]
    if len(np.unique(known)) < FEWEST_VALUES:
        return False
    same = dataset[1:] == dataset[:-1]
    return bool(np.any(same & (values[1:] != values[:-1])))


def _family(lines: int, knots: int, *, each: bool) -> Family:
    """Return which variances there are: of the level, of slopes, and one of the curves.

    With `each` every slope has its own variance.
    """
    first = np.arange(lines) if each else np.minimum(np.arange(lines), 1)
    groups = np.append(first, np.full(knots, first[-1] + 1))
    return Family("curves", lambda columns: groups)


def _fit(
    problem: RowLeastSquares,
    hyper: Hyper,
    design: _Design,
    study: Study,
    columns: LearnerColumns,
) -> Curves:
    """Fit lines and curves to all rows, and outside every group."""
    M, basis = len(design.knots), study.basis
    p = problem.folds.p - M
    held_out = np.empty(len(problem.folds.t))
    for f in range(problem.folds.shape[1]):
        own = problem.folds.fold == f
        held_out[own] = problem.lines(coefficients(problem.outside(f), hyper))[own]
    weights, coef = _weights(problem, hyper, design, p)
    model = CurveModel(design.column, design.knots, design.width, weights * basis.target_scale)
    total = held_out * basis.target_scale + basis.target_center
    name = columns.names[design.column]
    return Curves(PredictedColumn(total[:, None], model, {"column": name, "knots": M}), coef)


def _weights(
    problem: RowLeastSquares, hyper: Hyper, design: _Design, p: int
) -> tuple[FloatArray, FloatArray]:
    """Return weights of the kernels (K + 1, M), with those of the centre last, and lines (K, p)."""
    post = posterior_of_rows(problem.moments, hyper)
    beta = post.coefficients()
    both = np.concatenate([beta[:, p:], post.mu[None, p:]])
    return both @ design.root.T, beta[:, :p]
