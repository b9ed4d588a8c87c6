"""The table of the arena's sets: what is read, how, what is left out and why.

`SETS` maps the name of a set to its entry; `benchmarks.arena.data.load` turns entries into numbers.
"""

from dataclasses import dataclass
from typing import Literal

DatePart = Literal["days", "month", "weekday", "hour"]

MAX_ROWS = 60_000  # larger sets are sampled, so that a run takes minutes


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
    """A numeric column that comes round, such as the hour of the day.

    It is replaced by sines and cosines of its first harmonics: two of them let a day have a
    morning and an evening peak.
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
        Name of the set in the arena.
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
        Columns holding codes in the form of numbers, treated as categories.
    flags : tuple of str
        Text columns reduced to whether they are filled (0/1).
    dates : tuple of Date
        Columns holding dates.
    cycles : tuple of Cycle
        Numeric columns that come round.
    sample : int, optional
        Number of rows drawn uniformly without replacement, seeded by the name, if the set is
        larger.
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


_BIKE_CALENDAR = ("season", "mnth", "weekday", "weathersit")
_FLIGHTS_LEFT_OUT = (
    "air_time",  # known only after landing; with dep_delay it nearly gives the target away
    "dep_time",  # sched_dep_time plus dep_delay, as a clock number
    "sched_dep_time",  # hour and minute in one clock number
    "sched_arr_time",  # a clock number that jumps from 2359 to 0
    "day",  # day of the month
)
_DIAMONDS = "bench/diamonds/diamonds.csv.gz"
_FLIGHTS = "bench/nycflights/nycflights.csv.gz"
_BIKE_HOURS = "bench/bikeshare-hour/bikeshare_hour.csv.gz"
_PARKINSONS = "bench/parkinsons-telemonitoring/parkinsons_telemonitoring.csv.gz"
_SEOUL = "paper/sbsd/SeoulBikeData.csv.gz"

_TABLE: tuple[SetSpec, ...] = (
    # paper/: the data of the paper, by its own groups and by others where the table has them.
    SetSpec(
        name="rss_storetype",
        file="paper/rss/train_open_days.parquet",
        joins=(Join("paper/rss/store.csv", ("Store",)),),
        target="Sales",
        by=("StoreType",),
        left_out=(
            "Customers",  # counted on the same day as the target
            "Store",  # identifier
            "Promo2SinceWeek",  # known only where Promo2 = 1
            "Promo2SinceYear",  # known only where Promo2 = 1
            "PromoInterval",  # known only where Promo2 = 1
        ),
        categories=("DayOfWeek",),
        dates=(Date("Date", ("days", "month")),),
        sample=MAX_ROWS,  # of 844,338
    ),
    SetSpec(
        name="rss_store",
        file="paper/rss/train_open_days.parquet",  # store.csv is constant in a store: not joined
        target="Sales",
        by=("Store",),
        left_out=("Customers",),  # counted on the same day as the target
        categories=("DayOfWeek",),
        dates=(Date("Date", ("days", "month")),),
        sample=MAX_ROWS,  # of 844,338: about 54 rows a store
    ),
    SetSpec(
        name="ssf",
        file="paper/ssf/train.parquet",
        joins=(
            Join("paper/ssf/stores.csv", ("Store",)),
            Join("paper/ssf/features.csv.gz", ("Store", "Date")),
        ),
        target="Weekly_Sales",
        by=("Type", "Dept"),
        left_out=("Store",),  # identifier
        dates=(Date("Date", ("days", "month")),),
        sample=MAX_ROWS,  # of 421,570; a few of the smallest of the 227 groups are not drawn
    ),
    SetSpec(
        name="cfgsf",
        file="paper/cfgsf/store_family_daily_2017-06-13_2017-08-15.parquet",
        target="sales",
        by=("store_type", "family"),
        left_out=(
            "transactions",  # counted on the same day as the target
            "store_nbr",  # identifier
            "cluster",  # a code of 17 levels
        ),
        dates=(Date("date", ("days", "weekday")),),
        sample=MAX_ROWS,  # of 114,048
    ),
    SetSpec(
        name="cfgsf_guayas",
        file="paper/cfgsf/item_level_sample_guayas_2014Q1.csv.gz",
        target="unit_sales",
        by=("store_type", "family"),
        left_out=("store_nbr", "item_nbr", "class"),  # identifiers, and a code of 90 levels
        categories=("cluster",),
        dates=(Date("date", ("days", "weekday")),),
    ),
    SetSpec(
        name="cfgsf_16items",
        file="paper/cfgsf/item_level_16items_2013-01.csv.gz",
        target="unit_sales",
        by=("store_type", "family"),
        left_out=(
            "id",  # identifier
            "store_nbr",  # identifier
            "item_nbr",  # identifier
            "cluster",  # a code of 17 levels
            "perishable",  # told by the family, hence by the group
        ),
        categories=("class",),
        dates=(Date("date", ("days", "weekday")),),
    ),
    SetSpec(
        name="sbsd_season",
        file=_SEOUL,
        target="Rented Bike Count",
        by=("Seasons",),
        dates=(Date("Date", ("weekday",), "%d/%m/%Y"),),  # the months are nested in the seasons
        cycles=(Cycle("Hour", 24),),
    ),
    SetSpec(
        name="sbsd_hour",
        file=_SEOUL,
        target="Rented Bike Count",
        by=("Hour",),
        dates=(Date("Date", ("weekday",), "%d/%m/%Y"),),  # Seasons stands for the months
    ),
    SetSpec(
        name="mitv",
        file="paper/mitv/Metro_Interstate_Traffic_Volume.csv.gz",
        target="traffic_volume",
        by=("weather_main",),
        left_out=("weather_description",),  # a finer naming of the group
        flags=("holiday",),  # the text "None" is read as missing
        dates=(Date("date_time", ("days", "month", "weekday", "hour"), "%Y-%m-%d %H:%M:%S"),),
    ),
    SetSpec(
        name="dfoip",
        file="paper/dfoip/daily_orders_top100_items.csv.gz",
        target="order",
        by=("itemID",),
        left_out=(
            "salesPrice_day_mean",  # missing exactly where the target is 0
            "promotion_guess",  # guessed from the orders themselves
            "rank",  # the order of the items by the sum of the target
            "brand",  # a code, constant in an item
            "manufacturer",  # a code, constant in an item
            "category1",  # a code, constant in an item
            "category2",  # a code, constant in an item
            "category3",  # a code, constant in an item
        ),
        dates=(Date("date", ("days", "weekday")),),
    ),
    SetSpec(
        name="wdaf_holiday",
        file="paper/wdaf/Walmart.csv",
        target="Weekly_Sales",
        by=("Holiday_Flag",),
        left_out=("Store",),  # identifier
        dates=(Date("Date", ("days", "month"), "%d-%m-%Y"),),
    ),
    SetSpec(
        name="wdaf_store",
        file="paper/wdaf/Walmart.csv",
        target="Weekly_Sales",
        by=("Store",),
        dates=(Date("Date", ("days", "month"), "%d-%m-%Y"),),
    ),
    SetSpec(
        name="bb",
        file="paper/bb/day.csv",
        target="cnt",
        by=("weathersit",),
        left_out=(
            "casual",  # a part of the target
            "registered",  # the rest of the target
            "instant",  # identifier
            "dteday",  # told by yr, mnth and weekday
            "workingday",  # one minus weekend minus holiday
        ),
        categories=_BIKE_CALENDAR,
    ),
    SetSpec(
        name="ppge",
        file="paper/ppge/garments_worker_productivity.csv",
        target="actual_productivity",
        by=("day",),
        left_out=("date",),  # told by quarter (a week of the month) and day
        categories=("team",),
    ),
    # bench/: classic multi-task and multilevel sets.
    SetSpec(
        name="school",
        file="bench/school-ilea/school_ilea.csv.gz",
        target="exam_score",
        by=("school",),
    ),
    SetSpec(
        name="parkinsons_total",
        file=_PARKINSONS,
        target="total_UPDRS",
        by=("subject#",),
        left_out=("motor_UPDRS",),  # a part of the target
    ),
    SetSpec(
        name="parkinsons_motor",
        file=_PARKINSONS,
        target="motor_UPDRS",
        by=("subject#",),
        left_out=("total_UPDRS",),  # contains the target
    ),
    SetSpec(
        name="radon",
        file="bench/radon-minnesota/radon_minnesota.csv",
        target="log.radon",
        by=("county.name",),
        left_out=("county",),  # number of the group
    ),
    SetSpec(
        name="sleepstudy",
        file="bench/sleepstudy/sleepstudy.csv",
        target="Reaction",
        by=("Subject",),
    ),
    SetSpec(
        name="wine",
        file="bench/wine-quality/wine_quality.csv.gz",
        target="quality",
        by=("color",),
    ),
    SetSpec(name="diamonds_clarity", file=_DIAMONDS, target="price", log=True, by=("clarity",)),
    SetSpec(name="diamonds_cut", file=_DIAMONDS, target="price", log=True, by=("cut",)),
    SetSpec(
        name="bikeshare_season",
        file=_BIKE_HOURS,
        target="cnt",
        by=("season",),
        left_out=("instant", "dteday", "workingday"),  # as in bb
        categories=_BIKE_CALENDAR,
        cycles=(Cycle("hr", 24),),
    ),
    SetSpec(
        name="bikeshare_weather",
        file=_BIKE_HOURS,
        target="cnt",
        by=("weathersit",),
        left_out=("instant", "dteday", "workingday"),  # as in bb
        categories=_BIKE_CALENDAR,
        cycles=(Cycle("hr", 24),),
    ),
    SetSpec(
        name="ames",
        file="bench/ames-housing/ames_housing.csv.gz",
        target="SalePrice",
        log=True,
        by=("Neighborhood",),
        left_out=(
            "Order",  # identifier
            "PID",  # identifier
            "MS SubClass",  # a code of 16 levels, told by Bldg Type and House Style
        ),
    ),
    SetSpec(
        name="nycflights_carrier",
        file=_FLIGHTS,
        target="arr_delay",
        by=("carrier",),
        left_out=_FLIGHTS_LEFT_OUT,
        categories=("month",),
    ),
    SetSpec(
        name="nycflights_origin",
        file=_FLIGHTS,
        target="arr_delay",
        by=("origin",),
        left_out=_FLIGHTS_LEFT_OUT,
        categories=("month",),
    ),
)

SETS: dict[str, SetSpec] = {spec.name: spec for spec in _TABLE}
