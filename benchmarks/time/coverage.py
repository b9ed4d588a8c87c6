"""Coverage and width of 90 % prediction intervals on held-out rows of the arena's sets.

    python -m benchmarks.time.coverage       # twenty cells, writes benchmarks/time/coverage.csv

A cell is a set and the share of its rows that models see. Three ways to an interval get the same
rows: conjoin's `predict(interval=0.9)` with its default learner, quantile regression by LightGBM
(5 and 95 %, the dataset's name as a category, 200 rounds), and MAPIE's cross-conformal regressor
(plus, 5 folds) around the same LightGBM. `covered` is the share of test rows inside, over all rows;
`datasets_80` the share of datasets with at least 30 test rows of which 80 % are inside; `width` the
mean width over the standard deviation of the target.
"""

import argparse
import csv
import warnings
from collections.abc import Callable
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd

import conjoin
from benchmarks.arena.data import Split, Task, splits, task_of
from benchmarks.arena.regression.measure import load

OUTPUT = Path(__file__).parent / "coverage.csv"
FIELDS = ("set", "share", "train_rows", "test_rows", "datasets", "way", "covered", "datasets_80",
          "width")  # fmt: skip
CELLS = [(name, share) for name in ("sleepstudy", "radon", "wine", "school", "ppge", "bb", "ames",
         "cfgsf_16items", "parkinsons_total", "bikeshare_weather")
         for share in (0.3, 0.6)]  # fmt: skip
LEVEL = 0.9
FEWEST_TESTED = 30  # test rows of a dataset from which its own coverage counts
MOST_ROWS = 6_000  # of a set, drawn at random, so that a cell takes a minute at most
Ends = tuple[np.ndarray, np.ndarray]


def ours(task: Task, seed: int) -> Ends:
    """Return the ends of conjoin's intervals."""
    columns = [f"x{j}" for j in range(task.X_train.shape[1])]
    train = pd.DataFrame(task.X_train, columns=columns).assign(y=task.y_train, g=task.groups_train)
    result = conjoin.partition(train, target="y", by="g", random_state=seed)
    test = pd.DataFrame(task.X_test, columns=columns).assign(g=task.groups_test)
    found = result.predict(test, interval=LEVEL)
    return found.low, found.high


def _design(task: Task) -> tuple[pd.DataFrame, pd.DataFrame]:
    names = sorted({*task.groups_train, *task.groups_test})
    parts = []
    for X, groups in ((task.X_train, task.groups_train), (task.X_test, task.groups_test)):
        codes = pd.Categorical(groups, categories=names).codes
        parts.append(np.column_stack([X, codes]))
    return parts[0], parts[1]


def _trees(columns: int, seed: int, **options: object) -> lightgbm.LGBMRegressor:
    return lightgbm.LGBMRegressor(
        n_estimators=200, learning_rate=0.05, random_state=seed, n_jobs=1, verbosity=-1,
        categorical_feature=[columns - 1], **options,
    )  # fmt: skip


def quantile_trees(task: Task, seed: int) -> Ends:
    """Return the ends of quantile regression by LightGBM."""
    train, test = _design(task)
    ends = [
        _trees(train.shape[1], seed, objective="quantile", alpha=alpha)
        .fit(train, task.y_train)
        .predict(test)
        for alpha in ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
    ]
    return np.minimum(*ends), np.maximum(*ends)


def mapie_trees(task: Task, seed: int) -> Ends:
    """Return the ends of MAPIE's cross-conformal intervals around LightGBM."""
    from mapie.regression import CrossConformalRegressor

    train, test = _design(task)
    model = CrossConformalRegressor(
        _trees(train.shape[1], seed), confidence_level=LEVEL, method="plus", cv=5, random_state=seed
    )
    model.fit_conformalize(train, task.y_train)
    _, found = model.predict_interval(test)
    return found[:, 0, 0], found[:, 1, 0]


WAYS: dict[str, Callable[[Task, int], Ends]] = {
    "conjoin": ours,
    "LightGBM quantiles": quantile_trees,
    "MAPIE": mapie_trees,
}


def measure(name: str, share: float, seed: int) -> list[dict[str, object]]:
    """Return the lines of one cell."""
    data = load(name)
    split = _limited(splits(data, share, seed), seed)
    task, y = task_of(data, split), data.y[split.test]
    spread = float(np.std(data.y[split.train]))
    lines = []
    for way, find in WAYS.items():
        low, high = find(task, seed)
        inside = (low <= y) & (y <= high)
        by_group = pd.Series(inside).groupby(task.groups_test).agg(["size", "mean"])
        many = by_group[by_group["size"] >= FEWEST_TESTED]["mean"]
        lines.append({
            "set": name, "share": share, "train_rows": len(split.train), "test_rows": len(y),
            "datasets": len(by_group), "way": way, "covered": round(float(inside.mean()), 4),
            "datasets_80": round(float((many >= 0.8).mean()), 4) if len(many) else "",
            "width": round(float(np.mean(high - low)) / spread, 4),
        })  # fmt: skip
        print(*lines[-1].values(), sep="\t", flush=True)
    return lines


def _limited(split: Split, seed: int) -> Split:
    """Return a split with at most `MOST_ROWS` rows in all."""
    total = len(split.train) + len(split.test)
    if total <= MOST_ROWS:
        return split
    rng = np.random.default_rng(seed)
    return Split(*(
        np.sort(rng.choice(rows, len(rows) * MOST_ROWS // total, replace=False)) for rows in split
    ))  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    """Measure all cells, or those of some sets, and print and write the lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=list(dict.fromkeys(c[0] for c in CELLS)))
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    cells = [cell for cell in CELLS if cell[0] in asked.sets]
    lines = [line for name, share in cells for line in measure(name, share, asked.seed)]
    if len(cells) == len(CELLS):
        with OUTPUT.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows(lines)


if __name__ == "__main__":
    main()
