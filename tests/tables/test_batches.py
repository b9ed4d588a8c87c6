"""Files that are read in batches give the collection of the long way."""

import sys
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest

import conjoin.sources.read as reading
from conjoin.api.request import Request
from conjoin.engine.reading import reading as read
from conjoin.tables import batches


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "a": rng.standard_normal(60),
            "b": rng.integers(0, 9, 60),
            "c": rng.random(60) > 0.5,
            "d": rng.standard_normal(60).astype(np.float32),
            "y": rng.standard_normal(60),
            "w": rng.random(60) + 0.5,
            "store": rng.choice(["north", "10", "2"], 60),
        }
    )


def collect(path, **options):
    request = Request(target="y", by="store", learner="linear", **options)
    with read(str(path), request, rows_needed=True) as table:
        return table


def both(frame, path, monkeypatch, **options):
    """Return the collection of a file as a small and as a large one."""
    frame.to_parquet(path, row_group_size=25)
    small = collect(path, **options)
    monkeypatch.setattr(reading, "MOST_AT_ONCE", 10)
    monkeypatch.setattr(batches, "BATCH_ROWS", 16)
    called = []
    inner = batches.collect_batches
    monkeypatch.setattr(
        sys.modules["conjoin.tables.collect"],  # a function of the room has the same name
        "collect_batches",
        lambda *args: called.append(inner(*args)) or called[-1],
    )
    return small, collect(path, **options), called[0]


@pytest.mark.parametrize(
    "options", [{}, {"weights": "w"}, {"features": ["d", "a"]}, {"ignore": ["b"]}]
)
def test_the_rows_are_the_same(frame, tmp_path, monkeypatch, options):
    small, large, found = both(frame, tmp_path / "t.parquet", monkeypatch, **options)
    assert found is not None
    assert (large.names, large.schema) == (small.names, small.schema)
    for name in ("X", "y", "weights", "starts", "positions"):
        np.testing.assert_array_equal(getattr(large, name), getattr(small, name))


def test_names_may_be_whole_numbers_and_targets_true_or_false(frame, tmp_path, monkeypatch):
    frame["store"], frame["y"] = np.arange(60) % 3, frame["y"] > 0
    small, large, found = both(frame, tmp_path / "t.parquet", monkeypatch)
    assert found is not None and large.names == small.names == ("0", "1", "2")
    assert large.response == small.response
    np.testing.assert_array_equal(large.y, small.y)


@pytest.mark.parametrize(
    ("column", "value"), [("a", np.nan), ("a", None), ("store", None), ("c", "text")]
)
def test_what_is_not_clean_takes_the_long_way(frame, tmp_path, monkeypatch, column, value):
    if value == "text":
        frame[column] = np.where(frame[column], "yes", "no")
    else:
        frame.loc[40, column] = value
    with pytest.warns() if column == "store" else nullcontext():
        small, large, found = both(frame, tmp_path / "t.parquet", monkeypatch)
    assert found is None
    np.testing.assert_array_equal(large.X, small.X)
    assert large.names == small.names
