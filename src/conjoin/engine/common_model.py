"""What the model that all datasets share has learned: importance, partial dependence, departures.

A learner, its rows and its held-out predictions enter; a `CommonModel` leaves. All of it is found
from predictions alone, so it works for any learner.

- **Importance**: one model is trained without the first group of rows. The loss of these rows is
  compared with their loss after one column was shuffled among them. The dataset's name is a column.
- **Partial dependence**: the mean prediction of the model of all rows, with one column set to a
  value in every row.
- **Departures**: target minus the held-out prediction of the model without names, averaged over
  parts of a column's range inside each dataset. The column with the largest chi-square counts.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtrc, ndtri

from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.engine.entries import Rows
from conjoin.engine.learning import LearnedColumns, LearningTask
from conjoin.families import Response, expected, softmax
from conjoin.learners.rows import LearnerRows, Model
from conjoin.models.row_losses import row_losses
from conjoin.moments.resample import stream
from conjoin.result.common_model import CommonModel, Departure, Importance, PartialDependence
from conjoin.tables.encoding import Category
from conjoin.tables.schema import Schema

LEVEL = 0.9  # confidence of the intervals, as for all coefficients
# Held-out rows that are shuffled at most, and times that they are: the standard error of a share
# of the loss is then about 1/sqrt(2000), or 2 percent of the spread.
MOST_JUDGED, SHUFFLES = 2_000, 2
# Rows whose predictions are averaged at each value, and values at most: a curve of so many points
# looks smooth, and its mean changes little with more rows.
MOST_AVERAGED, MOST_VALUES = 300, 16
MOST_CURVES = 12  # columns with a curve, the most important ones: as many as the page has panels
# Parts of a column's range, and the fewest rows of a dataset in a part whose mean is shown: the
# spread of fewer is hardly known.
PARTS, FEWEST_ROWS = 5, 5


@dataclass(frozen=True, eq=False)
class _Columns:
    """The columns of a learner's rows by name; the dataset's name comes last."""

    rows: LearnerRows
    labels: dict[str, tuple[str, ...]]
    dataset_name: str

    @property
    def names(self) -> list[str]:
        return [*self.rows.names, self.dataset_name]

    def shuffled(self, rows: LearnerRows, j: int, order: IntArray) -> LearnerRows:
        """Return rows in which the values of column j come in another order."""
        if j == len(rows.names):
            return replace(rows, dataset=rows.dataset[order])
        X = rows.X.copy()
        X[:, j] = X[order, j]
        return replace(rows, X=X)

    def shown(self, j: int, values: FloatArray) -> tuple[object, ...]:
        """Return values of column j as users know them: numbers, or names of categories."""
        names = self.labels.get(self.rows.names[j])
        if names is None or j not in self.rows.categories:
            return tuple(float(v) for v in values)
        return tuple(names[int(v)] for v in values)


def describe_common_model(
    learned: LearnedColumns, rows: Rows, schema: Schema, names: tuple[str, ...], seed: int
) -> CommonModel:
    """Find importance, partial dependence and departures."""
    task = learned.task
    by = schema.roles.by
    own = task.rows.names
    title = " and ".join(by) if by else "dataset"
    columns = _Columns(task.rows, category_labels(schema), _free(title, own))
    named, pooled = learned.found["named"], learned.found["pooled"]
    counts = rows.counts()[task.order]
    model = task.learner.fit(task.rows.take(task.group != 0), named.settings)
    importance = _importance(model, task, columns, counts, seed)
    gains = getattr(named.model, "importance", None)
    if gains is not None and len(gains) == len(columns.names):
        importance = {
            name: replace(one, gain=float(gains[columns.names.index(name)]))
            for name, one in importance.items()
        }
    shown = [name for name in importance if name != columns.dataset_name][:MOST_CURVES]
    curves = {name: _dependence(named.model, task, columns, name, seed) for name in shown}
    residual = _residuals(pooled.held_out[task.order], task.rows)
    return CommonModel(
        importance, curves, _departures(residual, task.rows, columns, names), columns.dataset_name
    )


def category_labels(schema: Schema) -> dict[str, tuple[str, ...]]:
    """Return the names of the values of every category, in the order of their codes."""
    found = {}
    for encoding in schema.encodings:
        if isinstance(encoding, Category):
            kept = [f for f in encoding.features() if f in schema.inputs]
            start = len(encoding.name) + 1
            found[encoding.name] = (encoding.reference, *(f[start:] for f in kept))
    return found


def _free(name: str, taken: tuple[str, ...]) -> str:
    while name in taken:
        name += "_"
    return name


# --- importance ----------------------------------------------------------------------------------


def _importance(
    model: Model, task: LearningTask, columns: _Columns, counts: FloatArray, seed: int
) -> dict[str, Importance]:
    """Return the importance of every column, the largest first."""
    held_out = np.flatnonzero(task.group == 0)
    rng = stream(seed, "importance", str(len(held_out)))
    if len(held_out) > MOST_JUDGED:
        held_out = np.sort(rng.choice(held_out, MOST_JUDGED, replace=False))
    rows, c = task.rows.take(held_out), counts[held_out]
    before = _losses(model, rows)
    orders = [rng.permutation(len(rows)) for _ in range(SHUFFLES)]
    found = {}
    for j, name in enumerate(columns.names):
        after = [_losses(model, columns.shuffled(rows, j, order)) for order in orders]
        change = np.mean(after, axis=0) - before
        rise = float(np.average(change, weights=c))
        parts = c * (change - rise)
        size = 2.0 ** np.frexp(np.abs(parts).max())[1]  # losses of 1e240 have no squares
        spread = float(np.sqrt(np.sum((parts / size) ** 2)) / c.sum() * size)
        half = float(ndtri((1 + LEVEL) / 2)) * spread
        found[name] = Importance(rise, (rise - half, rise + half))
    return dict(sorted(found.items(), key=lambda item: -item[1].rise))


def _losses(model: Model, rows: LearnerRows) -> FloatArray:
    return row_losses(model.predict(rows.X, rows.dataset), rows.y, rows.response)


# --- partial dependence --------------------------------------------------------------------------


def _dependence(
    model: Model, task: LearningTask, columns: _Columns, name: str, seed: int
) -> PartialDependence:
    """Return the mean prediction at values of a column."""
    rows, j = task.rows, task.rows.names.index(name)
    rng = stream(seed, "dependence", str(len(rows)))
    some = rows
    if len(rows) > MOST_AVERAGED:
        some = rows.take(np.sort(rng.choice(len(rows), MOST_AVERAGED, replace=False)))
    values = _grid(rows.X[:, j], category=j in rows.categories)
    n = len(some)
    X = np.tile(some.X, (len(values), 1))
    X[:, j] = np.repeat(values, n)
    linear = model.predict(X, np.tile(some.dataset, len(values)))
    means = _response(linear, rows.response).reshape(len(values), n, -1).mean(axis=1)
    predictions = tuple(tuple(float(p) for p in line) for line in means)
    return PartialDependence(columns.shown(j, values), predictions)


def _grid(column: FloatArray, *, category: bool) -> FloatArray:
    """Return values of a column: all of a few, or quantiles."""
    known = column[np.isfinite(column)]
    values, counts = np.unique(known, return_counts=True)
    if len(values) <= MOST_VALUES:
        return values
    if category:
        return np.sort(values[np.argsort(-counts, kind="stable")[:MOST_VALUES]])
    # The outermost hundredths are left out: few rows are there, and curves would be mostly chance.
    levels = np.linspace(0.01, 0.99, MOST_VALUES)
    return np.unique(np.quantile(known, levels))


def _response(linear: FloatArray, response: Response) -> FloatArray:
    """Return expected numbers or counts (n, 1), or probabilities: of two classes the second."""
    if response.classes:
        found = softmax(linear)
        return found[:, 1:] if len(response.classes) == 2 else found
    return expected(linear, response)[:, None]


# --- departures ----------------------------------------------------------------------------------


def _residuals(held_out: FloatArray, rows: LearnerRows) -> FloatArray:
    """Return target minus prediction (n, 1), for several classes (n, classes)."""
    mean = _response(held_out, rows.response)
    if len(rows.response.classes) > 2:
        found: FloatArray = np.eye(mean.shape[1])[rows.y.astype(int)] - mean
        return found
    return rows.y[:, None] - mean


def _departures(
    residual: FloatArray, rows: LearnerRows, columns: _Columns, names: tuple[str, ...]
) -> dict[str, Departure]:
    """Return where each dataset departs most, for datasets with enough rows."""
    parts = [_Parts.of(rows.X[:, j], category=j in rows.categories) for j in range(rows.X.shape[1])]
    found = {}
    for k, name in enumerate(names):
        own = rows.dataset == k
        if np.count_nonzero(own) < 2 * FEWEST_ROWS:
            continue
        best: Departure | None = None
        tried = 0
        for j, part in enumerate(parts):
            for line in range(residual.shape[1]):
                one = _departure(part, own, residual[:, line], columns, j)
                if one is None:
                    continue
                tried += 1
                labels = rows.response.classes
                if labels:
                    label = labels[line if residual.shape[1] > 1 else 1]
                    one = replace(one, label=str(label))
                if best is None or one.p_value < best.p_value:
                    best = one
        if best is not None:  # Bonferroni's correction: the best of several columns was taken
            found[name] = replace(best, p_value=min(best.p_value * tried, 1.0))
    return found


@dataclass(frozen=True, eq=False)
class _Parts:
    """Parts of a column's range: that of every row (n,), -1 if it is missing; medians (parts,)."""

    part: IntArray
    middles: FloatArray

    @classmethod
    def of(cls, column: FloatArray, *, category: bool) -> "_Parts":
        found, known = np.full(len(column), -1), np.isfinite(column)
        values = np.unique(column[known])
        if category or len(values) <= PARTS:
            found[known] = np.searchsorted(values, column[known])
            return cls(found, values)
        inner = np.unique(np.quantile(column[known], np.arange(1, PARTS) / PARTS))
        found[known] = np.searchsorted(inner, column[known], side="right")
        medians = [
            np.median(column[found == one]) if np.any(found == one) else np.nan
            for one in range(len(inner) + 1)
        ]
        return cls(found, np.array(medians))


def _departure(
    parts: _Parts, own: BoolArray, residual: FloatArray, columns: _Columns, j: int
) -> Departure | None:
    """Return the mean residual in each part with enough rows, if there are two parts at least."""
    part, residual = parts.part[own], residual[own]
    count = np.bincount(part[part >= 0], minlength=1)
    kept = np.flatnonzero(count >= FEWEST_ROWS)
    if len(kept) < 2:
        return None
    inside = np.isin(part, kept)
    n = count[kept]
    mean = np.array([residual[part == one].mean() for one in kept])
    left = residual[inside] - mean[np.searchsorted(kept, part[inside])]
    variance = float(left @ left) / max(len(left) - len(kept), 1)
    if not variance > 0:
        return None
    error = np.sqrt(variance / n)
    return Departure(
        columns.rows.names[j],
        columns.shown(j, parts.middles[kept]),
        tuple(map(int, n)),
        tuple(map(float, mean)),
        tuple(map(float, ndtri((1 + LEVEL) / 2) * error)),
        float(chdtrc(len(kept), np.sum((mean / error) ** 2))),
    )
