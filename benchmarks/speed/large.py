"""How long the default takes on a million rows in a Parquet file, and how much memory.

    python -m benchmarks.speed.large [--rows 1000000] [--learner auto] [--sample-rows NUMBER]

A table of 1,000 datasets and 10 columns is written to a temporary folder (seed 0); its target bends
and every dataset has slopes of its own. A process of its own finds the partition. The clock starts
when its modules are loaded. Memory is the highest resident size of the process, less the size when
its modules were loaded. It is compared with the table as 64-bit numbers, target included. The same
is measured with 4,000 rows: these take little more than parts of libraries at their first use.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.speed.learners import make_table

MOST_SECONDS, MOST_TIMES = 120, 3  # what is asked for: two minutes, three times the table
SCRIPT = """
import json, sys, time
import lightgbm, duckdb, pyarrow, scipy.optimize, sklearn
import conjoin, conjoin.engine.run
def size():
    # Not `ru_maxrss`: a new process inherits that of the one that made the table.
    lines = open("/proc/self/status").read().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
path, options = sys.argv[1], json.loads(sys.argv[2])
before, start, used = size(), time.perf_counter(), time.process_time()
found = conjoin.partition(path, target="y", by="store", **options)
print(json.dumps({
    "seconds": time.perf_counter() - start, "processor": time.process_time() - used,
    "before": before, "peak": size(), "learner": found.learner,
    "errors": {name: one.error for name, one in found.errors.items()},
}))
"""


def run(table: dict[str, np.ndarray], options: dict[str, object]) -> dict[str, Any]:
    """Return what a process of its own measures with a table."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.parquet"
        pq.write_table(pa.table(table), path)
        command = [sys.executable, "-c", SCRIPT, str(path), json.dumps(options)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print seconds and memory, as ratios of what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("rows", 1_000_000), ("datasets", 1000), ("columns", 10), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--learner", default="auto")
    parser.add_argument("--sample-rows", type=int)
    asked = parser.parse_args(arguments)
    table = make_table(asked.datasets, asked.rows // asked.datasets, asked.columns, asked.seed)
    bytes_of_table = len(table["y"]) * (asked.columns + 1) * 8
    options = {"learner": asked.learner, "sample_rows": asked.sample_rows}
    small = run(make_table(10, 400, asked.columns, asked.seed), {"learner": asked.learner})
    found = run(table, options)
    grown, least = (one["peak"] - one["before"] for one in (found, small))
    print(f"{asked.rows:,} rows, {asked.datasets:,} datasets, {asked.columns} columns, {options}")
    print(
        f"{found['seconds']:.1f} s ({found['processor']:.1f} s of processors), "
        f"{found['seconds'] / MOST_SECONDS:.2f} of two minutes"
    )
    print(
        f"table {bytes_of_table / 1e6:.0f} MB, memory grew by {grown / 1e6:.0f} MB: "
        f"{grown / bytes_of_table:.2f} times the table (asked: at most {MOST_TIMES}); "
        f"with 4,000 rows by {least / 1e6:.0f} MB"
    )
    print({name: round(error, 4) for name, error in found["errors"].items()})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
