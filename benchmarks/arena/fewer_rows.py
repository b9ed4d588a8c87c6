"""Compare the error of `curves` on held-out rows with that on test rows, for fewer rows.

    python -m benchmarks.arena.fewer_rows     # writes benchmarks/arena/fewer_rows.csv

Curves between neighbours in time have errors that fall steeply with the number of rows. The claimed
error is that of models of nine tenths of the training rows. So it should agree with the error on
test rows of models that were trained on nine tenths of the rows, and be above that of all rows.

For a set and share the default is fitted with few rounds of trees, which curves do not depend on.
Then `curves` predicts the test rows, also after training on random parts of the training rows of
every group. The columns are the share of the training rows that was used, the number of the draw,
the claimed error and the error that was found; both are means over groups.
"""

import argparse
import csv
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

import conjoin
from benchmarks.arena.data import FloatArray, rows_by_group
from benchmarks.arena.ours import Cell, fit
from benchmarks.arena.sides import SIDES

OUTPUT = Path(__file__).parent / "fewer_rows.csv"
KEPT = (1.0, 0.9, 0.8)  # shares of the training rows
QUICK = conjoin.Boosting(rounds=5, leaves=4)


@dataclass(frozen=True)
class Line:
    """One fit; see the module's text."""

    set: str
    share: float
    seed: int
    kept: float
    draw: int
    claimed: float
    found: float


def measure(cell: Cell, kept: float, draw: int) -> Line:
    """Train on a share of the training rows of every group, and predict the test rows."""
    task = cell.task
    rng = np.random.default_rng([cell.seed, draw])
    parts = [
        rng.permutation(rows)[: max(1, round(kept * len(rows)))]
        for rows in rows_by_group(task.groups_train).values()
    ]
    own = np.sort(np.concatenate(parts))
    some = task._replace(
        X_train=task.X_train[own], y_train=task.y_train[own], groups_train=task.groups_train[own]
    )
    result, _ = fit(cell.side, some, {"learner": QUICK})
    predicted: FloatArray = cell.side.own.predict(result, "curves", some)
    found = cell.side.error(cell.data, cell.split, predicted)[0]
    head = (cell.data.name, cell.share, cell.seed, kept, draw)
    return Line(*head, result.errors["curves"].error, found)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write all lines; return the exit code 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", default="parkinsons_total")
    parser.add_argument("--shares", nargs="+", type=float, default=[0.1])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--draws", type=int, default=4, help="of parts of the training rows")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    options = parser.parse_args(arguments)
    side = SIDES["regression"]
    data = side.load(options.set)
    with options.output.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([field.name for field in fields(Line)])
        for share in options.shares:
            for seed in options.seeds:
                cell = Cell.of(side, data, share, seed)
                for kept in KEPT:
                    for draw in range(options.draws if kept < 1 else 1):
                        line = measure(cell, kept, draw)
                        values = vars(line).values()
                        shown = [f"{v:.5g}" if isinstance(v, float) else v for v in values]
                        writer.writerow(shown)
                        file.flush()
                        print(*shown, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
