"""Codes are found by what is in a column; counts, ratings, trends and years raise no alarm."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from conjoin.tables.codes import is_code
from conjoin.tables.collect import collect
from conjoin.tables.suspects import find_suspects

DATA = Path(__file__).parents[3] / "shared" / "data"
DATASETS, ROWS = 6, 140
STARTS = np.arange(DATASETS + 1) * ROWS
RNG = np.random.default_rng(0)
DAY = np.tile(np.arange(1.0, 8.0), DATASETS * ROWS // 7)
NOISE = RNG.standard_normal(DATASETS * ROWS)
SHOP = np.repeat(10.0 * np.arange(DATASETS), ROWS)  # datasets have levels of their own
WEEK = np.array([5.0, 1.0, 1.5, 1.0, 4.0, 7.0, 0.0])[DAY.astype(int) - 1]


def test_a_weekday_is_a_code_whatever_it_is_called():
    assert is_code(DAY, SHOP + WEEK + NOISE, STARTS)
    assert is_code(DAY - 1, SHOP + WEEK + NOISE, STARTS)


@pytest.mark.parametrize(
    ("values", "y"),
    [
        (DAY, SHOP + NOISE),  # no effect at all
        (DAY, SHOP + 2 * DAY + NOISE),  # days of a study, with a trend
        (DAY, SHOP + np.sqrt(DAY) + 0.1 * NOISE),  # bent, but one way
        (DAY + 2017, SHOP + WEEK + NOISE),  # years
        (10 * DAY, SHOP + WEEK + NOISE),  # sizes
        (DAY + 0.5, SHOP + WEEK + NOISE),
        (np.minimum(RNG.poisson(1.0, len(DAY)), 6.0), SHOP + WEEK + NOISE),  # counts
        (np.repeat(np.arange(6.0), ROWS), SHOP + NOISE),  # one value in each dataset
        (np.where(DAY > 4, 1.0, 0.0), SHOP + WEEK + NOISE),  # yes and no
    ],
)
def test_numbers_are_no_codes(values, y):
    assert not is_code(values, y, STARTS)


def test_a_target_without_noise_is_judged():
    assert not is_code(DAY, SHOP, STARTS)


ABSENT = "needs the folder shared/data beside the repository"
# Of each table the columns that are named as codes.
TABLES = [
    ("bench/ames-housing/ames_housing.csv.gz", "SalePrice", "Neighborhood", ("MS SubClass",)),
    ("bench/wine-quality/wine_quality.csv.gz", "alcohol", "color", ()),
    ("bench/sleepstudy/sleepstudy.csv", "Reaction", "Subject", ()),
    ("paper/bb/day.csv", "cnt", "weathersit", ("mnth", "season", "weekday")),
    ("paper/ppge/garments_worker_productivity.csv", "actual_productivity", "day", ("team",)),
]


@pytest.mark.parametrize(("file", "target", "by", "codes"), TABLES)
def test_real_tables(file, target, by, codes):
    if not (DATA / file).exists():
        pytest.skip(ABSENT)
    table = pd.read_csv(DATA / file)
    if file.startswith("paper/bb"):
        table = table.drop(columns=["casual", "registered"])
    numbers = [c for c in table.select_dtypes("number") if c not in (target, by)]
    table = table[[target, by, *numbers]].dropna(subset=[target])
    found = find_suspects(collect(table, target=target, by=by))
    assert tuple(sorted(found.codes)) == tuple(sorted(codes))


def test_the_weekday_of_real_shops_is_a_code():
    file = DATA / "paper" / "rss" / "train_open_days.parquet"
    if not file.exists():
        pytest.skip(ABSENT)
    table = pd.read_parquet(file, filters=[("Store", "<=", 20)])
    columns = ["Sales", "Store", "DayOfWeek", "Promo", "SchoolHoliday", "Customers"]
    found = find_suspects(collect(table[columns], target="Sales", by="Store"))
    assert found.codes == ("DayOfWeek",)
