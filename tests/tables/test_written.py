"""Numbers that are read as text: what is one, what is none, and what turns them into numbers."""

import numpy as np
import pandas as pd
import pytest

from conjoin.errors import DataError
from conjoin.report.notices import notices
from conjoin.result.findings import Findings
from conjoin.tables.collect import collect
from conjoin.tables.encoding import Category, from_plain, to_plain
from conjoin.tables.frame import to_frame
from conjoin.tables.written import as_numbers, style_of, written_numbers


@pytest.mark.parametrize(
    ("text", "style"),
    [("181,0", "comma"), ("-0,5", "comma"), ("1.234,50", "comma"), ("1,234", "thousands"),
     ("1,234.50", "thousands"), ("1 234 567", "thousands"), ("3650 g", "unit"), ("12 %", "unit"),
     ("12%", "unit"), ("$5", "unit"), ("$1,234.50", "unit"), ("EUR 3,5", "unit"),
     ("3,5 kg", "unit"),
     ("5", ""), ("5.1", ""), ("1e5", ""), ("inf", ""), ("a1", ""), ("2019-01-02", ""), ("1:30", ""),
     ("1,2,3", ""), ("5-10", ""), ("1st", ""), ("SKU 5", ""), ("#5", ""), ("north", ""), ("", "")],
)  # fmt: skip
def test_styles(text, style):
    assert style_of(text) == style


@pytest.mark.parametrize(
    "texts",
    [["1A", "2B", "3C", "4D", "5E", "6F", "7G"], ["36 months", "60 months"], ["0,5", "1,5"],
     ["1st", "2nd", "3rd", "4th", "5th", "6th"], ["1,5", "2,5", "3,5", "north", "south"],
     [f"{k:02d}h" for k in range(24)], [f"{k}{'ABC'[k % 3]}" for k in range(60)],
     ["1", "2", "3", "4"], []],
)  # fmt: skip
def test_categories_are_no_numbers(texts):
    assert written_numbers(dict.fromkeys(texts, 3)) == ""


@pytest.mark.parametrize("form", ["{} g", "{} %", "${}", "{},5 kg"])
def test_numbers_with_one_unit(form):
    texts = [form.format(k) for k in range(1, 31)]
    assert written_numbers({text: 2 for text in texts} | {"north": 2}) in texts
    assert written_numbers({text: 2 for text in texts[:15]}) == ""


def test_a_comma_of_thousands_or_of_decimals():
    assert written_numbers({"0,5": 1, "7,25": 1, "1,5": 1, "12,345": 9}) in ("0,5", "1,5", "7,25")
    assert written_numbers({"1,234": 2, "2,345": 1, "2,345,678": 1}) == "1,234"
    assert written_numbers({"5 g": 3} | {f"{k}": 1 for k in range(20)}) == ""  # a typo


@pytest.mark.parametrize(
    ("text", "number"),
    [("181,0", 181.0), ("1.234,50", 1234.5), ("1,234.50", 1234.5), ("3650 g", 3650.0),
     ("$1,234.50", 1234.5), ("3,5 kg", 3.5), ("-0,5", -0.5)],
)  # fmt: skip
def test_the_next_step_gives_numbers(text, number):
    duckdb = pytest.importorskip("duckdb")
    data = pd.DataFrame({"v": [text, "?"]})
    code = as_numbers("v", text, from_files=False)
    values = eval(code, {"pandas": pd, "data": data})
    assert values[0] == number and np.isnan(values[1])
    query = as_numbers("v", text, from_files=True).removeprefix('query="').removesuffix('"')
    assert duckdb.sql(query).fetchall() == [(number,), (None,)]


def table(values, rows=120):
    """Return a table of two datasets with these values in turn, twice as column v."""
    rng = np.random.default_rng(0)
    v = [values[k % len(values)] for k in range(rows)]
    return {"g": ["a", "b"] * (rows // 2), "v": v, "x": rng.normal(size=rows), "y": range(rows)}


@pytest.mark.filterwarnings("ignore:Columns left out")
@pytest.mark.parametrize("count", [10, 55])
def test_a_column_with_decimal_commas_has_a_notice(count):
    schema = collect(table([f"{k},5" for k in range(count)]), target="y", by="g").schema
    (text,) = notices(Findings(from_files=True), schema)
    assert text.startswith("Column 'v' holds numbers with a decimal comma, such as '0,5', but is ")
    assert "TRY_CAST(regexp_replace(v, ',', '.', 'g') AS DOUBLE)" in text
    assert from_plain(to_plain(schema.encodings[0])) == schema.encodings[0]
    assert "written" not in to_plain(Category("v", "a", ("b",)))


def test_numbers_for_a_column_that_was_text_are_refused():
    schema = collect(table(["1,5", "2,5", "3,5"]), target="y", by="g").schema
    with pytest.raises(DataError, match="Column 'v' of X was text such as '1,5' at fitting"):
        schema.encode(to_frame({"v": [1.5], "x": [0.0]}))


@pytest.mark.parametrize("family", ["auto", "gaussian"])
@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([*map(str, range(100)), "3650 g"], r"mixes numbers with text .* '3650 g' \(row 101\)"),
        ([*map(str, range(60)), "?", "-"], r"such as '-' \(rows 61, 62, 123 and 124\)"),
        ([f"{k},5" for k in range(60)], "holds numbers with a decimal comma, such as '0,5'"),
        ([f"{k}.5" for k in range(60)], "holds numbers written as text, such as '0.5'"),
    ],
)  # fmt: skip
def test_a_target_of_text_that_holds_numbers(values, words, family):
    with pytest.raises(DataError, match="Target 'v' " + ".*" * words.startswith("such") + words):
        collect(table(values, 124), target="v", by="g", family=family)


def test_a_target_of_many_names_keeps_its_message():
    with pytest.raises(DataError, match="has 60 classes in 120 rows"):
        collect(table([f"name {k}" for k in range(60)]), target="v", by="g")


def test_classes_with_decimal_commas_have_a_notice():
    schema = collect(table(["1,5", "2,5", "3,5"]), target="v", by="g").schema
    (text,) = notices(Findings(), schema)
    assert text.startswith("Target 'v' holds numbers with a decimal comma, such as '1,5', but is ")
