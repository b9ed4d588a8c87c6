"""How long the default takes with boosted trees, beside LightGBM's own cross-validation.

    python -m benchmarks.speed.learners [--datasets 1000] [--rows 200] [--columns 10]

Datasets follow a bent law with slopes of their own. `partition` with the default learner is
compared with `lightgbm.cv` of five folds and the same rounds, trees and threads, and with the
linear learner. One run, ratios.
"""

import argparse
import time
from collections.abc import Callable, Sequence

import lightgbm
import numpy as np

import conjoin
from conjoin.execution import usable_cores


def make_table(datasets: int, rows: int, columns: int, seed: int) -> dict[str, np.ndarray]:
    """Return one table of all datasets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(datasets * rows, columns))
    dataset = np.repeat(np.arange(datasets), rows)
    slopes = 1 + 0.3 * rng.normal(size=(datasets, columns))
    y = np.sum(slopes[dataset] * X, axis=1) + 2 * np.sin(2 * X[:, 0]) + rng.normal(size=len(X))
    named = {f"x{j}": X[:, j] for j in range(columns)}
    return {**named, "y": y, "store": dataset.astype(str)}


def timed(work: Callable[[], object]) -> tuple[float, object]:
    """Return the seconds that a piece of work takes, and its result."""
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def cross_validate(table: dict[str, np.ndarray], settings: dict[str, object]) -> None:
    """Run LightGBM's cross-validation with the same rounds and trees."""
    columns = [table[name] for name in table if name.startswith("x")]
    design = np.column_stack([*columns, table["store"].astype(float)])
    data = lightgbm.Dataset(design, table["y"], categorical_feature=[design.shape[1] - 1])
    parameters = {
        "objective": "regression", "num_leaves": settings["leaves"],
        "min_data_in_leaf": settings["least_rows"], "learning_rate": settings["rate"],
        "num_threads": usable_cores(), "verbosity": -1,
    }  # fmt: skip
    lightgbm.cv(parameters, data, int(str(settings["rounds"])), nfold=5, stratified=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print seconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("datasets", 1000), ("rows", 200), ("columns", 10), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args(arguments)
    table = make_table(asked.datasets, asked.rows, asked.columns, asked.seed)
    options = {"target": "y", "by": "store"}
    seconds, found = timed(lambda: conjoin.partition(table, **options))
    assert isinstance(found, conjoin.Partition)
    linear, _ = timed(lambda: conjoin.partition(table, **options, learner="linear"))
    settings = dict(found.schema.predictions.settings["boosting"])
    rival, _ = timed(lambda: cross_validate(table, settings))
    print(f"{asked.datasets} x {asked.rows} x {asked.columns}, {usable_cores()} threads")
    print(f"auto {seconds:.1f} s, linear {linear:.1f} s, lightgbm.cv {rival:.1f} s ({settings})")
    print(f"auto / lightgbm.cv {seconds / rival:.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
