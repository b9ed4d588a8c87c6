"""What forward validation costs beside random folds, in one run with lines.

    python -m benchmarks.time.cost               # prints both times and their ratio

200 datasets of 1,000 rows and 10 columns. `partition` is called with `time` and without, by turns,
and the least processor time of each is taken. The ratio should be at most 2.
"""

import argparse
import time
import warnings

import numpy as np
import pandas as pd

import conjoin

DATASETS, ROWS, COLUMNS = 200, 1_000, 10
MOST = 2.0  # ratio that is promised


def make_table(datasets: int, rows: int, columns: int, seed: int = 0) -> pd.DataFrame:
    """Return datasets in four groups with a day each row."""
    rng = np.random.default_rng(seed)
    n = datasets * rows
    X = rng.standard_normal((n, columns))
    dataset = np.repeat(np.arange(datasets), rows)
    beta = rng.standard_normal((4, columns))[dataset % 4]
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(columns)])
    table["y"] = np.einsum("ij,ij->i", X, beta) + rng.standard_normal(n)
    table["dataset"] = [f"d{k}" for k in dataset]
    table["day"] = np.tile(np.arange(rows), datasets)
    return table


def seconds(table: pd.DataFrame, **options: object) -> float:
    """Return the processor time of one partition, with its errors."""
    start = time.process_time()
    result = conjoin.partition(
        table, target="y", by="dataset", learner="linear", ignore=["day"], **options
    )
    _ = result.errors
    return time.process_time() - start


def main(arguments: list[str] | None = None) -> None:
    """Measure both, and print their times and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", type=int, default=DATASETS)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--columns", type=int, default=COLUMNS)
    parser.add_argument("--times", type=int, default=3)
    asked = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    table = make_table(asked.datasets, asked.rows, asked.columns)
    found: dict[str, list[float]] = {"random": [], "forward": []}
    for _ in range(asked.times):
        found["random"].append(seconds(table))
        found["forward"].append(seconds(table, time="day"))
    random, forward = min(found["random"]), min(found["forward"])
    print(f"random folds {random:.2f} s, forward {forward:.2f} s, ratio {forward / random:.2f}")
    print("at most 2: " + ("yes" if forward <= MOST * random else "no"))


if __name__ == "__main__":
    main()
