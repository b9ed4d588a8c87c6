"""Rows with gross errors: named as in the table, and left out without a trace."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from benchmarks.arena.data import shared_data
from conjoin.errors import DataError
from conjoin.tables.collect import collect
from conjoin.tables.wild import Outlier, find_wild_rows, without_rows

pytestmark = pytest.mark.filterwarnings("ignore::conjoin.errors.ConjoinWarning")


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    n = 300
    return pd.DataFrame(
        {
            "city": rng.choice(["Austin", "Dallas", "Waco"], n),
            "price": rng.normal(10, 1, n),
            "flag": rng.integers(0, 2, n),
            "kind": rng.choice(["u", "v"], n),
            "day": (pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(n), "D")).astype(str),
            "sales": rng.normal(100, 10, n),
        }
    )


def test_rows_are_numbered_as_in_the_table(table):
    table.loc[41, "sales"] = 99999999.0
    table.loc[7, "price"] = -5000.0
    found = find_wild_rows(collect(table, target="sales", by="city"))
    expected = {
        Outlier(42, table.loc[41, "city"], "sales", 99999999.0),
        Outlier(8, table.loc[7, "city"], "price", -5000.0),
    }
    assert set(found.outliers) == expected
    assert len(found.rows) == 2


def test_rows_that_were_left_out_before_are_counted(table):
    table.loc[3:9, "sales"] = np.nan
    table.loc[41, "sales"] = 99999999.0
    (found,) = find_wild_rows(collect(table, target="sales", by="city")).outliers
    assert found.row == 42


def test_rows_of_a_mapping_are_counted_in_each_table(table):
    table.loc[41, "sales"] = 99999999.0
    parts = {name: part.reset_index(drop=True) for name, part in table.groupby("city")}
    name = table.loc[41, "city"]
    place = int(np.flatnonzero(parts[name]["sales"] > 1e6)[0])
    for columns in (list(table.columns), ["price", "flag", "sales"]):
        mapping = {key: part[[c for c in columns if c != "city"]] for key, part in parts.items()}
        (found,) = find_wild_rows(collect(mapping, target="sales")).outliers
        assert (found.row, found.dataset) == (place + 1, name)


def test_classes_are_not_looked_at_but_their_columns_are(table):
    table["bought"] = np.where(np.arange(300) % 3 == 0, "yes", "no")
    table.loc[41, "price"] = 1e7
    found = find_wild_rows(collect(table, target="bought", by="city"))
    assert [(one.row, one.column) for one in found.outliers] == [(42, "price")]
    numbers = table.assign(rare=(np.arange(300) == 5).astype(float))
    assert not find_wild_rows(collect(numbers.drop(index=41), target="rare", by="city")).outliers


def test_a_date_far_off_is_found(table):
    table.loc[9, "day"] = "2999-01-01"
    (found,) = find_wild_rows(collect(table, target="sales", by="city")).outliers
    assert (found.row, found.column) == (10, "day years")


def test_a_collection_without_rows_is_that_of_a_table_without_them(table):
    table.loc[41, "sales"] = 99999999.0
    collection = collect(table, target="sales", by="city")
    fewer = without_rows(collection, find_wild_rows(collection).rows)
    expected = collect(table.drop(index=41), target="sales", by="city")
    assert_array_equal(fewer.X, expected.X)
    assert_array_equal(fewer.y, expected.y)
    assert_array_equal(fewer.starts, expected.starts)
    assert fewer.names == expected.names
    fills = [
        [e.fill for e in one.schema.encodings if e.kind == "number"] for one in (fewer, expected)
    ]
    assert_allclose(*fills)


def test_a_dataset_keeps_a_row():
    table = {"g": ["a"] + ["b"] * 40, "x": np.arange(41.0), "y": np.arange(41.0) % 7}
    collection = collect(table, target="y", by="g")
    assert without_rows(collection, np.array([0, 5])).sizes == (1, 39)


def test_a_column_that_is_constant_afterwards_is_left_out():
    x = np.zeros(60)
    x[8] = 1e6
    table = {"g": ["a", "b"] * 30, "x": x, "z": np.arange(60.0) % 7, "y": np.arange(60.0) % 5}
    collection = collect(table, target="y", by="g")
    rows = np.flatnonzero(collection.X[:, 0] > 0)
    fewer = without_rows(collection, rows)
    assert fewer.features == ("z",)
    constant = collect({**table, "y": x}, target="y", by="g")
    with pytest.raises(DataError, match="nothing to predict"):
        without_rows(constant, np.flatnonzero(constant.y > 0))


# Real tables: file, target, dataset, columns with known errors. Diamonds of 58.9 mm, 0 kelvin and
# 9,831 mm of rain in an hour are wrong; the density of one wine is that of no other.
REAL = {
    "schools": ("bench/school-ilea/school_ilea.csv.gz", "exam_score", "school", set()),
    "wine": ("bench/wine-quality/wine_quality.csv.gz", "quality", "color", {"density"}),
    "diamonds": ("bench/diamonds/diamonds.csv.gz", "price", "clarity", {"y", "z"}),
    "flights": ("bench/nycflights/nycflights.csv.gz", "arr_delay", "carrier", set()),
    "traffic": (
        "paper/mitv/Metro_Interstate_Traffic_Volume.csv.gz",
        "traffic_volume",
        "weather_main",
        {"rain_1h", "temp"},
    ),
    "walmart": ("paper/wdaf/Walmart.csv", "Weekly_Sales", "Store", set()),
    "orders": ("paper/dfoip/daily_orders_top100_items.csv.gz", "order", "itemID", set()),
    "bikes": ("bench/bikeshare-hour/bikeshare_hour.csv.gz", "cnt", "season", set()),
    "garments": (
        "paper/ppge/garments_worker_productivity.csv",
        "actual_productivity",
        "day",
        set(),
    ),
    "sleep": ("bench/sleepstudy/sleepstudy.csv", "Reaction", "Subject", set()),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_real_tables_have_few_errors_and_a_planted_one_is_found(name):
    path, target, by, wrong = REAL[name]
    try:
        table = pd.read_csv(shared_data() / path)
    except FileNotFoundError as error:
        pytest.skip(str(error))
    found = find_wild_rows(collect(table, target=target, by=by))
    assert {one.column for one in found.outliers} == wrong
    assert len(found.rows) <= 11
    table = table.dropna(subset=[target]).astype({target: float}).reset_index(drop=True)
    row = len(table) // 2
    table.loc[row, target] = 99999999.0
    planted = find_wild_rows(collect(table, target=target, by=by)).outliers
    assert (row + 1, target) in {(one.row, one.column) for one in planted}
