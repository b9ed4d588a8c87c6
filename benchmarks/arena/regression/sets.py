"""The sets of the regression side: what is read, how, what is left out and why.

`SETS` maps the name of a set to its entry; `regression.measure.load` returns its numbers.
"""

from benchmarks.arena.specs import (
    BIKE_HOURS,
    DAILY_ORDERS,
    DAILY_ORDERS_LEFT_OUT,
    DIAMONDS,
    FLIGHTS,
    FLIGHTS_LEFT_OUT,
    PRODUCTIVITY,
    PRODUCTIVITY_LEFT_OUT,
    RADON,
    RADON_LEFT_OUT,
    SCHOOLS,
    STORE_FAMILIES,
    STORE_FAMILIES_LEFT_OUT,
    WINE,
    Cycle,
    Date,
    Join,
    SetSpec,
)

# Larger sets are sampled: every contestant then needs minutes, not hours, for all sets.
MAX_ROWS = 60_000

_BIKE_CALENDAR = ("season", "mnth", "weekday", "weathersit")
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
        file=STORE_FAMILIES,
        target="sales",
        by=("store_type", "family"),
        left_out=STORE_FAMILIES_LEFT_OUT,
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
            "perishable",  # follows from the family, hence from the group
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
        file=DAILY_ORDERS,
        target="order",
        by=("itemID",),
        left_out=DAILY_ORDERS_LEFT_OUT,
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
            "dteday",  # follows from yr, mnth and weekday
            "workingday",  # one minus weekend minus holiday
        ),
        categories=_BIKE_CALENDAR,
    ),
    SetSpec(
        name="ppge",
        file=PRODUCTIVITY,
        target="actual_productivity",
        by=("day",),
        left_out=PRODUCTIVITY_LEFT_OUT,
        categories=("team",),
    ),
    # bench/: classic multi-task and multilevel sets.
    SetSpec(
        name="school",
        file=SCHOOLS,
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
        file=RADON,
        target="log.radon",
        by=("county.name",),
        left_out=RADON_LEFT_OUT,
    ),
    SetSpec(
        name="sleepstudy",
        file="bench/sleepstudy/sleepstudy.csv",
        target="Reaction",
        by=("Subject",),
    ),
    SetSpec(
        name="wine",
        file=WINE,
        target="quality",
        by=("color",),
    ),
    SetSpec(name="diamonds_clarity", file=DIAMONDS, target="price", log=True, by=("clarity",)),
    SetSpec(name="diamonds_cut", file=DIAMONDS, target="price", log=True, by=("cut",)),
    SetSpec(
        name="bikeshare_season",
        file=BIKE_HOURS,
        target="cnt",
        by=("season",),
        left_out=("instant", "dteday", "workingday"),  # as in bb
        categories=_BIKE_CALENDAR,
        cycles=(Cycle("hr", 24),),
    ),
    SetSpec(
        name="bikeshare_weather",
        file=BIKE_HOURS,
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
            "MS SubClass",  # a code of 16 levels, follows from Bldg Type and House Style
        ),
    ),
    SetSpec(
        name="nycflights_carrier",
        file=FLIGHTS,
        target="arr_delay",
        by=("carrier",),
        left_out=FLIGHTS_LEFT_OUT,
        categories=("month",),
    ),
    SetSpec(
        name="nycflights_origin",
        file=FLIGHTS,
        target="arr_delay",
        by=("origin",),
        left_out=FLIGHTS_LEFT_OUT,
        categories=("month",),
    ),
)

SETS: dict[str, SetSpec] = {spec.name: spec for spec in _TABLE}
