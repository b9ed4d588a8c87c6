"""Is a model still right? New rows with known target against what was promised at fitting.

A partition and rows with known target enter; a `Check` leaves. For every dataset it says whether
the error on the new rows is what held-out rows promised, and how many rows lie inside their 90 %
intervals. For every join it says what the verdict on the new rows alone would be.

The error of a dataset is compared with the promised one by Student's t. Its standard error is that
of the new rows, in blocks of time where rows are ordered in time, and of the rows at fitting. With
many datasets p-values are adjusted by Holm's method.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import stdtr

from conjoin._typing import FloatArray, IntArray
from conjoin.api.request import PredictionOptions
from conjoin.criterion.judge import Judge
from conjoin.errors import DataError
from conjoin.models.row_losses import row_losses
from conjoin.models.serial import dependent_scatter
from conjoin.moments import Basis, Moments
from conjoin.result.assigning import check_held, known_target
from conjoin.result.file_assignment import read_labelled
from conjoin.result.intervals import Intervals
from conjoin.result.partition import Partition
from conjoin.tables.frame import in_memory, to_frame
from conjoin.tables.names import dataset_names, natural_order
from conjoin.tables.order import RowOrder, read_order
from conjoin.text import quoted

# Probability of a false alarm over all datasets together.
LEVEL = 0.05
# An error that is higher by less than a tenth needs no look, however sure it is.
TOLERANCE = 1.1
# Rows of a dataset below which nothing is said of its error.
FEWEST_ROWS = 5
# Blocks of time of a dataset whose mean losses count as one observation each.
BLOCKS = 10
INTERVAL = 0.9  # share of rows that should lie inside their intervals


@dataclass(frozen=True)
class CheckedDataset:
    """One dataset of the new rows.

    Parameters
    ----------
    name : str
    rows : int
        New rows with known target.
    error, promised : float
        Error on the new rows, and on held-out rows at fitting; nan if it is not known.
    p_value : float
        Probability of such an error if the promise holds, adjusted for the number of datasets.
    inside : float
        Share of the new rows inside their 90 % intervals, or sets of classes.
    status : "ok", "look", "few rows", "new" or "no promise"
    """

    name: str
    rows: int
    error: float
    promised: float
    p_value: float
    inside: float
    status: str


@dataclass(frozen=True)
class CheckedJoin:
    """One join: its verdict at fitting and on the new rows; `joined` says what was done."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    joined: bool
    verdict: str
    today: str

    @property
    def status(self) -> str:
        """Return "look" where the new rows speak against what was done, else "ok"."""
        against = self.today == ("apart" if self.joined else "join")
        return "look" if against and self.today != self.verdict else "ok"


@dataclass(frozen=True)
class Check:
    """What new rows say about a model.

    Parameters
    ----------
    datasets : tuple of CheckedDataset
    joins : tuple of CheckedJoin
        Joins of the ledger whose datasets all have new rows.
    """

    datasets: tuple[CheckedDataset, ...]
    joins: tuple[CheckedJoin, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing needs a look."""
        statuses = [one.status for one in self.datasets] + [one.status for one in self.joins]
        return "look" not in statuses


def check_source(
    model: Partition, sources: Sequence[str | Path], *, query: str | None = None
) -> Check:
    """Check a model on files with known target."""
    frame, names, target, what = read_labelled(model, sources, query)
    return check_frame(model, frame, names, target, what)


def check_table(model: Partition, data: Any) -> Check:
    """Check a model on a table in memory that has the columns of fitting."""
    frame = in_memory(to_frame(data))
    roles = model.schema.roles
    for name in (roles.target, *roles.by):
        if name not in frame.columns:
            raise DataError(f"data lacks column {name!r}; columns are {quoted(frame.columns)}.")
    target = frame.get_column(roles.target).to_list()
    return check_frame(model, frame, dataset_names(frame, roles.by), target)


def check_frame(
    model: Partition,
    frame: Any,
    names: Sequence[str | None],
    target: Sequence[Any],
    what: str = "data",
) -> Check:
    """Check a model on the rows of a frame, with the dataset and the target of each."""
    rows = model.schema.extend(model.schema.encode(frame, what), names)
    y = known_target(list(target), len(rows), model.schema.response)
    order = _order(model, frame)
    time = np.zeros(len(rows)) if order.time is None else order.time
    found = model.predictor.predict(rows, names, PredictionOptions())
    losses = row_losses(found.linear, y, model.schema.response)
    inside = _inside(model, found.linear, names, y)
    present = natural_order(sorted({name for name in names if name is not None}))
    if not present:
        raise DataError("No row of the new data names a dataset, so there is nothing to check.")
    own = np.array(names, dtype=object)
    lines = [
        _dataset(model, name, losses[own == name], inside[own == name], time[own == name])
        for name in present
    ]
    return Check(_adjusted(lines), _joins(model, rows, own, y, order))


def _order(model: Partition, frame: Any) -> RowOrder:
    """Return when rows were and whom they are about, as far as the columns are there."""
    roles = model.schema.roles
    here = [name if name in frame.columns else None for name in (roles.time, roles.repeat)]
    return read_order(frame, type(roles)(roles.target, time=here[0], repeat=here[1])) or RowOrder()


def _inside(
    model: Partition, linear: FloatArray, names: Sequence[str | None], y: FloatArray
) -> FloatArray:
    """Say which rows (n,) lie inside their intervals: 0, 1, or nan if that is not known."""
    if model.analysis.spread(model.strategy) is None:
        return np.full(len(y), np.nan)
    found = model.intervals(linear, names, INTERVAL)
    if isinstance(found, Intervals):
        return ((found.low <= y) & (y <= found.high)).astype(float)
    return found.sets[np.arange(len(y)), y.astype(np.int64)].astype(float)


def _dataset(
    model: Partition, name: str, losses: FloatArray, inside: FloatArray, time: FloatArray
) -> CheckedDataset:
    """Compare the losses of a dataset with its promise."""
    n, error = len(losses), float(losses.mean())
    fit = model.coefficients.get(name)
    promised = float("nan") if fit is None else float(fit.error)
    status = "new" if fit is None else "few rows" if n < FEWEST_ROWS else "ok"
    p = float("nan")
    if status == "ok" and not np.isfinite(promised):
        status = "no promise"
    elif status == "ok" and fit is not None:
        p = p_value(losses, promised, fit.rows, time)
    return CheckedDataset(name, n, error, promised, p, float(inside.mean()), status)


def p_value(losses: FloatArray, promised: float, rows: int, time: FloatArray) -> float:
    """Return the probability of so large a mean loss (n,) if `promised` of earlier rows holds.

    >>> rng = np.random.default_rng(0)
    >>> losses = rng.standard_normal(100) ** 2
    >>> p_value(losses, 1.0, 500, np.zeros(100)) > 0.05
    True
    >>> p_value(losses, 0.5, 500, np.zeros(100)) < 0.01
    True
    """
    unit = 2.0 ** np.frexp(max(float(np.abs(losses).max()), promised))[1]
    losses, promised, n = losses / unit, promised / unit, len(losses)  # losses of 1e240
    parts = losses
    if np.ptp(time) > 0 and n >= 2 * BLOCKS:
        place = np.argsort(np.argsort(time, kind="stable")) * BLOCKS // n
        parts = np.bincount(place, losses) / np.bincount(place)
    spread = float(parts.var(ddof=1)) / len(parts)
    earlier = float(losses.var(ddof=1)) / max(rows, 1)
    # Losses of few rows scatter less than they should; normal residuals give at least this.
    least = 2 * promised**2 / n
    error = np.sqrt(max(spread, least) + earlier)
    if error == 0:
        return 1.0
    return float(stdtr(len(parts) - 1, -(losses.mean() - promised) / error))


def _adjusted(lines: Sequence[CheckedDataset]) -> tuple[CheckedDataset, ...]:
    """Return the datasets with p-values adjusted by Holm's method, and those that need a look."""
    p = np.array([one.p_value for one in lines])
    tested = np.flatnonzero(np.isfinite(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    steps = np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1))
    found = list(lines)
    for k, value in zip(order.tolist(), np.minimum(steps, 1.0).tolist()):
        one = lines[k]
        worse = value < LEVEL and one.error > TOLERANCE * one.promised
        found[k] = replace(one, p_value=value, status="look" if worse else one.status)
    return tuple(found)


def _joins(
    model: Partition, rows: FloatArray, own: Any, y: FloatArray, when: RowOrder
) -> tuple[CheckedJoin, ...]:
    """Return the verdicts of new rows on the joins of the ledger; numbers only."""
    if model.classes or model.family != "gaussian":
        return ()
    used = model.analysis.placement.columns
    X = rows if used is None else rows[:, used]
    known = [name for name in model.labels if np.sum(own == name) >= FEWEST_ROWS + X.shape[1]]
    lines = [one for one in model.ledger() if {*one.left, *one.right} <= {*known}]
    if not lines:
        return ()
    position = {name: k for k, name in enumerate(known)}
    number: IntArray = np.array([position.get(name, -1) for name in own])
    order = np.argsort(number, kind="stable")
    order = order[number[order] >= 0]
    starts = np.searchsorted(number[order], np.arange(len(known) + 1))
    check_held(rows, y, model.schema)
    w = np.ones(len(order))
    basis = Basis.from_rows(X[order], y[order], w)
    Z, t = basis.design(X[order]), basis.response(y[order])
    moments, some = Moments.by_dataset(Z, t, starts, w), when.take(order)
    scatter = dependent_scatter(Z, t, w, starts, moments, some.time, some.who)
    judge = Judge.of(moments, scatter=scatter)
    pairs = [([position[n] for n in one.left], [position[n] for n in one.right]) for one in lines]
    delta = float(model.settings.get("delta", 0.1))
    answers, _ = judge.verdicts(pairs, delta=delta, interval=False)
    return tuple(
        CheckedJoin(one.left, one.right, one.joined, one.verdict, today)
        for one, today in zip(lines, answers)
    )
