"""Why some fits in docs/paper-tables.md have enormous errors.

    python -m scripts.wild_fits FOLDER

Repeats splits of the held-out protocol (seed 0). Prints the errors of least-squares fits to 50 rows
of each dataset, with and without the suspected columns or rows.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.paper.tables.methods import least_squares
from conjoin.paper.tables.protocol import (
    REPRESENTATIONS,
    draw,
    embed,
    halves,
    select,
    up_to_1000,
)
from conjoin.paper.tables.sets import GroupedRows, load
from conjoin.paper.tuned import FEW_ROWS

# Splits repeated for each set: fewer where each split trains a network on many rows.
SPLITS = {"PPGE": 40, "MITV": 15, "CFGSF": 1}
# Sensor errors of MITV: a temperature of 0 K, and more rain in an hour than falls in a year.
COLDEST, MOST_RAIN = 0, 1000


def errors(
    rows: GroupedRows, name: str, representation: str, labels: Sequence[int]
) -> tuple[FloatArray, FloatArray]:
    """Return errors (splits, datasets), and where each unit is active in the last split.

    The second array (datasets, units) is the share of a dataset's rows on which a unit is positive.
    """
    K, splits = len(rows.names), SPLITS[name]
    found = np.empty((splits, K))
    for s in range(splits):
        train, test = halves(rows, name, s, 0)
        learned = embed(rows, REPRESENTATIONS[representation](select(rows, train)))
        drawn, rng = draw(train, FEW_ROWS, name, s, 0, 0)
        predict = least_squares(select(learned, drawn), np.array(labels))
        for k, own in enumerate(up_to_1000(test, rng)):
            found[s, k] = np.mean((predict(k, learned.X[own]) - learned.y[own]) ** 2)
    active = np.array([(learned.X[own] > 0).mean(axis=0) for own in drawn])
    return found, active


def keep(rows: GroupedRows, kept: BoolArray) -> GroupedRows:
    """Return some of the rows."""
    dataset: IntArray = np.repeat(np.arange(len(rows.names)), rows.sizes)[kept]
    starts = np.searchsorted(dataset, np.arange(len(rows.names) + 1))
    return replace(rows, X=rows.X[kept], y=rows.y[kept], starts=starts)


def main(folder: Path) -> None:
    """Print the results that the page mentions."""
    rows = load("PPGE", folder)
    plain = [j for j, name in enumerate(rows.columns) if not name.startswith("idle")]
    without = replace(rows, X=rows.X[:, plain], columns=tuple(rows.columns[j] for j in plain))
    for what, some in (("all columns", rows), ("without idle time and men", without)):
        error = errors(some, "PPGE", "columns", [0] * 6)[0].mean()
        print(f"PPGE, pooled, {what}: {error:.4f}")

    rows = load("MITV", folder)
    found = errors(rows, "MITV", "MLP1", range(9))[0]
    for name, mean, median in zip(rows.names, found.mean(axis=0), np.median(found, axis=0)):
        print(f"MITV, MLP1, individual, {name}: mean {mean:.2f}, median {median:.2f}")
    temperature, rain = (rows.X[:, rows.columns.index(name)] for name in ("temperature", "rain"))
    sound = (temperature > COLDEST) & (rain < MOST_RAIN)
    error = errors(keep(rows, sound), "MITV", "MLP1", range(9))[0].mean()
    print(f"MITV without {(~sound).sum()} rows of 0 K or over {MOST_RAIN} mm of rain: {error:.2f}")

    rows = load("CFGSF", folder)
    found, active = errors(rows, "CFGSF", "MLP2", range(len(rows.names)))
    worst = int(found[0].argmax())
    print(f"CFGSF, MLP2, individual, the worst is {rows.names[worst]}: {found[0, worst]:.0f}")
    print(f"  share of its 50 rows with each unit active: {active[worst].round(2).tolist()}")
    print(f"  median over datasets: {np.median(found[0]):.2f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
