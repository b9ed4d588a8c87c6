"""The page on rows in time shows what the stored measurements say."""

from pathlib import Path

import pytest

from benchmarks.levels import order_classes
from benchmarks.time import cost, forward

PAGE = Path(__file__).resolve().parents[3] / "docs" / "time.md"


def test_claimed_and_realised_errors_are_those_of_the_file():
    assert forward.table_of(list(forward.read_lines().values())) in PAGE.read_text("utf-8")


def test_coverage_is_that_of_the_file():
    pytest.importorskip("lightgbm")
    from benchmarks.time import coverage

    assert coverage.table(list(coverage.read_lines().values())) in PAGE.read_text("utf-8")


def test_levels_of_classes_are_those_of_the_file():
    assert order_classes.table() in PAGE.read_text("utf-8")


def test_the_cost_is_measured_on_datasets_with_days(capsys):
    cost.main(["--datasets", "4", "--rows", "40", "--columns", "2", "--times", "1"])
    assert "ratio" in capsys.readouterr().out
