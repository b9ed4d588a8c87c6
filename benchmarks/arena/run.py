"""Run contestants over sets, shares and seeds; append one row a fit to a CSV file.

``python -m benchmarks.arena.run --help`` lists the options. Every fit runs in a process of its
own (where the system can fork), on one thread, and is ended at the time limit; a failure is a row
with a note and without an error. Rows already in the file are not computed again unless asked.
"""

import argparse
import csv
import multiprocessing
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from benchmarks.arena.contestants import CONTESTANTS, Factory
from benchmarks.arena.data import (
    SETS,
    ArenaSet,
    FloatArray,
    Split,
    TextArray,
    load,
    shared_data,
    splits,
    standardise,
)
from benchmarks.arena.rivals import Contestant

RESULTS = Path(__file__).with_name("results.csv")
TIME_LIMIT = 300.0
_NOTE_LENGTH = 200


class Row(NamedTuple):
    """One line of the results.

    ``rows`` and ``groups`` are those of the whole set, ``columns`` the predictors that are left
    after standardising, ``error`` the mean over groups of the test MSE (empty after a failure),
    ``seconds`` the time of fitting and predicting.
    """

    set: str
    share: float
    seed: int
    contestant: str
    rows: int
    groups: int
    columns: int
    error: str
    seconds: str
    note: str


Key = tuple[str, float, int, str]


class Task(NamedTuple):
    """What a contestant is given."""

    X_train: FloatArray
    y_train: FloatArray
    groups_train: TextArray
    X_test: FloatArray
    groups_test: TextArray


class Outcome(NamedTuple):
    """What came back: predictions or None, the time taken, and what is to be said about it."""

    predictions: FloatArray | None
    seconds: float
    note: str


@dataclass(frozen=True)
class Arena:
    """Sets, contestants and an error: what a run is made of.

    Attributes
    ----------
    command : str
        How the run is started, for its help.
    sets : tuple of str
        Names of the sets.
    load : callable
        Returns the set of a name: an `ArenaSet`, or the like with another target.
    contestants : mapping
        The register: a factory for every name.
    shape : callable
        Returns the shape that predictions must have, given a set and a split.
    error : callable
        Returns the error and a remark (or nothing), given a set, a split and predictions.
    results : Path
        CSV file the rows are appended to by default.
    """

    command: str
    sets: tuple[str, ...]
    load: Callable[[str], Any]
    contestants: Mapping[str, Factory]
    shape: Callable[[Any, Split], tuple[int, ...]]
    error: Callable[[Any, Split, FloatArray], tuple[float, str]]
    results: Path


def group_error(y: FloatArray, predictions: FloatArray, groups: TextArray) -> float:
    """Return the mean over groups of the mean squared error; every group counts the same.

    Examples
    --------
    >>> import numpy as np
    >>> group_error(np.zeros(3), np.array([1.0, 1.0, 2.0]), np.array(["a", "a", "b"]))
    2.5
    """
    _, codes = np.unique(groups.astype(str), return_inverse=True)
    squares = np.bincount(codes, weights=(y - predictions) ** 2)
    return float(np.mean(squares / np.bincount(codes)))


def compete(contestant: Contestant, task: Task) -> Outcome:
    """Let a contestant fit and predict in this process, on one thread."""
    start = time.perf_counter()
    try:
        with threadpool_limits(limits=1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            predictions = np.asarray(contestant.fit_predict(*task), dtype=np.float64)
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


def _child(contestant: Contestant, task: Task, sender: Connection, printed: int) -> None:
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    # A plain tuple: in a worker of --jobs the class of this module cannot be found by its name.
    sender.send(tuple(compete(contestant, task)))


def _receive(receiver: Connection, limit: float) -> Outcome:
    start = time.perf_counter()
    try:
        if receiver.poll(limit):
            return Outcome(*receiver.recv())
    except EOFError:
        return Outcome(None, time.perf_counter() - start, "the process broke down")
    return Outcome(None, limit, f"stopped at the time limit of {limit:g} s")


def run_set(
    name: str,
    contestants: Sequence[str],
    shares: Sequence[float],
    seeds: Sequence[int],
    limit: float,
    done: frozenset[Key] = frozenset(),
    arena: Arena | None = None,
) -> Iterator[Row]:
    """Run contestants on all splits of one set.

    Parameters
    ----------
    name : str
        Name of the set.
    contestants : sequence of str
        Keys of the arena's register.
    shares : sequence of float
        Training shares.
    seeds : sequence of int
        Seeds of the splits.
    limit : float
        Seconds allowed for a fit.
    done : frozenset
        Combinations to pass over.
    arena : Arena, optional
        That of regression by default.

    Yields
    ------
    Row
        One result after the other.
    """
    open_keys = [
        (share, seed, contestant)
        for share in shares
        for seed in seeds
        for contestant in contestants
        if (name, share, seed, contestant) not in done
    ]
    if not open_keys:
        return
    arena = REGRESSION if arena is None else arena
    data = arena.load(name)
    groups = len(np.unique(data.groups.astype(str)))
    for share, seed in dict.fromkeys(key[:2] for key in open_keys):
        split = splits(data, share, seed)
        task = _task(data, split)
        for contestant in [key[2] for key in open_keys if key[:2] == (share, seed)]:
            outcome = _judge(arena.contestants[contestant], task, limit)
            error, note = _error(arena, data, split, outcome)
            sizes = (len(data.y), groups, task.X_train.shape[1])
            yield Row(name, share, seed, contestant, *sizes, error, f"{outcome.seconds:.4f}", note)


def _task(data: ArenaSet, split: Split) -> Task:
    X_train, X_test, _ = standardise(data, split)
    groups = data.groups
    return Task(X_train, data.y[split.train], groups[split.train], X_test, groups[split.test])


def _judge(factory: Callable[[], Contestant], task: Task, limit: float) -> Outcome:
    """Make a contestant (outside the measured time, imports included) and let it compete."""
    try:
        contestant = factory()
    except ImportError as error:
        return Outcome(None, 0.0, f"ImportError: {error}")
    return compete_guarded(contestant, task, limit)


def _error(arena: Arena, data: Any, split: Split, outcome: Outcome) -> tuple[str, str]:
    """Return the error as text, empty if there is none, and the note in one short line."""
    error, notes = "", [outcome.note]
    if outcome.predictions is not None:
        wrong = int(np.sum(~np.isfinite(outcome.predictions)))
        if outcome.predictions.shape != arena.shape(data, split):
            notes.append(f"predictions have the shape {outcome.predictions.shape}")
        elif wrong:
            notes.append(f"{wrong} predictions are not finite")
        else:
            value, remark = arena.error(data, split, outcome.predictions)
            error = f"{value:.10g}"
            notes.append(remark)
    note = " ".join("; ".join(filter(None, notes)).split())
    return error, note[:_NOTE_LENGTH]


def _regression_error(data: ArenaSet, split: Split, predictions: FloatArray) -> tuple[float, str]:
    return group_error(data.y[split.test], predictions, data.groups[split.test]), ""


def _regression_shape(data: ArenaSet, split: Split) -> tuple[int, ...]:
    return split.test.shape


REGRESSION = Arena(
    command="python -m benchmarks.arena.run",
    sets=tuple(SETS),
    load=load,
    contestants=CONTESTANTS,
    shape=_regression_shape,
    error=_regression_error,
    results=RESULTS,
)


def read_done(path: Path) -> frozenset[Key]:
    """Return the combinations that a results file holds already."""
    if not path.exists():
        return frozenset()
    with path.open(newline="", encoding="utf-8") as file:
        return frozenset(
            (row["set"], float(row["share"]), int(row["seed"]), row["contestant"])
            for row in csv.DictReader(file)
        )


def append(rows: Iterable[Row], path: Path) -> list[Row]:
    """Write rows to a results file as they come; return them.

    Parameters
    ----------
    rows : iterable of Row
        Results, possibly still being computed.
    path : Path
        The file; it is begun with a header if it does not exist.

    Returns
    -------
    list of Row
        All rows written.
    """
    new = not path.exists()
    written: list[Row] = []
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(Row._fields)
        for row in rows:
            writer.writerow(row)
            file.flush()
            written.append(row)
    return written


def _arguments(arguments: Sequence[str] | None, arena: Arena) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=arena.command, description="Run contestants over the sets of the arena."
    )
    add: Any = parser.add_argument
    sets, contestants = list(arena.sets), list(arena.contestants)
    add("--sets", nargs="+", choices=sets, default=sets, metavar="SET")
    add("--contestants", nargs="+", choices=contestants, default=contestants)
    add("--shares", nargs="+", type=float, default=[0.1, 0.5], help="training shares")
    add("--seeds", nargs="+", type=int, default=[0, 1, 2])
    add("--output", type=Path, default=arena.results, help="CSV file the rows are appended to")
    add("--jobs", type=int, default=1, help="sets worked on at a time")
    add("--time-limit", type=float, default=TIME_LIMIT, help="seconds allowed for a fit")
    add("--rerun", action="store_true", help="compute rows the file holds already once more")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None, arena: Arena = REGRESSION) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the command line by default.
    arena : Arena, optional
        That of regression by default.

    Returns
    -------
    int
        Exit code: 0, also if contestants failed (see the notes), 1 without data.
    """
    options = _arguments(arguments, arena)
    try:
        shared_data()
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    done = frozenset() if options.rerun else read_done(options.output)
    fixed = (options.contestants, options.shares, options.seeds, options.time_limit, done, arena)
    start = time.perf_counter()
    if options.jobs == 1:
        results: Iterable[Iterable[Row]] = (run_set(name, *fixed) for name in options.sets)
    else:
        workers = Parallel(n_jobs=options.jobs, return_as="generator")
        results = workers(delayed(_run_set_list)(name, *fixed) for name in options.sets)
    for number, (name, rows) in enumerate(zip(options.sets, results, strict=True), start=1):
        written = append(rows, options.output)
        print(f"[{number}/{len(options.sets)}] {_progress(name, written)}", flush=True)
    print(f"{time.perf_counter() - start:.0f} s in all; rows in {options.output}")
    return 0


def _run_set_list(name: str, *fixed: Any) -> list[Row]:
    return list(run_set(name, *fixed))


def _progress(name: str, rows: Sequence[Row]) -> str:
    if not rows:
        return f"{name}: nothing left to do"
    seconds = sum(float(row.seconds) for row in rows)
    failed = sum(not row.error for row in rows)
    sizes = f"{rows[0].rows} rows, {rows[0].groups} groups, {rows[0].columns} columns"
    return f"{name}: {sizes}, {len(rows)} fits, {failed} failed, {seconds:.1f} s"


if __name__ == "__main__":
    raise SystemExit(main())
