from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from benchmarks.speed import cases
from benchmarks.speed.cases import PARTITIONS, Case, make, time_partition, timed


def test_the_table_has_the_size_of_the_case() -> None:
    table = make(Case("made", 6, 10, 3))
    assert list(table) == ["x0", "x1", "x2", "y", "by"]
    assert np.bincount(table["by"]).tolist() == [10] * 6
    np.testing.assert_array_equal(table["y"], make(Case("made", 6, 10, 3))["y"])
    assert set(make(Case("made", 6, 10, 3, classes=True))["y"]) == {"yes", "no"}


def test_the_fastest_repeat_counts() -> None:
    calls = []
    times = timed(lambda: calls.append(1), repeats=4)
    assert len(calls) == 4 and 0 <= times["wall"] < 1


@pytest.mark.parametrize("classes", [False, True])
def test_partition_runs_on_a_case(tmp_path: Path, classes: bool) -> None:
    times = time_partition(Case("made", 6, 30, 2, classes=classes), tmp_path)
    assert set(times) == {"wall", "processor"} and min(times.values()) > 0


def test_the_file_case_reads_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = Case("made", 5, 30, 2, file=True)
    monkeypatch.setitem(PARTITIONS, "parquet", small)
    cases.write_parquet(tmp_path)
    assert pq.read_table(tmp_path / cases.PARQUET).num_rows == 150
    assert time_partition(small, tmp_path)["wall"] > 0
