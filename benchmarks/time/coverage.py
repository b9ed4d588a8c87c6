"""Coverage and width of 90 % prediction intervals on held-out rows of the arena's sets.

    python -m benchmarks.time.coverage       # twenty cells, writes benchmarks/time/coverage.csv
    python -m benchmarks.time.coverage --sets radon --ways conjoin
    python -m benchmarks.time.coverage --table     # prints the stored lines for docs/time.md
    python -m benchmarks.time.coverage --sets sleepstudy --splits 30 --ways "conjoin, lines"

A cell is a set and the share of its rows that models see. All ways to an interval get the same
rows: conjoin's `predict(interval=0.9)` with its default learner and with lines, quantile regression
by LightGBM (5 and 95 %, the dataset's name as a category, 200 rounds), and MAPIE's cross-conformal
regressor (plus, 5 folds) around the same LightGBM. Sets of more than `MOST_AUTO` rows are run with
lines only, to save time. `covered` is the share of test rows inside, over all rows; `tested` counts
datasets with at least 30 test rows, and `covered_80` those of them of which 80 % are inside;
`width` is the mean width over the standard deviation of the target.

Lines of the file that are measured again are replaced, the others stay. With `--splits`, the mean
over so many random splits is printed and nothing is written: one split of a small set says little.
"""

import argparse
import csv
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd

import conjoin
from benchmarks.arena.data import Split, Task, splits, task_of
from benchmarks.arena.regression.measure import load

OUTPUT = Path(__file__).parent / "coverage.csv"
FIELDS = ("set", "share", "train_rows", "test_rows", "datasets", "way", "covered", "tested",
          "covered_80", "width")  # fmt: skip
CELLS = [(name, share) for name in ("sleepstudy", "radon", "wine", "school", "ppge", "bb", "ames",
         "cfgsf_16items", "parkinsons_total", "bikeshare_weather")
         for share in (0.3, 0.6)]  # fmt: skip
LEVEL = 0.9
FEWEST_TESTED = 30  # test rows of a dataset from which its own coverage counts
MOST_ROWS = 6_000  # of a set, drawn at random, so that a cell takes a minute at most
MOST_AUTO = 3_000  # rows of a set up to which the default learner is run
LEAST_COVERED = 0.8  # share of a dataset's test rows that should be inside
Ends = tuple[np.ndarray, np.ndarray]
Line = dict[str, str]


def ours(task: Task, seed: int, learner: str) -> Ends:
    """Return the ends of conjoin's intervals."""
    columns = [f"x{j}" for j in range(task.X_train.shape[1])]
    train = pd.DataFrame(task.X_train, columns=columns).assign(y=task.y_train, g=task.groups_train)
    result = conjoin.partition(train, target="y", by="g", random_state=seed, learner=learner)
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
    "conjoin": partial(ours, learner="auto"),
    "conjoin, lines": partial(ours, learner="linear"),
    "LightGBM quantiles": quantile_trees,
    "MAPIE": mapie_trees,
}


def measure(name: str, share: float, seed: int, ways: Sequence[str]) -> Iterator[Line]:
    """Return the lines of one cell."""
    data = load(name)
    split = _limited(splits(data, share, seed), seed)
    task, y = task_of(data, split), data.y[split.test]
    spread = float(np.std(data.y[split.train]))
    for way in ways:
        if way == "conjoin" and len(split.train) + len(y) > MOST_AUTO:
            continue
        low, high = WAYS[way](task, seed)
        inside = (low <= y) & (y <= high)
        by_group = pd.Series(inside).groupby(task.groups_test).agg(["size", "mean"])
        many = by_group[by_group["size"] >= FEWEST_TESTED]["mean"]
        yield dict(zip(FIELDS, (
            name, str(share), str(len(split.train)), str(len(y)), str(len(by_group)), way,
            f"{inside.mean():.4f}", str(len(many)), str(int((many >= LEAST_COVERED).sum())),
            f"{np.mean(high - low) / spread:.4f}",
        )))  # fmt: skip


def _limited(split: Split, seed: int) -> Split:
    """Return a split with at most `MOST_ROWS` rows in all."""
    total = len(split.train) + len(split.test)
    if total <= MOST_ROWS:
        return split
    rng = np.random.default_rng(seed)
    return Split(*(
        np.sort(rng.choice(rows, len(rows) * MOST_ROWS // total, replace=False)) for rows in split
    ))  # fmt: skip


def read_lines() -> dict[tuple[str, str, str], Line]:
    """Return the stored lines by set, share and way."""
    if not OUTPUT.exists():
        return {}
    with OUTPUT.open(newline="") as file:
        return {(one["set"], one["share"], one["way"]): one for one in csv.DictReader(file)}


def write_lines(lines: dict[tuple[str, str, str], Line]) -> None:
    """Write lines in the order of cells and ways."""
    order = [(name, str(share), way) for name, share in CELLS for way in WAYS]
    with OUTPUT.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines[key] for key in order if key in lines)


def table(lines: Sequence[Line]) -> str:
    """Return the stored lines as the table of docs/time.md: over all cells that a way was run on.

    Rows of all cells are put together for `covered`; widths are compared with those of conjoin's
    lines in the same cells, as a geometric mean.
    """
    text = ["| intervals by | cells | rows inside | least and most in a cell | "
            "datasets of 30 rows with 80 % inside | width |",
            "|---|---|---|---|---|---|"]  # fmt: skip
    base = {(one["set"], one["share"]): one for one in lines if one["way"] == "conjoin, lines"}
    for way in WAYS:
        own = [one for one in lines if one["way"] == way]
        if not own:
            continue
        rows = np.array([int(one["test_rows"]) for one in own])
        covered = np.array([float(one["covered"]) for one in own])
        tested, enough = (sum(int(one[f]) for one in own) for f in ("tested", "covered_80"))
        wide = [float(o["width"]) / float(base[o["set"], o["share"]]["width"]) for o in own]
        text.append(
            f"| {way} | {len(own)} | {100 * rows @ covered / rows.sum():.1f} % | "
            f"{100 * covered.min():.0f} to {100 * covered.max():.0f} % | "
            f"{enough} of {tested} | {np.exp(np.mean(np.log(wide))):.2f} |"
        )
    return "\n".join(text)


def print_means(name: str, share: float, splits: int, ways: Sequence[str]) -> None:
    """Print the mean coverage over random splits, with its standard error."""
    found: dict[str, list[float]] = {}
    for seed in range(splits):
        for line in measure(name, share, seed, ways):
            found.setdefault(line["way"], []).append(float(line["covered"]))
    for way, covered in found.items():
        error = np.std(covered, ddof=1) / np.sqrt(splits)
        print(f"{name}\t{share}\t{way}\t{np.mean(covered):.4f} +- {error:.4f}", flush=True)


def main(arguments: list[str] | None = None) -> None:
    """Measure all cells, or those of some sets, and print and write the lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=list(dict.fromkeys(c[0] for c in CELLS)))
    parser.add_argument("--ways", nargs="*", choices=list(WAYS), default=list(WAYS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--splits", type=int, default=0, help="print means over random splits")
    parser.add_argument("--table", action="store_true", help="print the stored lines")
    asked = parser.parse_args(arguments)
    if asked.table:
        print(table(list(read_lines().values())))
        return
    warnings.simplefilter("ignore")
    for name, share in CELLS:
        if name not in asked.sets:
            continue
        if asked.splits:
            print_means(name, share, asked.splits, asked.ways)
            continue
        for line in measure(name, share, asked.seed, asked.ways):
            print(*line.values(), sep="\t", flush=True)
            write_lines({**read_lines(), (name, str(share), line["way"]): line})


if __name__ == "__main__":
    main()
