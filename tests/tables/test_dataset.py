"""Rows of all datasets, one after another."""

import numpy as np
import pytest

from conjoin.tables import collect
from conjoin.tables.dataset import limits_of


def test_rows_and_sizes_of_datasets(frame):
    shuffled = frame.sample(frac=1, random_state=0).iloc[:80]
    collection = collect(shuffled, target="sales", by="store").in_table_order()
    assert collection.sizes == tuple(int((shuffled["store"] == name).sum()) for name in "abc")
    for k, name in enumerate(collection.names):
        own = shuffled[shuffled["store"] == name]
        assert (collection.y[collection.rows(k)] == own["sales"]).all()
        assert (collection.X[collection.rows(k)] == own[["price", "promo"]]).all().all()


def test_limits_are_the_range_and_its_width_on_both_sides(frame):
    collection = collect(frame, target="sales", by="store")
    assert collection.limits["promo"] == (-1.0, 2.0)
    low, high = frame["price"].min(), frame["price"].max()
    assert collection.limits["price"] == pytest.approx((2 * low - high, 2 * high - low))
    assert limits_of(["a"], np.array([1.0]), np.array([3.0])) == {"a": (-1.0, 5.0)}
