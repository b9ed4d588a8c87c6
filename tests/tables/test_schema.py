"""What is decided of a column, and that the decision is plain data which is replayed as it is."""

import datetime
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conjoin.errors import DataError
from conjoin.tables.encoding import Category, Date, Flag, LeftOut, Number
from conjoin.tables.frame import fitted, in_memory, to_frame
from conjoin.tables.schema import Roles, Schema, date_format, learn

ROLES = Roles("y", ("by",))


def decide(values, missing="indicator"):
    """The rule for a column of values."""
    n = len(values)
    table = {"by": np.arange(n) % 2, "y": np.arange(float(n)), "v": values, "x": np.arange(n)}
    return learn(fitted(in_memory(to_frame(table)), ["v"]), ROLES, missing).encodings[0]


def test_numbers():
    assert decide([1.0, 2.0, 6.0]) == Number("v", 3.0)
    assert decide([1, 2, 6]) == Number("v", 3.0)
    assert decide([1.0, 2.0, 3.0, 60.0, *[None] * 5]) == Number("v", 2.5, True, False, 5)
    assert decide([1.0, 2.0, 3.0, 60.0, *[None] * 4]) == Number("v", 2.5, False, False, 4)
    assert decide([1.0, 2.0, 60.0, *[None] * 5], "median") == Number("v", 2.0, False, False, 5)
    assert decide([None] * 4) == LeftOut("v", "all values are missing")
    assert decide([np.nan] * 4) == LeftOut("v", "all values are missing")


def test_flags():
    assert decide([True, False] * 5) == Flag("v")
    assert decide([True, False, *[None] * 5]) == Flag("v", True)
    assert decide([True, False, *[None] * 4]) == Flag("v")
    assert decide([True, False, *[None] * 5], "median") == Flag("v")
    assert decide(["True", "false", "TRUE"] * 5) == Flag("v")


def test_the_most_frequent_level_is_the_reference_and_rare_ones_are_pooled():
    values = ["red"] * 50 + ["blue"] * 30 + ["green"] * 15 + ["pink"] * 4 + ["grey"]
    assert decide(values) == Category("v", "red", ("blue", "green"), True, 2)
    assert decide(values + [None] * 40) == Category(
        "v", "red", ("(missing)", "blue", "green"), True, 2
    )
    assert decide(values + ["", " "] * 30) == Category(
        "v", "(missing)", ("red", "blue", "green"), True, 2
    )
    assert decide(["b", "a"] * 10) == Category("v", "a", ("b",))
    assert decide(["a"] * 19 + ["b"]) == Category("v", "a", ("b",))
    assert decide(["a"] * 10) == LeftOut("v", "it is 'a' in every row")
    assert decide(["", None] * 10) == LeftOut("v", "all values are missing")


def test_a_level_named_like_ours():
    values = ["(other)"] * 50 + ["a"] * 30 + ["b"] * 30 + ["c"]
    assert decide(values) == Category("v", "a", ("b",), True, 2)
    values = ["(missing)"] * 5 + [None] * 4 + ["a"] * 8
    assert decide(values) == Category("v", "(missing)", ("a",))


def test_texts_with_many_levels():
    names = [f"name {i}" for i in range(60)]
    left = decide(names)
    assert left == LeftOut("v", "text with 60 different values, few of them frequent")
    often = decide(["a"] * 300 + ["b"] * 100 + names)
    assert often == Category("v", "a", ("b",), True, 60)
    most = decide([f"level {i:02d}" for i in range(30) for _ in range(30 - i)])
    assert isinstance(most, Category)
    assert len(most.levels) == 19 and most.pooled == 10


def test_numbers_written_as_text():
    assert decide([str(i) for i in range(21)]) == Number("v", 10.0, text=True)
    assert isinstance(decide([str(i % 20) for i in range(200)]), Category)
    gaps = decide(["", None, " ", *(str(i) for i in range(41)), "NaN", "nan"])
    assert gaps == Number("v", 20.0, True, True, 5)
    with pytest.raises(DataError, match="Column 'v' mixes numbers with text such as 'NA'"):
        decide([*(str(i) for i in range(41)), "NA"])


def test_dates():
    day = datetime.date(2020, 1, 1)
    weeks = [day + datetime.timedelta(7 * i) for i in range(60)]
    assert decide(weeks).parts == ("years", "season", "weekday")
    assert decide([day + datetime.timedelta(i) for i in range(30)]).parts == ("years", "weekday")
    assert decide([day + datetime.timedelta(i) for i in range(5)]).parts == ("years",)
    midnights = [datetime.datetime(2020, 1, 1 + i) for i in range(5)]
    assert decide(midnights).parts == ("years",)
    noon = [datetime.datetime(2020, 1, 1 + i, 12) for i in range(5)]
    assert decide(noon) == Date("v", ("years", "time of day"), round(2020 + 2 / 365.25, 9))
    assert decide([None] * 3 + weeks).fill == decide(weeks).fill


@pytest.mark.parametrize(
    ("written", "format"),
    [
        ("%Y-%m-%d", "%Y-%m-%d"),
        ("%d/%m/%Y", "%d/%m/%Y"),
        ("%m/%d/%Y", "%m/%d/%Y"),
        ("%d.%m.%Y", "%d.%m.%Y"),
        ("%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S"),
        ("%d/%m/%Y %H:%M", "%d/%m/%Y %H:%M"),
    ],
)
def test_dates_written_as_text(written, format):
    start = datetime.datetime(2020, 1, 1)
    dates = [start + datetime.timedelta(hours=31 * i) for i in range(60)]
    found = decide([d.strftime(written) for d in dates] + ["", None])
    assert isinstance(found, Date)
    assert found.format == format
    assert ("time of day" in found.parts) == ("%H" in format)


def test_one_text_of_many_that_is_no_date():
    start = datetime.datetime(2000, 1, 1)
    dates = [str(start + datetime.timedelta(minutes=7 * i)) for i in range(50_000)]
    assert date_format(dates) == "%Y-%m-%d %H:%M:%S"
    dates[25_001] = "2001-13-01 00:00:00"
    assert date_format(dates) is None
    assert isinstance(decide(dates), LeftOut)


def test_columns_that_are_not_used_are_not_needed_later():
    table = {"by": [0, 1] * 10, "y": np.arange(20.0), "a": np.arange(20.0), "b": ["x"] * 20}
    schema = learn(in_memory(to_frame({**table, "c": [1.0] * 20})), ROLES).without(["c"])
    assert schema.features == schema.columns == ("a",)
    assert schema.encode(to_frame({"a": [3.0]})).tolist() == [[3.0]]


def test_roles_that_are_not_there():
    frame = in_memory(to_frame({"shop": [1], "sales": [2], "price": [3]}))
    for roles, message in (
        (Roles("sale", ("shop",)), "target='sale' is not a column; did you mean 'sales'"),
        (Roles("sales", ("shops",)), "by='shops' is not a column; did you mean 'shop'"),
        (Roles("sales", ("shop",), ("prize",)), "features='prize' is .*did you mean 'price'"),
        (Roles("sales", ("shop",), None, "w"), "weights='w' is not a column; columns are"),
    ):
        with pytest.raises(DataError, match=message):
            learn(frame, roles)


texts = st.one_of(
    st.sampled_from(
        ["it's", 'a "b"', "\n", "<img src=x onerror=alert(1)>", "(other)", "x missing"]
    ),
    st.text(min_size=1, max_size=8),
)
numbers = st.floats(allow_nan=False, allow_infinity=False)
encodings = st.one_of(
    st.builds(Number, texts, numbers, st.booleans(), st.booleans(), st.integers(0, 99)),
    st.builds(Flag, texts, st.booleans()),
    st.builds(
        Category, texts, texts, st.lists(texts, max_size=4).map(tuple), st.booleans(),
        st.integers(0, 9),
    ),
    st.builds(
        Date, texts, st.sampled_from([("years",), ("years", "season")]), numbers,
        st.none() | st.just("%d.%m.%Y"),
    ),
    st.builds(LeftOut, texts, texts),
)  # fmt: skip


@given(
    st.lists(encodings, max_size=5).map(tuple),
    st.lists(texts, max_size=3).map(tuple),
    st.none() | st.lists(st.text(min_size=9, max_size=12), min_size=1, unique=True).map(tuple),
    st.none() | texts,
)
def test_plain_values_and_back(rules, constant, features, weights):
    features = None if features is None else tuple(f"feature {name}" for name in features)
    schema = Schema(Roles("the target", ("by 1", "by 2"), features, weights), rules, constant)
    plain = json.loads(json.dumps(schema.to_plain()))
    assert Schema.from_plain(plain) == schema


cells = st.fixed_dictionaries(
    {
        "n": st.none() | st.floats(-1e6, 1e6),
        "i": st.integers(-(2**62), 2**62),
        "f": st.none() | st.booleans(),
        "c": st.none() | st.sampled_from(["a", "b ", "", "it's", "\u00fc\n"]),
        "d": st.none() | st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 1, 1)),
    }
)


@settings(max_examples=20)
@given(st.lists(cells, min_size=12, max_size=30), st.randoms(use_true_random=False))
def test_rules_do_not_depend_on_the_order_of_rows_or_columns_or_the_kind_of_table(rows, random):
    table = pd.DataFrame(
        {
            "n": pd.array([row["n"] for row in rows], dtype="Float64"),
            "i": np.array([row["i"] for row in rows]),
            "f": pd.array([row["f"] for row in rows], dtype="boolean"),
            "c": pd.array([row["c"] for row in rows], dtype="str"),
            "d": pl.Series([row["d"] for row in rows], dtype=pl.Date).to_arrow().to_pandas(),
            "x": np.arange(len(rows)),
            "by": np.arange(len(rows)) % 2,
            "y": np.arange(len(rows)),
        }
    )
    frame = in_memory(to_frame(table))
    schema = learn(frame.drop("i"), ROLES)
    X = schema.encode(frame)
    assert np.isfinite(X).all()
    order = list(range(len(rows)))
    random.shuffle(order)
    names = list(table)
    random.shuffle(names)
    shuffled = table.iloc[order][names]
    assert schema.encode(in_memory(to_frame(shuffled))).tobytes() == X[order].tobytes()
    assert schema.encode(in_memory(to_frame(pl.from_pandas(shuffled)))).tobytes() == (
        X[order].tobytes()
    )
    again = learn(in_memory(to_frame(shuffled.drop(columns="i"))), ROLES)
    kinds = {e.name: (e.kind, e.features()) for e in schema.encodings}
    assert {e.name: (e.kind, e.features()) for e in again.encodings} == kinds
