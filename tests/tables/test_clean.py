"""The short way for clean numbers gives what the long way gives."""

from importlib import import_module

import numpy as np
import pandas as pd
import polars as pl
import pytest

from conjoin.tables import collect
from conjoin.tables.clean import collect_clean
from conjoin.tables.roles import Roles
from tests.tables.helpers import refused


@pytest.mark.parametrize("family", ["auto", "logistic", "poisson"])
@pytest.mark.parametrize("split", [False, True])
def test_the_long_way_gives_the_same_numbers(frame, monkeypatch, family, split):
    frame = frame.assign(sales=frame["promo"] if family == "logistic" else frame["sales"].round())
    frame = frame.assign(promo=np.arange(90) % 3 == 0, w=np.linspace(0, 2, 90))
    data, by = frame, "store"
    if split:
        by = None
        data = {name: part.drop(columns="store") for name, part in frame.groupby("store")}
    options = {"target": "sales", "by": by, "weights": "w", "family": family}
    short = collect(data, **options)
    # Not by its dotted name: `conjoin.tables.collect` is also the function.
    monkeypatch.setattr(import_module("conjoin.tables.collect"), "collect_clean", lambda *_: None)
    long = collect(data, **options)
    assert (long.names, long.features) == (short.names, short.features)
    assert long.response == short.response
    for one, other in zip((long.X, long.y, long.weights), (short.X, short.y, short.weights)):
        np.testing.assert_array_equal(one, other)


def test_tables_that_are_not_clean_are_left_to_the_long_way(frame):
    roles = Roles("sales", ("store",))
    assert collect_clean(frame, roles, 2, "auto") is not None
    dirty = [
        frame.assign(price=frame["price"].where(frame["promo"] == 0)),
        frame.assign(kind="x"),
        frame.assign(store=[None, *frame["store"][1:]]),
        frame.assign(price=np.inf),
        frame.drop(columns="sales"),
        pd.DataFrame(),
    ]
    for data in dirty:
        assert collect_clean(data, roles, 2, "auto") is None


def test_frames_of_either_kind_and_plain_columns_agree(frame):
    collections = [
        collect(data, target="sales", by="store")
        for data in (frame, pl.from_pandas(frame), {c: frame[c].to_numpy() for c in frame})
    ]
    shuffled = frame.sample(frac=1, random_state=0)
    assert collect(shuffled, target="sales", by="store").names == ("a", "b", "c")
    for other in collections[1:]:
        assert other.names == collections[0].names
        assert (other.X == collections[0].X).all()
        assert (other.y == collections[0].y).all()


def test_masked_values_are_missing_values(frame):
    columns = {c: frame[c].to_numpy() for c in frame}
    columns["price"] = np.ma.masked_array(columns["price"], mask=np.arange(90) == 40)
    refused(columns, "Column 'price' lacks 1 of 90 values", missing="raise")
    collection = collect(columns, target="sales", by="store").in_table_order()
    assert collection.X[40, 0] == np.median(np.delete(columns["price"].data, 40))
