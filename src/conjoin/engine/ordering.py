"""Rows that depend on each other: folds and robust covariances for `time` and `repeat`.

A collection with the time and the person of its rows enters (`tables.order`), and a request. Folds
leave, in which rows of a person stay together or models predict forward in time; and the scatter
behind verdicts, in which rows of a person, or of a stretch of time, may share noise.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.api.request import Question, Request
from conjoin.durations import parse_duration
from conjoin.errors import ArgumentError, DataError, warn_caller
from conjoin.models.clustered import clustered_scatter
from conjoin.models.effort import MANY_DATASETS, works_by_rows
from conjoin.models.scatter import Scatter
from conjoin.models.serial import serial_scatter
from conjoin.moments import Dealt, Moments, deal_rows
from conjoin.moments.forward import plan_forward
from conjoin.moments.together import deal_together
from conjoin.tables import DatasetCollection
from conjoin.tables.order import RowOrder, time_in_words
from conjoin.text import listed

# Folds of classes and counts from `MANY_DATASETS` on: half of those asked for, but at least this
# many. Every fold is a pass over all rows, and errors of many datasets are known well enough.
FEWEST_FOLDS = 5
# Operations of a pass over rows that stand for moments (N p^2), from which the same is done: each
# strategy makes one for every fold. With 500 columns it is 40,000 rows.
MANY_OPERATIONS = 1e10
# Folds that are kept however few rows there are; more than rows of a dataset hold out nothing more.
USUAL_FOLDS = 10


def folds_for(data: DatasetCollection, request: Request) -> int:
    """Return the number of folds that a request means.

    With as many folds as the largest dataset has rows, every row is held out alone.
    """
    largest = int(np.diff(data.starts).max())
    folds = min(int(request.folds), max(largest, USUAL_FOLDS))
    if len(data.names) > MANY_DATASETS and data.response.family == "gaussian":
        columns = data.X.shape[1] + int(request.intercept)
        long = len(data.y) * columns**2 > MANY_OPERATIONS
        if not long or not works_by_rows(np.diff(data.starts), columns, folds):
            return folds
    return folds_of_passes(len(data.names), largest, folds)


def folds_of_passes(datasets: int, largest: int, asked: int) -> int:
    """Return the number of folds where each is a pass over all rows; `largest` dataset's rows.

    >>> folds_of_passes(9, 500, 10), folds_of_passes(1000, 500, 10), folds_of_passes(9, 12, 200)
    (10, 5, 12)
    """
    folds = min(asked, max(largest, USUAL_FOLDS))
    return folds if datasets <= MANY_DATASETS else min(folds, max(folds // 2, FEWEST_FOLDS))


def deal_in_order(data: DatasetCollection, request: Question, folds: int) -> tuple[Dealt, int]:
    """Deal rows to folds as the request asks, and return the number of folds."""
    dealt = deal_rows(data.X, data.y, data.starts, folds, int(request.random_state))
    order = data.order
    if order is None:
        return dealt, folds
    persons = 0 if order.who is None else _count_persons(data, order.who, str(request.repeat))
    if order.time is not None:
        dealt = _with_copies_at_one_time(dealt, order.time, data.starts)
        return _deal_forward(dealt, order, request, folds)
    assert order.who is not None  # one of the two was asked for
    folds = min(folds, persons)
    return deal_together(dealt, order.who, data.starts, folds), folds


def _with_copies_at_one_time(dealt: Dealt, time: FloatArray, starts: IntArray) -> Dealt:
    """Return dealt rows of which only those at the same time are copies of each other.

    Two days of a store can be equal in all columns but the date, which may be left out.
    """
    if dealt.repeats is None:
        return dealt
    K = len(starts) - 1
    some = np.flatnonzero(dealt.repeats > 1)
    dataset = np.repeat(np.arange(K), np.diff(starts))[some]
    rows = np.column_stack([dataset, dealt.rank[some], time[some]])
    kinds, kind, count = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    repeats = np.ones(len(time), dtype=np.int64)
    repeats[some] = count[kind.ravel()]
    copies = np.bincount(kinds[:, 0].astype(np.int64), count - 1, minlength=K).astype(np.int64)
    return replace(dealt, copies=copies, repeats=repeats if copies.any() else None)


def _count_persons(data: DatasetCollection, who: IntArray, name: str) -> int:
    """Return the number of persons; one in all is an error, one a row or a dataset a warning."""
    persons = len(np.unique(who))
    if persons < 2:
        raise DataError(
            f"repeat={name!r} has one value in all rows, so no row can be held out; name the "
            "column of persons, or leave repeat out."
        )
    if persons == len(who):
        warn_caller(
            f"repeat={name!r} has another value in every row, so it changes nothing; name the "
            "column of persons, or leave repeat out."
        )
    bounds = zip(data.starts[:-1].tolist(), data.starts[1:].tolist())
    alone = [k for k, (i, j) in zip(data.names, bounds) if j - i > 1 and np.ptp(who[i:j]) == 0]
    if alone:
        warn_caller(
            f"repeat={name!r} has one value in all rows of {listed(alone)}: models are judged "
            "there without any of these rows, and verdicts have nothing to tell a person from a "
            "dataset by."
        )
    return persons


def _deal_forward(
    dealt: Dealt, order: RowOrder, request: Question, folds: int
) -> tuple[Dealt, int]:
    """Return the folds of forward validation."""
    assert order.time is not None
    horizon, gap = (length(request, name, order.dated) for name in ("horizon", "gap"))
    plan = plan_forward(order.time, folds, horizon, gap or 0.0)
    if plan is not None:
        return replace(dealt, fold=plan.fold, forward=plan), len(plan.origins)
    first, last = (time_in_words(float(f(order.time)), order.dated) for f in (np.min, np.max))
    if first == last:
        raise DataError(
            f"time={request.time!r} is {first} in all rows, so nothing comes after it; name a "
            "column with several times, or leave time out."
        )
    raise ArgumentError(
        f"gap={getattr(request, 'gap', None)!r} leaves no row to judge models on: rows are from "
        f"{first} to {last}, and half of them come before the first prediction. Choose a shorter "
        "gap."
    )


def length(request: Question, name: str, dated: bool) -> float | None:
    """Return a length of time in the units of the time column; None if it was not asked for."""
    value = getattr(request, name, None)
    if value is None:
        return None
    found = parse_duration(name, value)
    if found.dated and not dated:
        raise ArgumentError(
            f"{name}={value!r} is a length of calendar time, but time={request.time!r} holds "
            f"numbers; give {name} as a number in the same units."
        )
    return found.amount


def robust_scatter(
    design: Callable[[slice], FloatArray],
    t: FloatArray,
    data: DatasetCollection,
    dealt: Dealt,
    moments: Moments,
) -> Scatter:
    """Return the scatter of rows, for verdicts: by person, by stretch of time, or row by row.

    `design` returns the design of some rows, t (N,) is the target in the same coordinates.
    """
    w, starts, order = data.weights, data.starts, data.order
    if order is not None and order.who is not None:
        return clustered_scatter(design(slice(None)), t, w, starts, order.who, moments)
    if order is not None and order.time is not None:
        return serial_scatter(design(slice(None)), t, w, starts, order.time, moments)
    return Scatter.in_parts(design, t, w, starts, dealt.repeats, moments)


def scatter_of_folds(folds: Moments) -> Scatter:
    """Return the scatter from moments of folds (K, F), where rows are elsewhere."""
    return Scatter.of_folds(folds)
