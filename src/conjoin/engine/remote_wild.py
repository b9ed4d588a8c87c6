"""Gross errors in rows that are not in memory.

A lazy frame of features and target enters; the gross errors leave, and the frame without their
rows. Three kinds of queries are needed, and only for columns whose range is far beyond their
standard deviation: quartiles of these columns, and the farthest rows of each. Distances are those
from the median of all rows, not of the dataset.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.models.outliers import (
    FAR,
    FEWEST_ROWS,
    MOST_SHARE,
    count_isolated,
    rows_to_look_at,
)
from conjoin.tables.frame import one_row
from conjoin.tables.names import SEPARATOR, name_of
from conjoin.tables.wild import Outlier

# Rows of one column that can be gross errors: more would be a part of the column, and many rows
# would have to be fetched.
MOST = 50
QUARTILES_TO_SIGMA = 1.349  # distance of the quartiles of a normal law over its standard deviation


@dataclass(frozen=True)
class Column:
    """A column that is looked at: its place among the columns x0, x1, ... and what to call it."""

    place: int
    name: str


def far_columns(
    columns: Sequence[Column], low: FloatArray, high: FloatArray, mean: FloatArray, sd: FloatArray
) -> list[Column]:
    """Return the columns that may have gross errors, by their range and standard deviation.

    >>> ends = np.array([-1.0, -1.0]), np.array([3.0, 1e6])
    >>> columns = [Column(0, "a"), Column(1, "b")]
    >>> [c.name for c in far_columns(columns, *ends, np.array([0.0, 1.0]), np.array([1.0, 9e3]))]
    ['b']
    """
    reach = np.maximum(high - mean, mean - low)
    needed = FAR / np.sqrt(1 + MOST_SHARE * FAR**2)
    return [c for c in columns if sd[c.place] > 0 and reach[c.place] >= needed * sd[c.place]]


def find_far_rows(
    frame: nw.LazyFrame[Any],
    by: Sequence[str],
    columns: Sequence[Column],
    rows: int,
    sd: FloatArray,
) -> tuple[tuple[Outlier, ...], nw.LazyFrame[Any]]:
    """Return the gross errors of a frame, and the frame without their rows.

    Columns of the frame are x0, x1, ... and those that name datasets (`by`); `sd` has their
    standard deviations.
    """
    if not columns or rows < FEWEST_ROWS:
        return (), frame
    known = _quartiles(frame, columns)
    found: list[Outlier] = []
    for c, (first, middle, last) in zip(columns, known):
        spread = (last - first) / QUARTILES_TO_SIGMA or float(sd[c.place])
        wild, least = _of_column(frame, by, c, middle, spread, rows)
        if wild:
            found += wild
            frame = frame.filter((nw.col(f"x{c.place}") - middle).abs() < least)
    return tuple(found), frame


def _quartiles(frame: nw.LazyFrame[Any], columns: Sequence[Column]) -> list[list[float]]:
    """Return the quartiles of columns, in one query; those of Dask and Spark are approximate."""
    shares, names = (0.25, 0.5, 0.75), [f"x{c.place}" for c in columns]
    if frame.implementation.is_dask():
        table: Any = frame.to_native()[names].quantile(list(shares)).compute()
        return [[float(table[name][share]) for share in shares] for name in names]
    asked = [
        nw.col(name).quantile(share, interpolation="linear").alias(f"{name} {share}")
        for name in names
        for share in shares
    ]
    found = one_row(frame.select(*asked))
    return [[float(found[f"{name} {share}"]) for share in shares] for name in names]


def _of_column(
    frame: nw.LazyFrame[Any],
    by: Sequence[str],
    column: Column,
    middle: float,
    spread: float,
    rows: int,
) -> tuple[list[Outlier], float]:
    """Return the gross errors of one column, and the least of their distances to the middle."""
    x = nw.col(f"x{column.place}")
    table: Any = frame.select(*by, x.alias("value"), (x - middle).abs().alias("distance"))
    top = table.sort("distance", descending=True).head(min(rows_to_look_at(rows), MOST + 201))
    fetched = top.collect("pyarrow").to_dict(as_series=False)
    order: IntArray = np.argsort(-np.array(fetched["distance"], dtype=np.float64), kind="stable")
    distance = np.array(fetched["distance"], dtype=np.float64)[order]
    count = count_isolated(distance / spread, rows, most=min(MOST, len(distance)))
    names = [SEPARATOR.join(name_of(fetched[g][int(i)]) for g in by) for i in order[:count]]
    values = [float(fetched["value"][int(i)]) for i in order[:count]]
    wild = [Outlier(None, name, column.name, value) for name, value in zip(names, values)]
    wild.sort(key=lambda one: (one.dataset, one.value or 0.0))
    return wild, float(distance[count - 1]) if count else 0.0
