"""Measure verdicts on two random samples of one table.

    python -m benchmarks.levels.run          # all tables, writes benchmarks/levels/results.csv
    python -m benchmarks.levels.run --tables diamonds --rows 150

Both samples come from the same rows, so joining them always helps. For every table and number of
rows, the columns say for the robust and for the Gaussian verdict:

- apart: share of pairs with the verdict "apart", which is always wrong here; at most delta;
- join: share of pairs with the verdict "join";
- cover: share of pairs whose interval holds the true gain; at least 1 - 2 delta. The true gain is
  the mean over many pairs of samples of the fall of the squared error on the whole table;
- heavy: share of pairs in which a few rows carry the fits.
"""

import argparse
import csv
import sys
from pathlib import Path

import numpy as np

from benchmarks.levels.tables import TABLES
from conjoin import linalg
from conjoin.criterion.judge import Judge, Judged
from conjoin.models.scatter import Scatter
from conjoin.moments import Basis, Moments

OUTPUT = Path(__file__).parent / "results.csv"
DELTA = 0.1
# Pairs of samples that the true gain is the mean of.
TRUTH = 1000
FIELDS = ("table", "rows", "pairs", "true_gain", "verdict", "apart", "join", "cover", "heavy")


def draw(
    Z: np.ndarray, t: np.ndarray, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of two samples of n rows each, one after the other, without replacement."""
    rows = rng.choice(len(t), 2 * n, replace=False)
    return Z[rows], t[rows]


def true_gain(Z: np.ndarray, t: np.ndarray, n: int, rng: np.random.Generator) -> float:
    """Return the mean fall of the squared error on the whole table when two samples are joined."""
    table, gains = Moments.from_rows(Z, t), []
    for _ in range(TRUTH):
        X, y = draw(Z, t, n, rng)
        one, two = Moments.from_rows(X[:n], y[:n]), Moments.from_rows(X[n:], y[n:])
        errors = [table.mse(linalg.solve(m.G, m.h)) for m in (one, two, one + two)]
        gains.append((errors[0] + errors[1]) / 2 - errors[2])
    return float(np.mean(gains))


def judged(
    Z: np.ndarray, t: np.ndarray, n: int, pairs: int, rng: np.random.Generator
) -> dict[str, Judged]:
    """Return both kinds of verdicts on pairs of samples."""
    X, y = (np.concatenate(part) for part in zip(*(draw(Z, t, n, rng) for _ in range(pairs))))
    starts = np.arange(0, 2 * n * pairs + 1, n)
    moments = Moments.by_dataset(X, y, starts)
    scatter = Scatter.of_rows(X, y, np.ones(len(y)), starts)
    asked = [((2 * i,), (2 * i + 1,)) for i in range(pairs)]
    judges = {"robust": Judge.of(moments, scatter=scatter), "gaussian": Judge.of(moments)}
    return {name: one.judge(asked, delta=DELTA, interval=True) for name, one in judges.items()}


def measure(name: str, n: int, pairs: int, seed: int = 0) -> list[dict[str, object]]:
    """Return the lines of one table and number of rows, one for each kind of verdict."""
    X, y = TABLES[name]()
    basis = Basis.from_rows(X, y)
    Z, t = basis.design(X), basis.response(y)
    rng = np.random.default_rng([seed, n])
    truth = true_gain(Z, t, n, rng)
    lines = []
    for kind, found in judged(Z, t, n, pairs, rng).items():
        answers, (low, high) = np.array(found.answers), found.limits.T
        lines.append(
            {
                "table": name,
                "rows": n,
                "pairs": pairs,
                "true_gain": f"{truth:.4g}",
                "verdict": kind,
                "apart": float(np.mean(answers == "apart")),
                "join": float(np.mean(answers == "join")),
                "cover": float(np.mean((low <= truth) & (truth <= high))),
                "heavy": float(np.mean(found.heavy)),
            }
        )
    return lines


def main() -> int:
    """Measure the tables that were asked for, print and write them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", default=",".join(TABLES), help="names, separated by commas")
    parser.add_argument("--rows", default="50,150,500,2000", help="rows of a sample")
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    options = parser.parse_args()
    with options.output.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for name in options.tables.split(","):
            for n in map(int, options.rows.split(",")):
                for line in measure(name, n, options.pairs, options.seed):
                    writer.writerow(line)
                    file.flush()
                    print("  ".join(f"{line[field]!s:>12.12}" for field in FIELDS), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
