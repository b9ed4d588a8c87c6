"""Claimed and realised errors of forecasts, with `time=` and with random folds.

    python -m benchmarks.time.forward        # all sets, writes benchmarks/time/forward.csv

The last fifth of the time of each set is the test. Models see the rows before it. They claim an
error: from random folds, from forward validation as it is by default, and with `horizon` set to the
length of the test. The realised error is the mean over datasets of the squared error on the test.
Each set is run with the date as a feature and without (`ignore=`). `ratio` is claimed over realised
RMSE, `seconds` what the run took.
"""

import argparse
import csv
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import conjoin
from benchmarks.arena.data import shared_data

OUTPUT = Path(__file__).parent / "forward.csv"
FIELDS = ("set", "rows", "datasets", "learner", "date_used", "validation", "claimed_rmse",
          "realised_rmse", "ratio", "seconds")  # fmt: skip
STORES = 20  # of RSS, the first ones: all 1,115 would take an hour
SHARE = 0.8  # of the time, for training


def _rss(root: Path) -> tuple[pd.DataFrame, str]:
    table = pd.read_parquet(root / "paper/rss/train_open_days.parquet")
    table = table[table["Store"] <= STORES].drop(columns=["Customers", "Open"])
    table["DayOfWeek"] = "d" + table["DayOfWeek"].astype(str)
    return table.rename(columns={"Store": "dataset", "Sales": "y", "Date": "date"}), "RSS by store"


def _cfgsf(root: Path) -> tuple[pd.DataFrame, str]:
    name = "paper/cfgsf/store_family_daily_2017-06-13_2017-08-15.parquet"
    table = pd.read_parquet(root / name)
    table = table[table["family"] == "GROCERY I"].rename(
        columns={"store_nbr": "dataset", "sales": "y"}
    )
    table["weekday"] = pd.to_datetime(table["date"]).dt.day_name()
    kept = ["dataset", "date", "y", "promotion_active", "is_holiday", "weekday", "dcoilwtico"]
    return table[kept], "CFGSF by store"


def _ssf(root: Path) -> tuple[pd.DataFrame, str]:
    sales = pd.read_parquet(root / "paper/ssf/train.parquet")
    week = sales.groupby(["Store", "Date"], as_index=False)["Weekly_Sales"].sum()
    more = pd.read_csv(root / "paper/ssf/features.csv.gz")
    kept = ["Store", "Date", "Temperature", "Fuel_Price", "CPI", "Unemployment", "IsHoliday"]
    table = week.merge(more[kept], on=["Store", "Date"])
    names = {"Store": "dataset", "Date": "date", "Weekly_Sales": "y"}
    return table.rename(columns=names), "SSF by store"


def _bikes(root: Path) -> tuple[pd.DataFrame, str]:
    table = pd.read_csv(root / "bench/bikeshare-hour/bikeshare_hour.csv.gz")
    names = {"hr": "dataset", "dteday": "date", "cnt": "y"}
    table = table.rename(columns=names).drop(columns=["instant", "yr"])
    return table, "bikes by hour"


def _mitv(root: Path) -> tuple[pd.DataFrame, str]:
    table = pd.read_csv(root / "paper/mitv/Metro_Interstate_Traffic_Volume.csv.gz")
    when = pd.to_datetime(table["date_time"])
    table = table.assign(date=when.dt.strftime("%Y-%m-%d"), weekday=when.dt.day_name())
    table["dataset"], table["y"] = when.dt.hour, table["traffic_volume"]
    kept = ["dataset", "date", "y", "weekday", "temp", "rain_1h", "snow_1h", "clouds_all"]
    return table[kept], "MITV by hour"


SETS: dict[str, Callable[[Path], tuple[pd.DataFrame, str]]] = {
    "cfgsf": _cfgsf, "ssf": _ssf, "bikes": _bikes, "rss": _rss, "mitv": _mitv,
}  # fmt: skip


def measure(name: str, learner: str) -> list[dict[str, object]]:
    """Return the lines of one set."""
    table, title = SETS[name](shared_data())
    when = pd.to_datetime(table["date"])
    first, last = when.min(), when.max()
    cut = first + SHARE * (last - first)
    train, test = table[when < cut], table[(when >= cut).to_numpy()]
    test = test[test["dataset"].isin(train["dataset"])]
    length = f"{(last - cut).days + 1} days"
    ways = {"random": {}, "forward": {"time": "date"},
            "forward, horizon": {"time": "date", "horizon": length}}  # fmt: skip
    lines: list[dict[str, object]] = []
    for used in (True, False):
        for way, options in ways.items():
            start = time.perf_counter()
            result = conjoin.partition(
                train, target="y", by="dataset", learner=learner,
                **options, **({} if used else {"ignore": ["date"]}),
            )  # fmt: skip
            claimed = float(np.sqrt(result.errors["auto"].error))
            seconds = time.perf_counter() - start
            error = (test["y"] - result.predict(test)) ** 2
            realised = float(np.sqrt(error.groupby(test["dataset"]).mean().mean()))
            lines.append({
                "set": title, "rows": len(train), "datasets": train["dataset"].nunique(),
                "learner": learner, "date_used": used, "validation": way,
                "claimed_rmse": f"{claimed:.5g}", "realised_rmse": f"{realised:.5g}",
                "ratio": round(claimed / realised, 3), "seconds": round(seconds, 2),
            })  # fmt: skip
            print(*lines[-1].values(), sep="\t", flush=True)
    return lines


def main(arguments: list[str] | None = None) -> None:
    """Measure the sets that were asked for, and print and write the lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--learner", default="linear")
    asked = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    lines = [line for name in asked.sets for line in measure(name, asked.learner)]
    if set(asked.sets) == set(SETS):
        with OUTPUT.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows(lines)


if __name__ == "__main__":
    main()
