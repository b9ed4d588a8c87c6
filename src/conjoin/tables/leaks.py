"""Columns of numbers that almost determine the target, such as its logarithm or a copy of it.

A collection enters; names of columns leave. A rank correlation sees every increasing or decreasing
function of the target, and no single far value carries it.
"""

import numpy as np
from scipy.stats import rankdata

from conjoin._typing import FloatArray, IntArray
from conjoin.tables.dataset import DatasetCollection
from conjoin.tables.encoding import Number

SURE = 0.999  # rank correlation, without its sign, from which a column is named
# Rows, and different values of target and column, from which such a correlation is no accident.
FEWEST = 20
MOST_ROWS = 20_000  # rows that are ranked, evenly spaced: a column of them takes 2 ms
FIRST_ROWS = 500  # rows that are ranked first; most columns are seen not to be near
NEAR = 0.99  # rank correlation in the first rows from which all are ranked


def find_leaks(collection: DatasetCollection) -> tuple[str, ...]:
    """Return the columns of numbers whose order of rows is nearly that of the target.

    A column that is the only one is not named: without it nothing is left.

    Parameters
    ----------
    collection : DatasetCollection

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> from conjoin.tables.collect import collect
    >>> sales = np.random.default_rng(0).uniform(1, 9, size=40)
    >>> table = {"shop": ["a", "b"] * 20, "log": np.log(sales), "x": sales**0.5 % 1, "sales": sales}
    >>> find_leaks(collect(table, target="sales", by="shop"))
    ('log',)
    """
    schema = collection.schema
    if collection.response.classes or len(schema.columns) < 2:
        return ()
    rows, some = (_spaced(len(collection.y), most) for most in (MOST_ROWS, FIRST_ROWS))
    if len(np.unique(collection.y[some])) < FEWEST:
        return ()
    position = {name: j for j, name in enumerate(collection.features)}
    found = []
    for e in schema.encodings:
        if not isinstance(e, Number) or e.name == schema.roles.time:
            continue  # a trend in time is known for later rows
        j = position.get(e.features()[0])
        if j is None:
            continue
        fill = e.fill / e.unit if e.missing else None
        if all(
            _rank_correlation(collection.X[part, j], collection.y[part], fill) > least
            for part, least in ((some, NEAR), (rows, SURE))
        ):
            found.append(e.name)
    return tuple(found)


def _spaced(rows: int, most: int) -> IntArray:
    """Return up to `most` places among so many rows, evenly spaced; their order is canonical."""
    return np.linspace(0, rows - 1, min(rows, most)).astype(np.int64)


def _rank_correlation(x: FloatArray, y: FloatArray, fill: float | None) -> float:
    """Return Spearman's correlation without its sign, where x (n,) is no value filled in.

    It is 0 if there are too few values.
    """
    if fill is not None:
        known = x != fill
        x, y = x[known], y[known]
    if min(len(np.unique(x)), len(np.unique(y))) < FEWEST:
        return 0.0
    a, b = rankdata(x), rankdata(y)
    a, b = a - a.mean(), b - b.mean()
    return float(abs(a @ b) / np.sqrt((a @ a) * (b @ b)))
