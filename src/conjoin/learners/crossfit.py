"""Columns of predictions in which no row was predicted by a model that had seen it.

A learner, rows and their groups enter. The prediction of every row by a model of the other groups
leaves, with the model of all rows. Where the predictions are columns of a further model, that model
must be validated without them having seen the held-out rows: `nested` has, for every group g, the
predictions of the other rows by models that have seen neither them nor g.

==========  ====================================================================
symbol      meaning
==========  ====================================================================
G           number of groups
f_g         model of all rows outside group g
f_gh        model of all rows outside groups g and h; f_gh = f_hg
held_out    f_g at the rows of group g, (n, lines)
nested[g]   f_gh at the rows of every other group h; f_g at those of g
==========  ====================================================================

With two groups no row is outside both. There the rows of h are cut into halves, and a model of each
half predicts the other.

In a dataset with few rows, f_g at a row knows the others of the dataset and not the row itself, so
it leans against the target there, and a level for each dataset exploits that. With one level of
cross-fitting the claimed error would be too low (radon: 0.94 claimed, 1.11 came out).
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from conjoin._typing import FloatArray, IntArray, Progress
from conjoin.execution import give_back_memory, in_workers
from conjoin.learners.rows import Learner, LearnerRows, Model, group_count
from conjoin.progress_parts import report, split_progress

# Shares of the time of cross-fitting and of the model of all rows, for the progress bar; nested
# predictions have the rest.
SHARES, NESTED_SHARES = (0.8, 0.2), (0.6, 0.1)


@dataclass(frozen=True, eq=False)
class PredictedColumn:
    """A learner's predictions as a column.

    Parameters
    ----------
    held_out : array (n, lines)
        Every row predicted by a model that has not seen it.
    model : Model
        The model of all rows, for new rows.
    settings : mapping
        What the left-out loss chose.
    nested : tuple of arrays (n, lines), one for each group
        See the module's table; empty if it was not asked for.
    outside : tuple of Model, one for each group
        f_g; empty if they were not to be kept.
    """

    held_out: FloatArray
    model: Model
    settings: dict[str, Any]
    nested: tuple[FloatArray, ...] = ()
    outside: tuple[Model, ...] = ()


def predict_column(
    learner: Learner,
    rows: LearnerRows,
    group: IntArray,
    *,
    nested: bool,
    keep: bool = False,
    progress: Progress | None = None,
) -> PredictedColumn:
    """Cross-fit a learner and train it on all rows; `group` (n,) numbers the groups from 0."""
    first, second, last = split_progress(progress, *(NESTED_SHARES if nested else SHARES))
    found = learner.cross_fit(rows, group, first, keep=keep)
    give_back_memory()
    model = learner.fit(rows, found.settings)
    give_back_memory()
    report(second, 1, 1)
    quick = learner.hastened(found.settings)
    inside = _nested(learner, rows, group, found.held_out, quick, last) if nested else ()
    return PredictedColumn(found.held_out, model, found.settings, inside, found.models)


def _nested(
    learner: Learner,
    rows: LearnerRows,
    group: IntArray,
    held_out: FloatArray,
    settings: dict[str, Any],
    progress: Progress | None,
) -> tuple[FloatArray, ...]:
    """Return the columns outside each group."""
    G = group_count(group)
    present = [g for g in range(G) if np.any(group == g)]
    pairs = [(g, h) for g in present for h in present if g < h]
    if len(pairs) == 1:
        return _in_halves(learner, rows, group, held_out, settings)
    train = partial(_without_both, learner, rows, group, settings)
    found = [held_out.copy() for _ in range(G)]
    trained = zip(pairs, in_workers(train, pairs, alone=not learner.in_threads))
    for number, ((g, h), model) in enumerate(trained):
        report(progress, number + 1, len(pairs))
        for outer, inner in ((g, group == h), (h, group == g)):
            found[outer][inner] = model.predict(rows.X[inner], rows.dataset[inner])
    return tuple(found)


def _in_halves(
    learner: Learner,
    rows: LearnerRows,
    group: IntArray,
    held_out: FloatArray,
    settings: dict[str, Any],
) -> tuple[FloatArray, ...]:
    """Return the columns outside each of two groups; rows are sorted, so halves are every other."""
    found = [held_out.copy() for _ in range(group_count(group))]
    for h in np.unique(group):
        inside = np.nonzero(group == h)[0]
        for seen, other in ((inside[::2], inside[1::2]), (inside[1::2], inside[::2])):
            if not len(seen):  # a single row: nothing but the other group can predict it
                continue
            model = learner.fit(rows.take(seen), settings)
            predicted = model.predict(rows.X[other], rows.dataset[other])
            for g in np.unique(group[group != h]):
                found[g][other] = predicted
    return tuple(found)


def _without_both(
    learner: Learner,
    rows: LearnerRows,
    group: IntArray,
    settings: dict[str, Any],
    pair: tuple[int, int],
) -> Model:
    """Return the model of the rows outside two groups."""
    return learner.fit(rows.take((group != pair[0]) & (group != pair[1])), settings)


def groups_of_folds(fold: IntArray, folds: int, groups: int) -> IntArray:
    """Return the group (n,) of every row: neighbouring folds are held out together.

    >>> groups_of_folds(np.arange(10), 10, 5)
    array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
    """
    return fold * groups // folds
