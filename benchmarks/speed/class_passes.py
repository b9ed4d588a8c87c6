"""Classes whose rows stay in a Parquet file, against the same rows in memory: time and memory.

    python -m benchmarks.speed.class_passes [--rows 1000000] [--output FILE]

The file has 20 datasets in four clusters, ten columns of numbers and a target of two classes. Each
way runs in a process of its own, with `learner="linear"`. `seconds` are of the processor; `peak_gb`
is the highest resident size, with all modules. `passes` are those over the rows until models are
fitted and validated.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.speed.common import write_csv

DATASETS, CLUSTERS, COLUMNS, MEASURED = 20, 4, 10, ("seconds", "peak_gb", "passes", "clusters")


def make_file(path: Path, rows: int) -> None:
    """Write the table, a block at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    slopes = rng.normal(size=(CLUSTERS, COLUMNS)) / 2
    writer = None
    for begin in range(0, rows, 250_000):
        n = min(250_000, rows - begin)
        store = rng.integers(0, DATASETS, n)
        X = rng.normal(size=(n, COLUMNS))
        eta = np.sum(X * slopes[store % CLUSTERS], axis=1)
        columns = {f"x{j}": X[:, j] for j in range(COLUMNS)}
        bought = np.where(rng.random(n) < 1 / (1 + np.exp(-eta)), "yes", "no")
        block = pa.table({"store": store, **columns, "bought": bought})
        writer = writer or pq.ParquetWriter(path, block.schema)
        writer.write_table(block)
    assert writer is not None
    writer.close()


def run(path: str, way: str) -> dict[str, float]:
    """Partition the file in this process, and return what it took."""
    import conjoin
    from conjoin.models.likelihood import Likelihood

    engine = "duckdb" if way == "file" else None
    start = time.process_time()
    found = conjoin.partition(path, target="bought", by="store", learner="linear", engine=engine)
    seconds = time.process_time() - start
    given = found.analysis.study.given
    assert isinstance(given, Likelihood)
    assert given.rows.remote == (way == "file")
    passes = given.rows.desk._carry.passes if way == "file" else 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return dict(zip(MEASURED, (round(seconds, 1), round(peak, 2), passes, len(found.clusters))))


def main() -> None:
    """Measure both ways, and store them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".csv"))
    parser.add_argument("--run", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.run:
        print(json.dumps(run(*asked.run)))
        return
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        make_file(path, asked.rows)
        for way in ("memory", "file"):
            command = [sys.executable, "-m", __spec__.name, "--run", str(path), way]
            alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
            done = subprocess.run(command, capture_output=True, check=True, text=True, env=alone)
            found = json.loads(done.stdout.splitlines()[-1])
            print(way, found, flush=True)
            lines.append((asked.rows, way, *(found[name] for name in MEASURED)))
    write_csv(asked.output, ("rows", "way", *MEASURED), lines)


if __name__ == "__main__":
    main()
