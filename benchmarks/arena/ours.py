"""Run conjoin's strategies and partition methods in the arena.

    python -m benchmarks.arena.ours regression [--sets ...] [--strategies-only]
    python -m benchmarks.arena.ours classification [--sets ...]

One call of `conjoin.partition` fits all strategies (contestants ``conjoin-...``), so every strategy
has the time of the whole call. The other partition methods of a side are fitted one by one and
judged by one plain model for each cluster.
"""

import argparse
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from threadpoolctl import threadpool_limits

import conjoin
from benchmarks.arena.contest import MOST_GROUPS_OF_THE_PAPER
from benchmarks.arena.data import ArenaSet, Split, Task, splits, task_of
from benchmarks.arena.results import Key, Row, append, read_done, short_note
from benchmarks.arena.side import Side
from benchmarks.arena.sides import add_run_options, parse

# In the order of the rows in the stored results.
STRATEGIES = (
    "auto",
    "best",
    "linear",
    "corrected",
    "residual",
    "learner named",
    "learner pooled",
    "learner separate",
    "learner clusters",
    "pooled",
    "intercept",
    "slopes",
    "partial",
    "full",
    "mixture",
    "separate",
    "clusters",
)
# Strategies of the linear learner; "linear" is their average.
OF_LINES = ("pooled", "intercept", "slopes", "partial", "full", "mixture", "separate", "clusters")
# Strategies with a learner; they are run as far as time allows, so some splits have no rows.
WITH_LEARNER = tuple(s for s in STRATEGIES if s not in (*OF_LINES, "linear"))
# Every result has these, whatever `result.weights` lists.
ALWAYS = ("auto", "best", "clusters", "linear")
# conjoin fits no full covariance if there are more than twice as many columns as datasets.
FEW_DATASETS = "too few datasets for a full covariance: as partial"


def contestants(side: Side) -> list[str]:
    """Return the names of all of conjoin's contestants on a side."""
    return [contestant_of(strategy) for strategy in STRATEGIES] + list(side.own.methods)


def contestant_of(strategy: str) -> str:
    """Return what a strategy is called in the results."""
    return f"conjoin-{strategy.replace(' ', '-')}"


def fit(
    side: Side, task: Task, options: Mapping[str, object] | None = None
) -> tuple[conjoin.Partition, float]:
    """Fit the training rows of a task on one thread; return the result and the seconds it took."""
    columns = {f"x{j}": column for j, column in enumerate(task.X_train.T)}
    groups = task.groups_train.astype(str)
    y = task.y_train.astype(str) if task.y_train.dtype == object else task.y_train
    arguments = {**side.own.options, **(options or {})}
    start = time.perf_counter()
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = conjoin.partition(
            {**columns, "y": y, "by": groups}, target="y", by="by", **arguments
        )
    return result, time.perf_counter() - start


@dataclass(frozen=True)
class Cell:
    """One split of one set: what all rows of its results have in common."""

    side: Side
    data: ArenaSet
    split: Split
    task: Task
    share: float
    seed: int

    @classmethod
    def of(cls, side: Side, data: ArenaSet, share: float, seed: int) -> "Cell":
        """Draw the split and standardise its rows."""
        split = splits(data, share, seed)
        return cls(side, data, split, task_of(data, split), share, seed)

    @property
    def groups(self) -> int:
        """Number of groups of the whole set."""
        return len(np.unique(self.data.groups.astype(str)))

    def row(self, contestant: str, error: str, seconds: float, note: str) -> Row:
        """Return a line of the results."""
        sizes = (len(self.data.y), self.groups, self.task.X_train.shape[1])
        head = (self.data.name, self.share, self.seed, contestant)
        return Row(*head, *sizes, error, f"{seconds:.4f}", note)

    def judged(
        self, contestant: str, result: conjoin.Partition, strategy: str, seconds: float
    ) -> Row:
        """Return the line of a strategy of a fitted result."""
        if strategy in OF_LINES or strategy == "linear":
            result = result.linear
            strategy = "auto" if strategy == "linear" else strategy
        known = strategy in (*result.weights, *ALWAYS)
        if not known and strategy not in OF_LINES:
            return self.row(contestant, "", seconds, "too few or too many rows for this strategy")
        used, note = (strategy, "") if known else ("partial", FEW_DATASETS)
        predictions = self.side.own.predict(result, used, self.task)
        error, remark = self.side.error(self.data, self.split, predictions)
        return self.row(contestant, f"{error:.10g}", seconds, short_note(note, remark))


def strategy_rows(cell: Cell, lines_only: bool) -> Iterator[Row]:
    """Fit all strategies at once, or those of lines, and yield a row for each."""
    strategies = (*OF_LINES, "linear") if lines_only else STRATEGIES
    try:
        result, seconds = fit(cell.side, cell.task, {"learner": "linear"} if lines_only else None)
    except conjoin.ConjoinError as refusal:
        for strategy in strategies:
            yield cell.row(contestant_of(strategy), "", 0.0, short_note(str(refusal)))
        return
    for strategy in strategies:
        yield cell.judged(contestant_of(strategy), result, strategy, seconds)


def method_row(cell: Cell, contestant: str) -> Row:
    """Fit the clusters of another partition method and return its row."""
    if contestant.startswith("paper") and cell.groups > MOST_GROUPS_OF_THE_PAPER:
        return cell.row(contestant, "", 0.0, f"more than {MOST_GROUPS_OF_THE_PAPER} groups")
    own = cell.side.own.methods[contestant]
    options = {**own, "strategy": "clusters", "learner": "linear"}
    try:
        result, seconds = fit(cell.side, cell.task, options)
    except conjoin.ConjoinError as refusal:
        return cell.row(contestant, "", 0.0, short_note(str(refusal)))
    return cell.judged(contestant, result, "clusters", seconds)


def run_set(
    side: Side,
    name: str,
    splits_of_set: Sequence[tuple[float, int]],
    done: frozenset[Key],
    lines_only: bool = False,
) -> Iterator[Row]:
    """Run conjoin's contestants on shares and seeds of one set, except what is in `done`."""
    data = None
    for share, seed in splits_of_set:
        todo = {c for c in contestants(side) if (name, share, seed, c) not in done}
        if not todo:
            continue
        data = side.load(name) if data is None else data
        cell = Cell.of(side, data, share, seed)
        if any(contestant.startswith("conjoin-") for contestant in todo):
            yield from strategy_rows(cell, lines_only)
        for method in side.own.methods:
            if method in todo:
                yield method_row(cell, method)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run conjoin's contestants and append to the results; return the exit code 0."""
    description = "Run conjoin over the sets of one side of the arena."
    side, options = parse("ours", description, _add_options, arguments)
    done = frozenset() if options.rerun else read_done(options.output)
    learned = {contestant_of(strategy) for strategy in WITH_LEARNER}
    if options.strategies_only:
        cells = product(options.sets, options.shares, options.seeds, side.own.methods)
        done |= frozenset(cells)
    drawn = list(product(options.shares, options.seeds))
    for name in options.sets:
        start = time.perf_counter()
        found = run_set(side, name, drawn, done, options.lines_only)
        if options.learner_only:
            found = (row for row in found if row.contestant in learned)
        rows = append(found, options.output)
        print(f"{name}: {len(rows)} rows, {time.perf_counter() - start:.0f} s", flush=True)
    return 0


def _add_options(parser: argparse.ArgumentParser, side: Side) -> None:
    add_run_options(parser, side)
    parser.add_argument(
        "--strategies-only", action="store_true", help="do not run the other partition methods"
    )
    only = parser.add_mutually_exclusive_group()
    only.add_argument(
        "--lines-only", action="store_true", help="fit and store only strategies of lines"
    )
    only.add_argument(
        "--learner-only",
        action="store_true",
        help="store only strategies with a learner: lines alone take less time",
    )


if __name__ == "__main__":
    raise SystemExit(main())
