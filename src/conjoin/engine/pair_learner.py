"""Two datasets by any learner: the verdict from losses on held-out rows, and three trained models.

A collection of two, a request and a learner enter, a `Comparison` leaves. `compare_auto` takes the
learner with the lower cross-validated error, linear models or boosting.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.api.request import PairRequest
from conjoin.criterion.paired import PairedVerdict, judge_losses
from conjoin.engine.hints import hint_at_classes
from conjoin.engine.pair_linear import linear_error
from conjoin.errors import DataError
from conjoin.execution import one_thread
from conjoin.learners.columns import LearnerColumns
from conjoin.learners.paired import (
    FEWEST_FOR_VERDICT,
    FEWEST_OTHERS,
    FEWEST_OTHERS_FOR_VERDICT,
    FEWEST_ROWS,
    FOLDS,
    Dealings,
    PairedLosses,
    deal_repeatedly,
    dealings_in_order,
    others,
    paired_losses,
    repeats_for,
)
from conjoin.learners.rows import Learner, LearnerRows
from conjoin.moments import Basis, Moments
from conjoin.moments.resample import canonical_order
from conjoin.result.comparison import Comparison
from conjoin.result.learned_fit import LearnedFit
from conjoin.tables import DatasetCollection

UNKNOWN = float("nan")  # what the paper's inequality has no value for


def compare_learner(
    collection: DatasetCollection, request: PairRequest, learner: Learner
) -> Comparison:
    """Compare two datasets by cross-validation of a learner."""
    return _validate(collection, request, learner).comparison()


def compare_auto(
    collection: DatasetCollection,
    request: PairRequest,
    learner: Learner,
    linear: Callable[[], Comparison],
) -> Comparison:
    """Compare two datasets by linear models or a learner, whichever has the lower error.

    The error is the lower one of separate models and one of both, on the same folds.
    """
    if min(collection.sizes) < FEWEST_FOR_VERDICT:  # nothing could be said for the learner
        return replace(linear(), asked="auto")
    found = _validate(collection, request, learner)
    errors = {"linear": found.linear_error(), learner.name: min(found.errors())}
    chosen = found.comparison if errors[learner.name] < errors["linear"] else linear
    return replace(chosen(), asked="auto", learner_errors=errors)


@dataclass(frozen=True, eq=False)
class _Validated:
    """A learner that was cross-validated on two datasets and on both.

    Parameters
    ----------
    collection, request, learner : what was asked
    columns : LearnerColumns
        What the learner sees of a row.
    rows : LearnerRows
        Rows in an order that depends on values alone.
    order : array (n,)
        Rows of the collection in this order.
    dealt : Dealings
        Their folds.
    losses : PairedLosses
        Their losses.
    """

    collection: DatasetCollection
    request: PairRequest
    learner: Learner
    columns: LearnerColumns
    rows: LearnerRows
    order: IntArray
    dealt: Dealings
    losses: PairedLosses

    def by_dataset(self, losses: FloatArray) -> FloatArray:
        """Return the mean loss of each dataset (2,)."""
        rows = self.rows
        total = np.bincount(rows.dataset, rows.w, minlength=2)
        found: FloatArray = np.bincount(rows.dataset, rows.w * losses, minlength=2) / total
        return found

    def errors(self) -> tuple[float, float]:
        """Return the mean error of separate models and of one of both."""
        both = (self.by_dataset(one).mean() for one in (self.losses.separate, self.losses.joined))
        separate, joined = (float(one) for one in both)
        return separate, joined

    def linear_error(self) -> float:
        """Return the lower error of linear models, separate or joined, on the first folds."""
        fold = np.empty(len(self.order), dtype=np.int64)
        fold[self.order] = self.dealt.fold[0]
        return linear_error(self.collection, fold, FOLDS)

    def judge(self) -> tuple[PairedVerdict, str]:
        """Return the verdict, and why there is none."""
        rows, losses = self.rows, self.losses
        found = judge_losses(
            losses.separate - losses.joined,
            rows.w,
            rows.dataset,
            delta=self.request.delta,
            folds=FOLDS,
            unit=self.dealt.unit,
        )
        reason = _too_few(self.collection, self.learner.name)
        if reason:
            endless = (-float("inf"), float("inf"))
            found = replace(found, verdict="undecided", interval=endless)
        return found, reason

    def hint(self) -> None:
        """Warn of a target of 0 and 1 that may be meant as a class."""
        table, asked = self.collection, self.request
        if table.response.family == "gaussian":
            basis = Basis.from_rows(table.X, table.y, table.weights)
            Z, t = basis.design(table.X), basis.response(table.y)
            moments = Moments.by_dataset(Z, t, table.starts, table.weights)
            hint_at_classes(basis, moments, asked.target, asked.family)

    def comparison(self) -> Comparison:
        """Return the verdict and the three models of all rows."""
        self.hint()
        found, reason = self.judge()
        separate, joined = self.errors()
        own = self.by_dataset(self.losses.separate)
        errors = (float(own[0]), float(own[1]), joined)
        counts = (*self.collection.sizes, len(self.rows))
        fits = []
        for side, count, error in zip(self.losses.sides, counts, errors):
            model, settings = side.train(self.dealt.inner[0])
            schema, columns = self.collection.schema, self.columns
            name = self.learner.name
            fits.append(LearnedFit(name, count, error, settings, schema, columns, model))
        return Comparison(
            verdict=found.verdict,
            join=found.gain > 0,
            gain=found.gain,
            interval=found.interval,
            delta=self.request.delta,
            rows_to_settle=1.0 if found.verdict != "undecided" else None,
            score=found.gain,
            threshold=0.0,
            phi=UNKNOWN,
            psi=UNKNOWN,
            alpha=UNKNOWN,
            method="cross-validation",
            fit_a=fits[0],
            fit_b=fits[1],
            fit_joined=fits[2],
            error_separate=separate,
            error_joined=joined,
            few_rows_decide=found.few_rows_decide,
            learner=self.learner.name,
            asked=self.request.learner_name,
            folds=FOLDS,
            repeats=len(self.dealt.fold),
            reason=reason,
        )


def _validate(collection: DatasetCollection, request: PairRequest, learner: Learner) -> _Validated:
    """Cross-validate a learner on two datasets."""
    _check_rows(collection, learner.name)
    make = LearnerColumns.of if learner.takes_categories else LearnerColumns.plain
    columns = make(collection.schema)
    rows = LearnerRows(
        columns.transform(collection.X),
        collection.y,
        collection.weights,
        np.repeat(np.arange(2), collection.sizes),
        2,
        columns.names,
        columns.categories,
        collection.response,
        named=False,
        labels=collection.names,
    )
    repeats = repeats_for(learner, len(rows))
    dealt = deal_repeatedly(collection.X, rows, repeats, int(request.random_state))
    dealt = dealings_in_order(
        dealt, collection.X, collection.y, collection.starts, collection.order
    )
    # Rows of the two datasets alternate at random: which of the two comes first changes nothing,
    # and learners that read rows in order see no trend.
    place = np.empty(len(rows), dtype=np.int64)
    place[canonical_order(collection.X, collection.y)] = np.arange(len(rows))
    order = np.lexsort((place, dealt.rank))
    rows, dealt = rows.take(order), dealt.take(order)
    with one_thread():
        losses = paired_losses(learner, rows, dealt)
    return _Validated(collection, request, learner, columns, rows, order, dealt, losses)


def _others(collection: DatasetCollection, k: int) -> int:
    return others(collection.y[collection.rows(k)], collection.response)


def _check_rows(collection: DatasetCollection, learner: str) -> None:
    """Refuse datasets on which no model can be judged."""
    for k, (name, rows) in enumerate(zip(collection.names, collection.sizes)):
        if rows < FEWEST_ROWS:
            raise DataError(
                f"Dataset {name!r} has {rows} rows, but cross-validation of learner={learner!r} "
                f"needs at least {FEWEST_ROWS}; choose learner='linear'."
            )
        if _others(collection, k) < FEWEST_OTHERS:
            what = "outside its largest class" if collection.response.classes else "above zero"
            raise DataError(
                f"Dataset {name!r} has {_others(collection, k)} rows {what}, so learner={learner!r}"
                f" cannot be trained on it alone; at least {FEWEST_OTHERS} are needed. Join it with"
                " another dataset, or choose learner='linear'."
            )


def _too_few(collection: DatasetCollection, learner: str) -> str:
    """Say which dataset has too few rows for a verdict; empty if none has."""
    for k, (name, rows) in enumerate(zip(collection.names, collection.sizes)):
        if rows < FEWEST_FOR_VERDICT:
            return (
                f"Dataset {name} has {rows} rows; a verdict on {learner} needs at least "
                f"{FEWEST_FOR_VERDICT} in each."
            )
        if _others(collection, k) < FEWEST_OTHERS_FOR_VERDICT:
            what = "outside its largest class" if collection.response.classes else "above zero"
            return (
                f"Dataset {name} has {_others(collection, k)} rows {what}; a verdict on {learner} "
                f"needs at least {FEWEST_OTHERS_FOR_VERDICT} in each."
            )
    return ""
