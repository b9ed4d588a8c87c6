"""The rule for each column, by its type and values."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conjoin.errors import DataError
from conjoin.tables import collect
from conjoin.tables.encoding import Category, Date, Flag, LeftOut, Number
from conjoin.tables.frame import in_memory, to_frame, with_castable_types
from conjoin.tables.learn import learn
from conjoin.tables.roles import Roles
from tests.tables.helpers import refused

ROLES = Roles("y", ("by",))


def decide(values, missing="indicator"):
    """The rule for a column of values."""
    n = len(values)
    table = {"by": np.arange(n) % 2, "y": np.arange(float(n)), "v": values, "x": np.arange(n)}
    frame = with_castable_types(in_memory(to_frame(table)), ["v"])
    return learn(frame, ROLES, missing).encodings[0]


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
    assert left == LeftOut("v", "text with 60 different values, most of them rare")
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


@pytest.mark.parametrize("word", ["cheap", "NA", "1_000", "\uff11", "1,5"])
def test_numbers_written_as_text_with_a_few_words(frame, word):
    prices = [word if i in (3, 50) else str(x) for i, x in enumerate(frame["price"])]
    refused(frame.assign(price=prices), f"Column 'price' mixes numbers with text such as '{word}'")


def test_columns_that_would_give_features_of_one_name(frame):
    gaps = frame["price"].where(np.arange(90) % 5 > 0)
    both = frame.assign(**{"price": gaps, "price missing": np.arange(90.0)})
    refused(both, "Columns 'price' and 'price missing' would both give a feature named")
    both = frame.assign(**{"c": ["x", "y", "z"] * 30, "c=y": np.arange(90.0)})
    refused(both, "Columns 'c' and 'c=y' would both give a feature named 'c=y'")


def test_numbers_that_stand_for_categories(frame):
    frame["kind"] = pd.Categorical(np.arange(90) % 3)
    assert collect(frame, target="sales", by="store").features[2:] == ("kind=1", "kind=2")
    frame["range"] = pd.cut(frame["price"], [0, 9, 11, 30])
    assert "range=(11, 30]" in collect(frame, target="sales", by="store").features


def test_an_odd_date_loses_the_value_and_not_the_column():
    days = pd.date_range("2020-01-01", periods=60).strftime("%Y-%m-%d").tolist()
    days[7] = days[9] = "2020-13-45"
    found = decide(days)
    assert isinstance(found, Date)
    assert (found.format, found.odd, found.unread) == ("%Y-%m-%d", ("2020-13-45",), 2)
    assert "2 values are no dates (such as '2020-13-45') and counted as missing" in found.describe()
    table = {"d": days, "by": ["a", "b"] * 30, "y": np.arange(60.0) % 7}
    with pytest.warns(UserWarning):
        rows = collect(table, target="y", by="by").X
    assert np.isfinite(rows).all()
    with pytest.warns(UserWarning):
        kept = collect(table, target="y", by="by", missing="drop")
    assert len(kept.y) == 58
    with pytest.raises(DataError, match="lacks 2 of 60 values"):
        decide(days, "raise")


@pytest.mark.parametrize("values", [[1, 2, 3] * 20, [1.0, 2.0, 3.0] * 19 + [None, 1, 2]])
def test_numbers_can_be_categories(values):
    table = {"k": values, "x": np.arange(60.0), "by": ["a", "b"] * 30, "y": np.arange(60.0) % 7}
    frame = with_castable_types(in_memory(to_frame(table)), ["y"])
    found = learn(frame, Roles("y", ("by",), category=("k",))).encodings[0]
    assert isinstance(found, Category)
    assert found.number
    assert found.reference in ("1", "2")
    assert set(found.levels) | {found.reference} == {"1", "2", "3"}


@pytest.mark.parametrize(
    ("values", "words"),
    [([0.5, 1.5] * 20, "fractions"), ([datetime.date(2020, 1, 1)] * 40, "whose type is Date")],
)
def test_fractions_and_dates_are_no_categories(values, words):
    table = {"k": values, "x": np.arange(40.0), "by": ["a", "b"] * 20, "y": np.arange(40.0)}
    frame = with_castable_types(in_memory(to_frame(table)), ["y"])
    with pytest.raises(DataError, match=words):
        learn(frame, Roles("y", ("by",), category=("k",)))
