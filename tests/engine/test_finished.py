"""What a checkpoint keeps of the engine, and what identifies data."""

import numpy as np

from conjoin.engine.finished import data_digest, files_in, finished_fits, finished_sums
from conjoin.sources.checkpoints import checkpointing
from conjoin.strategies.validation import Fitted
from conjoin.tables.collect import collect


def test_fits_and_sums_come_back(tmp_path):
    fits = {"pooled": Fitted(np.ones((2, 3)), np.zeros((4, 2, 3)))}
    sums = {"g0": ["a", "b"], "g1": [1, 2], "fold": [0, 1], "w": [2.0, 1 / 3]}
    for _ in range(2):
        with checkpointing(tmp_path / "run", {}) as store:
            store.resumed = False
            found = finished_fits((1,), lambda: fits)
            table = finished_sums((2,), lambda: sums)
    assert np.array_equal(found["pooled"].fold_coef, fits["pooled"].fold_coef)
    assert table["g0"] == ["a", "b"] and table["g1"] == [1, 2]
    assert list(table["w"]) == sums["w"] and list(table["fold"]) == [0, 1]


def test_data_are_told_apart(tmp_path):
    table = {"s": ["a", "b"] * 5, "x": np.arange(10.0), "y": np.arange(10.0) ** 2}
    one = data_digest(collect(table, target="y", by="s"))
    assert one == data_digest(collect(table, target="y", by="s"))
    assert one != data_digest(collect({**table, "x": np.ones(10) + table["x"]}, target="y", by="s"))
    path = tmp_path / "a.csv"
    path.write_text("x\n1\n")
    assert files_in(str(path))[0][1] == 4 and files_in(table) is None
