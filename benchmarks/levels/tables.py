"""Tables that stand for a population: real ones and five skewed laws.

A name enters; the features (N, p) and the target (N,) of all its rows leave.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd

from benchmarks.arena.data import shared_data
from conjoin.tables import collect

# Rows of the tables that are drawn from a law, and at most of a real one: large enough that two
# samples of 2,000 rows hardly overlap with the rest.
ROWS = 40_000
SEED = 7

Table = tuple[np.ndarray, np.ndarray]


def encoded(frame: pd.DataFrame, target: str) -> Table:
    """Return features and target of a frame as `conjoin.partition` would make them."""
    found = collect({"all": frame, "some": frame.head(100)}, target=target)
    rows = int(found.sizes[0])
    return np.asarray(found.X)[:rows], np.asarray(found.y)[:rows]


def _csv(path: str, target: str, drop: tuple[str, ...] = ()) -> Callable[[], Table]:
    def read() -> Table:
        frame = pd.read_csv(shared_data() / path)
        frame = frame.sample(min(len(frame), ROWS), random_state=SEED).drop(columns=list(drop))
        return encoded(frame, target)

    return read


def _flights() -> Table:
    frame = pd.read_csv(shared_data() / "bench/nycflights/nycflights.csv.gz")
    columns = ["month", "hour", "dep_delay", "air_time", "distance", "arr_delay"]
    return encoded(frame[columns].dropna().sample(ROWS, random_state=SEED), "arr_delay")


def _rss() -> Table:
    frame = pd.read_parquet(shared_data() / "paper/rss/train_open_days.parquet")
    columns = ["DayOfWeek", "Promo", "SchoolHoliday", "Customers", "Sales"]
    return encoded(frame[columns].sample(ROWS, random_state=SEED), "Sales")


def _orders() -> Table:
    frame = pd.read_csv(shared_data() / "paper/dfoip/daily_orders_top100_items.csv.gz")
    columns = ["salesPrice_last_known", "promotion_guess", "rank", "order"]
    return encoded(frame[columns], "order")


def _law(make: Callable[[np.random.Generator, np.ndarray], Table]) -> Callable[[], Table]:
    def draw() -> Table:
        rng = np.random.default_rng(SEED)
        return make(rng, rng.standard_normal((ROWS, 4)))

    return draw


def _missing(rng: np.random.Generator, X: np.ndarray) -> Table:
    """Every twentieth value is missing, and is filled in."""
    y = 2 * X.sum(axis=1) + rng.standard_normal(len(X))
    frame = pd.DataFrame(np.where(rng.random(X.shape) < 0.05, np.nan, X)).add_prefix("x")
    return encoded(frame.assign(y=y), "y")


REAL: dict[str, Callable[[], Table]] = {
    "diamonds": _csv("bench/diamonds/diamonds.csv.gz", "price"),
    "nycflights": _flights,
    "school": _csv("bench/school-ilea/school_ilea.csv.gz", "exam_score", ("school",)),
    "parkinsons": _csv(
        "bench/parkinsons-telemonitoring/parkinsons_telemonitoring.csv.gz",
        "total_UPDRS",
        ("subject#", "motor_UPDRS"),
    ),
    "rss": _rss,
    "imports": _csv(  # extremely skewed: the largest of 150 rows is a fifth of their sum
        "bench/au-import/au_import.csv.gz",
        "trade_usd",
        ("commodity_id", "commodity", "comm_code", "year"),
    ),
    "orders": _orders,
}
LAWS: dict[str, Callable[[], Table]] = {
    "lognormal noise": _law(lambda r, X: (X, X.sum(1) + np.exp(1.2 * r.standard_normal(len(X))))),
    "noise grows": _law(
        lambda r, X: (X, X.sum(1) + (0.2 + 2 * np.abs(X[:, 0])) * r.standard_normal(len(X)))
    ),
    "lognormal columns": _law(
        lambda r, X: (np.exp(X), np.exp(X).sum(1) + np.exp(X[:, 0]) * r.standard_normal(len(X)))
    ),
    "t3 noise": _law(lambda r, X: (X, X.sum(1) + r.standard_t(3, len(X)))),
    "bent": _law(
        lambda r, X: (X, X.sum(1) + 2 * X[:, 0] ** 2 + np.exp(X[:, 1]) + r.standard_normal(len(X)))
    ),
    "missing values": _law(_missing),
    "normal": _law(lambda r, X: (X, X.sum(1) + r.standard_normal(len(X)))),
}
TABLES = {**REAL, **LAWS}
