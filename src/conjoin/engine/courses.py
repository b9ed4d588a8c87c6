"""Errors over time, on demand: how right the advice of each origin was in the period after it.

Losses of strategies on held-out rows and a plan of forward validation enter; a `Course` leaves.
"""

from collections.abc import Mapping

import numpy as np

from conjoin._typing import FloatArray
from conjoin.engine.entries import Rows
from conjoin.engine.study import Study
from conjoin.models.row_losses import row_losses
from conjoin.result.course import Course
from conjoin.strategies import SEARCHED
from conjoin.strategies.improvement import HeldOut
from conjoin.tables.order import time_in_words

# Strategies whose errors are shown over time: the extremes, the average, and the partition that was
# found from earlier rows.
SHOWN = ("separate", "pooled", SEARCHED, "clusters", "auto")
STRETCHES = 4  # of the time that models predict ahead: more would have few rows each


def course_of(
    held: Mapping[str, HeldOut], study: Study, rows: Rows, linear: FloatArray | None
) -> Course | None:
    """Return the errors over time; None where rows have no order.

    `linear` (n, L) are held-out linear predictors of the strategy in use, if they are known.
    """
    plan = None if study.dealt is None else study.dealt.forward
    order = rows.table.order
    if plan is None or order is None:
        return None
    given = study.given
    w, whole = given.folds.w, given.moments.w
    with np.errstate(divide="ignore", invalid="ignore"):
        # Losses were scaled up to all rows of a dataset (`models.problem`).
        scale = w.sum(axis=1) / whole
        share = np.where(w > 0, study.weights[:, None], 0.0)
        share = share / share.sum(axis=0)
        errors = {
            name: np.nansum(held[name].losses.T * scale[:, None] / w * share, axis=0) * rows.units
            for name in SHOWN
            if name in held and (name != "clusters" or SEARCHED not in held)
        }
    stretches, ahead = _ahead(plan.time - plan.origins[plan.latest] - plan.gap, rows, linear)
    return Course(
        tuple(time_in_words(float(one), order.dated) for one in plan.origins),
        tuple(int(n) for n in given.folds.n.sum(axis=0) / given.folds.outputs),
        {name: tuple(map(float, one)) for name, one in errors.items()},
        stretches,
        ahead,
        order.dated,
    )


def _ahead(
    since: FloatArray, rows: Rows, linear: FloatArray | None
) -> tuple[tuple[tuple[float, float], ...], tuple[float, ...]]:
    """Return stretches of time after the origin, and the error in each."""
    own = rows.tested
    if linear is None or not own.any():
        return (), ()
    losses = row_losses(linear[own], rows.table.y[own], rows.response)
    ends = np.linspace(0.0, float(since[own].max()), STRETCHES + 1)
    if ends[-1] <= 0:
        return (), ()
    place = np.clip(np.searchsorted(ends, since[own], side="right") - 1, 0, STRETCHES - 1)
    counts = rows.counts()[own]
    total = np.bincount(place, counts, minlength=STRETCHES)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.bincount(place, counts * losses, minlength=STRETCHES) / total
    stretches = tuple((float(a), float(b)) for a, b in zip(ends[:-1], ends[1:]))
    return stretches, tuple(map(float, found))
