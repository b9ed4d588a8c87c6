"""`check` takes results and tables or files."""

import numpy as np
import pytest

import conjoin
from conjoin.errors import ArgumentError


def test_check_takes_tables_and_files_and_refuses_what_is_no_result(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(120)
    data = {"s": np.repeat(["a", "b"], 60), "x": x, "y": x + rng.standard_normal(120)}
    found = conjoin.partition(data, target="y", by="s", learner="linear")
    lines = [",".join(map(str, line)) for line in zip(*data.values())]
    (tmp_path / "new.csv").write_text("\n".join(["s,x,y", *lines]))
    table, file = conjoin.check(found, data), conjoin.check(found, str(tmp_path / "new.csv"))
    assert table.passed
    errors = [[one.error for one in each.datasets] for each in (file, table)]
    assert errors[0] == pytest.approx(errors[1])
    with pytest.raises(ArgumentError, match="not dict"):
        conjoin.check({}, data)
