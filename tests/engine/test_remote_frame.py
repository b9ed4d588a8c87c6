import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import pytest

import conjoin
from conjoin.engine import remote, remote_frame
from conjoin.engine.remote_frame import Encoded, with_known_rows
from conjoin.errors import DataError
from conjoin.tables.roles import Roles


@pytest.fixture
def encoded():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"s": list("ab") * 20, "x": rng.normal(5, 2, 40), "y": rng.random(40)})
    roles = Roles.of("y", "s", None, None)
    lazy, schema, _ = with_known_rows(nw.from_native(duckdb.from_df(frame)), roles, "indicator")
    return frame, Encoded.of(lazy, schema)


def test_ranges_means_and_deviations_are_those_of_the_rows(encoded):
    frame, table = encoded
    ranges = table.ranges()
    values = frame[["x", "y"]].to_numpy()
    np.testing.assert_allclose(ranges.low, values.min(axis=0))
    np.testing.assert_allclose(ranges.high, values.max(axis=0))
    np.testing.assert_allclose(ranges.mean, values.mean(axis=0))
    assert ranges.rows == 40
    np.testing.assert_allclose(ranges.spread, values.std(axis=0))
    assert len(ranges.take(np.array([True, False])).mean) == 1


def test_no_rows_are_refused():
    frame = pd.DataFrame({"s": [], "x": [], "y": []}, dtype=float)
    roles = Roles.of("y", "s", None, None)
    with pytest.raises(DataError):
        with_known_rows(nw.from_native(duckdb.from_df(frame)), roles, "indicator")


def test_products_of_many_columns_are_asked_for_in_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(200, 5)), columns=list("abcde"))
    table["y"], table["store"] = table["a"] + rng.normal(size=200), ["x", "y"] * 100
    asked = {"target": "y", "by": "store", "learner": "linear", "folds": 3}
    expected = conjoin.partition(table, **asked)
    monkeypatch.setattr(remote, "MOST_VALUES", -1)
    monkeypatch.setattr(remote_frame, "MOST_SUMS", 4)
    with duckdb.connect() as connection:
        found = conjoin.partition(connection.from_df(table), **asked)
    for name, error in expected.errors.items():
        assert abs(found.errors[name].error - error.error) < 1e-8 * error.error
