"""Logistic regressions of many datasets against a loop over scikit-learn.

    python -m benchmarks.speed.classification [--output FILE]

1,000 datasets of 200 rows and 10 columns with two classes, in 4 clusters or each with its own
coefficients, from arrays in memory to fitted coefficients. Three contestants are timed: all
separate fits at once, `auto` (it fits, validates and averages all strategies and finds clusters),
and the loop. Separate fits and loop have the same ridge.

The loop runs twice: at scikit-learn's default tolerance, which is timed, and at a tiny one, which
shows how far the coefficients are from the exact ones. `auto` works in two threads where there are
two processors. Times, ratios and errors go to ``classification.csv``.
"""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_info

import conjoin
from benchmarks.speed.common import output_of, write_csv
from conjoin.models.glm import fit_many
from conjoin.models.glm_families import BERNOULLI
from conjoin.models.padded_rows import SortedRows

# The size that README.md names; one call of `auto` takes some seconds.
DATASETS, ROWS, COLUMNS, CLUSTERS = 1000, 200, 10, 4
# The best of three: one disturbed round does no harm.
ROUNDS = 3
OUTPUT = Path(__file__).parent / "classification.csv"


def make(clusters: int | None, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, classes 0 and 1, and where each dataset starts.

    Without clusters every dataset has its own coefficients, drawn from the same distribution.
    """
    rng = np.random.default_rng(seed)
    label = np.arange(DATASETS) if clusters is None else rng.integers(clusters, size=DATASETS)
    beta = rng.standard_normal((DATASETS, COLUMNS))[label]
    X = rng.standard_normal((DATASETS, ROWS, COLUMNS))
    share = 1 / (1 + np.exp(-np.einsum("kij,kj->ki", X, beta)))
    y = (rng.random(share.shape) < share).astype(float)
    return X.reshape(-1, COLUMNS), y.ravel(), ROWS * np.arange(DATASETS + 1)


def ours(X: np.ndarray, y: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Fit all datasets at once."""
    Z = np.column_stack([np.ones(len(X)), X])
    ridge = np.r_[0.0, np.ones(COLUMNS)]
    return fit_many(SortedRows(Z, y, np.ones(len(y)), starts), BERNOULLI, ridge).beta


def auto(X: np.ndarray, y: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Decide, validate and average; these are not separate fits, so coefficients are NaN."""
    rows = slice(0, starts[-1])
    columns = {f"x{j}": X[rows, j] for j in range(COLUMNS)}
    dataset = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    table = {**columns, "y": y[rows], "dataset": dataset}
    conjoin.partition(table, target="y", by="dataset", family="logistic")
    return np.full((len(starts) - 1, COLUMNS + 1), np.nan)


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


def measure(clusters: int | None) -> list[list[str]]:
    """Time all in turn, so that all see the same machine, and keep the best of each."""
    data = make(clusters)
    small = (*data[:2], data[2][:21])
    contestants = {
        "conjoin, separate fits": ours,
        "conjoin auto": auto,
        "scikit-learn, a loop": scikit_learn,
    }
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
    what = "no clusters" if clusters is None else f"{clusters} clusters"
    rows = []
    for name, value in seconds.items():
        error = f"{np.abs(beta[name] - exact).max():.1e}" if name != "conjoin auto" else ""
        rows.append([what, name, str(threads), f"{value:.4f}", f"{loop / value:.2f}", error])
        print(f"{what:12s} {name:22s} {value:7.3f} s  {loop / value:5.2f} x  error {error}")
    return rows


def main() -> int:
    """Measure both kinds of data and write the times."""
    output = output_of(__doc__, OUTPUT)
    rows = [row for clusters in (CLUSTERS, None) for row in measure(clusters)]
    header = ["data", "what", "threads", "seconds", "times_faster", "largest_error"]
    write_csv(output, header, rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
