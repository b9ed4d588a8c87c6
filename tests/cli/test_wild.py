"""Gross errors, similar names, codes and identifiers on the command line."""

import json

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def wild(frames, folder):
    """Files with a mistyped target: one table, its Parquet twin, and one file a dataset."""
    parts = {name: frame.copy() for name, frame in frames.items()}
    parts["d2"].loc[4, "y"] = 99999999.0
    long = pd.concat([frame.assign(store=name) for name, frame in parts.items()])
    long.to_csv(folder / "wild.csv", index=False)
    long.to_parquet(folder / "wild.parquet", index=False)
    (folder / "parts").mkdir(exist_ok=True)
    for name, frame in parts.items():
        frame.to_csv(folder / "parts" / f"{name}.csv", index=False)
    return folder


@pytest.mark.parametrize("file", ["wild.csv", "wild.parquet"])
def test_the_first_line_is_about_the_error(conjoin_, wild, file):
    done = conjoin_("partition", file, "-t", "y", "-b", "store")
    assert (done.code, done.err) == (0, "")
    first, second = done.out.splitlines()[:2]
    assert first.startswith("Without row 125 (d2, y 99,999,999): 2 clusters, RMSE ")
    assert "With it: " in first
    assert "--keep-outliers keeps it." in first
    assert second.startswith(("Best choice", "In use"))


def test_rows_of_several_files_are_counted_in_each(conjoin_, wild):
    done = conjoin_("partition", "parts", "-t", "y")
    assert done.out.startswith("Without row 5 (d2, y 99,999,999): 2 clusters")


def test_the_error_can_be_kept_or_left_out(conjoin_, wild):
    kept = conjoin_("partition", "wild.csv", "-t", "y", "-b", "store", "--keep-outliers")
    assert kept.out.startswith("Row 125 (d2, y 99,999,999) is far from all others, and kept as ")
    assert "--drop-outliers leaves it out" in kept.out
    left = conjoin_("partition", "wild.csv", "-t", "y", "-b", "store", "--drop-outliers")
    assert left.out.startswith("Row 125 (d2, y 99,999,999) is left out")
    robust = conjoin_("partition", "wild.csv", "-t", "y", "-b", "store", "--robust")
    assert "(--robust)" in robust.out.splitlines()[1]


def test_json_and_the_saved_model_say_so(conjoin_, wild):
    done = conjoin_("partition", "wild.csv", "-t", "y", "-b", "store", "--json", "--save", "w.json")
    found = json.loads(done.out)
    assert found["outliers"]["rows"][0]["row"] == 125
    assert found["notices"][0].startswith("Without row 125")
    again = conjoin_("explain", "w.json")
    assert again.out.startswith("Without row 125 (d2, y): 2 clusters")


def test_two_files(conjoin_, wild):
    done = conjoin_("compare", "parts/d1.csv", "parts/d2.csv", "-t", "y")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Without row 5 (b (d2.csv), y 99,999,999): ")


def test_names_codes_identifiers_and_dates(conjoin_, frames, folder):
    long = pd.concat([frame.assign(store=name) for name, frame in frames.items()])
    long["store"] = long["store"].replace({"d2": "D1"})
    long["type"] = np.arange(len(long)) % 4 + 1
    long["student_id"] = np.random.default_rng(0).permutation(len(long))
    days = pd.date_range("2020-01-01", periods=len(long)).strftime("%Y-%m-%d").to_numpy().copy()
    days[5] = "2020-13-45"
    long.assign(day=days).to_csv(folder / "odd.csv", index=False)
    done = conjoin_("partition", "odd.csv", "-t", "y", "-b", "store")
    names, identifiers, codes, dates = done.out.splitlines()[:4]
    assert '--query "SELECT * REPLACE (lower(trim(store)) AS store) FROM data"' in names
    assert identifiers.endswith("--ignore student_id leaves it out.")
    assert codes.endswith("--category type makes it a category.")
    assert dates.startswith("1 value of column 'day' is no date ('2020-13-45')")
    query = "SELECT * REPLACE (lower(trim(store)) AS store) FROM data"
    options = ("--ignore", "student_id", "--category", "type", "--query", query)
    mended = conjoin_("partition", "odd.csv", "-t", "y", "-b", "store", *options)
    assert mended.code == 0
    first, second = mended.out.splitlines()[:2]
    assert first == dates
    assert second.startswith(("Best choice", "In use"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--ignore", "price"), "--ignore 'price' is not a column"),
        (("--category", "y"), "category names 'y', which is the target"),
        (("--ignore", "x1", "--category", "x1"), "category and ignore both name 'x1'"),
        (("--category", "x1"), "has values with fractions"),
    ],
)
def test_columns_that_cannot_be_so(conjoin_, folder, options, words):
    done = conjoin_("partition", "long.parquet", "-t", "y", "-b", "store", *options)
    assert done.code == 2
    assert words in done.err
    assert done.err.count("\n") == 1
