"""Compare the error that conjoin claims with the error that comes out on test rows.

    python -m benchmarks.arena.honest     # writes benchmarks/arena/honest.csv, about half an hour
    python -m benchmarks.arena.honest --sets radon bb --seeds 0

Cells that the file holds already are not computed again; delete the file to compute all of them.

For every set, share and seed `conjoin.partition` is fitted with its default learner. The claimed
error of "auto" is that on held-out rows inside the training rows. The error that comes out is that
on the test rows. Both are means over the groups that have test rows.

==============  ===========================================================================
column          meaning
==============  ===========================================================================
claimed, found  the two errors: mean squared error, or log loss
ratio           logarithm of found / claimed; above zero the claim is too low
standard_error  of the ratio, from the spread of row losses inside groups, for both numbers
linear_ratio    the same ratio for the average of the linear strategies
==============  ===========================================================================

The claim is about models of 80 % to 90 % of the training rows, so it is a little too high where the
error still falls with every row.
"""

import argparse
import csv
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

import conjoin
from benchmarks.arena.classification.measure import log_losses, training_classes
from benchmarks.arena.data import FloatArray, TextArray, shared_data
from benchmarks.arena.ours import Cell, fit
from benchmarks.arena.side import Side
from benchmarks.arena.sides import SHARES, SIDES

OUTPUT = Path(__file__).parent / "honest.csv"
# Sets that take seconds, quick ones first; all others can be named.
CHEAP = (
    "cfgsf_guayas", "wine", "bb", "ppge", "radon", "contraception", "radon_action", "ppge_reached",
    "wdaf_holiday", "cfgsf_16items", "dfoip", "wine_good", "landmine", "sbsd_hour",
    "bikeshare_season", "bikeshare_weather", "wdaf_store", "parkinsons_total",
)  # fmt: skip
# Training rows at most: with more, a claim is sure anyway, and a fit takes minutes.
MOST_ROWS = 4_500
FEW_ROWS = 700  # training rows up to which cells come first, so that a short run has many
# Training rows at least: with fewer there is no learner, and no claim of one.
LEAST_ROWS = 100
# Training rows of a group on average at least: with fewer most groups have no held-out error.
LEAST_OWN = 2.0


@dataclass(frozen=True)
class Line:
    """One cell; see the module's table."""

    side: str
    set: str
    share: float
    seed: int
    rows: int
    groups: int
    learner: str
    claimed: float
    found: float
    ratio: float
    standard_error: float
    linear_ratio: float
    seconds: float


def cells(
    side: Side, sets: Sequence[str], seeds: Sequence[int], most: int = MOST_ROWS
) -> Iterator[Cell]:
    """Return the cells of a side with enough training rows and not too many."""
    for name in sets:
        data = side.load(name)
        groups = len(np.unique(data.groups.astype(str)))
        for share in SHARES:
            rows = share * len(data.y)
            if LEAST_ROWS <= rows <= most and rows >= LEAST_OWN * groups:
                for seed in seeds:
                    yield Cell.of(side, data, share, seed)


def measure(cell: Cell) -> Line:
    """Fit a cell, and compare the claim with the test rows."""
    result, seconds = fit(cell.side, cell.task)
    losses, groups = row_losses(cell, result)
    names, own = np.unique(groups, return_inverse=True)
    claimed = claim(result, names)
    found = float(np.mean(np.bincount(own, losses) / np.bincount(own)))
    trained = cell.task.groups_train.astype(str)
    rows = np.array([np.sum(trained == name) for name in names])
    variance = squared_error_of_means(losses, own, rows)
    lines, _ = row_losses(cell, result.linear)
    linear = float(np.mean(np.bincount(own, lines) / np.bincount(own)))
    return Line(
        cell.side.name,
        cell.data.name,
        cell.share,
        cell.seed,
        len(cell.task.X_train),
        cell.groups,
        result.learner,
        claimed,
        found,
        float(np.log(found / claimed)),
        float(np.sqrt(variance[0] / claimed**2 + variance[1] / found**2)),
        float(np.log(linear / claim(result.linear, names))),
        seconds,
    )


def claim(result: conjoin.Partition, names: TextArray) -> float:
    """Return the claimed error of a result, averaged over groups."""
    return float(np.mean([result.coefficients[name].error for name in names]))


def row_losses(cell: Cell, result: conjoin.Partition) -> tuple[FloatArray, TextArray]:
    """Return the loss of every test row whose class was seen, and its group."""
    y, groups = cell.data.y[cell.split.test], cell.data.groups[cell.split.test].astype(str)
    predicted = cell.side.own.predict(result, "auto", cell.task)
    if cell.side.name == "regression":
        return np.asarray((y - predicted) ** 2, dtype=np.float64), groups
    losses = log_losses(y, predicted, training_classes(cell.data, cell.split))
    known = np.isfinite(losses)
    return losses[known], groups[known]


def squared_error_of_means(
    losses: FloatArray, own: np.ndarray, trained: np.ndarray
) -> tuple[float, float]:
    """Return the squared standard errors of the claimed and of the found error.

    `own` (n,) numbers the groups of test losses, `trained` (K,) are the training rows of each. The
    spread of losses in a group is that of its test rows; small groups take the mean over groups.
    """
    n = np.bincount(own)
    mean = np.bincount(own, losses) / n
    inside = np.bincount(own, (losses - mean[own]) ** 2)
    pooled = inside.sum() / max(len(losses) - len(n), 1)
    # A spread of fewer than ten rows is rough; it is put together with that of all groups.
    spread = (inside + 10 * pooled) / (np.maximum(n - 1, 0) + 10)
    K = len(n)
    return float(np.sum(spread / trained) / K**2), float(np.sum(spread / n) / K**2)


@dataclass(frozen=True)
class Summary:
    """All cells together: how far the claims are off.

    `mean` is the mean ratio with its standard error over sets, whose cells share rows; `weighted`
    counts sure cells more; `learner` is the mean of the ratio less that of the linear average, in
    which the luck of the split mostly cancels, so it shows what the learner adds, with its standard
    error; `beyond` is the share of cells whose ratio is above two of its standard errors, `below`
    the share under minus two.
    """

    cells: int
    mean: float
    mean_error: float
    weighted: float
    learner: float
    learner_error: float
    beyond: float
    below: float


def summarise(lines: Sequence[Line]) -> Summary:
    """Return how far claims are off, over cells."""
    ratio = np.array([line.ratio for line in lines])
    error = np.array([line.standard_error for line in lines])
    added = ratio - np.array([line.linear_ratio for line in lines])
    _, own = np.unique([f"{line.side} {line.set}" for line in lines], return_inverse=True)
    # A tenth is added to every error, so that a few large tables do not decide alone.
    weights = 1 / (error**2 + 0.1**2)
    return Summary(
        len(lines),
        float(ratio.mean()),
        _error_of_mean(ratio, own),
        float(np.average(ratio, weights=weights)),
        float(added.mean()),
        _error_of_mean(added, own),
        float(np.mean(ratio > 2 * error)),
        float(np.mean(ratio < -2 * error)),
    )


def _error_of_mean(values: FloatArray, own: np.ndarray) -> float:
    """Return the standard error of a mean over cells; `own` (cells,) numbers their sets."""
    parts = np.bincount(own, values - values.mean()) / len(values)
    return float(np.sqrt(np.sum(parts**2) * len(parts) / max(len(parts) - 1, 1)))


def read(path: Path = OUTPUT) -> list[Line]:
    """Return the stored lines."""
    kinds = {field.name: field.type for field in fields(Line)}
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Line(**{name: kinds[name](value) for name, value in row.items()})  # type: ignore[operator]
            for row in csv.DictReader(file)
        ]


def _key(cell: Cell) -> tuple[str, str, float, int]:
    return cell.side.name, cell.data.name, cell.share, cell.seed


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure all cells, print and write them; return the exit code 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=list(CHEAP), help="quick ones by default")
    parser.add_argument("--sides", nargs="+", choices=list(SIDES), default=list(SIDES))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--most-rows", type=int, default=MOST_ROWS, help="training rows at most")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    options = parser.parse_args(arguments)
    shared_data()
    todo = []
    for name in options.sides:
        side = SIDES[name]
        sets = [one for one in options.sets if one in side.sets]
        todo += list(cells(side, sets, options.seeds, options.most_rows))
    lines = read(options.output) if options.output.exists() else []
    done = {(line.side, line.set, line.share, line.seed) for line in lines}
    todo = [cell for cell in todo if _key(cell) not in done]
    todo.sort(key=lambda cell: (len(cell.task.X_train) > FEW_ROWS, cell.seed))
    with options.output.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Line)], lineterminator="\n")
        if not lines:
            writer.writeheader()
        start = time.perf_counter()
        for number, cell in enumerate(todo, start=1):
            line = measure(cell)
            lines.append(line)
            shown = {k: f"{v:.5g}" if isinstance(v, float) else v for k, v in asdict(line).items()}
            writer.writerow(shown)
            file.flush()
            step = f"[{number}/{len(todo)}, {time.perf_counter() - start:.0f} s]"
            print(step, *shown.values(), flush=True)
    print(summarise(lines))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
