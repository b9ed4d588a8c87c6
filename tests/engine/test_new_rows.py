"""New rows are read with the schema of the result; tests/api/test_update.py has the whole way."""

import numpy as np
import pytest

from conjoin.api.request import Request
from conjoin.engine.new_rows import without_gross_errors
from conjoin.tables.collect import collect


def test_gross_errors_of_new_rows_are_left_out_unless_they_are_to_be_kept():
    rng = np.random.default_rng(0)
    rows = {"s": ["a", "b"] * 40, "x": rng.normal(size=80), "y": rng.normal(size=80)}
    rows["y"][7] = 1e9
    table = collect(rows, target="y", by="s")
    with pytest.warns(UserWarning, match="1 of 80 new rows have gross errors"):
        assert len(without_gross_errors(table, Request(target="y")).y) == 79
    assert without_gross_errors(table, Request(target="y", drop_outliers=False)) is table
