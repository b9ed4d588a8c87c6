"""Columns and their roles: names that do not exist, names with two roles, names of any form."""

import numpy as np
import pandas as pd
import pytest

from conjoin.errors import DataError
from conjoin.tables import collect
from conjoin.tables.frame import in_memory, to_frame
from conjoin.tables.learn import learn
from conjoin.tables.roles import Roles
from tests.tables.helpers import refused


def test_missing_target(frame):
    refused(frame, "target='profit' is not a column; columns are 'store', 'price'", target="profit")
    refused(frame, "target='salez' is not a column; did you mean 'sales'?", target="salez")
    tables = {name: part.drop(columns="store") for name, part in frame.groupby("store")}
    tables["b"] = tables["b"].drop(columns="sales")
    refused(tables, "target='sales' is not a column of dataset 'b'", by=None)


def test_whole_numbers_as_column_names(frame):
    numbered = frame.rename(columns={"price": 0, "promo": 1, "sales": 2, "store": 3})
    collection = collect(numbered, target=2, by=3)
    assert collection.features == ("0", "1")
    assert (collection.X == collect(frame, target="sales", by="store").X).all()


def test_names_with_two_roles(frame):
    refused(frame, "features names 'sales'", features=["price", "sales"])
    refused(frame, "features names 'price' twice", features=["price", "price"])
    refused(frame, "features is empty", features=[])
    refused(frame, "by='sales' is also the target", by="sales")
    refused(frame, "weights is a ndarray", weights=np.ones(90))
    refused({}, "data is empty")
    for features in ("price", ("price",), np.array(["price"]), pd.Index(["price"]), {"price"}):
        collection = collect(frame, target="sales", by=pd.Index(["store"]), features=features)
        assert collection.features == ("price",)


def test_roles_that_name_unknown_columns():
    frame = in_memory(to_frame({"shop": [1], "sales": [2], "price": [3]}))
    for roles, message in (
        (Roles("sale", ("shop",)), "target='sale' is not a column; did you mean 'sales'"),
        (Roles("sales", ("shops",)), "by='shops' is not a column; did you mean 'shop'"),
        (Roles("sales", ("shop",), ("prize",)), "features='prize' is .*did you mean 'price'"),
        (Roles("sales", ("shop",), None, "w"), "weights='w' is not a column; columns are"),
    ):
        with pytest.raises(DataError, match=message):
            learn(frame, roles)
