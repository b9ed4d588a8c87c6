"""Separate logistic regressions of all datasets against a loop over scikit-learn.

    python -m benchmarks.speed.classification [--output FILE]

1,000 datasets of 200 rows and 10 columns in 4 clusters, two classes, from arrays in memory to
fitted coefficients, the same ridge for both. The loop is run twice: at scikit-learn's default
tolerance, which is what is compared, and at a tiny one to see how far both are from the exact
coefficients. One thread, unless OPENBLAS_NUM_THREADS and OMP_NUM_THREADS say otherwise.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import csv
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_info

from conjoin.models.glm import BERNOULLI, fit_many

DATASETS, ROWS, COLUMNS, CLUSTERS = 1000, 200, 10, 4
ROUNDS = 3
OUTPUT = Path(__file__).parent / "classification.csv"


def make(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, classes 0 and 1, and where each dataset starts."""
    rng = np.random.default_rng(seed)
    beta = rng.standard_normal((CLUSTERS, COLUMNS))[rng.integers(CLUSTERS, size=DATASETS)]
    X = rng.standard_normal((DATASETS, ROWS, COLUMNS))
    share = 1 / (1 + np.exp(-np.einsum("kij,kj->ki", X, beta)))
    y = (rng.random(share.shape) < share).astype(float)
    return X.reshape(-1, COLUMNS), y.ravel(), ROWS * np.arange(DATASETS + 1)


def ours(X: np.ndarray, y: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Fit all datasets at once."""
    Z = np.column_stack([np.ones(len(X)), X])
    ridge = np.r_[0.0, np.ones(COLUMNS)]
    return fit_many(Z, y, np.ones(len(y)), starts, BERNOULLI, ridge).beta


def scikit_learn(X: np.ndarray, y: np.ndarray, starts: np.ndarray, **options: float) -> np.ndarray:
    """Fit one dataset after another."""
    beta = np.empty((len(starts) - 1, COLUMNS + 1))
    for k, (i, j) in enumerate(zip(starts[:-1], starts[1:])):
        model = LogisticRegression(C=1.0, **options).fit(X[i:j], y[i:j])
        beta[k, 0], beta[k, 1:] = model.intercept_[0], model.coef_[0]
    return beta


def timed(run: Callable[..., np.ndarray], data: tuple[np.ndarray, ...]) -> tuple[float, np.ndarray]:
    """Return seconds and coefficients."""
    start = time.perf_counter()
    beta = run(*data)
    return time.perf_counter() - start, beta


def main() -> int:
    """Time both in turn, so that both see the same machine, and keep the best of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    output = parser.parse_args().output
    data = make()
    small = (*data[:2], data[2][:21])
    contestants = {"conjoin, all at once": ours, "scikit-learn, a loop": scikit_learn}
    seconds = dict.fromkeys(contestants, np.inf)
    beta: dict[str, np.ndarray] = {}
    for run in contestants.values():  # imports and first-use costs
        run(*small)
    for _ in range(ROUNDS):
        for name, run in contestants.items():
            took, beta[name] = timed(run, data)
            seconds[name] = min(seconds[name], took)
    exact = scikit_learn(*data, tol=1e-10, max_iter=100_000)
    threads = max(pool["num_threads"] for pool in threadpool_info())
    loop = seconds["scikit-learn, a loop"]
    with output.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["what", "threads", "seconds", "times_faster", "largest_error"])
        for name, value in seconds.items():
            error = np.abs(beta[name] - exact).max()
            print(f"{name:22s} {value:7.3f} s  {loop / value:5.1f} x  largest error {error:.1e}")
            writer.writerow([name, threads, f"{value:.4f}", f"{loop / value:.1f}", f"{error:.1e}"])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
