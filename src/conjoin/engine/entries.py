"""Strategies with a learner: each as a line in the columns and the learner's predictions.

Fits of the linear engine, fits of the engine with the learner's prediction as a column, and the
predictions themselves enter. `Entries` leave: what every strategy predicts, its losses on held-out
rows, and the weights of their average (`strategies.stacking`).

==========  ====================================================================  ============
symbol      meaning                                                               shape
==========  ====================================================================  ============
intercept   of every line of a dataset, in the units of the data                  (K, L)
slopes      of the table's columns, then of the predictions                       (K, L, E)
held_out    linear predictors of held-out rows, in the order of the table         (n, L)
losses      summed over the rows of each fold of each dataset                     (F, K)
==========  ====================================================================  ============
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.engine.learning import FEW_ROWS, LearnedColumns
from conjoin.engine.study import Study
from conjoin.families import Response, softmax
from conjoin.models.glm_families import contrasts
from conjoin.models.held_out import HeldOut
from conjoin.models.problem import scale_of
from conjoin.models.row_losses import row_losses
from conjoin.moments.made import PART_ROWS, slices
from conjoin.result.fits import lines_of
from conjoin.strategies.average import FEWEST_DATASETS, average
from conjoin.strategies.stacking import (
    Kept,
    find_weights,
    find_weights_in_parts,
    share_of_total,
)
from conjoin.strategies.validation import Fitted, Validated
from conjoin.tables import DatasetCollection

# What the average is made of, by the names of strategies.
AVERAGED = ("linear", "corrected", "residual", "curves", "learner named", "learner pooled",
            "learner separate", "learner clusters")  # fmt: skip
# Times the mean that a row may count when weights are found. Datasets count the same, so the only
# row of a small one would count as much as hundreds of another, and its luck would decide.
MOST_COUNT = 3.0
# Strategies of a learner by the kind of their column.
KINDS = {
    "named": "learner named",
    "pooled": "learner pooled",
    "separate": "learner separate",
    "clusters": "learner clusters",
}


@dataclass(frozen=True, eq=False)
class Entry:
    """One strategy; see the module's table.

    `shift` (K,) is that of `strategies.validation.Validated`; None if it is not known.
    `held_out` is None for linear strategies other than their average.
    """

    intercept: FloatArray
    slopes: FloatArray
    losses: FloatArray
    held_out: FloatArray | None = None
    shift: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows as the strategies see them: the collection, their dataset and fold, weights of datasets.

    `units` are the target's units: what a squared error of the working coordinates is worth.
    `latest` (n,) is the fold whose fits predict a row; it differs from `fold` in rows that are not
    held out, where rows are ordered in time.
    """

    table: DatasetCollection
    dataset: IntArray
    fold: IntArray
    folds: int
    weights: FloatArray
    units: float
    latest: IntArray

    @classmethod
    def of(cls, table: DatasetCollection, study: Study) -> "Rows":
        """Take the rows of a collection."""
        assert study.dealt is not None  # a learner reads rows
        dataset = table.dataset_of_rows
        folds = int(study.given.folds.shape[1])
        units = study.basis.target_scale**2
        fold, plan = study.dealt.fold, study.dealt.forward
        latest = fold if plan is None else np.where(fold >= 0, fold, plan.latest)
        return cls(table, dataset, fold, folds, study.weights, units, latest)

    def emptied(self) -> "Rows":
        """Return the same without rows."""
        t = self.table
        none = replace(t, X=t.X[:0], y=t.y[:0], weights=t.weights[:0], positions=None, order=None)
        table = replace(none, starts=np.zeros_like(t.starts), ends=(t.X[:0].sum(0), t.X[:0].sum(0)))
        few = self.fold[:0]
        return replace(self, table=table, dataset=few, fold=few, latest=few)

    @property
    def tested(self) -> BoolArray:
        """Which rows (n,) are held out."""
        return self.fold >= 0

    @property
    def response(self) -> Response:
        """What the target is."""
        return self.table.response

    def losses(self, held_out: FloatArray) -> FloatArray:
        """Return the losses (F, K) of held-out linear predictors (n, L), in working units.

        Those of held-out rows are scaled up to all rows of a dataset, as in `models.problem`.
        """
        K, F = len(self.table.names), self.folds
        cells, own = np.zeros(F * K), self.tested
        for p in slices(len(own)):
            loss = row_losses(held_out[p], self.table.y[p], self.response)
            each, at = self.table.weights[p] * loss / self.units, self.fold[p] * K + self.dataset[p]
            cells += np.bincount(at[own[p]], each[own[p]], minlength=F * K)
        losses = cells.reshape(F, K)
        if own.all():
            return losses
        whole, tested = (
            np.bincount(self.dataset, w, minlength=K).astype(np.float64)
            for w in (self.table.weights, np.where(own, self.table.weights, 0.0))
        )
        return losses * scale_of(whole, tested)

    def probabilities(self, held_out: FloatArray) -> HeldOut:
        """Return the probabilities of classes that held-out linear predictors (n, L) stand for."""
        table, own = self.table, self.tested
        y = table.y[own].astype(np.int64)
        return HeldOut(softmax(held_out[own]), y, table.weights[own], self.dataset[own])

    def mean_loss(self, losses: FloatArray) -> float:
        """Return the mean loss over datasets, by their weight, of losses (F, K)."""
        w = np.bincount(self.dataset, self.table.weights, minlength=len(self.table.names))
        return float(np.sum(losses.sum(axis=0) / w * self.weights))

    def counts(self) -> FloatArray:
        """Return how much every row counts (n,): datasets by their weight, rows by theirs."""
        w, tested = self.table.weights, self.tested
        if not tested.all():
            w = np.where(tested, w, 0.0)
        total = np.bincount(self.dataset, w, minlength=len(self.table.names))
        found: FloatArray = (self.weights / np.where(total > 0, total, 1.0))[self.dataset]
        found *= w
        return found

    def capped_counts(self) -> FloatArray:
        """Return how much every row counts when weights are found; see `MOST_COUNT`."""
        counts = self.counts()
        return np.minimum(counts, MOST_COUNT * counts.mean())

    def units_of_resampling(self) -> IntArray:
        """Return the unit (n,) of every row: its dataset, with few datasets its fold in it."""
        if len(self.table.names) >= FEWEST_DATASETS:
            return self.dataset
        return self.dataset * self.folds + self.latest


def held_out_lines(fold_coef: FloatArray, study: Study, X: FloatArray, rows: Rows) -> FloatArray:
    """Return linear predictors (n, L) of rows under fits outside their folds (F, K, p)."""
    basis, C = study.basis, len(rows.response.classes)
    found = []
    for start in range(0, max(len(X), 1), PART_ROWS):  # in parts: a design takes as much as rows
        part = slice(start, start + PART_ROWS)
        beta = fold_coef[rows.latest[part], rows.dataset[part]]
        Z = basis.design(X[part])
        if C > 2:
            eta = np.einsum("ij,ijm->im", Z, beta.reshape(len(Z), -1, C - 1))
            found.append(eta @ contrasts(C).T)
        else:
            line = np.einsum("ij,ij->i", Z, beta) * basis.target_scale + basis.target_center
            found.append(line[:, None])
    return np.concatenate(found)


def engine_average(fits: Mapping[str, Fitted], weights: Mapping[str, float]) -> Fitted:
    """Return the average of the engine's strategies."""
    return average(list(fits.values()), np.array([weights[name] for name in fits]))


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the predictions stand among the features of all models.

    Parameters
    ----------
    inputs : int
        Columns of the table.
    lines : int
        Lines of a model.
    positions : mapping of kind to array (lines,)
        Features that hold the predictions of each kind.
    size : int
        All features.
    """

    inputs: int
    lines: int
    positions: Mapping[str, IntArray]
    size: int

    @classmethod
    def of(cls, inputs: int, lines: int, kinds: tuple[str, ...]) -> "Layout":
        """Put the predictions behind the columns of the table, in order."""
        positions = {kind: inputs + j * lines + np.arange(lines) for j, kind in enumerate(kinds)}
        return cls(inputs, lines, positions, inputs + len(kinds) * lines)

    def padded(self, slopes: FloatArray, columns: IntArray) -> FloatArray:
        """Return slopes (..., L, size) that are zero outside given columns."""
        found = np.zeros((*slopes.shape[:-1], self.size))
        found[..., columns] = slopes
        return found

    def line_columns(self, corrected: bool) -> IntArray:
        """Return the features of the engine: the table's, and the named prediction if corrected."""
        own = np.arange(self.inputs)
        return np.append(own, self.corrected_columns()) if corrected else own

    def corrected_columns(self) -> IntArray:
        """Return the features of the named prediction that the engine sees."""
        return self.seen_by_engine("named")

    def seen_by_engine(self, kind: str) -> IntArray:
        """Return the features of a prediction without those that follow from others.

        Lines of several classes sum to zero, so the last is left out.
        """
        own = self.positions[kind]
        return own[:-1] if self.lines > 1 else own

    def unit(self, kind: str, K: int) -> FloatArray:
        """Return slopes (K, L, size) of a learner's own prediction."""
        found = np.zeros((K, self.lines, self.size))
        found[:, np.arange(self.lines), self.positions[kind]] = 1.0
        return found


def entry_of_engine(
    one: Validated, study: Study, layout: Layout, held_out: FloatArray | None, *, corrected: bool
) -> Entry:
    """Return a strategy of the engine as an entry."""
    intercept, slopes = lines_of(one.coef, study.basis, study.response)
    padded = layout.padded(slopes, layout.line_columns(corrected))
    return Entry(intercept, padded, one.losses, held_out, one.shift)


def entries_of_learner(learned: LearnedColumns, layout: Layout, rows: Rows) -> dict[str, Entry]:
    """Return the learner's own predictions as entries."""
    K = len(rows.table.names)
    return {
        name: Entry(
            np.zeros((K, layout.lines)),
            layout.unit(kind, K),
            rows.losses(learned.found[kind].held_out),
            learned.found[kind].held_out,
        )
        for kind, name in KINDS.items()
        if kind in learned.found
    }


def residual_entry(linear: Entry, learned: LearnedColumns, layout: Layout, rows: Rows) -> Entry:
    """Return the linear average with the learner on its residuals as an entry."""
    assert linear.held_out is not None  # the average is kept
    held_out = linear.held_out + learned.found["residual"].held_out
    slopes = linear.slopes.copy()
    slopes[:, 0, layout.positions["residual"]] = 1.0
    return Entry(linear.intercept, slopes, rows.losses(held_out), held_out)


def curves_entry(learned: LearnedColumns, study: Study, layout: Layout, rows: Rows) -> Entry:
    """Return lines and curves as an entry of the average."""
    assert learned.curve_lines is not None
    intercept, slopes = lines_of(learned.curve_lines, study.basis, study.response)
    padded = layout.padded(slopes, layout.line_columns(corrected=False))
    padded[:, 0, layout.positions["curves"]] = 1.0
    held_out = learned.found["curves"].held_out
    return Entry(intercept, padded, rows.losses(held_out), held_out)


def average_entries(
    entries: Mapping[str, Entry], rows: Rows, group: IntArray, seed: int
) -> tuple[Entry, dict[str, float]]:
    """Return the average of entries, and its weights.

    Where the average is not clearly better than lines, it is drawn towards them. Losses are those
    of weights found without the held-out group, so that the weights have not seen the rows they are
    judged on.
    """
    names = [name for name in AVERAGED if name in entries]
    held_out = [_held_out(entries[name]) for name in names]
    y, counts, unit = rows.table.y, rows.capped_counts(), rows.units_of_resampling()

    def find(kept: BoolArray) -> FloatArray:
        if rows.response.family == "gaussian":
            return find_weights_in_parts(held_out, y, counts, unit, kept, seed)
        part = Kept(held_out, kept), y[kept], rows.response, counts[kept], unit[kept]
        return find_weights(*part, seed)

    lines, few = np.array([name == "linear" for name in names]), len(y) <= FEW_ROWS
    plain = held_out[names.index("linear")]

    def cautious(kept: BoolArray) -> FloatArray:
        kept = kept & rows.tested
        if not kept.any():
            return lines.astype(np.float64)
        weights = find(kept)
        stacked = None
        if few:  # else so many rows are hardly flattered by weights of their own
            stacked = _outside(
                group,
                lambda other: find(other & kept) if np.any(other & kept) else weights,
                held_out,
            )
        total = np.zeros(int(unit.max()) + 1)
        for p in slices(len(y)):
            mean = Kept(held_out, p).mean(weights) if stacked is None else stacked[p]
            two = (row_losses(one, y[p], rows.response) for one in (plain[p], mean))
            gain, own = counts[p] * (next(two) - next(two)), kept[p]
            total += np.bincount(unit[p][own], gain[own], minlength=len(total))
        share = share_of_total(total[np.bincount(unit[kept], minlength=len(total)) > 0])
        return share * weights + (1 - share) * lines

    judged = _outside(group, cautious, held_out)
    weights = cautious(np.ones(len(y), dtype=bool))
    entry = Entry(
        _mixed(weights, [entries[name].intercept for name in names]),
        _mixed(weights, [entries[name].slopes for name in names]),
        rows.losses(judged),
        judged,
    )
    return entry, dict(zip(names, map(float, weights)))


def _outside(
    group: IntArray, find: Callable[[BoolArray], FloatArray], predictions: list[FloatArray]
) -> FloatArray:
    """Return averages (n, L) of S predictions (n, L), by weights found outside a row's group."""
    found = np.empty(predictions[0].shape)
    for g in range(int(group.max()) + 1):
        own = group == g
        weights = find(~own)
        for p in slices(len(own)):
            found[p][own[p]] = Kept([one[p] for one in predictions], own[p]).mean(weights)
    return found


def _held_out(entry: Entry) -> FloatArray:
    assert entry.held_out is not None  # what is averaged has predictions
    return entry.held_out


def _mixed(weights: FloatArray, arrays: list[FloatArray]) -> FloatArray:
    found: FloatArray = np.tensordot(weights, np.stack(arrays), axes=1)
    return found
