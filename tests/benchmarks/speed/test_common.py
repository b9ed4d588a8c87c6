import sys
from pathlib import Path

import pytest

from benchmarks.speed.common import output_of, write_csv


def test_output_is_the_stored_file_unless_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stored = tmp_path / "stored.csv"
    monkeypatch.setattr(sys, "argv", ["script"])
    assert output_of("about", stored) == stored
    monkeypatch.setattr(sys, "argv", ["script", "--output", "other.csv"])
    assert output_of("about", stored) == Path("other.csv")


def test_rows_follow_the_header(tmp_path: Path) -> None:
    path = tmp_path / "times.csv"
    write_csv(path, ["what", "seconds"], [("a, b", 1.5)])
    assert path.read_text(encoding="utf-8").split() == ["what,seconds", '"a,', 'b",1.5']
