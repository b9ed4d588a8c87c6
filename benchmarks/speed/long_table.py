"""Moments of a long table that stays in a Parquet file: time against plain sums, and memory.

    python -m benchmarks.speed.long_table [--rows 50000000] [--columns 12] [--memory 1GB]

DuckDB writes a table of 100 datasets to a temporary folder (seed 0): the columns, a target that
depends on them, and the name of the dataset. One process lets DuckDB sum all columns by dataset.
One lets it sum all products of two columns, which is the least that a linear model needs. Another
forms all that conjoin decides from: types and ranges of columns, gross errors, folds, and
the sums of products by dataset and fold. Seconds are those of the clock and of the processor; on a
busy machine read the second. Memory is the highest resident size of the process.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.speed.common import write_csv

OUTPUT = Path(__file__).parent / "long_table.csv"
MOST_TIMES, MOST_GB = 5, 2  # what is asked for
DATASETS = 100
HEAD = "rows,columns,what,seconds,processor_seconds,peak_gb".split(",")
FRAME = """
import json, resource, sys, time
import duckdb, conjoin.engine.run
from conjoin.api.request import Request
from conjoin.engine.reading import reading
path, columns, memory = sys.argv[1], int(sys.argv[2]), sys.argv[3]
start, used = time.perf_counter(), time.process_time()
{work}
print(json.dumps({{
    "seconds": time.perf_counter() - start, "processor_seconds": time.process_time() - used,
    "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
}}))
"""
SUMS = """
connection = duckdb.connect(config={"memory_limit": memory})
connection.execute("SET enable_progress_bar = false")
names = [f"x{j}" for j in range(columns)] + ["y"]
sums = ", ".join(f"sum({name})" for name in names)
connection.sql(f"SELECT store, count(*), {sums} FROM read_parquet('{path}') GROUP BY 1").fetchall()
"""
PRODUCTS = """
connection = duckdb.connect(config={"memory_limit": memory})
connection.execute("SET enable_progress_bar = false")
names = [f"x{j}" for j in range(columns)] + ["y"]
pairs = [f"sum({a} * {b})" for i, a in enumerate(names) for b in names[: i + 1]]
sums = ", ".join(pairs + [f"sum({name})" for name in names])
connection.sql(f"SELECT store, count(*), {sums} FROM read_parquet('{path}') GROUP BY 1").fetchall()
"""
MOMENTS = """
request = Request(target="y", by="store", learner="linear", engine="duckdb", memory=memory)
with reading(path, request, rows_needed=False) as table:
    assert table.folds.p == columns + 1
"""
WORK = {"plain sums": SUMS, "sums of products": PRODUCTS, "moments": MOMENTS}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the seconds and memory of both, and print ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--columns", type=int, default=12)
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.parquet"
        _make(path, asked.rows, asked.columns)
        found = {
            what: _measure(work, path, asked.columns, asked.memory) for what, work in WORK.items()
        }
    lines = [
        [asked.rows, asked.columns, what, *(f"{one[name]:.2f}" for name in HEAD[3:])]
        for what, one in found.items()
    ]
    write_csv(asked.output, HEAD, lines)
    ratio = found["moments"]["processor_seconds"] / found["plain sums"]["processor_seconds"]
    clock = found["moments"]["seconds"] / found["plain sums"]["seconds"]
    peak = found["moments"]["peak_gb"]
    for line in lines:
        print(*line)
    print(f"Moments take {ratio:.1f} times the processor of plain sums (clock {clock:.1f}), peak "
          f"{peak:.2f} GB; asked for: {MOST_TIMES} times, {MOST_GB} GB.")  # fmt: skip
    return 0 if max(ratio, 0) <= MOST_TIMES and peak <= MOST_GB else 1


def _make(path: Path, rows: int, columns: int) -> None:
    """Write the table; the hash of row and column is the random number."""
    uniform = "(hash(i * {p} + {j}) % 1000003) / 1000003.0"
    xs = ", ".join(f"{uniform.format(p=columns + 2, j=j)} AS x{j}" for j in range(columns))
    slopes = " + ".join(f"{j + 1} * x{j}" for j in range(columns))
    noise = uniform.format(p=columns + 2, j=columns)
    connection = duckdb.connect(config={"memory_limit": "1GB", "temp_directory": str(path.parent)})
    connection.execute(
        f"COPY (SELECT store, * EXCLUDE (store, i), {slopes} + store % 4 * x0 + {noise} AS y FROM "
        f"(SELECT i, i % {DATASETS} AS store, {xs} FROM range({rows}) AS t(i))) "
        f"TO '{path}' (FORMAT parquet)"
    )


def _measure(work: str, path: Path, columns: int, memory: str) -> dict[str, Any]:
    command = [sys.executable, "-c", FRAME.format(work=work), str(path), str(columns), memory]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    sys.exit(main())
