"""Nine sites of real tables, from plan to decision: equal to what pooled rows give."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import conjoin
from benchmarks.arena.data import shared_data
from conjoin.datasets import load_seoul_bikes
from conjoin.result.partition import Partition
from conjoin.sites import Plan, carry, make_plan
from tests.sites.clinics import (
    Tables,
    coefficient_difference,
    evidence_difference,
    export_all,
    largest_difference,
    partition_of_rows,
)

# Limits cut off the tails of columns, as a coordinator who knows them would. Without them, columns
# with values beyond four standard deviations are scaled by these where rows are in one place.
WEATHER = {
    "temperature": "number",
    "humidity": "number",
    "wind_speed": {"type": "number", "limits": [0.0, 5.0]},
    "visibility": "number",
    "dew_point": "number",
}
EARNERS = {
    "age": {"type": "number", "limits": [17, 80]},
    "education-num": "number",
    "hours-per-week": {"type": "number", "limits": [5, 75]},
}
STATUS = ("Never-married", "Married-civ-spouse", "Divorced")


def hours_of_the_day(columns: Iterable[str] = WEATHER) -> Tables:
    """Return Seoul's bike rentals, the hours of the day in nine blocks of 730 to 1,095 rows."""
    table = load_seoul_bikes()
    found: Tables = {}
    for hours in np.array_split(np.arange(24), 9):
        rows = np.isin(np.asarray(table["hour"]).astype(int), hours)
        found[f"hours_{hours[0]}_to_{hours[-1]}"] = {
            name: np.asarray(table[name], float)[rows] for name in (*columns, "rented_bikes")
        }
    return found


def occupations(
    rows: int = 1500, target: str = "income", kinds: tuple[str, ...] = ("<=50K", ">50K")
) -> Tables:
    """Return people of nine occupations, by default with income above or below 50,000 dollars."""
    try:
        path = shared_data() / "bench" / "adult-income" / "adult_income.csv.gz"
    except FileNotFoundError:
        pytest.skip("needs the folder shared/data beside the repository")
    table: Any = pd.read_csv(path)
    table = table[(table["occupation"] != "?") & table[target].isin(kinds)]
    most = table["occupation"].value_counts().index[:9]
    own = {kind: table[table["occupation"] == kind].head(rows) for kind in sorted(most)}
    return {
        kind: {name: one[name].to_numpy() for name in (*EARNERS, target)}
        for kind, one in own.items()
    }


def rounds_in(folder: Path) -> int:
    return max(int(path.stem.split("round_")[1]) for path in folder.glob("*.round_*.json"))


def test_nine_sites_of_numbers(tmp_path):
    tables = hours_of_the_day()
    plan = make_plan({**WEATHER, "rented_bikes": "number"}, "rented_bikes")
    found = conjoin.partition(export_all(tables, plan, tmp_path))
    assert 1 < len(found.clusters) <= 9
    difference = largest_difference(found, partition_of_rows(tables, plan))
    print(f"largest difference {difference:.1e}")
    assert difference < 1e-8


def test_nine_sites_that_lack_different_columns(tmp_path):
    # As in the four hospitals of the heart-disease study: what one never measured, another did.
    tables = hours_of_the_day(("temperature", "humidity", "wind_speed", "visibility"))
    for number, table in enumerate(tables.values()):
        if number % 3 == 1:
            table["humidity"] = np.full(len(table["humidity"]), np.nan)
        if number % 3 == 2:
            table["visibility"][::2] = np.nan
    filled = {"type": "number", "fill": 60.0, "missing": True}
    columns = {**WEATHER, "humidity": filled, "visibility": {**filled, "fill": 1500.0}}
    del columns["dew_point"]
    plan = make_plan({**columns, "rented_bikes": "number"}, "rented_bikes")
    found = conjoin.partition(export_all(tables, plan, tmp_path))
    assert_equal_everywhere(found, partition_of_rows(tables, plan))


def assert_equal_everywhere(found: Partition, pooled: Partition) -> None:
    """Compare evidence, the strategies' coefficients, and those of their average."""
    assert evidence_difference(found, pooled) < 1e-8
    for strategy in ("pooled", "clusters", "mixture", "intercept", "partial", "slopes"):
        one, two = found.using(strategy), pooled.using(strategy)
        assert coefficient_difference(one, two) < 1e-8, strategy
    assert coefficient_difference(found, pooled) < 1e-7


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))]
)
def test_random_patterns_of_missing_columns(tmp_path, seed):
    # Limits belong to columns that sites lack: filled values make their deviation small. Values
    # reach these limits, so that a table in one place has the same scales.
    ends = {"temperature": [-15, 37], "humidity": [15, 96], "visibility": [200, 2000]}
    rng = np.random.default_rng(seed)
    tables = hours_of_the_day(ends)
    for table in tables.values():
        for name in ends:
            if rng.uniform() < 0.3:
                table[name] = np.full(len(table[name]), np.nan)
    columns: dict[str, Any] = {
        name: {"type": "number", "limits": pair, "fill": np.mean(pair), "missing": True}
        for name, pair in ends.items()
    }
    plan = make_plan({**columns, "rented_bikes": "number"}, "rented_bikes", folds=5)
    found = conjoin.partition(export_all(tables, plan, tmp_path))
    assert_equal_everywhere(found, partition_of_rows(tables, plan))


def check_rounds(tables: Tables, plan: Plan, folder: Path) -> None:
    """Decide over a folder, and compare with rows in one place."""
    found = conjoin.partition(export_all(tables, plan, folder))
    difference = largest_difference(found, partition_of_rows(tables, plan))
    print(f"largest difference {difference:.1e}, {rounds_in(folder)} rounds")
    assert difference < 1e-6
    assert rounds_in(folder) <= 2 * carry.USUAL_ROUNDS


def test_nine_sites_of_classes(quick, tmp_path):
    tables = occupations()
    plan = make_plan(
        {**EARNERS, "income": {"type": "class", "classes": ["<=50K", ">50K"]}}, "income", folds=2
    )
    quick(tables, plan, tmp_path)
    check_rounds(tables, plan, tmp_path)


def test_nine_sites_of_three_classes(quick, tmp_path):
    tables = occupations(1500, "marital-status", STATUS)
    plan = make_plan(
        {**EARNERS, "marital-status": {"type": "class", "classes": list(STATUS)}},
        "marital-status",
        folds=2,
    )
    quick(tables, plan, tmp_path)
    check_rounds(tables, plan, tmp_path)


def test_nine_sites_of_counts(quick, tmp_path):
    columns = ("temperature", "humidity", "wind_speed")
    tables = hours_of_the_day(columns)
    described = {name: WEATHER[name] for name in columns}
    plan = make_plan({**described, "rented_bikes": "count"}, "rented_bikes", folds=2)
    quick(tables, plan, tmp_path)
    check_rounds(tables, plan, tmp_path)
