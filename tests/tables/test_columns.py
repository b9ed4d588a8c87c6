"""Tables as plain columns."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from conjoin.errors import DataError
from conjoin.tables.columns import to_columns
from tests.tables.helpers import refused


def test_duplicate_columns(frame):
    twice = pd.concat([frame, frame[["price"]]], axis=1)
    refused(twice, "data has two columns named 'price'")
    numbered = frame.rename(columns={"price": 0})
    refused(pd.concat([numbered, numbered[[0]]], axis=1), "data has two columns named '0'")
    refused(frame.assign(**{"1": 1.0}).rename(columns={"price": 1}), "two columns named '1'")
    refused({**frame, 1: frame["price"], "1": frame["price"]}, "two columns named '1'")
    part = twice.drop(columns="store")
    refused({"a": part, "b": part}, "dataset 'a' has two columns named 'price'", by=None)


def test_columns_of_frames_and_mappings():
    expected = {"a": [1.5, 2.5], "b": ["x", "y"]}
    for table in (expected, pd.DataFrame(expected), pl.DataFrame(expected)):
        columns = to_columns(table)
        assert {name: values.tolist() for name, values in columns.items()} == expected
    assert list(to_columns(pd.DataFrame([[1, 2]]))) == ["0", "1"]


def test_numbers_of_a_categorical_column_are_not_numbers():
    columns = to_columns(pd.DataFrame({"kind": pd.Categorical([1, 2])}))
    assert columns["kind"].dtype == object


def test_values_that_are_not_columns():
    for value in ([1, 2], 3, pl.LazyFrame({"a": [1]})):
        with pytest.raises(DataError, match="X is a .*; expected a pandas or Polars frame"):
            to_columns(value, "X")
    with pytest.raises(DataError, match="Column 'a' of X has 2 dimensions; expected one value per"):
        to_columns({"a": np.ones((2, 2))}, "X")
    with pytest.raises(DataError, match="Columns of X differ in length: .1, 2. rows"):
        to_columns({"a": [1], "b": [1, 2]}, "X")
