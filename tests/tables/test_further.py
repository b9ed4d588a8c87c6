"""Further rows get the features of the first ones, and nothing is learned from them."""

import narwhals as nw
import numpy as np
import pyarrow as pa
import pytest

from conjoin.errors import DataError
from conjoin.tables.collect import collect
from conjoin.tables.further import collect_further

FIRST = {
    "store": ["a", "a", "b", "b"] * 3,
    "price": [1.0, 2.0, None, 4.0] * 3,
    "kind": ["x", "y", "y", "x"] * 3,
    "one": [5.0] * 12,
    "sales": np.arange(12.0),
}


@pytest.fixture(scope="module")
def schema():
    """The schema of a table with a gap, a category and a constant column."""
    with pytest.warns(UserWarning, match="one value in all datasets: 'one'"):
        return collect(FIRST, target="sales", by="store").schema


def frame(**columns):
    return nw.from_native(pa.table({**columns}), eager_only=True)


def test_features_are_those_of_the_first_rows(schema):
    more = frame(price=[None, 3.0, 2.0], kind=["z", "x", "y"], one=[5.0] * 3, sales=[1, 2, 3])
    found = collect_further(more, ["b", "c", "a"], schema)
    assert found.features == schema.features and found.names == ("a", "b", "c")
    assert found.y.tolist() == [3.0, 1.0, 2.0]
    assert found.X[1, list(found.features).index("price")] == 2.0  # the median before


def test_rows_without_target_or_name_are_left_out(schema):
    more = frame(price=[1.0] * 3, kind=["x"] * 3, one=[5.0] * 3, sales=[1.0, None, 3.0])
    with pytest.warns(UserWarning, match="2 of 3 rows are left out"):
        found = collect_further(more, ["a", "a", None], schema)
    assert found.sizes == (1,)


def test_a_column_that_had_one_value_is_named(schema):
    more = frame(price=[1.0], kind=["x"], one=[6.0], sales=[1.0])
    with pytest.warns(UserWarning, match="'one' had one value at fitting"):
        collect_further(more, ["a"], schema)


def test_what_does_not_fit_is_named(schema):
    with pytest.raises(DataError, match="NEW lacks the target 'sales'"):
        collect_further(frame(price=[1.0]), ["a"], schema)
    with pytest.raises(DataError, match="'sales' of NEW was a number at fitting"):
        collect_further(frame(price=[1.0], sales=["much"]), ["a"], schema)
    with pytest.raises(DataError, match="NEW lacks column 'price'"):
        collect_further(frame(kind=["x"], one=[5.0], sales=[1.0]), ["a"], schema)
