"""All strategies, validated and combined, against fits of rivals that decide nothing.

    python -m benchmarks.speed.strategies [--output FILE]

1,000 datasets of 200 rows and 10 columns in 4 clusters, from arrays in memory to fitted
coefficients, one thread. Needs scikit-lego and GPBoost (benchmarks/arena/requirements.txt).
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import csv
import resource
import time
from pathlib import Path

import numpy as np

import conjoin
from conjoin.models.partial import DIAGONAL, fit_variances, posterior
from conjoin.moments import Basis, Moments

DATASETS, ROWS, COLUMNS, CLUSTERS = 1000, 200, 10, 4
OUTPUT = Path(__file__).parent / "strategies.csv"


def make(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, targets and dataset numbers."""
    rng = np.random.default_rng(seed)
    beta = rng.standard_normal((CLUSTERS, COLUMNS))[rng.integers(CLUSTERS, size=DATASETS)]
    X = rng.standard_normal((DATASETS, ROWS, COLUMNS))
    y = np.einsum("kij,kj->ki", X, beta) + rng.standard_normal((DATASETS, ROWS))
    return X.reshape(-1, COLUMNS), y.ravel(), np.repeat(np.arange(DATASETS), ROWS)


def ours(X: np.ndarray, y: np.ndarray, by: np.ndarray) -> None:
    """Decide, validate, combine and fit."""
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    conjoin.partition({**columns, "y": y, "by": by}, target="y", by="by")


def partial_pooling(X: np.ndarray, y: np.ndarray, by: np.ndarray) -> None:
    """Fit partial pooling with a variance for each slope, and nothing else."""
    basis = Basis.from_rows(X, y)
    starts = np.searchsorted(by, np.arange(DATASETS + 1))
    moments = Moments.by_dataset(basis.design(X), basis.response(y), starts)
    posterior(moments, fit_variances(moments, DIAGONAL))


def scikit_lego(X: np.ndarray, y: np.ndarray, by: np.ndarray) -> None:
    """Fit a model a group."""
    import pandas as pd
    from sklearn.linear_model import LinearRegression
    from sklego.meta import GroupedPredictor

    frame = pd.DataFrame(X).rename(columns=str).assign(by=by)
    GroupedPredictor(LinearRegression(), groups=["by"]).fit(frame, y)


def gpboost_slopes(X: np.ndarray, y: np.ndarray, by: np.ndarray) -> None:
    """Fit random intercepts and slopes."""
    import gpboost

    model = gpboost.GPModel(
        group_data=by,
        group_rand_coef_data=X,
        ind_effect_group_rand_coef=[1] * X.shape[1],
        likelihood="gaussian",
    )
    model.fit(y=y, X=np.column_stack([np.ones(len(X)), X]))


def main() -> int:
    """Time all in one run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    output = parser.parse_args().output
    data = make()
    small = tuple(part[: 20 * ROWS] for part in data)
    conjoin.partition(  # imports and first-use costs
        {"x": small[0][:, 0], "y": small[1], "by": small[2]}, target="y", by="by"
    )
    seconds: dict[str, float] = {}
    for name, run in (
        ("conjoin auto, all strategies validated", ours),
        ("conjoin partial pooling alone", partial_pooling),
        ("scikit-lego GroupedPredictor", scikit_lego),
        ("GPBoost random slopes", gpboost_slopes),
    ):
        times = []
        for _ in range(2):
            start = time.perf_counter()
            try:
                run(*data)
            except ImportError as error:
                print(f"{name}: left out ({error})")
                break
            times.append(time.perf_counter() - start)
        if times:
            seconds[name] = min(times)
        if run is ours:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    lego = seconds.get("scikit-lego GroupedPredictor", float("nan"))
    for name, value in seconds.items():
        print(f"{name:42s} {value:7.2f} s   {value / lego:6.2f} x scikit-lego")
    print(f"peak memory of auto: {peak:.2f} GB")
    with output.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["what", "seconds", "ratio_to_scikit_lego"])
        writer.writerows((n, f"{s:.3f}", f"{s / lego:.3f}") for n, s in seconds.items())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
