"""Where the wild fits in docs/paper-tables.md come from: python -m scripts.wild_fits FOLDER.

Repeats splits of the held-out protocol (seed 0) and prints errors of least-squares fits to 50 rows
by dataset, with and without what is suspected.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.paper.tables.protocol import (
    FEW_ROWS,
    REPRESENTATIONS,
    draw,
    embed,
    halves,
    least_squares,
    select,
    up_to_1000,
)
from conjoin.paper.tables.sets import GroupedRows, load


def errors(
    rows: GroupedRows, name: str, representation: str, splits: int, labels: Sequence[int]
) -> tuple[FloatArray, FloatArray]:
    """Return errors (splits, datasets), and of the last split the share of rows a unit fires on."""
    K = len(rows.names)
    found = np.empty((splits, K))
    for s in range(splits):
        train, test = halves(rows, name, s, 0)
        learned = embed(rows, REPRESENTATIONS[representation](select(rows, train)))
        drawn, rng = draw(train, FEW_ROWS, name, s, 0, 0)
        predict = least_squares(select(learned, drawn), np.array(labels))
        for k, own in enumerate(up_to_1000(test, rng)):
            found[s, k] = np.mean((predict(k, learned.X[own]) - learned.y[own]) ** 2)
    fires = np.array([(learned.X[own] > 0).mean(axis=0) for own in drawn])
    return found, fires


def keep(rows: GroupedRows, kept: BoolArray) -> GroupedRows:
    """Return some of the rows."""
    dataset: IntArray = np.repeat(np.arange(len(rows.names)), rows.sizes)[kept]
    starts = np.searchsorted(dataset, np.arange(len(rows.names) + 1))
    return replace(rows, X=rows.X[kept], y=rows.y[kept], starts=starts)


def main(folder: Path) -> None:
    """Print the figures of the page."""
    rows = load("PPGE", folder)
    plain = [j for j, name in enumerate(rows.columns) if not name.startswith("idle")]
    without = replace(rows, X=rows.X[:, plain], columns=tuple(rows.columns[j] for j in plain))
    for what, some in (("all columns", rows), ("without idle time and men", without)):
        error = errors(some, "PPGE", "columns", 40, [0] * 6)[0].mean()
        print(f"PPGE, pooled, {what}: {error:.4f}")

    rows = load("MITV", folder)
    found = errors(rows, "MITV", "MLP1", 15, range(9))[0]
    for name, mean, median in zip(rows.names, found.mean(axis=0), np.median(found, axis=0)):
        print(f"MITV, MLP1, individual, {name}: mean {mean:.2f}, median {median:.2f}")
    temperature, rain = (rows.X[:, rows.columns.index(name)] for name in ("temperature", "rain"))
    sound = (temperature > 0) & (rain < 1000)
    error = errors(keep(rows, sound), "MITV", "MLP1", 15, range(9))[0].mean()
    print(f"MITV without {(~sound).sum()} rows of 0 K or thousands of mm of rain: {error:.2f}")

    rows = load("CFGSF", folder)
    found, fires = errors(rows, "CFGSF", "MLP2", 1, range(len(rows.names)))
    worst = int(found[0].argmax())
    print(f"CFGSF, MLP2, individual, worst is {rows.names[worst]}: {found[0, worst]:.0f}")
    print(f"  share of its 50 rows on which each unit fires: {fires[worst].round(2).tolist()}")
    print(f"  median over datasets: {np.median(found[0]):.2f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
