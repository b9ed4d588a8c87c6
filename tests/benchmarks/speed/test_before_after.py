from pathlib import Path

import numpy as np
import pytest

from benchmarks.speed import before_after
from benchmarks.speed.before_after import CASES, ROOT, compare, measure, source_tree, summary

SRC = ROOT / "src"


def test_trees_take_turns_and_the_old_one_comes_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    order = []

    def fake(name: str, source: Path, folder: Path) -> dict[str, float]:
        order.append(source.name)
        return {"wall": 2.0 if source.name == "old" else 1.0}

    monkeypatch.setattr(before_after, "measure", fake)
    found = compare("small", (Path("old"), Path("new")), 3, tmp_path)
    assert order == ["old", "new", "new", "old", "old", "new"]
    assert found == [[{"wall": 2.0}, {"wall": 1.0}]] * 3
    assert summary(found, "wall") == (2.0, 1.0, 0.5, "0.50-0.50")


def test_the_ratio_is_the_median_of_rounds() -> None:
    found = [[{"wall": 1.0}, {"wall": ratio}] for ratio in (0.9, 1.0, 5.0)]
    old, new, ratio, spread = summary(found, "wall")
    assert (old, new, ratio, spread) == (1.0, 1.0, 1.0, "0.90-5.00")


def test_the_import_is_that_of_the_tree(tmp_path: Path) -> None:
    times = measure("import", SRC, tmp_path)
    assert set(times) == {"wall", "processor"} and times["wall"] > 0


def test_another_package_than_the_tree_is_an_error(tmp_path: Path) -> None:
    other = tmp_path / "src"
    other.mkdir()
    (other / "conjoin").symlink_to(SRC / "conjoin" / "nothing")
    with pytest.raises(RuntimeError, match="not the package in"):
        measure("import", other, tmp_path)


def test_a_folder_without_the_package_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert source_tree(str(SRC)) == SRC
    with pytest.raises(SystemExit):
        before_after.main([str(tmp_path), str(SRC)])
    assert "has no package 'conjoin'" in capsys.readouterr().err


def test_a_line_for_every_case_and_clock(capsys: pytest.CaptureFixture[str]) -> None:
    assert before_after.main([str(SRC), str(SRC), "--rounds", "1", "--cases", "help"]) == 0
    head, wall, processor = capsys.readouterr().out.splitlines()
    assert head.split() == ["case", "clock", "old", "s", "new", "s", "new/old", "range"]
    assert wall.startswith(CASES["help"]) and processor.split()[2] == "processor"
    assert np.isfinite(float(wall.split()[5]))
