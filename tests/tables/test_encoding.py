"""Every kind of column: exact features on a small frame, and the same rules on new rows."""

import datetime
import math

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from conjoin.errors import DataError
from conjoin.tables.encoding import Category, Date, Flag, LeftOut, Number, from_plain, to_plain
from conjoin.tables.frame import in_memory, to_frame
from conjoin.tables.roles import Roles
from conjoin.tables.schema import Schema

ROLES = Roles("y", ("by",))


def encode(values, encoding):
    """The features that a rule makes of a column v."""
    table = values if isinstance(values, dict) else {"v": values}
    return Schema(ROLES, (encoding,)).encode(in_memory(to_frame(table, "X"))).tolist()


def refused(values, encoding, message):
    with pytest.raises(DataError, match=message) as caught:
        encode(values, encoding)
    assert "\n" not in str(caught.value)


NUMBER = Number("v", 5.0)
MARKED = Number("v", 5.0, indicator=True, missing=7)
FLAG = Flag("v", indicator=True)
CATEGORY = Category("v", "red", ("blue", "(missing)"), other=True, pooled=3)
DAYS = Date("v", ("years", "season", "weekday"), 2020.0)
HOURS = Date("v", ("years", "time of day"), 2020.0)
WRITTEN = Date("v", ("years",), 2020.0, "%d.%m.%Y")


@pytest.mark.parametrize(
    "values",
    [
        [1.5, None, 3.0],
        np.array([1.5, np.nan, 3.0]),
        np.ma.masked_array([1.5, 2.0, 3.0], mask=[False, True, False]),
        pd.array([1.5, None, 3.0], dtype="Float64"),
        pd.Series(["1.5", None, "3"]),
        ["1.5", "nan", "3e0"],
    ],
)
def test_numbers(values):
    assert encode(values, NUMBER) == [[1.5], [5.0], [3.0]]
    assert encode(values, MARKED) == [[1.5, 0.0], [5.0, 1.0], [3.0, 0.0]]
    assert (
        Number("v", 5.0, missing=1).describe() == "number; 1 missing value filled with the median 5"
    )
    assert MARKED.features() == ("v", "v missing")
    assert MARKED.describe() == (
        "number; 7 missing values filled with the median 5, plus an indicator column"
    )
    assert NUMBER.describe() == "number"


def test_numbers_of_other_types():
    assert encode([1, 2], NUMBER) == [[1.0], [2.0]]
    assert encode([True, False], NUMBER) == [[1.0], [0.0]]
    assert encode([2**60 + 1], NUMBER) == [[float(2**60)]]
    assert encode(np.array([2**63], dtype=np.uint64), NUMBER) == [[float(2**63)]]
    assert encode(np.float16([1.5]), NUMBER) == [[1.5]]
    assert encode([None, None], MARKED) == [[5.0, 1.0], [5.0, 1.0]]
    assert encode(pd.Categorical([3, 4]), NUMBER) == [[3.0], [4.0]]
    assert encode([], NUMBER) == []


def test_numbers_written_as_text():
    text = Number("v", 5.0, indicator=True, text=True, missing=2)
    values = [" 1.5 ", "", "  ", None, "-2", "nan"]
    expected = [[1.5, 0.0], [5.0, 1.0], [5.0, 1.0], [5.0, 1.0], [-2.0, 0.0], [5.0, 1.0]]
    assert encode(values, text) == expected
    assert encode([1.5, None], text) == [[1.5, 0.0], [5.0, 1.0]]
    assert text.describe().startswith("number written as text; 2 missing values")
    refused(["1", "dear"], text, "Column 'v' of X was a number at fitting, .* such as 'dear'")


def test_flags():
    assert encode([True, None, False], FLAG) == [[1.0, 0.0], [0.5, 1.0], [0.0, 0.0]]
    assert encode([True, None, False], Flag("v")) == [[1.0], [0.5], [0.0]]
    assert FLAG.features() == ("v", "v missing")
    assert encode([1, 0], FLAG) == [[1.0, 0.0], [0.0, 0.0]]
    assert encode([1.0, np.nan, 0.0], FLAG) == [[1.0, 0.0], [0.5, 1.0], [0.0, 0.0]]
    assert encode({"v": pl.Series([1.0, float("nan")])}, FLAG) == [[1.0, 0.0], [0.5, 1.0]]
    assert encode(["True", "false", " "], FLAG) == [[1.0, 0.0], [0.0, 0.0], [0.5, 1.0]]
    assert encode([None], FLAG) == [[0.5, 1.0]]
    assert FLAG.describe() == "true/false, plus an indicator column for missing values"
    for odd in ([7], ["maybe"], [0.5]):
        refused(odd, FLAG, "Column 'v' of X has a value that is neither true nor false")


@pytest.mark.parametrize(
    "values",
    [
        ["blue", "red", None, " blue ", "", "green"],
        pd.Categorical(["blue", "red", None, "blue", None, "green"]),
        pd.Series(["blue", "red", None, "blue", np.nan, "green"], dtype=object),
        pl.Series(["blue", "red", None, "blue", None, "green"], dtype=pl.Categorical),
        pa.array(["blue", "red", None, "blue", None, "green"]).dictionary_encode(),
    ],
)
def test_categories(values):
    table = pa.table({"v": values}) if isinstance(values, pa.Array) else {"v": values}
    frame = in_memory(to_frame(table, "X"))
    found = Schema(ROLES, (CATEGORY,)).encode(frame).tolist()
    blue, red, missing, other = [1.0, 0, 0], [0.0, 0, 0], [0.0, 1, 0], [0.0, 0, 1]
    assert found == [blue, red, missing, blue, missing, other]
    assert CATEGORY.features() == ("v=blue", "v=(missing)", "v=(other)")
    assert CATEGORY.describe() == (
        "category; 3 indicator columns, reference 'red'; 3 rare categories pooled as '(other)'"
    )


def test_categories_that_were_not_in_the_training_rows():
    plain = Category("v", "red", ("blue",))
    assert encode(["green", None, "blue"], plain) == [[0.0], [0.0], [1.0]]
    assert encode([None, None], plain) == [[0.0], [0.0]]
    assert encode([1, 2], Category("v", "1", ("2",))) == [[0.0], [1.0]]
    assert encode(pd.Categorical([1, 2]), Category("v", "1", ("2",))) == [[0.0], [1.0]]
    assert encode([None], CATEGORY) == [[0.0, 1.0, 0.0]]


@pytest.mark.parametrize(
    "level", ["it's", 'a "quote"', "two\nlines", "\u00fc\U0001f6b2", "<img src=x onerror=alert(1)>"]
)
def test_levels_of_any_text(level):
    assert encode([level, "red"], Category("v", "red", (level,))) == [[1.0], [0.0]]
    assert encode({level: [1.0]}, Number(level, 0.0)) == [[1.0]]


def test_dates():
    values = [datetime.date(2020, 1, 1), datetime.date(2021, 7, 4), None]
    day = 184 / 365.25
    expected = [
        [2020.0, 0.0, 1.0, 0, 1, 0, 0, 0, 0],
        [2021 + day, *(round(f(2 * math.pi * day), 9) for f in (math.sin, math.cos)), *[0] * 5, 1],
        [2020.0, 0.0, 0.0, 0, 0, 0, 0, 0, 0],
    ]
    times = [None if v is None else datetime.datetime(v.year, v.month, v.day, 9) for v in values]
    zoned = pd.Series(pd.to_datetime(values)).dt.tz_localize("Asia/Tokyo")
    series = pd.Series(pd.to_datetime(values))
    for form in (values, times, series, series.dt.as_unit("ns"), zoned, pl.Series(values)):
        assert encode({"v": form}, DAYS) == expected
    assert len(DAYS.features()) == 9
    assert DAYS.describe() == "date; used as years, season, weekday"
    assert encode([None, None], DAYS) == [expected[2]] * 2


def test_weekdays():
    week = [datetime.date(2024, 1, 1) + datetime.timedelta(i) for i in range(7)]
    found = np.array(encode(week, Date("v", ("years", "weekday"), 0.0)))[:, 1:]
    assert (found == np.vstack([np.zeros(6), np.eye(6)])).all()


def test_times_of_day():
    noon = [datetime.datetime(2020, 1, 1, 6), datetime.datetime(2020, 1, 1, 13, 30)]
    angle = 2 * math.pi * 13.5 / 24
    waves = [round(f(k * angle), 9) for k in (1, 2) for f in (math.sin, math.cos)]
    found = encode(noon, HOURS)
    assert found[0] == pytest.approx([2020.0, 1.0, 0.0, 0.0, -1.0], abs=1e-9)
    assert found[1] == [2020.0, *waves]
    midnight = [[2020.0, 0.0, 1.0, 0.0, 1.0]]
    assert encode([datetime.date(2020, 1, 1)], HOURS) == midnight
    assert HOURS.features()[1:] == (
        "v hour sin 1", "v hour cos 1", "v hour sin 2", "v hour cos 2",
    )  # fmt: skip


def test_dates_written_as_text():
    assert encode(["01.01.2021", "", None, " 01.01.2022 "], WRITTEN) == [
        [2021.0], [2020.0], [2020.0], [2022.0],
    ]  # fmt: skip
    refused(["2021-01-01"], WRITTEN, "was a date written as %d.%m.%Y at fitting, but now it is Str")
    refused(["01.01.2021", "soon"], WRITTEN, "String with values such as 'soon'")


@pytest.mark.parametrize(
    ("values", "encoding", "message"),
    [
        (["1", "cheap"], NUMBER, "'v' of X was a number .* String with values such as 'cheap'"),
        ([datetime.datetime(2020, 1, 1)], NUMBER, "'v' of X was a number at fitting, but now it"),
        ([[1, 2]], NUMBER, "'v' of X was a number at fitting, but now it is List"),
        ([[1, 2]], CATEGORY, "'v' of X was text at fitting, but now it is List"),
        ([3], DAYS, "'v' of X was a date at fitting, but now it is Int64 with values such as 3"),
        (["soon"], DAYS, "'v' of X was a date at fitting, but now it is String"),
        ([np.inf], NUMBER, "Column 'v' of X has an infinite value; correct or drop it"),
        ([1, "a"], NUMBER, "Column 'v' of X mixes types: int .1. and str .'a'."),
        ([1j], NUMBER, "Column 'v' of X holds values that cannot be used: complex"),
        ({"w": [1.0]}, NUMBER, "X lacks column 'v'; columns are 'w'"),
        ({"V ": [1.0], "vv": [2.0]}, NUMBER, "X lacks column 'v'; did you mean 'vv'"),
    ],
)
def test_columns_that_do_not_fit(values, encoding, message):
    values = {"v": pd.Series(values)} if isinstance(values, list) and values == [[1, 2]] else values
    refused(values, encoding, message)


def test_one_column_of_many_is_named():
    schema = Schema(ROLES, (NUMBER, Number("w", 0.0), Category("c", "x", ("y",))))
    frame = in_memory(to_frame({"v": [1.0], "w": ["dear"], "c": ["y"]}, "X"))
    with pytest.raises(DataError, match="Column 'w' of X was a number"):
        schema.encode(frame)


def test_left_out():
    left = LeftOut("v", "all values are missing")
    assert left.features() == left.expressions() == ()
    assert left.describe() == "left out: all values are missing"


@pytest.mark.parametrize("encoding", [NUMBER, MARKED, FLAG, CATEGORY, DAYS, WRITTEN])
def test_plain_values_and_back(encoding):
    assert from_plain(to_plain(encoding)) == encoding


def test_the_same_numbers_on_all_engines():
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(i * 17) for i in range(60)]
    columns = {
        "n": [None if i % 7 == 0 else i / 3 for i in range(60)],
        "f": [None if i % 11 == 0 else i % 2 == 0 for i in range(60)],
        "c": [["x", " y", "", None, "z"][i % 5] for i in range(60)],
        "t": ["" if i % 9 == 0 else str(i / 7) for i in range(60)],
        "d": [None if i % 13 == 0 else day for i, day in enumerate(days)],
        "s": [str(day) for day in days],
    }
    schema = Schema(
        ROLES,
        (
            Number("n", 4.5, True),
            Flag("f", True),
            Category("c", "x", ("y", "(missing)"), True),
            Number("t", 1.0, True, True),
            Date("d", ("years", "season", "weekday"), 2020.5),
            Date("s", ("years", "season", "weekday"), 2020.5, "%Y-%m-%d"),
        ),
    )
    arrow = pa.table(columns)
    tables = [
        arrow, arrow.to_pandas(), pl.from_arrow(arrow), pl.from_arrow(arrow).lazy(), columns,
        {name: np.array(values, dtype=object) for name, values in columns.items()},
        duckdb.from_arrow(arrow), arrow.to_pandas(types_mapper=pd.ArrowDtype),
    ]  # fmt: skip
    first, *others = (schema.encode(in_memory(to_frame(table, "X"))) for table in tables)
    for other in others:
        assert other.tobytes() == first.tobytes()
    there = nw.from_native(duckdb.from_arrow(arrow)).select(*schema.expressions()).collect()
    found = np.column_stack([there.get_column(name).to_numpy() for name in schema.features])
    assert found.tobytes() == first.tobytes()
