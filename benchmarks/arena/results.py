"""The results file of a side: one row for every set, share, seed and contestant.

`append` writes rows as they are computed, `read_done` lists what a file holds already, and
`read_results` returns a frame for the tables.
"""

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pandas as pd

# A note longer than this is cut. It keeps the first sentence of an error message and a short line
# in the CSV file.
NOTE_LENGTH = 200

CELL = ["set", "share"]
KEY = [*CELL, "seed", "contestant"]

Key = tuple[str, float, int, str]


class Row(NamedTuple):
    """One line of the results.

    Attributes
    ----------
    set, share, seed, contestant
        What was run.
    rows, groups : int
        Of the whole set.
    columns : int
        Predictors that are left after standardising.
    error : str
        Mean over groups of the mean loss on test rows; empty after a failure.
    seconds : str
        Time of fitting and predicting.
    note : str
        Remark of the contestant, or the reason of a failure.
    """

    set: str
    share: float
    seed: int
    contestant: str
    rows: int
    groups: int
    columns: int
    error: str
    seconds: str
    note: str


def short_note(*parts: str) -> str:
    """Join remarks to one line of at most `NOTE_LENGTH` characters.

    Examples
    --------
    >>> short_note("2 groups lack a class", "", "two  spaces")
    '2 groups lack a class; two spaces'
    """
    return " ".join("; ".join(filter(None, parts)).split())[:NOTE_LENGTH]


def read_done(path: Path) -> frozenset[Key]:
    """Return the combinations that a results file holds already."""
    if not path.exists():
        return frozenset()
    with path.open(newline="", encoding="utf-8") as file:
        return frozenset(
            (row["set"], float(row["share"]), int(row["seed"]), row["contestant"])
            for row in csv.DictReader(file)
        )


def append(rows: Iterable[Row], path: Path) -> list[Row]:
    """Write rows to a results file as they come; return them.

    Parameters
    ----------
    rows : iterable of Row
        Results, possibly still being computed.
    path : Path
        The file; a new file starts with a header.

    Returns
    -------
    list of Row
        All rows written.
    """
    new = not path.exists()
    written: list[Row] = []
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(Row._fields)
        for row in rows:
            writer.writerow(row)
            file.flush()
            written.append(row)
    return written


def read_results(path: Path) -> pd.DataFrame:
    """Read results; of rows with the same set, share, seed and contestant the last one counts."""
    return pd.read_csv(path).drop_duplicates(KEY, keep="last")
