"""The tables of real data that come with the package.

Nothing enters; the path of a file, or its columns as arrays, leave.
"""

from importlib import resources
from typing import Any

from conjoin.sources.read import read_columns


def seoul_bikes_path() -> str:
    """Return the path of the bundled table of Seoul's bikes, a compressed CSV file.

    Returns
    -------
    str

    Examples
    --------
    >>> from pathlib import Path
    >>> Path(seoul_bikes_path()).name
    'seoul_bikes.csv.gz'
    """
    return _path("seoul_bikes")


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


def washington_bikes_path() -> str:
    """Return the path of the bundled table of Washington's bikes, a compressed CSV file.

    Returns
    -------
    str

    Examples
    --------
    >>> from pathlib import Path
    >>> Path(washington_bikes_path()).name
    'washington_bikes.csv.gz'
    """
    return _path("washington_bikes")


def load_washington_bikes() -> dict[str, Any]:
    """Return hourly bike rentals in Washington, D.C., in 2012 with the weather, 6,365 rows.

    The datasets are the days of the week: column `weekday` has 7 values, with about 900 hours each.
    The target is `rentals`. Hours are from 6 in the morning to 11 in the evening.

    Returns
    -------
    dict of column name to array

    Notes
    -----
    Made from the "Bike Sharing" data of the UCI Machine Learning Repository (CC BY 4.0).
    `data/README.md` in this package lists the columns and what was changed.

    Examples
    --------
    >>> bikes = load_washington_bikes()
    >>> sorted(bikes)[:3], len(bikes["weekday"])
    (['bad_weather', 'hour', 'humidity'], 6365)
    """
    return read_columns(washington_bikes_path())


def _path(name: str) -> str:
    return str(resources.files("conjoin.datasets") / "data" / f"{name}.csv.gz")
