"""Names that are nearly the same, identifiers and codes; ordinary columns raise no alarm."""

import numpy as np
import pytest

from conjoin.datasets import load_seoul_bikes
from conjoin.tables.collect import collect, collect_rows
from conjoin.tables.roles import Roles
from conjoin.tables.suspects import (
    Suspects,
    find_in_names,
    find_suspects,
    kind_of,
    similar_names,
)

MANY, FEW = np.arange(200.0) * 7 % 199, np.arange(200.0) % 4 + 1


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("student_id", MANY, "identifier"),
        ("itemID", MANY, "identifier"),
        ("subject#", MANY, "identifier"),
        ("zip", MANY, "identifier"),
        ("ZipCode", MANY, "identifier"),
        ("order number", np.arange(200.0), "identifier"),
        ("type", FEW, "code"),
        ("StoreType", FEW, "code"),
        ("MS SubClass", FEW, "code"),
        ("pclass", FEW, "code"),
        ("region_code", FEW, "code"),
        ("shop_id", FEW, "code"),
        ("status", FEW, "code"),
        ("DayOfWeek", FEW, "code"),
        ("day_of_week", FEW, "code"),
        ("weekday", FEW, "code"),
        ("firm", MANY, "identifier"),
        ("Patient", MANY, "identifier"),
        ("county", np.arange(200.0) % 90 * 2 + 1, "identifier"),
        ("store", np.arange(200.0) % 30 + 1, "code"),
        ("person", FEW, ""),
        ("household", MANY * 1000, ""),
        ("firm", MANY + 0.5, ""),
        ("income_household", MANY, ""),
        ("n_firm", MANY, ""),
        ("firms", MANY, ""),
        ("week", FEW, ""),
        ("window", FEW, ""),
    ],
)
def test_identifiers_and_codes(name, values, kind):
    assert kind_of(name, values) == kind


@pytest.mark.parametrize(
    "name",
    ["age", "year", "month", "hour", "quality", "rooms", "count", "n_types", "type count",
     "class_size", "number of groups", "humid", "paid", "acid", "grade", "x1", "", "price", "void"],
)  # fmt: skip
@pytest.mark.parametrize("values", [MANY, FEW])
def test_ordinary_columns(name, values):
    assert kind_of(name, values) == ""


def test_fractions_and_two_values_are_no_codes():
    assert kind_of("type", FEW + 0.5) == ""
    assert kind_of("type", np.arange(200.0) % 2) == ""
    assert kind_of("id", FEW - 3) == ""


def test_similar_names():
    assert similar_names(["a", "b", "A b", "a  B"]) == (("A b", "a  B"),)
    assert similar_names(["1", "01", "x", "y"]) == ()


def test_a_column_that_numbers_the_rows():
    rng = np.random.default_rng(0)
    table = {
        "g": rng.permutation(["a", "b"] * 50),
        "entry": np.arange(5, 105),
        "price": rng.normal(size=100),
        "y": rng.normal(size=100),
    }
    assert find_suspects(collect(table, target="y", by="g")) == Suspects((), ("entry",), ())


def test_the_bundled_table_is_not_suspicious():
    collection = collect(load_seoul_bikes(), target="rented_bikes", by="hour")
    assert find_suspects(collection) == Suspects()


@pytest.mark.parametrize(
    ("name", "who", "by", "found"),
    [
        ("firm", np.arange(400.0) // 4, np.arange(400) // 40, ("firm",)),
        ("person_id", np.arange(400.0) // 4, np.arange(400) // 40, ("person_id",)),
        ("shop", np.arange(400.0) // 10, np.arange(400) // 40, ("shop",)),  # a code
        ("id", np.arange(400.0)[::-1], np.arange(400) // 40, ()),  # one row each
        ("id", np.arange(400.0) // 4, np.arange(400) // 4, ()),  # as datasets
        ("zip", np.arange(400.0) // 4, np.arange(400) // 40, ()),
    ],
)
def test_identifiers_with_several_rows(name, who, by, found):
    rng = np.random.default_rng(0)
    table = {"g": by, name: who, "x": rng.normal(size=400), "y": rng.normal(size=400)}
    suspects = find_suspects(collect(table, target="y", by="g"))
    assert suspects.repeated == found
    assert name in suspects.identifiers + suspects.codes
    roles = Roles.of("y", "g", None, None, order=(None, name))
    assert find_suspects(collect_rows(table, roles)) == Suspects()


@pytest.mark.parametrize(
    ("names", "by", "measured"),
    [
        ([f"{k / 10:g}" for k in range(300, 330)], ["length"], ("30", "30.1", "30.2")),
        ([f"{k / 10:g}" for k in range(300, 330)], ["length", "width"], ()),
        ([f"{k / 10:g}" for k in range(300, 310)], ["dose"], ()),
        ([str(k) for k in range(300)], ["firm"], ()),
        ([*(f"{k}.5" for k in range(30)), "north"], ["place"], ()),
    ],
)
def test_datasets_named_by_a_measurement(names, by, measured):
    assert find_in_names(names, by).measured == measured
