"""Run conjoin's strategies and partitions in the arena.

    python -m benchmarks.arena.ours [--sets ...] [--seeds 0 1 2] [--output FILE]

One call of `conjoin.partition` fits all strategies, so its time stands beside each of them; the
partitions of other methods (Chow, BIC, k-means, the paper's Algorithm 3) are fitted one by one and
judged as hard clusters with one least-squares model each.
"""

import argparse
import time
import warnings
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import conjoin
from benchmarks.arena.data import SETS, load, splits
from benchmarks.arena.run import RESULTS, Key, Row, Task, _task, append, group_error, read_done

STRATEGIES = (
    "auto",
    "best",
    "pooled",
    "intercept",
    "slopes",
    "partial",
    "full",
    "mixture",
    "separate",
    "clusters",
)
METHODS: dict[str, dict[str, object]] = {
    "chow": {"method": "chow"},
    "bic": {"method": "bic"},
    "kmeans": {"method": "kmeans"},
    "mallows": {"method": "mallows"},
    "paper-signed": {"method": "tuned", "resamples": 200, "overparametrised": True},
    "paper-literal": {
        "method": "tuned",
        "rule": "literal",
        "resamples": 200,
        "overparametrised": True,
    },
}
# With more than twice as many columns as datasets conjoin has no full covariance.
FEW_DATASETS = "too few datasets for a full covariance: as partial"
# Algorithm 3 resamples every pair: beyond this many groups it is left out, with a note.
MOST_GROUPS_OF_THE_PAPER = 24


def predict(result: conjoin.Partition, strategy: str, task: Task) -> np.ndarray:
    """Predict the test rows under one strategy."""
    chosen = result.using(strategy)
    groups = task.groups_test.astype(str)
    X = task.X_test[:, used_columns(result)]
    prediction = np.empty(len(groups))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", conjoin.ConjoinWarning)
        for name in np.unique(groups):
            rows = groups == name
            prediction[rows] = chosen.predict(X[rows], name)
    return prediction


def used_columns(result: conjoin.Partition) -> list[int]:
    """Return the positions of the columns that the result uses."""
    return [int(name[1:]) for name in result.features]


def fit(task: Task, **options: object) -> tuple[conjoin.Partition, float]:
    """Fit and return the result with the seconds it took."""
    columns = {f"x{j}": column for j, column in enumerate(task.X_train.T)}
    table = {**columns, "y": task.y_train, "by": task.groups_train.astype(str)}
    start = time.perf_counter()
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = conjoin.partition(table, target="y", by="by", **options)
    return result, time.perf_counter() - start


def run_set(
    name: str, shares: Sequence[float], seeds: Sequence[int], done: frozenset[Key]
) -> Iterator[Row]:
    """Run everything of ours on one set."""
    data = None
    for share in shares:
        for seed in seeds:
            todo = {c for c in contestants() if (name, share, seed, c) not in done}
            if not todo:
                continue
            data = load(name) if data is None else data
            split = splits(data, share, seed)
            task = _task(data, split)
            groups = len(np.unique(data.groups.astype(str)))
            head = (name, share, seed)
            sizes = (len(data.y), groups, task.X_train.shape[1])
            y, groups_test = data.y[split.test], data.groups[split.test]
            if any(c.startswith("conjoin-") for c in todo):
                result, seconds = fit(task)
                for strategy in STRATEGIES:
                    known = strategy in (*result.weights, "auto", "best", "clusters")
                    used, note = (strategy, "") if known else ("partial", FEW_DATASETS)
                    error = group_error(y, predict(result, used, task), groups_test)
                    figures = (f"{error:.10g}", f"{seconds:.4f}", note)
                    yield Row(*head, f"conjoin-{strategy}", *sizes, *figures)
            for method, options in METHODS.items():
                if method not in todo:
                    continue
                if method.startswith("paper") and groups > MOST_GROUPS_OF_THE_PAPER:
                    note = f"more than {MOST_GROUPS_OF_THE_PAPER} groups"
                    yield Row(*head, method, *sizes, "", "0.0000", note)
                    continue
                try:
                    result, seconds = fit(task, strategy="clusters", **options)
                except conjoin.ConjoinError as refusal:
                    yield Row(*head, method, *sizes, "", "0.0000", str(refusal)[:160])
                    continue
                error = group_error(y, predict(result, "clusters", task), groups_test)
                yield Row(*head, method, *sizes, f"{error:.10g}", f"{seconds:.4f}", "")


def contestants() -> list[str]:
    """Return all names of ours."""
    return [f"conjoin-{s}" for s in STRATEGIES] + list(METHODS)


def main() -> int:
    """Run ours and append to the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS), metavar="SET")
    parser.add_argument("--shares", nargs="+", type=float, default=[0.1, 0.5])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--rerun", action="store_true")
    parser.add_argument("--strategies-only", action="store_true", help="leave other methods out")
    options = parser.parse_args()
    done = frozenset() if options.rerun else read_done(options.output)
    if options.strategies_only:
        cells = product(options.sets, options.shares, options.seeds, METHODS)
        done |= frozenset(cells)
    for name in options.sets:
        start = time.perf_counter()
        rows = append(run_set(name, options.shares, options.seeds, done), options.output)
        print(f"{name}: {len(rows)} rows, {time.perf_counter() - start:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
