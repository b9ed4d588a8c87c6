"""Claimed and realised errors of forecasts, with `time=` and with random folds.

    python -m benchmarks.time.forward        # all sets, writes benchmarks/time/forward.csv
    python -m benchmarks.time.forward --sets bikes --learner auto
    python -m benchmarks.time.forward --table     # prints the stored lines for docs/time.md

The last fifth of the time of each set is the test. Models see the rows before it. They claim an
error: from random folds, from forward validation as it is by default, and with `horizon` set to the
length of the test. The realised error is the mean over datasets of the squared error on the test.
Each set is run with the date as a feature and without (`ignore=`). `ratio` is claimed over realised
RMSE, `seconds` what the run took.

A claim is a mean over periods. `period_least` and `period_most` are the RMSE of the best and the
worst of them, as the page of a result shows them. `season_ratio` is the ratio of the mean over
those periods that lie one year before the test, where there are some.

Lines of the file that are measured again are replaced, the others stay.
"""

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

import conjoin
from benchmarks.arena.data import shared_data

OUTPUT = Path(__file__).parent / "forward.csv"
FIELDS = ("set", "rows", "datasets", "learner", "date_used", "validation", "claimed_rmse",
          "realised_rmse", "ratio", "period_least", "period_most", "season_ratio",
          "seconds")  # fmt: skip
KEY = FIELDS[0], FIELDS[3], FIELDS[4], FIELDS[5]  # what tells lines apart
YEAR = pd.Timedelta(days=365)
Line = dict[str, str]
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


def measure(name: str, learner: str) -> Iterator[Line]:
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
    for used, (way, options) in product((True, False), ways.items()):
        start = time.perf_counter()
        result = conjoin.partition(
            train, target="y", by="dataset", learner=learner,
            **options, **({} if used else {"ignore": ["date"]}),
        )  # fmt: skip
        claimed = float(np.sqrt(result.errors["auto"].error))
        seconds = time.perf_counter() - start
        error = (test["y"] - result.predict(test)) ** 2
        realised = float(np.sqrt(error.groupby(test["dataset"]).mean().mean()))
        yield dict(zip(FIELDS, (
            title, str(len(train)), str(train["dataset"].nunique()), learner, str(used), way,
            f"{claimed:.5g}", f"{realised:.5g}", f"{claimed / realised:.3f}",
            *periods(result, (cut, last), realised, whole="horizon" not in options),
            f"{seconds:.2f}",
        )))  # fmt: skip


def periods(
    result: conjoin.Partition,
    test: tuple[pd.Timestamp, pd.Timestamp],
    realised: float,
    *,
    whole: bool,
) -> tuple[str, str, str]:
    """Return the least and the largest RMSE of a period, and the ratio of the test's season.

    With a `whole` course, periods follow each other and some can be told to lie in the season.
    """
    course = result.analysis.course("auto")
    if course is None:
        return "", "", ""
    errors, rows = np.array(course.errors["auto"]), np.array(course.rows)
    later = pd.to_datetime(list(course.periods)) + YEAR
    same = np.asarray((later >= test[0]) & (later <= test[1]))
    season = (
        f"{np.sqrt(errors @ (rows * same) / (rows @ same)) / realised:.3f}" if any(same) else ""
    )
    return f"{np.sqrt(errors.min()):.5g}", f"{np.sqrt(errors.max()):.5g}", season


def read_lines() -> dict[tuple[str, ...], Line]:
    """Return the stored lines by what tells them apart."""
    if not OUTPUT.exists():
        return {}
    with OUTPUT.open(newline="") as file:
        return {tuple(one[f] for f in KEY): one for one in csv.DictReader(file)}


def table_of(lines: Sequence[Line]) -> str:
    """Return the stored lines as the table of docs/time.md, without the date as a feature."""
    text = ["| set | learner | random folds | `time=` | same season | RMSE of periods | realised |",
            "|---|---|---|---|---|---|---|"]  # fmt: skip
    shown = {
        (o["set"], o["learner"], o["validation"]): o for o in lines if o["date_used"] == "False"
    }
    for (name, learner, way), one in shown.items():
        other = shown.get((name, learner, "random"))
        if way == "forward" and other is not None:
            parts = [name, learner, other["ratio"], one["ratio"], one["season_ratio"] or "-",
                     f"{one['period_least']} to {one['period_most']}",
                     one["realised_rmse"]]  # fmt: skip
            text.append("| " + " | ".join(parts) + " |")
    return "\n".join(text)


def main(arguments: list[str] | None = None) -> None:
    """Measure the sets that were asked for, and print and write the lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", choices=list(SETS), default=list(SETS))
    parser.add_argument("--learner", default="linear")
    parser.add_argument("--table", action="store_true", help="print the stored lines")
    asked = parser.parse_args(arguments)
    if asked.table:
        print(table_of(list(read_lines().values())))
        return
    warnings.simplefilter("ignore")
    for name in asked.sets:
        for line in measure(name, asked.learner):
            print(*line.values(), sep="\t", flush=True)
            lines = {**read_lines(), tuple(line[f] for f in KEY): line}
            with OUTPUT.open("w", newline="") as file:
                writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
                writer.writeheader()
                writer.writerows(lines[key] for key in sorted(lines))


if __name__ == "__main__":
    main()
