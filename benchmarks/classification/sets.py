"""The table of the classification arena's sets: what is read, what the classes are, and why.

`SETS` maps the name of a set to its entry: a table with its target and groups as in the regression
arena (`benchmarks.arena.sets.SetSpec`), and how the target becomes classes. Where the target is a
number, its cuts come from outside the data (an official limit, the source's own advice), not from
its quantiles.
"""

from dataclasses import dataclass

from benchmarks.arena.sets import Cycle, Date, SetSpec

MAX_ROWS = 30_000  # larger sets are sampled, so that a run takes minutes


@dataclass(frozen=True)
class Values:
    """The values of the target column are the classes, as text."""


@dataclass(frozen=True)
class Cuts:
    """A numeric target, cut into intervals that contain their lower end.

    Attributes
    ----------
    edges : tuple of float
        Ascending; values below the first one have the first name.
    names : tuple of str
        One more than edges.
    """

    edges: tuple[float, ...]
    names: tuple[str, ...]


@dataclass(frozen=True)
class Reached:
    """Whether the target is at least the value of another column: "yes" or "no".

    Attributes
    ----------
    column : str
        The other column, which stays a predictor.
    """

    column: str


@dataclass(frozen=True)
class OneOf:
    """A class spread over several 0/1 columns; rows with no or several ones are left out.

    Attributes
    ----------
    columns : tuple of str
        The 0/1 columns, the target of the table among them; none is a predictor.
    names : tuple of str
        The class that each of them stands for.
    """

    columns: tuple[str, ...]
    names: tuple[str, ...]


Rule = Values | Cuts | Reached | OneOf


@dataclass(frozen=True)
class ClassSpec:
    """One entry of the table of sets.

    Attributes
    ----------
    table : SetSpec
        File, target, groups and predictors.
    rule : Values, Cuts, Reached or OneOf
        How the target becomes classes.
    """

    table: SetSpec
    rule: Rule = Values()


_ADULT = "bench/adult-income/adult_income.csv.gz"
_ADULT_LEFT_OUT = (
    "fnlwgt",  # weight of the survey, no trait of the person
    "split",  # whether UCI has the row in its training or test file
    "education",  # education-num in words
)
_FLIGHTS = "bench/nycflights/nycflights.csv.gz"
_FLIGHTS_LEFT_OUT = (
    "air_time",  # known only after landing
    "dep_time",  # sched_dep_time plus dep_delay, as a clock number
    "sched_dep_time",  # hour and minute in one clock number
    "sched_arr_time",  # a clock number that jumps from 2359 to 0
    "day",  # day of the month
)
_WINE = "bench/wine-quality/wine_quality.csv.gz"

_TABLE: tuple[ClassSpec, ...] = (
    # Targets that are classes in the source.
    ClassSpec(
        SetSpec(
            name="landmine",
            file="bench/landmine/landmine.csv.gz",
            target="landmine",
            by=("field",),
        )
    ),
    ClassSpec(
        SetSpec(
            name="contraception",
            file="bench/contraception-bangladesh/contraception_bangladesh.csv",
            target="use",
            by=("district",),
            left_out=("woman",),  # identifier
        )
    ),
    ClassSpec(
        SetSpec(
            name="adult_occupation",
            file=_ADULT,
            target="income",
            by=("occupation",),
            left_out=_ADULT_LEFT_OUT,
            sample=MAX_ROWS,  # of 48,842
        )
    ),
    ClassSpec(
        SetSpec(
            name="adult_workclass",
            file=_ADULT,
            target="income",
            by=("workclass",),
            left_out=_ADULT_LEFT_OUT,
            sample=MAX_ROWS,  # of 48,842
        )
    ),
    ClassSpec(
        SetSpec(
            name="adult_country",
            file=_ADULT,
            target="income",
            by=("native-country",),
            left_out=_ADULT_LEFT_OUT,
            sample=MAX_ROWS,  # of 48,842; nine rows in ten are of one country
        )
    ),
    ClassSpec(
        SetSpec(
            name="diamonds_cut",  # five classes
            file="bench/diamonds/diamonds.csv.gz",
            target="cut",
            by=("clarity",),
            sample=MAX_ROWS,  # of 53,940
        )
    ),
    ClassSpec(
        SetSpec(
            name="bikeshare_weather",  # four classes, one of 3 rows in 17,379
            file="bench/bikeshare-hour/bikeshare_hour.csv.gz",
            target="weathersit",
            by=("mnth",),
            left_out=(
                "instant",  # identifier
                "dteday",  # told by yr, mnth and weekday
                "workingday",  # one minus weekend minus holiday
                "cnt",  # follows from the weather
            ),
            categories=("season", "weekday"),
            cycles=(Cycle("hr", 24),),
        )
    ),
    ClassSpec(
        SetSpec(
            name="school_band",  # a pupil's band of verbal reasoning, from exam score and traits
            file="bench/school-ilea/school_ilea.csv.gz",
            target="x10",
            by=("school",),
            left_out=(
                "x8",  # the target
                "x9",  # the target
                "x5",  # percentage of the school's pupils in the high band
            ),
        ),
        OneOf(("x8", "x10", "x9"), ("low", "middle", "high")),
    ),
    # Numbers with cuts that are made outside the data.
    ClassSpec(
        SetSpec(name="wine_good", file=_WINE, target="quality", by=("color",)),
        Cuts((6,), ("below 6", "6 and more")),  # the cut of the data's own page
    ),
    ClassSpec(
        SetSpec(name="wine_grade", file=_WINE, target="quality", by=("color",)),
        Cuts((6, 7), ("low", "middle", "high")),  # the middle is the mark 6, the commonest one
    ),
    ClassSpec(
        SetSpec(
            name="radon_action",
            file="bench/radon-minnesota/radon_minnesota.csv",
            target="log.radon",
            by=("county.name",),
            left_out=("county",),  # number of the group
        ),
        # The US recommends action from 4 pCi/l on; log 4, a little less because of rounding.
        Cuts((1.38629,), ("below", "above")),
    ),
    ClassSpec(
        SetSpec(
            name="flights_late",  # before take-off: without the delay of departure
            file=_FLIGHTS,
            target="arr_delay",
            by=("carrier",),
            left_out=(*_FLIGHTS_LEFT_OUT, "dep_delay"),
            categories=("month",),
            sample=MAX_ROWS,  # of 50,000
        ),
        Cuts((15,), ("on time", "late")),  # late by the rule of the US statistics: 15 minutes
    ),
    ClassSpec(
        SetSpec(
            name="flights_status",  # after take-off: with the delay of departure
            file=_FLIGHTS,
            target="arr_delay",
            by=("dest",),
            left_out=_FLIGHTS_LEFT_OUT,
            categories=("month",),
            sample=MAX_ROWS,  # of 50,000
        ),
        Cuts((0, 15), ("early", "on time", "late")),
    ),
    ClassSpec(
        SetSpec(
            name="ppge_reached",
            file="paper/ppge/garments_worker_productivity.csv",
            target="actual_productivity",
            by=("team",),
            left_out=("date",),  # told by quarter (a week of the month) and day
        ),
        Reached("targeted_productivity"),  # the team's target of the day
    ),
    ClassSpec(
        SetSpec(
            name="dfoip_ordered",
            file="paper/dfoip/daily_orders_top100_items.csv.gz",
            target="order",
            by=("itemID",),
            left_out=(
                "salesPrice_day_mean",  # missing exactly where nothing is ordered
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
        Cuts((1,), ("none", "some")),
    ),
    ClassSpec(
        SetSpec(
            name="cfgsf_sold",  # half of the groups sell something every day: one class
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
        Cuts((1e-9,), ("none", "some")),
    ),
)

SETS: dict[str, ClassSpec] = {spec.table.name: spec for spec in _TABLE}
