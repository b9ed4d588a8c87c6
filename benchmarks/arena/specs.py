"""How a set of the arena is described: file, target, groups and predictors.

The two sides list their sets with these classes (`regression.sets`, `classification.sets`);
`benchmarks.arena.data` reads an entry and returns numbers. Paths and left-out columns that both
sides use stand here too.
"""

from dataclasses import dataclass
from typing import Literal

DatePart = Literal["days", "month", "weekday", "hour"]


@dataclass(frozen=True)
class Join:
    """A side table that is joined to the main one (left join).

    Attributes
    ----------
    file : str
        Path below the data folder.
    on : tuple of str
        Columns that both tables share. Any other column of the side table that the main table
        has too is skipped.
    """

    file: str
    on: tuple[str, ...]


@dataclass(frozen=True)
class Date:
    """A text column holding a date, and the parts that take its place.

    Attributes
    ----------
    column : str
        Name of the column.
    parts : tuple of {"days", "month", "weekday", "hour"}
        ``days`` counts from the first date of the set; ``month`` and ``weekday`` are categories;
        ``hour`` becomes sines and cosines, see `Cycle`.
    format : str
        How the date is written.
    """

    column: str
    parts: tuple[DatePart, ...]
    format: str = "%Y-%m-%d"


@dataclass(frozen=True)
class Cycle:
    """A periodic numeric column, such as the hour of the day.

    Sines and cosines of its first harmonics replace it. Two harmonics allow a day with a morning
    and an evening peak; one allows a single peak only.
    """

    column: str
    period: float
    harmonics: int = 2


@dataclass(frozen=True)
class SetSpec:
    """One entry of the table of sets.

    Attributes
    ----------
    name : str
        Name of the set in the arena; it also seeds the drawing of rows.
    file : str
        Path of the main table below the data folder.
    target : str
        Column to predict.
    by : tuple of str
        Columns whose values, taken together, are the group of a row.
    log : bool
        Whether the logarithm of the target is predicted.
    joins : tuple of Join
        Side tables.
    left_out : tuple of str
        Columns that are not used as predictors; the reason stands beside them in the table.
    categories : tuple of str
        Numeric columns that hold codes, treated as categories.
    flags : tuple of str
        Text columns reduced to whether they are filled (0/1).
    dates : tuple of Date
        Columns holding dates.
    cycles : tuple of Cycle
        Periodic numeric columns.
    sample : int, optional
        Number of rows drawn uniformly without replacement if the set is larger.
    """

    name: str
    file: str
    target: str
    by: tuple[str, ...]
    log: bool = False
    joins: tuple[Join, ...] = ()
    left_out: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    dates: tuple[Date, ...] = ()
    cycles: tuple[Cycle, ...] = ()
    sample: int | None = None


BIKE_HOURS = "bench/bikeshare-hour/bikeshare_hour.csv.gz"
DAILY_ORDERS = "paper/dfoip/daily_orders_top100_items.csv.gz"
DIAMONDS = "bench/diamonds/diamonds.csv.gz"
FLIGHTS = "bench/nycflights/nycflights.csv.gz"
PRODUCTIVITY = "paper/ppge/garments_worker_productivity.csv"
RADON = "bench/radon-minnesota/radon_minnesota.csv"
SCHOOLS = "bench/school-ilea/school_ilea.csv.gz"
STORE_FAMILIES = "paper/cfgsf/store_family_daily_2017-06-13_2017-08-15.parquet"
WINE = "bench/wine-quality/wine_quality.csv.gz"

DAILY_ORDERS_LEFT_OUT = (
    "salesPrice_day_mean",  # missing exactly where nothing is ordered
    "promotion_guess",  # guessed from the orders themselves
    "rank",  # the order of the items by the sum of the target
    "brand",  # a code, constant in an item
    "manufacturer",  # a code, constant in an item
    "category1",  # a code, constant in an item
    "category2",  # a code, constant in an item
    "category3",  # a code, constant in an item
)
FLIGHTS_LEFT_OUT = (
    "air_time",  # known only after landing; with dep_delay it nearly gives the target away
    "dep_time",  # sched_dep_time plus dep_delay, as a clock number
    "sched_dep_time",  # hour and minute in one clock number
    "sched_arr_time",  # a clock number that jumps from 2359 to 0
    "day",  # day of the month
)
PRODUCTIVITY_LEFT_OUT = ("date",)  # follows from quarter (a week of the month) and day
RADON_LEFT_OUT = ("county",)  # number of the group
STORE_FAMILIES_LEFT_OUT = (
    "transactions",  # counted on the same day as the target
    "store_nbr",  # identifier
    "cluster",  # a code of 17 levels
)
