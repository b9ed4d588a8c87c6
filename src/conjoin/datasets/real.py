"""The table of real data that comes with the package.

Nothing enters; the path of the file, or its columns as arrays, leave.
"""

from importlib import resources
from typing import Any

from conjoin.sources.read import read_columns


def seoul_bikes_path() -> str:
    """Return the path of the bundled table, a compressed CSV file.

    Returns
    -------
    str

    Examples
    --------
    >>> from pathlib import Path
    >>> Path(seoul_bikes_path()).name
    'seoul_bikes.csv.gz'
    """
    return str(resources.files("conjoin.datasets") / "data" / "seoul_bikes.csv.gz")


def load_seoul_bikes() -> dict[str, Any]:
    """Return hourly bike rentals in Seoul with the weather, 8,465 rows.

    The datasets are the hours of the day: column `hour` has 24 values, with about 350 days each.
    The target is `rented_bikes`.

    Returns
    -------
    dict of column name to array

    Notes
    -----
    Made from the "Seoul Bike Sharing Demand" data of the UCI Machine Learning Repository
    (CC BY 4.0). `data/README.md` in this package lists the columns and what was changed.

    Examples
    --------
    >>> bikes = load_seoul_bikes()
    >>> sorted(bikes)[:3], len(bikes["hour"])
    (['dew_point', 'holiday', 'hour'], 8465)
    """
    return read_columns(seoul_bikes_path())
