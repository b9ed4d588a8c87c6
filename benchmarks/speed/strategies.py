"""All strategies, fitted and validated, against plain fits of scikit-lego and GPBoost.

    python -m benchmarks.speed.strategies [--output FILE]

1,000 datasets of 200 rows and 10 columns in 4 clusters, from arrays in memory to fitted
coefficients, one thread. The rivals fit one kind of model and decide nothing. They need the
packages of benchmarks/arena/requirements.txt; without a package its rival is left out. Times and
ratios to scikit-lego go to ``strategies.csv``.
"""

import resource
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import conjoin
from benchmarks.speed.common import output_of, write_csv
from conjoin.models.partial import DIAGONAL, fit_variances, posterior
from conjoin.moments import Basis, Moments

# The size that README.md names; one call takes some seconds.
DATASETS, ROWS, COLUMNS, CLUSTERS = 1000, 200, 10, 4
# The better of two: rivals and we take seconds each.
ROUNDS = 2
LEGO = "scikit-lego GroupedPredictor"
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
    """Fit one model for each group."""
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


CONTESTANTS = {
    "conjoin auto, all strategies validated": ours,
    "conjoin partial pooling alone": partial_pooling,
    LEGO: scikit_lego,
    "GPBoost random slopes": gpboost_slopes,
}


def best_time(run: Callable[..., None], data: tuple[np.ndarray, ...]) -> float:
    """Return the least seconds of some calls."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run(*data)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> int:
    """Time all contestants in one run; print and write the times."""
    output = output_of(__doc__, OUTPUT)
    data = make()
    first = slice(0, 20 * ROWS)
    conjoin.partition(  # imports and first-use costs
        {"x": data[0][first, 0], "y": data[1][first], "by": data[2][first]}, target="y", by="by"
    )
    seconds: dict[str, float] = {}
    for name, run in CONTESTANTS.items():
        try:
            seconds[name] = best_time(run, data)
        except ImportError as error:
            print(f"{name}: left out ({error})")
        if run is ours:  # before the others add to it
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    lego = seconds.get(LEGO, float("nan"))
    for name, value in seconds.items():
        print(f"{name:42s} {value:7.2f} s   {value / lego:6.2f} x scikit-lego")
    print(f"peak memory of auto: {peak:.2f} GB")
    rows = ((name, f"{s:.3f}", f"{s / lego:.3f}") for name, s in seconds.items())
    write_csv(output, ["what", "seconds", "ratio_to_scikit_lego"], rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
