"""The sets of the classification side: what is read, what the classes are, and why.

`SETS` maps the name of a set to its entry: a table (`benchmarks.arena.specs.SetSpec`) and the rule
that makes classes of its target. Where the target is a number, its cuts come from outside the data
(an official limit, the advice of the data's source), not from its quantiles.
"""

from dataclasses import dataclass

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
    SetSpec,
)

# Larger sets are sampled: every contestant then needs minutes, not hours, for all sets. Half of the
# regression side's limit, since a logistic regression takes many passes over its rows.
MAX_ROWS = 30_000


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
            file=DIAMONDS,
            target="cut",
            by=("clarity",),
            sample=MAX_ROWS,  # of 53,940
        )
    ),
    ClassSpec(
        SetSpec(
            name="bikeshare_weather",  # four classes, one of 3 rows in 17,379
            file=BIKE_HOURS,
            target="weathersit",
            by=("mnth",),
            left_out=(
                "instant",  # identifier
                "dteday",  # follows from yr, mnth and weekday
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
            file=SCHOOLS,
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
        SetSpec(name="wine_good", file=WINE, target="quality", by=("color",)),
        Cuts((6,), ("below 6", "6 and more")),  # the cut of the data's own page
    ),
    ClassSpec(
        SetSpec(name="wine_grade", file=WINE, target="quality", by=("color",)),
        Cuts((6, 7), ("low", "middle", "high")),  # the middle is the mark 6, the commonest one
    ),
    ClassSpec(
        SetSpec(
            name="radon_action",
            file=RADON,
            target="log.radon",
            by=("county.name",),
            left_out=RADON_LEFT_OUT,
        ),
        # The US recommends action from 4 pCi/l on; log 4, a little less because of rounding.
        Cuts((1.38629,), ("below", "above")),
    ),
    ClassSpec(
        SetSpec(
            name="flights_late",  # before take-off: without the delay of departure
            file=FLIGHTS,
            target="arr_delay",
            by=("carrier",),
            left_out=(*FLIGHTS_LEFT_OUT, "dep_delay"),
            categories=("month",),
            sample=MAX_ROWS,  # of 50,000
        ),
        Cuts((15,), ("on time", "late")),  # late by the rule of the US statistics: 15 minutes
    ),
    ClassSpec(
        SetSpec(
            name="flights_status",  # after take-off: with the delay of departure
            file=FLIGHTS,
            target="arr_delay",
            by=("dest",),
            left_out=FLIGHTS_LEFT_OUT,
            categories=("month",),
            sample=MAX_ROWS,  # of 50,000
        ),
        Cuts((0, 15), ("early", "on time", "late")),
    ),
    ClassSpec(
        SetSpec(
            name="ppge_reached",
            file=PRODUCTIVITY,
            target="actual_productivity",
            by=("team",),
            left_out=PRODUCTIVITY_LEFT_OUT,
        ),
        Reached("targeted_productivity"),  # the team's target of the day
    ),
    ClassSpec(
        SetSpec(
            name="dfoip_ordered",
            file=DAILY_ORDERS,
            target="order",
            by=("itemID",),
            left_out=DAILY_ORDERS_LEFT_OUT,
            dates=(Date("date", ("days", "weekday")),),
        ),
        Cuts((1,), ("none", "some")),
    ),
    ClassSpec(
        SetSpec(
            name="cfgsf_sold",  # half of the groups sell something every day: one class
            file=STORE_FAMILIES,
            target="sales",
            by=("store_type", "family"),
            left_out=STORE_FAMILIES_LEFT_OUT,
            dates=(Date("date", ("days", "weekday")),),
            sample=MAX_ROWS,  # of 114,048
        ),
        Cuts((1e-9,), ("none", "some")),
    ),
)

SETS: dict[str, ClassSpec] = {spec.table.name: spec for spec in _TABLE}
