"""Run conjoin's strategies in the classification arena.

    python -m benchmarks.classification.ours [--sets ...] [--seeds 0 1 2] [--output FILE]

One call of `conjoin.partition` fits all strategies, so its time stands beside each of them.
"""

import argparse
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import conjoin
from benchmarks.arena.data import FloatArray, splits
from benchmarks.arena.ours import FEW_DATASETS, STRATEGIES, used_columns
from benchmarks.arena.run import Key, Row, Task, _task, append, read_done
from benchmarks.classification.data import load, split_error
from benchmarks.classification.run import RESULTS
from benchmarks.classification.sets import SETS

_NOTE_LENGTH = 160


def fit(task: Task) -> tuple[conjoin.Partition, float]:
    """Fit and return the result with the seconds it took."""
    columns = {f"x{j}": column for j, column in enumerate(task.X_train.T)}
    table = {**columns, "y": task.y_train.astype(str), "by": task.groups_train.astype(str)}
    start = time.perf_counter()
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = conjoin.partition(table, target="y", by="by", family="logistic")
    return result, time.perf_counter() - start


def predict(result: conjoin.Partition, strategy: str, task: Task) -> FloatArray:
    """Return the probabilities of the test rows under one strategy, classes sorted."""
    X = task.X_test[:, used_columns(result)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", conjoin.ConjoinWarning)
        answer = result.using(strategy).predict_proba(X, task.groups_test.astype(str))
    return np.asarray(answer)[:, np.argsort(np.array(result.classes).astype(str))]


def run_set(
    name: str, shares: Sequence[float], seeds: Sequence[int], done: frozenset[Key]
) -> Iterator[Row]:
    """Run everything of ours on one set."""
    data = None
    for share in shares:
        for seed in seeds:
            if all((name, share, seed, c) in done for c in contestants()):
                continue
            data = load(name) if data is None else data
            split = splits(data, share, seed)
            task = _task(data, split)
            groups = len(np.unique(data.groups.astype(str)))
            head, sizes = (name, share, seed), (len(data.y), groups, task.X_train.shape[1])
            try:
                result, seconds = fit(task)
            except conjoin.ConjoinError as refusal:
                for contestant in contestants():
                    note = str(refusal)[:_NOTE_LENGTH]
                    yield Row(*head, contestant, *sizes, "", "0.0000", note)
                continue
            for strategy in STRATEGIES:
                known = strategy in (*result.weights, "auto", "best", "clusters")
                used, note = (strategy, "") if known else ("partial", FEW_DATASETS)
                error, remark = split_error(data, split, predict(result, used, task))
                note = "; ".join(filter(None, [note, remark]))
                figures = (f"{error:.10g}", f"{seconds:.4f}", note)
                yield Row(*head, f"conjoin-{strategy}", *sizes, *figures)


def contestants() -> list[str]:
    """Return all names of ours."""
    return [f"conjoin-{strategy}" for strategy in STRATEGIES]


def main() -> int:
    """Run ours and append to the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS), metavar="SET")
    parser.add_argument("--shares", nargs="+", type=float, default=[0.1, 0.5])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--rerun", action="store_true")
    options = parser.parse_args()
    done = frozenset() if options.rerun else read_done(options.output)
    for name in options.sets:
        start = time.perf_counter()
        rows = append(run_set(name, options.shares, options.seeds, done), options.output)
        print(f"{name}: {len(rows)} rows, {time.perf_counter() - start:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
