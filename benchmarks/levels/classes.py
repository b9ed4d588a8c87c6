"""Measure verdicts on two random samples of one table whose target is a class.

    python -m benchmarks.levels.classes      # writes benchmarks/levels/classes.csv
    python -m benchmarks.levels.classes --rows 300 --pairs 20

The table is adult: 48,842 people, whose income is above 50,000 dollars or not. "adult" has five
columns, "adult, wide" (30,000 rows) the 29 of the arena. Both samples come from the same rows, so
joining them always helps. Every pair goes through `conjoin.compare`. The columns of the output:

- apart, join: shares of pairs with these verdicts. "apart" is always wrong here; at most delta;
- cover: share of pairs whose interval holds the true gain; at least 1 - 2 delta. The true gain is
  the mean over all pairs of the fall of the log loss on the whole table;
- open: share of pairs whose interval has no finite end.
"""

import argparse
import csv
import sys
import warnings
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

import conjoin
from benchmarks.arena.data import shared_data
from benchmarks.arena.sides import SIDES

OUTPUT = Path(__file__).parent / "classes.csv"
WIDE = "adult_country"  # its set in the arena
ROWS = (100, 300, 700, 1500)
DELTA = 0.1
FIELDS = ("table", "rows", "pairs", "true_gain", "apart", "join", "cover", "open")
# Probabilities are kept this far from 0 and 1, so that one row of a small fit cannot decide a mean.
LEAST_PROBABILITY = 1e-6

Columns = dict[str, np.ndarray]


def narrow() -> Columns:
    """Return five columns that every sample has, and the target as "y"."""
    frame = pd.read_csv(shared_data() / "bench/adult-income/adult_income.csv.gz")
    return {
        "age": frame["age"].to_numpy(float),
        "education": frame["education-num"].to_numpy(float),
        "hours": frame["hours-per-week"].to_numpy(float),
        "male": (frame["sex"] == "Male").to_numpy(float),
        "married": (frame["marital-status"] == "Married-civ-spouse").to_numpy(float),
        "y": frame["income"].to_numpy(str),
    }


def wide() -> Columns:
    """Return the columns of the arena, and the target as "y"."""
    data = SIDES["classification"].load(WIDE)
    return {**{f"x{j}": column for j, column in enumerate(data.X.T)}, "y": data.y.astype(str)}


TABLES: dict[str, Callable[[], Columns]] = {"adult": narrow, "adult, wide": wide}


def log_loss(fit: conjoin.LogisticFit, columns: Columns) -> float:
    """Return the mean log loss of a model on the whole table."""
    proba = fit.predict_proba(np.column_stack([columns[name] for name in fit.coef]))
    of_class = [proba[columns["y"] == str(label), c] for c, label in enumerate(fit.classes)]
    return float(-np.log(np.maximum(np.concatenate(of_class), LEAST_PROBABILITY)).mean())


def true_gain(found: conjoin.Comparison, columns: Columns) -> float:
    """Return how much the log loss on the whole table falls with the joint model of a pair."""
    one, two, joined = (log_loss(f, columns) for f in (found.fit_a, found.fit_b, found.fit_joined))
    return (one + two) / 2 - joined


def measure(columns: Columns, n: int, pairs: int, seed: int = 0) -> dict[str, object]:
    """Return the figures of one table and number of rows."""
    rng = np.random.default_rng([seed, n])
    found = []
    for _ in range(pairs):
        rows = rng.choice(len(columns["y"]), 2 * n, replace=False)
        a, b = ({k: v[part] for k, v in columns.items()} for part in (rows[:n], rows[n:]))
        found.append(conjoin.compare(a, b, target="y", delta=DELTA))
    truth = float(np.mean([true_gain(one, columns) for one in found]))
    verdicts = np.array([one.verdict for one in found])
    low, high = np.array([one.interval for one in found]).T
    return {
        "rows": n,
        "pairs": pairs,
        "true_gain": f"{truth:.4g}",
        "apart": float(np.mean(verdicts == "apart")),
        "join": float(np.mean(verdicts == "join")),
        "cover": float(np.mean((low <= truth) & (truth <= high))),
        "open": float(np.mean(np.isinf(low) & np.isinf(high))),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the numbers of rows that were asked for, print and write them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--rows", nargs="+", type=int, default=list(ROWS), help="rows of a sample")
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    options = parser.parse_args(arguments)
    with options.output.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for name, n in product(options.tables, options.rows):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # columns without variation, rows out of range
                line = {"table": name, **measure(TABLES[name](), n, options.pairs, options.seed)}
            writer.writerow(line)
            print("  ".join(f"{line[field]!s:>11.11}" for field in FIELDS), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
