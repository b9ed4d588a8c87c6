"""Columns that almost determine the target; honest columns raise no alarm."""

import time

import numpy as np
import pytest

from conjoin.tables.collect import collect, collect_rows
from conjoin.tables.leaks import find_leaks
from conjoin.tables.roles import Roles


def panel(y, **columns):
    """Return the collection of a table of two datasets with this target."""
    g = ["a", "b"] * (len(y) // 2)
    return collect({"g": g, **columns, "y": y}, target="y", by="g")


RNG = np.random.default_rng(0)
Y, X = RNG.lognormal(size=(2, 400))
GAPS = np.where(np.arange(400) % 3, np.log(Y), np.nan)


@pytest.mark.parametrize("leak", [np.log(Y), -Y, Y, np.round(Y, 4), GAPS, Y * 1e200])
def test_a_column_that_determines_the_target(leak):
    assert find_leaks(panel(Y, x=X, leak=leak)) == ("leak",)


@pytest.mark.parametrize(
    ("y", "x", "z"),
    [
        (2 * X, X, None),  # without noise, and the only column
        (Y, Y + 0.1 * X, X),
        (Y > 1, Y > 1, X),  # two values
        (np.round(Y), np.round(Y), X),  # few values
        (Y[:16], np.log(Y[:16]), X[:16]),  # few rows
        (Y, np.where(np.arange(400) < 19, Y, np.nan), X),
        (np.where(np.arange(400) % 2, 2 * X, 0.3 * X), X, Y),  # two lines, one per dataset
    ],
)
def test_honest_columns_are_no_leaks(y, x, z):
    columns = {"x": x} if z is None else {"x": x, "z": z}
    assert find_leaks(panel(y, **columns)) == ()


def test_leaks_do_not_depend_on_the_order_of_rows_and_are_found_in_many():
    y = RNG.normal(size=300_000)
    table = panel(y, leak=y**3, x=RNG.normal(size=300_000))
    began = time.process_time()
    assert find_leaks(table) == ("leak",)
    assert time.process_time() - began < 1  # 0.02 s when written
    backwards = panel(Y[::-1], x=X[::-1], leak=np.log(Y)[::-1])
    assert find_leaks(backwards) == find_leaks(panel(Y, x=X, leak=np.log(Y))) == ("leak",)


def test_a_trend_in_time_is_no_leak():
    table = {"g": ["a", "b"] * 200, "t": np.arange(400.0), "x": X, "y": np.arange(400.0) ** 2}
    roles = Roles.of("y", "g", None, None, order=("t", None))
    assert find_leaks(collect_rows(table, roles)) == ()
