"""Run the rivals over sets, shares and seeds; append one row for every fit to a CSV file.

    python -m benchmarks.arena.run regression [--sets ...] [--contestants ...]
    python -m benchmarks.arena.run classification [--sets ...] [--contestants ...]

``--help`` after the side lists the options. Rows that the file holds already are not computed again
unless ``--rerun`` is given. A failed fit is a row with a note and without an error.
"""

import argparse
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from benchmarks.arena.contest import TIME_LIMIT, Outcome, make_and_compete
from benchmarks.arena.data import ArenaSet, Split, shared_data, splits, task_of
from benchmarks.arena.results import Key, Row, append, read_done, short_note
from benchmarks.arena.side import Side
from benchmarks.arena.sides import SIDES, add_run_options, parse


@dataclass(frozen=True)
class Plan:
    """What is run on every set.

    Attributes
    ----------
    contestants : tuple of str
        Names in the side's register.
    shares : tuple of float
        Training shares.
    seeds : tuple of int
        Random seeds of the splits.
    limit : float
        Seconds allowed for a fit.
    done : frozenset
        Combinations to skip.
    """

    contestants: tuple[str, ...]
    shares: tuple[float, ...]
    seeds: tuple[int, ...]
    limit: float = TIME_LIMIT
    done: frozenset[Key] = frozenset()


def run_set(side: Side, name: str, plan: Plan) -> Iterator[Row]:
    """Run contestants on all splits of one set and yield one row after the other."""
    open_keys = [
        (share, seed, contestant)
        for share in plan.shares
        for seed in plan.seeds
        for contestant in plan.contestants
        if (name, share, seed, contestant) not in plan.done
    ]
    if not open_keys:
        return
    data = side.load(name)
    groups = len(np.unique(data.groups.astype(str)))
    for share, seed in dict.fromkeys(key[:2] for key in open_keys):
        split = splits(data, share, seed)
        task = task_of(data, split)
        sizes = (len(data.y), groups, task.X_train.shape[1])
        for contestant in [key[2] for key in open_keys if key[:2] == (share, seed)]:
            outcome = make_and_compete(side.contestants[contestant], task, plan.limit)
            error, note = judge(side, data, split, outcome)
            yield Row(name, share, seed, contestant, *sizes, error, f"{outcome.seconds:.4f}", note)


def judge(side: Side, data: ArenaSet, split: Split, outcome: Outcome) -> tuple[str, str]:
    """Return the error as text, empty if there is none, and the note in one short line."""
    predictions = outcome.predictions
    if predictions is None:
        return "", short_note(outcome.note)
    if predictions.shape != side.shape(data, split):
        return "", short_note(outcome.note, f"predictions have the shape {predictions.shape}")
    wrong = int(np.sum(~np.isfinite(predictions)))
    if wrong:
        return "", short_note(outcome.note, f"{wrong} predictions are not finite")
    error, remark = side.error(data, split, predictions)
    return f"{error:.10g}", short_note(outcome.note, remark)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Returns
    -------
    int
        Exit code: 0, also if contestants failed (see the notes), 1 without data.
    """
    description = "Run the rivals over the sets of one side of the arena."
    side, options = parse("run", description, _add_options, arguments)
    try:
        shared_data()
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    done = frozenset() if options.rerun else read_done(options.output)
    what = (tuple(options.contestants), tuple(options.shares), tuple(options.seeds))
    plan = Plan(*what, options.time_limit, done)
    start = time.perf_counter()
    if options.jobs == 1:
        results: Iterable[Iterable[Row]] = (run_set(side, name, plan) for name in options.sets)
    else:
        workers = Parallel(n_jobs=options.jobs, return_as="generator")
        results = workers(delayed(_run_set_list)(side.name, name, plan) for name in options.sets)
    for number, (name, rows) in enumerate(zip(options.sets, results, strict=True), start=1):
        written = append(rows, options.output)
        print(f"[{number}/{len(options.sets)}] {_progress(name, written)}", flush=True)
    print(f"{time.perf_counter() - start:.0f} s in all; rows in {options.output}")
    return 0


def _add_options(parser: argparse.ArgumentParser, side: Side) -> None:
    add = parser.add_argument
    contestants = list(side.contestants)
    add_run_options(parser, side)
    add("--contestants", nargs="+", choices=contestants, default=contestants, metavar="NAME")
    add("--jobs", type=int, default=1, help="number of sets that run at the same time")
    add("--time-limit", type=float, default=TIME_LIMIT, help="seconds allowed for a fit")


def _run_set_list(side: str, name: str, plan: Plan) -> list[Row]:
    """Run a set in a worker, which finds the side by its name."""
    return list(run_set(SIDES[side], name, plan))


def _progress(name: str, rows: Sequence[Row]) -> str:
    if not rows:
        return f"{name}: nothing left to do"
    seconds = sum(float(row.seconds) for row in rows)
    failed = sum(not row.error for row in rows)
    sizes = f"{rows[0].rows} rows, {rows[0].groups} groups, {rows[0].columns} columns"
    return f"{name}: {sizes}, {len(rows)} fits, {failed} failed, {seconds:.1f} s"


if __name__ == "__main__":
    raise SystemExit(main())
