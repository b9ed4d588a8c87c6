"""Standard error of the difference between the default and BiFactor (identity) on BB.

    python -m scripts.close_call FOLDER

Splits of one small set share its rows, so 200 splits are not 200 independent results. For each row,
the difference of the two squared errors is averaged over splits. The standard error is then taken
over rows, for each dataset and for the mean over datasets. It covers other test rows but not other
training rows, so it is still too small.
"""

import sys
from pathlib import Path

import numpy as np

from conjoin._typing import FloatArray
from conjoin.paper.tables.methods import BIFACTOR_IDENTITY, DEFAULT, FITS
from conjoin.paper.tables.protocol import REPRESENTATIONS, draw, embed, halves, select
from conjoin.paper.tables.real import SMALL
from conjoin.paper.tables.sets import GroupedRows, load
from conjoin.paper.tuned import FEW_ROWS


def differences(rows: GroupedRows, name: str, splits: int) -> FloatArray:
    """Return for each row the default's squared error minus BiFactor's, averaged over splits."""
    total, times = np.zeros(len(rows.y)), np.zeros(len(rows.y))
    for s in range(splits):
        train, test = halves(rows, name, s, 0)
        learned = embed(rows, REPRESENTATIONS["MLP1"](select(rows, train)))
        sample = select(learned, draw(train, FEW_ROWS, name, s, 0, 0)[0])
        ours, theirs = (fit(sample, 0)[0] for fit in (FITS[DEFAULT], FITS[BIFACTOR_IDENTITY]))
        for k, own in enumerate(test):
            X, y = learned.X[own], learned.y[own]
            total[own] += (ours(k, X) - y) ** 2 - (theirs(k, X) - y) ** 2
            times[own] += 1
    return total / times


def main(folder: Path) -> None:
    """Print the difference for each dataset and over all datasets."""
    rows = load("BB", folder)
    by_row = differences(rows, "BB", SMALL.splits)
    parts = [by_row[rows.rows(k)] for k in range(len(rows.names))]
    means = np.array([part.mean() for part in parts])
    errors = np.array([part.std(ddof=1) / np.sqrt(len(part)) for part in parts])
    for name, part, mean, error in zip(rows.names, parts, means, errors):
        print(f"BB, {name}, {len(part)} rows: default minus BiFactor {mean:+.3f} +- {error:.3f}")
    whole = np.sqrt(np.mean(errors**2) / len(errors))
    print(f"BB, mean over datasets: {means.mean():+.3f} +- {whole:.3f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
