"""How time and memory grow with the number of datasets and of columns.

    python -m benchmarks.speed.scale [--cases many wide] [--most 10000]
    python -m benchmarks.speed.scale --datasets 2000 --rows 50 --columns 10 --clusters 40 --seed 0

Datasets have linear targets with noise 1. Datasets of a cluster share their slopes, which are
standard normal; the level is the same everywhere. `partition` runs with `learner="linear"` on a
table in memory. Its clusters are compared with the true ones by the adjusted Rand index.

Each case runs in a process of its own, with one thread for linear algebra. Its clock starts when
modules are loaded
and the table is made. Memory is the highest resident size of the process, the table and all modules
included. The errors of all strategies are asked for afterwards, since they take time of their own:
the partition is searched for again outside held-out rows.

Lines of `scale.csv` with the same case are replaced, others stay. The figure of `docs/scaling.md`
is drawn again from the file.
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
from benchmarks.speed.scale_figure import draw

FILE = Path(__file__).with_suffix(".csv")
FIGURE = Path(__file__).parents[2] / "docs" / "images" / "scaling.svg"
MEASURED = ("seconds", "processor_seconds", "errors_seconds", "peak_gb", "adjusted_rand", "found")


class Case(NamedTuple):
    """Datasets, rows of each, columns, true clusters and the seed."""

    datasets: int
    rows: int
    columns: int
    clusters: int
    seed: int = 0


CASES = {
    "many": [Case(K, 50, 10, 40) for K in (1_000, 3_000, 10_000, 30_000, 100_000)],
    # With fewer rows than columns datasets cannot be told apart, so all have the same slopes.
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
    used = time.process_time()
    _ = found.errors
    again = time.process_time() - used
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    numbers = (seconds, processor, again, memory, adjusted_rand(truth, labels))
    return dict(zip(MEASURED, (*(round(x, 3) for x in numbers), len(found.clusters))))


def in_own_process(case: Case) -> dict[str, float]:
    """Run one case in a process of its own, with one thread for linear algebra."""
    command = [sys.executable, "-m", "benchmarks.speed.scale", "--one", json.dumps(case)]
    single = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, **single}
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def stored(path: Path) -> dict[Case, list[str]]:
    """Return the lines of a file by case."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))[1:]
    return {Case(*map(int, line[:5])): line[5:] for line in lines}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run cases, print what they took, and store it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", nargs="*", choices=list(CASES), default=list(CASES))
    parser.add_argument(
        "--most", type=int, default=10**9, help="leave out cases with more datasets"
    )
    for name, default in zip(Case._fields, (None, 50, 10, 40, 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--output", type=Path, default=FILE, help="CSV file to write")
    parser.add_argument("--figure", type=Path, default=FIGURE, help="SVG file to write")
    parser.add_argument("--one", help=argparse.SUPPRESS)  # the case of a process of its own
    asked = parser.parse_args(arguments)
    if asked.one:
        print(json.dumps(run_case(Case(*json.loads(asked.one)))))
        return 0
    cases = [one for name in asked.cases for one in CASES[name] if one.datasets <= asked.most]
    if asked.datasets is not None:
        cases = [Case(*(getattr(asked, name) for name in Case._fields))]
    known = stored(asked.output)
    print(*Case._fields, *MEASURED)
    for case in cases:
        found = in_own_process(case)
        known[case] = [str(found[name]) for name in MEASURED]
        print(*case, *known[case], flush=True)
        header, lines = (*Case._fields, *MEASURED), ((*c, *known[c]) for c in sorted(known))
        write_csv(asked.output, header, lines)
    many = [(c.datasets, *map(float, known[c])) for c in CASES["many"] if c in known]
    draw(asked.figure, [(line[0], line[2], line[4]) for line in many])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
