"""Let one contestant compete: fit on training rows, predict test rows, within a time limit.

A contestant and a `Task` enter; an `Outcome` leaves: predictions, time and a note. Each fit runs on
one thread in a separate process (where the system can fork). A failure is an outcome without
predictions.
"""

import multiprocessing
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.linalg import qr
from threadpoolctl import threadpool_limits

from benchmarks.arena.data import FloatArray, Task, TextArray

# Seconds allowed for a fit. All rivals on all sets take about 40 minutes; a fit above five minutes
# would dominate the run.
TIME_LIMIT = 300.0

# The paper's Algorithm 3 resamples every pair of groups: a fit takes a minute at 24 groups, and
# more than TIME_LIMIT at 42.
MOST_GROUPS_OF_THE_PAPER = 24

# A column counts as dependent if its pivot is below this share of the largest one. Rounding leaves
# about 1e-16 of the largest pivot in a dependent column; other limits were not tried.
_DEPENDENT = 1e-8


@runtime_checkable
class Contestant(Protocol):
    """Anything that can take part in the arena.

    A contestant may also have an attribute ``note``, a text that is kept with the result of the
    latest `fit_predict`.

    Attributes
    ----------
    name : str
        Name in the tables.
    """

    name: str

    def fit_predict(self, task: Task) -> FloatArray:
        """Fit on the training rows and predict the test rows.

        Returns
        -------
        ndarray of shape (test rows,) or (test rows, classes)
            Predicted numbers; or probabilities, one column for every class of the training rows in
            sorted order.
        """
        ...


Factory = Callable[[], Contestant]


class Outcome(NamedTuple):
    """The result of a fit: predictions (None after a failure), seconds taken, and a note."""

    predictions: FloatArray | None
    seconds: float
    note: str


def compete(contestant: Contestant, task: Task) -> Outcome:
    """Let a contestant fit and predict in this process, on one thread."""
    start = time.perf_counter()
    try:
        with threadpool_limits(limits=1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            predictions = np.asarray(contestant.fit_predict(task), dtype=np.float64)
    except Exception as error:
        return Outcome(None, time.perf_counter() - start, f"{type(error).__name__}: {error}")
    return Outcome(predictions, time.perf_counter() - start, getattr(contestant, "note", ""))


def compete_guarded(contestant: Contestant, task: Task, limit: float) -> Outcome:
    """Let a contestant compete in a forked process that is ended after `limit` seconds.

    The first line the process prints (GPBoost prints its warnings) goes into the note.
    """
    if "fork" not in multiprocessing.get_all_start_methods():
        return compete(contestant, task)
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    sys.stdout.flush()
    with tempfile.TemporaryFile() as printed:
        child = context.Process(target=_child, args=(contestant, task, sender, printed.fileno()))
        child.start()
        sender.close()
        outcome = _receive(receiver, limit)
        if outcome.predictions is None:
            child.kill()
        child.join()
        receiver.close()
        printed.seek(0)
        first = printed.readline().decode(errors="replace").strip()
    return outcome._replace(note="; ".join(filter(None, [outcome.note, first])))


def make_and_compete(factory: Factory, task: Task, limit: float) -> Outcome:
    """Make a contestant (its imports are not timed) and let it compete."""
    try:
        contestant = factory()
    except ImportError as error:
        return Outcome(None, 0.0, f"ImportError: {error}")
    return compete_guarded(contestant, task, limit)


def _child(contestant: Contestant, task: Task, sender: Connection, printed: int) -> None:
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    # A plain tuple: workers of --jobs cannot unpickle the class of this module by its name.
    sender.send(tuple(compete(contestant, task)))


def _receive(receiver: Connection, limit: float) -> Outcome:
    start = time.perf_counter()
    try:
        if receiver.poll(limit):
            return Outcome(*receiver.recv())
    except EOFError:
        return Outcome(None, time.perf_counter() - start, "the process ended without a result")
    return Outcome(None, limit, f"stopped at the time limit of {limit:g} s")


def independent_columns(matrix: FloatArray) -> NDArray[np.intp]:
    """Return the numbers of columns that span the same space, by QR with pivoting.

    The first column is the intercept; standardised columns are orthogonal to it, so it stays.
    """
    _, r, order = qr(matrix, mode="economic", pivoting=True)
    pivots = np.abs(np.diag(r))
    return np.sort(order[: int(np.sum(pivots > _DEPENDENT * pivots[0]))])


def with_intercept(X: FloatArray) -> FloatArray:
    """Return the predictors (rows, p) with a column of ones in front."""
    return np.column_stack([np.ones(len(X)), X])


def with_group(X: FloatArray, groups: TextArray) -> pd.DataFrame:
    """Return the predictors as a frame with a column ``group``, as scikit-lego takes them."""
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    return frame.assign(group=groups.astype(str))
