"""Lines with a smooth curve of one column for each dataset ("curves").

Rows of a table enter. The column whose curves explain the target best, and what lines and curves
predict for held-out rows, leave. Rows of one dataset that are neighbours in a column are often
alike: sales of one month and the next, prices of one year and the next. Lines cannot follow that,
and trees would need many rows of every dataset.

Curves are columns of the design (`learners.curves`) whose coefficients vary between datasets with
one common variance, beside lines with a variance for each coefficient. So all is partial pooling in
the space of rows (`models.row_space`), and variances are those of the best evidence. Where moments
take less room than rows, they stand for them, and designs are made for some datasets at a time.
"""

import operator
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from zlib import crc32

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.engine.study import Study
from conjoin.learners.columns import LearnerColumns
from conjoin.learners.crossfit import PredictedColumn
from conjoin.learners.curves import MOST_KNOTS, CurveModel, kernel, knots_of, whitening
from conjoin.learners.rows import LARGE, Past, group_count
from conjoin.models.partial import (
    Family,
    Hyper,
    Integrated,
    centre_of_sums,
    coefficients,
    fit_variances,
    integrate,
    posterior,
    posterior_of_rows,
)
from conjoin.moments import Moments, RowFolds, RowMoments
from conjoin.moments.folds import fold_moments, parts_of
from conjoin.tables import DatasetCollection

# Values of a column from which a curve may be more than a line and a bend.
FEWEST_VALUES = 5
# Values that are looked at first: counting those of a million takes a while.
FEW_KNOWN = 1_000
# Rows of the datasets from which the column is chosen, and of those from which variances are
# estimated: the evidence of a column is clear by then, and so are a dozen variances.
SAMPLE_ROWS, VARIANCE_ROWS = 5_000, 20_000
# Columns of the table at most, and operations of a pass over all rows at most. Beyond, curves take
# longer than they are worth.
MOST_COLUMNS, MOST_OPERATIONS = 60, 4e9
# Rows up to which rows stand for moments, however many a dataset has.
FEW_ROWS = 50_000
# Numbers of the design of one part beyond that: 8 MB, of which there are a few copies.
PART_VALUES = 1_000_000
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
    """Curves of one column, which are columns phi (n, M) of a design."""

    column: int
    knots: FloatArray
    width: float

    @classmethod
    def of(cls, values: FloatArray, column: int) -> "_Design":
        known = values[np.isfinite(values)]
        return cls(column, knots_of(known), WIDTH * float(known.std()))

    @cached_property
    def root(self) -> FloatArray:
        """Q^{-1/2} (M, M)."""
        return whitening(self.knots, self.width)

    def phi(self, values: FloatArray) -> FloatArray:
        """Return the columns of rows with these values."""
        return kernel(values, self.knots, self.width) @ self.root


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows of a table, whose designs are made when asked for."""

    table: DatasetCollection
    study: Study
    columns: LearnerColumns
    group: IntArray
    past: Past

    @property
    def p(self) -> int:
        """Number of columns of the lines."""
        return len(self.study.basis.scale) + int(self.study.basis.intercept)

    @property
    def groups(self) -> int:
        return len(self.past.sees)

    @property
    def cells(self) -> int:
        """Number of cells of rows, some of which train for each group."""
        return int(self.past.sees.shape[1])

    def values(self, column: int) -> FloatArray:
        """Return a column of the learner (N,)."""
        return self.columns.columns[column].values(self.table.X)

    def of(self, datasets: IntArray, design: _Design | None = None) -> RowFolds:
        """Return the rows of some datasets, in ascending order, with lines and perhaps curves."""
        sizes = np.asarray(self.table.sizes)[datasets]
        kept = np.zeros(len(self.table.sizes), dtype=bool)
        kept[datasets] = True
        own = np.flatnonzero(np.repeat(kept, self.table.sizes))
        X, basis = self.table.X[own], self.study.basis
        Z = basis.design(X)
        if design is not None:
            phi = design.phi(self.columns.columns[design.column].values(X))
            Z = np.concatenate([Z, phi], axis=1)
        starts = np.append(0, np.cumsum(sizes))
        t, weights = basis.response(self.table.y[own]), self.table.weights[own]
        return RowFolds(Z, t, weights, starts, self.past.cell[own], self.cells)

    def sample(self, rows: int) -> IntArray:
        """Return datasets, drawn by their names, with so many rows or all."""
        sizes = np.asarray(self.table.sizes)
        order = np.argsort([crc32(name.encode()) for name in self.table.names], kind="stable")
        before = np.cumsum(sizes[order]) - sizes[order]
        return np.sort(order[before < rows])

    def parts(self, design: _Design) -> Iterator[RowFolds]:
        """Give the rows of all datasets, with many rows in parts."""
        columns = self.p + len(design.knots)
        for first, last in parts_of(self.table.starts, PART_VALUES // columns):
            yield self.of(np.arange(first, last), design)


def find_curves(
    table: DatasetCollection,
    study: Study,
    columns: LearnerColumns,
    group: IntArray,
    past: Past | None = None,
) -> Curves | None:
    """Return lines with curves of the best column; None where no column's curves are worth it.

    `group` (n,) numbers the rows that are held out together, `past` says what is seen outside them
    where rows are ordered in time. Else all other groups are.
    """
    if past is None:
        groups = group_count(group)
        past = Past(group, ~np.eye(groups, dtype=bool), groups)
    rows = _Rows(table, study, columns, group, past)
    work = len(table.y) * (rows.p + MOST_KNOTS) ** 2
    if not study.given.exact or rows.p > MOST_COLUMNS or work > MOST_OPERATIONS:
        return None
    best = _best_design(rows)
    if best is None:
        return None
    family = _family(rows.p, len(best.knots), each=True)
    some = _all_rows(rows.of(rows.sample(VARIANCE_ROWS), best))
    hyper = fit_variances(some, family, steps=STEPS)
    return _fit(rows, replace(hyper, relative=np.ones(len(table.names))), best)


def _all_rows(rows: RowFolds) -> RowMoments:
    return rows.take(np.ones(len(rows.t), dtype=bool))


def _best_design(rows: _Rows) -> _Design | None:
    """Return the column whose curves have the best evidence, if it is clearly better than none."""
    some = rows.sample(SAMPLE_ROWS)
    base = _all_rows(rows.of(some))
    hyper = fit_variances(base, _family(rows.p, 0, each=False), steps=TRIAL_STEPS)
    best, least = None, posterior_of_rows(base, hyper).log_evidence + CLEAR
    dataset = np.repeat(np.arange(len(rows.table.sizes)), rows.table.sizes)
    for j, column in enumerate(rows.columns.columns):
        values = rows.values(j)
        if column.category or not _may_bend(values, dataset):
            continue
        design = _Design.of(values, j)
        more = _all_rows(rows.of(some, design))
        family = _family(rows.p, len(design.knots), each=False)
        hyper = fit_variances(more, family, steps=TRIAL_STEPS)
        found = posterior_of_rows(more, hyper).log_evidence
        if found > least:
            best, least = design, found
    return best


def _may_bend(values: FloatArray, dataset: IntArray) -> bool:
    """Say whether a column has enough values, and varies inside datasets."""
    known = values[np.isfinite(values)]
    first = known[:FEW_KNOWN]  # nearly always enough
    if len(np.unique(first)) < FEWEST_VALUES and len(np.unique(known)) < FEWEST_VALUES:
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


def _fit(rows: _Rows, hyper: Hyper, design: _Design) -> Curves:
    """Fit lines and curves to all rows, and outside every group."""
    basis, p = rows.study.basis, rows.p
    by_parts = len(rows.table.y) > FEW_ROWS and moments_are_small(rows, design)
    fit = _fit_moments if by_parts else _fit_rows
    if by_parts and len(rows.table.y) > LARGE:
        fit = _fit_in_passes
    held_out, beta, mu = fit(rows, hyper, design)
    weights = np.concatenate([beta[:, p:], mu[None, p:]]) @ design.root.T * basis.target_scale
    model = CurveModel(design.column, design.knots, design.width, weights)
    total = held_out * basis.target_scale + basis.target_center
    settings = {"column": rows.columns.names[design.column], "knots": len(design.knots)}
    return Curves(PredictedColumn(total[:, None], model, settings), beta[:, :p])


def moments_are_small(rows: _Rows, design: _Design) -> bool:
    """Say whether moments of all groups take less room than the rows."""
    cells = len(rows.table.names) * rows.cells
    return bool(cells * (rows.p + len(design.knots)) < len(rows.table.y))


def _fit_rows(
    rows: _Rows, hyper: Hyper, design: _Design
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return held-out predictions (N,), coefficients (K, columns) and their centre (columns,)."""
    wide = rows.of(np.arange(len(rows.table.names)), design)
    outside = [coefficients(wide.take(rows.past.trains(g)), hyper) for g in range(rows.groups)]
    post = posterior_of_rows(_all_rows(wide), hyper)
    return _held_out(wide, rows.group, np.stack(outside)), post.coefficients(), post.mu


def _fit_moments(
    rows: _Rows, hyper: Hyper, design: _Design
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Do the same with moments of cells; no more than a part of the rows has a design at once."""
    each = (
        fold_moments(part.Z, part.t, part.weights, part.starts, part.fold, rows.cells)
        for part in rows.parts(design)
    )
    cells = Moments.filled(len(rows.table.names), each)
    seen = (reduce(operator.add, (cells[:, c] for c in np.flatnonzero(s))) for s in rows.past.sees)
    outside = np.stack([coefficients(one, hyper) for one in seen])
    whole = cells.union(axis=1)
    del cells, seen  # with many datasets they take as much as the rows
    post = posterior(whole, hyper)
    beta, mu = post.beta, post.mu
    del whole, post
    held_out, first, row = [], 0, 0
    for part in rows.parts(design):
        last, end = first + part.shape[0], row + len(part.t)
        held_out.append(_held_out(part, rows.group[row:end], outside[:, first:last]))
        first, row = last, end
    return np.concatenate(held_out), beta, mu


def _fit_in_passes(
    rows: _Rows, hyper: Hyper, design: _Design
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Do the same in two passes, the first for the centres, with moments of one part at once."""
    q, all_rows = rows.p + len(design.knots), rows.groups
    A, a = np.zeros((all_rows + 1, q, q)), np.zeros((all_rows + 1, q))
    for part in rows.parts(design):
        for g, one in enumerate(_integrated(part, rows, hyper)):
            A[g] += one.A.sum(axis=0)
            a[g] += one.a.sum(axis=0)
    mu = [centre_of_sums(*both, hyper) for both in zip(A, a)]
    held_out, beta, row = [], [], 0
    for part in rows.parts(design):
        found = [
            centre + one.deviations(centre) @ hyper.L.T
            for centre, one in zip(mu, _integrated(part, rows, hyper))
        ]
        end = row + len(part.t)
        held_out.append(_held_out(part, rows.group[row:end], np.stack(found[:all_rows])))
        beta.append(found[all_rows])
        row = end
    return np.concatenate(held_out), np.concatenate(beta), mu[all_rows]


def _integrated(part: RowFolds, rows: _Rows, hyper: Hyper) -> Iterator[Integrated]:
    """Give the likelihood of some datasets outside every group, and that of all their rows."""
    cells = fold_moments(part.Z, part.t, part.weights, part.starts, part.fold, rows.cells)
    own = replace(hyper, relative=np.ones(cells.shape[0]))
    for seen in (*rows.past.sees, np.ones(rows.cells, dtype=bool)):
        yield integrate(cells[:, np.flatnonzero(seen)].union(axis=1), own)


def _held_out(rows: RowFolds, group: IntArray, outside: FloatArray) -> FloatArray:
    """Return what fits outside groups (G, K, columns) predict for the rows of their group (N,)."""
    found: FloatArray = np.einsum("ij,ij->i", rows.Z, outside[group, rows.dataset])
    return found
