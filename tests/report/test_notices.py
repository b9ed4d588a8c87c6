"""The first lines: which rows, the answer without them, and what mends names and columns."""

import pytest

from conjoin.report.notices import answer_in_words, notices, rows_in_words, value_in_words
from conjoin.result.findings import Answer, Findings
from conjoin.tables.encoding import Category, Date
from conjoin.tables.roles import Roles
from conjoin.tables.schema import Schema
from conjoin.tables.suspects import Suspects
from conjoin.tables.wild import Outlier

SCHEMA = Schema(Roles("sales", ("city",)), ())
FEW, MANY = Answer(1, 24, "pooled", 1e12), Answer(24, 24, "auto", 4.0)


def test_several_rows_are_listed_up_to_five():
    rows = [Outlier(k, "Waco", "sales", 10.0**k) for k in range(1, 9)]
    assert rows_in_words(rows[:2]) == "rows 1 (Waco, sales 10) and 2 (Waco, sales 100)"
    assert rows_in_words(rows).endswith("5 (Waco, sales 100,000) and 3 more")
    both = [Outlier(3, "Waco", "y", 58.9), Outlier(3, "Waco", "z", 31.8)]
    assert rows_in_words(both) == "row 3 (Waco, y 58.9, z 31.8)"


def test_a_dataset_named_by_a_number_comes_with_its_column():
    row = [Outlier(3, "7", "sales", 1.0)]
    assert rows_in_words(row, ("hour",)) == "row 3 (hour 7, sales 1)"
    assert rows_in_words(row, ("hour", "day")) == "row 3 (7, sales 1)"


@pytest.mark.parametrize(
    ("value", "text"), [(-3.0, "-3"), (1234.5678901, "1234.57"), (1e-9, "1e-09"), (0.0, "0")]
)
def test_values(value, text):
    assert value_in_words(value) == text


def test_answers():
    assert answer_in_words(MANY, "gaussian") == "24 clusters, RMSE of predictions 2"
    one = answer_in_words(Answer(1, 1, "auto", 4.0), "gaussian")
    assert one == "one model, RMSE of predictions 2"
    assert answer_in_words(Answer(2, 2, "risk", 4.0, "apart"), "gaussian") == "keep apart, RMSE 2"
    told = answer_in_words(MANY, "gaussian", strategy=True)
    assert told == "24 clusters, RMSE of predictions 2 (lowest with 'auto')"


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({"left_out": True, "with_them": FEW, "without_them": MANY}, "Without row"),
        (
            {"with_them": MANY, "without_them": MANY},
            "the same: 24 clusters, RMSE of predictions 2 (with ",
        ),
        ({"left_out": True, "asked": True}, "left out: far from all others"),
        ({"asked": True}, "kept as asked"),
    ],
)
def test_every_choice_has_a_sentence(count, found, words):
    outliers = tuple(Outlier(k + 1, "Waco", "sales", 1e9) for k in range(count))
    (text,) = notices(Findings(outliers, **found), SCHEMA)
    assert words in text
    assert ("row 1 (" in text.lower()) == (count == 1)
    assert text.endswith("Row numbers count the rows of data, from 1.")


def test_errors_with_and_without_rows_are_not_to_be_compared():
    outliers = (Outlier(1, "Waco", "sales", 1e9),)
    (text,) = notices(Findings(outliers, True, False, FEW, MANY), SCHEMA)
    assert ". These errors are over different rows, so they cannot be compared. The answer" in text
    (text,) = notices(Findings(outliers, with_them=MANY, without_them=MANY), SCHEMA)
    assert "RMSE of predictions 2 (with it RMSE 2, over other rows). So it is kept" in text


def test_similar_names_come_with_what_mends_them():
    suspects = Suspects(names=tuple((f"a{k}", f"A{k}") for k in range(5)))
    (text,) = notices(Findings(suspects=suspects, by=("city",), from_files=True), SCHEMA)
    assert "'a0', 'A0'; 'a1', 'A1'; 'a2', 'A2' and 2 more groups" in text
    assert 'query="SELECT * REPLACE (lower(trim(city)) AS city) FROM data"' in text
    (text,) = notices(Findings(suspects=suspects), SCHEMA)
    assert text.endswith("Give them one spelling if they are one dataset.")


def test_columns_and_dates():
    suspects = Suspects(identifiers=("id", "zip"), codes=("type", "class"))
    found = Date("day", ("years",), 2020.0, "%Y-%m-%d", ("?!", "x", "y"), 4)
    schema = Schema(Roles("sales"), (found,))
    first, second, third = notices(Findings(suspects=suspects), schema)
    assert first.endswith("ignore=['id', 'zip'] leaves them out.")
    assert second.endswith("category=['type', 'class'] makes them categories.")
    assert third.startswith("4 values of column 'day' are no dates ('?!', 'x' and 1 more)")


def test_identifiers_that_repeat_come_with_repeat():
    suspects = Suspects(identifiers=("zip", "firm"), codes=("type",), repeated=("firm",))
    first, second = notices(Findings(suspects=suspects), SCHEMA)
    assert "leaves them out. If it names a person or firm with several rows, repeat='firm'" in first
    assert "repeat" not in second


def test_datasets_that_are_a_measurement():
    suspects = Suspects(measured=("32.1", "33.1"))
    (text,) = notices(Findings(suspects=suspects, by=("bill_length_mm",)), SCHEMA)
    assert text.startswith("Column 'bill_length_mm' names the datasets, but looks like a measure")
    assert notices(Findings(suspects=suspects), SCHEMA) == []


def test_leaks_come_first():
    suspects = Suspects(leaks=("log",), names=(("a", "A"),))
    first, _ = notices(Findings(suspects=suspects), SCHEMA)
    assert first.startswith("Column 'log' almost determines the target 'sales' (rank correlation ")
    assert first.endswith("is it known when you predict? If not, ignore=['log'] leaves it out.")
    (text,) = notices(Findings(suspects=Suspects(leaks=("log", "copy"))), SCHEMA)
    assert text.endswith("predict? If not, ignore=['log', 'copy'] leaves them out.")


def test_similar_categories_come_with_what_mends_them():
    region = Category("region", "North", ("South", "north", "south "))
    codes = Category("team", "1", ("2",), number=True)
    schema = Schema(Roles("sales"), (region, codes))
    (text,) = notices(Findings(from_files=True), schema)
    assert text.startswith("Column 'region' has categories with nearly the same name: 'North', 'no")
    assert "'South', 'south '" in text
    assert text.endswith('"SELECT * REPLACE (lower(trim(region)) AS region) FROM data".')
    (text,) = notices(Findings(), schema)
    assert text.endswith("for example with data['region'].str.strip().str.lower().")
