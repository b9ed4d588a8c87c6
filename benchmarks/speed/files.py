"""Time `conjoin partition` on a large Parquet file against a plain sum in DuckDB.

    python -m benchmarks.speed.files [--output FILE]

1,000,000 rows of 1,000 datasets with 10 columns are written to a temporary folder (seed 0). DuckDB
sums every column by dataset. Then the command line finds the partition, start-up included. Prints
both times, a bound (three times the sum plus ten seconds) and the time of `conjoin --help`; writes
them to ``files.csv``.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.speed.common import output_of, write_csv

OUTPUT = Path(__file__).with_name("files.csv")
# The size behind the stored times; with another one, new times cannot be compared with them.
DATASETS, ROWS, COLUMNS, CLUSTERS = 1000, 1000, 10, 5
COMMAND = [sys.executable, "-m", "conjoin.cli.main"]


def write(path: Path) -> None:
    """Write the table, rows in random order."""
    rng = np.random.default_rng(0)
    n = DATASETS * ROWS
    X = rng.standard_normal((n, COLUMNS))
    slopes = rng.standard_normal((CLUSTERS, COLUMNS))
    dataset = rng.permutation(np.repeat(np.arange(DATASETS), ROWS))
    y = np.sum(X * slopes[dataset % CLUSTERS], axis=1) + rng.standard_normal(n)
    columns = {f"x{j}": X[:, j] for j in range(COLUMNS)}
    store = np.array([f"store {k}" for k in range(DATASETS)])[dataset]
    pq.write_table(pa.table({"store": store, **columns, "sales": y}), path)


def seconds_of_sum(path: Path) -> float:
    """Time DuckDB, in a new connection."""
    sums = ", ".join(f"sum(x{j})" for j in range(COLUMNS))
    start = time.perf_counter()
    with duckdb.connect() as connection:
        query = f"SELECT store, sum(sales), {sums} FROM read_parquet(?) GROUP BY store"
        found = connection.execute(query, [str(path)]).fetchall()
    assert len(found) == DATASETS
    return time.perf_counter() - start


def seconds_of_command(*arguments: str) -> tuple[float, str]:
    """Time the command line from start to end."""
    start = time.perf_counter()
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=True)
    return time.perf_counter() - start, done.stdout


def main() -> int:
    """Time the sum, the partition and the help; print and write them."""
    output = output_of(__doc__, OUTPUT)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sales.parquet"
        write(path)
        summed = min(seconds_of_sum(path) for _ in range(3))
        found, text = seconds_of_command("partition", str(path), "-t", "sales", "-b", "store")
    helped = min(seconds_of_command("--help")[0] for _ in range(3))
    bound = 3 * summed + 10
    print(text.splitlines()[0])
    print(f"sum {summed:.2f} s, partition {found:.2f} s, bound {bound:.2f} s, help {helped:.2f} s")
    header = ["rows", "datasets", "columns", "sum", "partition", "bound", "help"]
    times = (f"{x:.3f}" for x in (summed, found, bound, helped))
    write_csv(output, header, [[DATASETS * ROWS, DATASETS, COLUMNS, *times]])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
