"""How sure the order of BiFactor and the default is on BB: python -m scripts.close_call FOLDER.

Splits of one small set share its rows: 200 splits are not 200 pieces of evidence. So the difference
of the two squared errors is averaged over splits for each row, and rows are what the standard error
is taken over (of each dataset, then over datasets). It is that of other test rows with the same
training rows, so it is still on the small side.
"""

import sys
from pathlib import Path

import numpy as np

from conjoin._typing import FloatArray
from conjoin.moments.resample import stream
from conjoin.reproduce.protocol import (
    FEW_ROWS,
    HELD_OUT,
    REPRESENTATIONS,
    embed,
    fit_bifactor,
    fit_default,
    select,
)
from conjoin.reproduce.sets import GroupedRows, load

SPLITS = 200


def differences(rows: GroupedRows, name: str, splits: int) -> FloatArray:
    """Return for each row the mean over splits of the default's squared error less BiFactor's."""
    K = len(rows.names)
    total, times = np.zeros(len(rows.y)), np.zeros(len(rows.y))
    for s in range(splits):
        rng = stream(0, "reproduce", name, HELD_OUT, str(s))
        halves = [np.array_split(rng.permutation(rows.rows(k)), 2) for k in range(K)]
        train = [np.sort(half[0]) for half in halves]
        learned = embed(rows, REPRESENTATIONS["MLP1"](select(rows, train)))
        rng = stream(0, "reproduce", name, HELD_OUT, str(s), "0")
        drawn = [rng.choice(own, min(FEW_ROWS, len(own)), replace=False) for own in train]
        sample = select(learned, drawn)
        ours, theirs = (fit(sample, 0)[0] for fit in (fit_default, fit_bifactor))
        for k, (_, own) in enumerate(halves):
            X, y = learned.X[own], learned.y[own]
            total[own] += (ours(k, X) - y) ** 2 - (theirs(k, X) - y) ** 2
            times[own] += 1
    return total / times


def main(folder: Path) -> None:
    """Print the difference by dataset and in all."""
    rows = load("BB", folder)
    by_row = differences(rows, "BB", SPLITS)
    parts = [by_row[rows.rows(k)] for k in range(len(rows.names))]
    means = np.array([part.mean() for part in parts])
    errors = np.array([part.std(ddof=1) / np.sqrt(len(part)) for part in parts])
    for name, part, mean, error in zip(rows.names, parts, means, errors):
        print(f"BB, {name}, {len(part)} rows: default less BiFactor {mean:+.3f} +- {error:.3f}")
    whole = np.sqrt(np.mean(errors**2) / len(errors))
    print(f"BB, mean over datasets: {means.mean():+.3f} +- {whole:.3f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
