"""When rows stand for moments."""

import numpy as np

from conjoin.api.request import Request
from conjoin.engine.by_rows import row_problem
from conjoin.moments import deal_rows
from conjoin.tables.collect import collect


def test_tall_tables_have_moments():
    rng = np.random.default_rng(0)
    table = {"s": np.repeat(["a", "b"], 50), "x": rng.standard_normal(100)}
    data = collect({**table, "y": rng.standard_normal(100)}, target="y", by="s")
    dealt = deal_rows(data.X, data.y, data.starts, 10, 0)
    assert row_problem(data, Request(target="y"), dealt, 10) is None
