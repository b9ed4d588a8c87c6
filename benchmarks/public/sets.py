"""The tables of the comparison: rows, the column that names the datasets, folds, published errors.

The published errors are the means over five folds of the raw results of Sigrist (2023), "A
Comparison of Machine Learning Methods for Data with High-Cardinality Categorical Variables". Folds
of imdb are the published ones; those of the other tables are drawn here.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmarks.arena.data import IntArray, shared_data

FOLDS = 5
METHODS = ("LightGBM named", "CatBoost", "linear mixed model", "LMMNN", "GPBoost")
# Mean squared errors on test rows, as published. Those of imdb have `type_id` as a second group.
# Those of rossmann are of another preparation, which is not at hand.
PUBLISHED = {
    "au-import": dict(zip(METHODS, (1.260, 2.145, 0.743, 0.713, 0.651))),
    "imdb": dict(zip(METHODS, (0.954, 0.922, 1.016, 0.974, 0.850))),
    "rossmann": dict(zip(METHODS, (0.0063, 0.0100, 0.0153, 0.0105, 0.0088))),
}


@dataclass(frozen=True, eq=False)
class PublicSet:
    """A table with its folds.

    Attributes
    ----------
    rows : DataFrame
        Predictors, the column `by` and the target "y".
    by : str
        The column that names the datasets.
    categories : tuple of str
        Whole numbers that stand for categories.
    fold : array
        The fold in which each row is tested.
    """

    rows: pd.DataFrame
    by: str
    categories: tuple[str, ...]
    fold: IntArray


def _drawn(rows: int, seed: int) -> IntArray:
    return np.random.default_rng(seed).permutation(rows) % FOLDS


def au_import(seed: int) -> PublicSet:
    """Australian imports of 4,999 commodities over 29 years; the target is log(trade_usd)."""
    data = pd.read_csv(shared_data() / "bench/au-import/au_import.csv.gz")
    data["y"] = np.log(data["trade_usd"])
    rows = data.drop(columns=["year", "comm_code", "commodity", "trade_usd"])
    return PublicSet(rows, "commodity_id", (), _drawn(len(rows), seed))


def imdb(seed: int) -> PublicSet:
    """Scores of 88,360 films by some 38,000 directors, with words of their descriptions."""
    folder = shared_data() / "bench/imdb"
    rows = pd.read_csv(folder / "imdb.csv.gz").rename(columns={"score": "y"})
    fold = pd.read_csv(folder / "imdb_folds.csv.gz")["fold"].to_numpy()
    return PublicSet(rows, "director_id", ("type_id",), fold)


def rossmann(seed: int) -> PublicSet:
    """Daily sales of 1,115 Rossmann stores; the target is log(Sales), customers are left out.

    The date becomes a day number, year, month and day of the year, since all methods here take
    numbers. The published preparation is not at hand, so the published errors are of other rows.
    """
    folder = shared_data() / "paper/rss"
    data = pd.read_parquet(folder / "train_open_days.parquet")
    date = pd.to_datetime(data["Date"])
    rows = pd.DataFrame(
        {
            "y": np.log(data["Sales"]),
            "Store": data["Store"],
            "day": (date - date.min()).dt.days,
            "year": date.dt.year,
            "month": date.dt.month,
            "day_of_year": date.dt.dayofyear,
            "day_of_month": date.dt.day,
            "weekday": data["DayOfWeek"],
            "promo": data["Promo"],
            "school_holiday": data["SchoolHoliday"].astype(int),
            "state_holiday": (data["StateHoliday"].astype(str) != "0").astype(int),
        }
    )
    return PublicSet(rows, "Store", (), _drawn(len(rows), seed))


SETS = {"au-import": au_import, "imdb": imdb, "rossmann": rossmann}
