"""Run the public tables and print our errors beside the published ones.

    python -m benchmarks.public.run [--sets ...] [--methods ...] [--folds 0 1 ...] [--seed 0]
    python -m benchmarks.public.run --show

One line for each fit is written to ``results.csv``: mean squared error on the test rows, seconds
and peak memory. Lines that the file holds already are not computed again unless ``--rerun`` is
given. Every fit has a process of its own, so that its peak memory is its own.
"""

import argparse
import csv
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.public.methods import METHODS
from benchmarks.public.sets import FOLDS, PUBLISHED, SETS

RESULTS = Path(__file__).with_name("results.csv")
HEAD = ("set", "method", "seed", "fold", "mse", "seconds", "memory_mb")
KILOBYTES = 1024  # `ru_maxrss` is in kilobytes on Linux


def fit_one(name: str, method: str, seed: int, fold: int) -> tuple[float, float, float]:
    """Return the error on the test rows of a fold, seconds, and peak memory in MB."""
    one = SETS[name](seed)
    train, test = one.rows[one.fold != fold], one.rows[one.fold == fold]
    begin = time.perf_counter()
    predicted = METHODS[method](one, train, test)
    seconds = time.perf_counter() - begin
    error = float(np.mean((predicted - test["y"].to_numpy()) ** 2))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KILOBYTES
    return error, seconds, memory


def read(path: Path) -> list[dict[str, str]]:
    """Return the lines of a file of results."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def write(path: Path, lines: Sequence[dict[str, str]]) -> None:
    """Write lines in the order of sets, methods and folds."""
    order = [*SETS], [*METHODS]
    ranked = sorted(
        lines,
        key=lambda x: (order[0].index(x["set"]), order[1].index(x["method"]), x["seed"], x["fold"]),
    )
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, HEAD, lineterminator="\n")
        writer.writeheader()
        writer.writerows(ranked)


def show(lines: Sequence[dict[str, str]]) -> str:
    """Return a table of our errors, and the published ones beside them."""
    text = []
    for name in SETS:
        own = [line for line in lines if line["set"] == name]
        if not own:
            continue
        text.append(f"{name}: mean squared error on test rows")
        for method in METHODS:
            errors = [float(line["mse"]) for line in own if line["method"] == method]
            if errors:
                folds = f"mean of {len(errors)} of {FOLDS} folds, this run"
                text.append(f"  {method:20} {np.mean(errors):.4f}  {folds}")
        for method, error in PUBLISHED[name].items():
            text.append(f"  {method:20} {error:.4f}  published")
    return "\n".join(text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--folds", nargs="+", type=int, default=list(range(FOLDS)))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--rerun", action="store_true")
    parser.add_argument("--show", action="store_true", help="only print the stored results")
    parser.add_argument("--single", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.single:
        print(*fit_one(asked.sets[0], asked.methods[0], asked.seed, asked.folds[0]))
        return 0
    for name in () if asked.show else asked.sets:
        for fold in asked.folds:
            for method in asked.methods:
                _run(asked, name, method, fold)
    print(show(read(asked.output)))
    return 0


def _run(asked: argparse.Namespace, name: str, method: str, fold: int) -> None:
    """Run one fit in a process of its own, and write its line."""
    key = {"set": name, "method": method, "seed": str(asked.seed), "fold": str(fold)}
    lines = read(asked.output)
    known = [line for line in lines if all(line[k] == v for k, v in key.items())]
    if known and not asked.rerun:
        return
    words = ["--sets", name, "--methods", method, "--folds", str(fold), "--seed", str(asked.seed)]
    command = [sys.executable, "-m", "benchmarks.public.run", "--single", *words]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False)
    if done.returncode:
        print(f"{name} {method} fold {fold} failed: {done.stderr.strip().splitlines()[-1:]}")
        return
    error, seconds, memory = map(float, done.stdout.splitlines()[-1].split())
    found = {
        **key,
        "mse": f"{error:.5f}",
        "seconds": f"{seconds:.0f}",
        "memory_mb": f"{memory:.0f}",
    }
    print(*found.values(), flush=True)
    write(asked.output, [*(line for line in read(asked.output) if line not in known), found])


if __name__ == "__main__":
    sys.exit(main())
