"""How time and memory grow with the number of datasets and of columns.

    python -m benchmarks.speed.scale [--cases many] [--datasets 1000 3000] [--output FILE]

Datasets have linear targets with noise 1. Datasets of a cluster share their slopes, which are
standard normal; the level is the same everywhere. `partition` runs with `learner="linear"` on a
table in memory, and then its clusters are compared with the true ones by the adjusted Rand index.
Each case runs in a process of its own. Its clock starts when modules are loaded and the table is
made. Memory is the highest resident size of the process, the table and all modules included.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.speed.common import write_csv

FILE = Path(__file__).with_suffix(".csv")
HEADER = ("datasets", "rows", "columns", "clusters", "seed", "seconds", "processor_seconds")
HEADER = (*HEADER, "peak_gb", "adjusted_rand", "found", "auto_error")


class Case(NamedTuple):
    """Datasets, rows of each, columns, true clusters and the seed."""

    datasets: int
    rows: int
    columns: int
    clusters: int
    seed: int = 0


CASES = {
    "many": [Case(K, 50, 10, 40) for K in (1_000, 3_000, 10_000, 30_000, 100_000)],
    # A dataset of six rows cannot be told from another: all have one law, with slopes around it.
    "wide": [Case(5_000, 6, 50, 1), Case(1_000, 100, 500, 1)],
}


def make_table(case: Case) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return one table of all datasets, and the true cluster of each."""
    rng = np.random.default_rng(case.seed)
    truth = np.arange(case.datasets) % case.clusters
    slopes = rng.normal(size=(case.clusters, case.columns))
    dataset = np.repeat(np.arange(case.datasets), case.rows)
    y = rng.normal(size=len(dataset))
    table = {}
    for j in range(case.columns):
        table[f"x{j}"] = rng.normal(size=len(dataset))
        y += slopes[truth, j][dataset] * table[f"x{j}"]
    # Numbers are names of equal length, so that their order is that of the numbers.
    width = len(str(case.datasets))
    table["store"] = np.repeat([f"{k:0{width}d}" for k in range(case.datasets)], case.rows)
    return {**table, "y": y}, truth


def run_case(case: Case) -> dict[str, float]:
    """Run one case in this process, and return what it took."""
    import resource
    import time

    import conjoin
    import conjoin.engine.run
    from conjoin.grouping.stability import adjusted_rand

    table, truth = make_table(case)
    start, used = time.perf_counter(), time.process_time()
    found = conjoin.partition(table, target="y", by="store", learner="linear")
    seconds, processor = time.perf_counter() - start, time.process_time() - used
    labels = np.array([found.labels[name] for name in sorted(found.labels)])
    return {
        "seconds": round(seconds, 2),
        "processor_seconds": round(processor, 2),
        "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 3),
        "adjusted_rand": round(adjusted_rand(truth, labels), 4),
        "found": len(found.clusters),
        "auto_error": round(found.errors["auto"].error, 5),
    }


def in_own_process(case: Case) -> dict[str, float]:
    """Run one case in a process of its own, with one thread."""
    command = [sys.executable, "-m", "benchmarks.speed.scale", "--one", json.dumps(case)]
    single = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, **single}
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--one")
    asked = parser.parse_args(arguments)
    print(json.dumps(run_case(Case(*json.loads(asked.one)))))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
