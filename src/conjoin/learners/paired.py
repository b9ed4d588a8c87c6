"""Two datasets by any learner: a model of each, and one of both, judged on the same held-out rows.

Rows of two datasets and repeated folds enter. The loss of every row by the model of its own dataset
and by the model of both leaves, both trained without the row, averaged over repeats. The models of
all rows leave as well.

What a learner chooses by itself (rounds of boosting) is chosen by the loss of groups inside the
training rows, anew for every fold, so that no held-out row has a part in the choice. The shape of
trees is the exception: it is chosen once for each dataset and for both, outside the first fold, and
rows of the other folds have a part in it.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from conjoin._typing import BoolArray, FloatArray, IntArray, Progress
from conjoin.families import Response
from conjoin.learners.rows import Learner, LearnerRows, Model
from conjoin.models.row_losses import row_losses
from conjoin.moments.folds import deal_rows
from conjoin.moments.together import deal_together
from conjoin.tables.order import RowOrder

# Folds: models are trained on four fifths of the rows, near what users will train on.
FOLDS = 5
# Rows of a side below which there is no verdict: models of so few rows change with every row, so
# that the central limit theorem of cross-validation does not hold.
FEWEST_FOR_VERDICT = 30
# Rows of a side below which there is no cross-validation: a fold would hold less than two rows.
FEWEST_ROWS = 2 * FOLDS
# Rows of a side outside its largest class, or counts above zero, below which there is no verdict,
# and no model: in each training part there must be two classes.
FEWEST_OTHERS_FOR_VERDICT, FEWEST_OTHERS = 10, 2
# Groups inside the training rows that choose rounds: three, since each is a model in every fold.
INNER = 3
# Repeats of the folds, and rows up to which there are several. A learner that chooses rounds has
# fewer, since each fold is then several models.
REPEATS, CHOOSING_REPEATS, FEW_ROWS = 3, 2, 5_000
# Stretches of time of a dataset that count as one observation each. Losses of neighbours are less
# correlated than the noise, so they may be shorter than a fold.
UNITS = 20


def repeats_for(learner: Learner, rows: int) -> int:
    """Return how often rows are dealt to folds."""
    if rows > FEW_ROWS:
        return 1
    return REPEATS if learner.given_settings() is not None else CHOOSING_REPEATS


def others(y: FloatArray, response: Response) -> int:
    """Return the rows outside the largest class, or counts above zero; for numbers all rows."""
    if response.classes:
        return int(len(y) - np.bincount(y.astype(np.int64)).max())
    return int(np.sum(y > 0)) if response.family == "poisson" else len(y)


# --- folds ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Dealings:
    """Rows dealt to folds, several times.

    Parameters
    ----------
    fold : array (repeats, n)
        Fold of every row; copies of a row stay together.
    inner : array (repeats, n)
        Group of every row inside its training part.
    rank : array (n,)
        A random order inside every dataset that depends on values alone.
    unit : array (n,), optional
        Number of every distinct row; None if there are no copies.
    """

    fold: IntArray
    inner: IntArray
    rank: IntArray
    unit: IntArray | None = None

    @property
    def leave_rows(self) -> bool:
        """Whether half of the rows or more, of two groups or more, are outside every fold.

        Rows of one day or of one person stay in one fold, which may hold nearly all.
        """
        return all(
            2 * np.count_nonzero(fold == f) <= len(fold) and np.ptp(inner[fold != f]) > 0
            for fold, inner in zip(self.fold, self.inner)
            for f in range(FOLDS)
        )

    def take(self, order: IntArray) -> "Dealings":
        """Return the same of some rows, or of rows in another order."""
        unit = None if self.unit is None else self.unit[order]
        return Dealings(self.fold[:, order], self.inner[:, order], self.rank[order], unit)


def deal_repeatedly(X: FloatArray, rows: LearnerRows, repeats: int, seed: int) -> Dealings:
    """Deal rows to folds; rows of every class, and counts above zero, are spread over all folds.

    X (n, features) are the features of the rows without missing values.
    """
    strata = rows.dataset
    if rows.response.classes:
        strata = strata * len(rows.response.classes) + rows.y.astype(np.int64)
    elif rows.response.family == "poisson":
        strata = 2 * strata + (rows.y > 0)
    order = np.argsort(strata, kind="stable")
    starts = np.searchsorted(strata[order], np.arange(strata.max() + 2))
    fold, inner = (np.empty((repeats, len(rows)), dtype=np.int64) for _ in range(2))
    rank, unit = np.empty(len(rows), dtype=np.int64), None
    for r in reversed(range(repeats)):
        dealt = deal_rows(X[order], rows.y[order], starts, FOLDS, seed + r)
        rank[order] = dealt.rank
        fold[r, order] = dealt.fold
        inner[r] = rank // FOLDS % INNER
    if dealt.copies.any():
        numbers = np.unique(np.stack([strata, rank]), axis=1, return_inverse=True)[1]
        unit = np.asarray(numbers, dtype=np.int64).ravel()
    return Dealings(fold, inner, rank, unit)


def dealings_in_order(
    dealt: Dealings, X: FloatArray, y: FloatArray, starts: IntArray, order: RowOrder | None
) -> Dealings:
    """Return folds in which rows that depend on each other stay together.

    Rows of a person are in one fold, or folds are stretches of time. Both are the units of the
    verdict. X (n, features) and y are sorted by dataset; the order is that of `starts`.
    """
    if order is None:
        return dealt
    dataset = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    if order.who is not None:
        count = FOLDS * INNER
        one = [deal_rows(X, y, starts, count, r) for r in range(len(dealt.fold))]
        cell = np.stack([deal_together(x, order.who, starts, count).fold for x in one])
        pairs = np.stack([dataset, order.who])
        unit = np.unique(pairs, axis=1, return_inverse=True)[1].ravel()
        return replace(dealt, fold=cell % FOLDS, inner=cell // FOLDS, unit=unit)
    assert order.time is not None  # one of the two was asked for
    share = np.concatenate([_shares(order.time[i:j]) for i, j in zip(starts[:-1], starts[1:])])
    fold, inner, block = (
        np.floor(share * count).astype(np.int64) for count in (FOLDS, FOLDS * INNER, UNITS)
    )
    return replace(dealt, fold=fold[None], inner=inner[None] % INNER, unit=dataset * UNITS + block)


def _shares(time: FloatArray) -> FloatArray:
    """Return the share (n,) of rows that come before each; rows of one time have the same."""
    return np.searchsorted(np.sort(time), time, side="left") / len(time)


# --- losses --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PairedLosses:
    """Two datasets judged apart and together.

    Parameters
    ----------
    separate, joined : arrays (n,)
        Losses of held-out rows by the model of their own dataset and by that of both, means over
        repeats.
    sides : three _Side
        The two datasets and both, ready to be trained on all rows.
    """

    separate: FloatArray
    joined: FloatArray
    sides: "tuple[_Side, ...]"


def paired_losses(
    learner: Learner, rows: LearnerRows, dealt: Dealings, progress: Progress | None = None
) -> PairedLosses:
    """Cross-validate a learner on each of two datasets and on both, with the same folds."""
    rows = replace(rows, named=False)
    repeats = len(dealt.fold)
    parts = (rows.dataset == 0, rows.dataset == 1, np.ones(len(rows), dtype=bool))
    sides = tuple(_Side(learner, rows, own) for own in parts)
    losses = np.zeros((2, len(rows)))
    for r in range(repeats):
        for f in range(FOLDS):
            held_out = dealt.fold[r] == f
            for side, line in zip(sides, (losses[0], losses[0], losses[1])):
                side.add_losses(line, held_out, dealt.inner[r])
            if progress is not None:
                progress(r * FOLDS + f + 1, repeats * FOLDS)
    return PairedLosses(losses[0] / repeats, losses[1] / repeats, sides)


def cross_validated_losses(learner: Learner, rows: LearnerRows, dealt: Dealings) -> FloatArray:
    """Return the losses (n,) of held-out rows by one model of all rows, means over repeats."""
    side = _Side(learner, rows, np.ones(len(rows), dtype=bool))
    losses = np.zeros(len(rows))
    for fold, inner in zip(dealt.fold, dealt.inner):
        for f in range(FOLDS):
            side.add_losses(losses, fold == f, inner)
    return losses / len(dealt.fold)


class _Side:
    """The rows of one dataset or of both, and the learner for them."""

    def __init__(self, learner: Learner, rows: LearnerRows, own: BoolArray) -> None:
        self.learner, self.rows, self.own = learner, rows, own

    def add_losses(self, losses: FloatArray, held_out: BoolArray, inner: IntArray) -> None:
        """Train on the rows that are not held out, and add the losses of those that are."""
        judged = self.own & held_out
        if judged.any():
            model, _ = self._train(self.own & ~held_out, inner)
            losses[judged] += losses_of(model, self.rows.take(judged))

    def train(self, inner: IntArray) -> tuple[Model, dict[str, Any]]:
        """Train on all rows; groups (n,) choose the settings, which are returned as well."""
        return self._train(self.own, inner)

    def _train(self, kept: BoolArray, inner: IntArray) -> tuple[Model, dict[str, Any]]:
        training = self.rows.take(kept)
        settings = self.learner.given_settings()
        if settings is None:
            _, group = np.unique(inner[kept], return_inverse=True)
            settings = self.learner.cross_fit(training, group).settings
            self.learner = self.learner.narrowed(settings)
        return self.learner.fit(training, settings), settings


def losses_of(model: Model, rows: LearnerRows) -> FloatArray:
    """Return the losses (n,) of a model."""
    return row_losses(model.predict(rows.X, rows.dataset), rows.y, rows.response)
