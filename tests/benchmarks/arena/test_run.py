from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.arena import run
from benchmarks.arena.classification.side import CLASSIFICATION
from benchmarks.arena.contest import Outcome
from benchmarks.arena.data import ArenaSet, splits
from benchmarks.arena.regression.rivals import PooledLeastSquares, SeparateLeastSquares
from benchmarks.arena.regression.side import REGRESSION
from benchmarks.arena.results import read_done
from benchmarks.arena.run import Plan, judge, run_set


def test_every_contestant_runs_on_every_split(made: ArenaSet) -> None:
    rivals = {"separate": SeparateLeastSquares, "pooled": PooledLeastSquares}
    side = replace(REGRESSION, load=lambda name: made, contestants=rivals)
    plan = Plan(
        ("separate", "pooled"), (0.1, 0.5), (0,), done=frozenset({("made", 0.5, 0, "pooled")})
    )
    rows = list(run_set(side, "made", plan))
    found = [(row.share, row.contestant) for row in rows]
    assert found == [(0.1, "separate"), (0.1, "pooled"), (0.5, "separate")]
    assert all(float(row.error) > 0 and row.note == "" for row in rows)
    assert (rows[0].rows, rows[0].groups) == (60, 3)


def test_nothing_is_loaded_if_all_is_done() -> None:
    def load(name: str) -> ArenaSet:
        raise AssertionError("loaded")

    plan = Plan(("pooled",), (0.5,), (0,), done=frozenset({("made", 0.5, 0, "pooled")}))
    assert list(run_set(replace(REGRESSION, load=load), "made", plan)) == []


def test_wrong_shape_is_a_failure(made_classes: ArenaSet) -> None:
    split = splits(made_classes, 0.5, 0)
    outcome = Outcome(np.ones((len(split.test), 2)) / 2, 0.0, "")
    error, note = judge(CLASSIFICATION, made_classes, split, outcome)
    assert error == "" and "shape" in note


def test_predictions_that_are_not_finite_are_a_failure(made: ArenaSet) -> None:
    split = splits(made, 0.5, 0)
    outcome = Outcome(np.full(len(split.test), np.nan), 0.0, "a remark")
    error, note = judge(REGRESSION, made, split, outcome)
    assert error == "" and note == f"a remark; {len(split.test)} predictions are not finite"


def test_command_line_appends_and_does_not_repeat(
    data_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "results.csv"
    arguments = ["regression", "--sets", "sleepstudy", "--contestants", "pooled", "--seeds", "0"]
    assert run.main([*arguments, "--output", str(output)]) == 0
    assert len(read_done(output)) == 2
    assert run.main([*arguments, "--output", str(output)]) == 0
    assert "nothing left to do" in capsys.readouterr().out
    assert len(output.read_text().splitlines()) == 3


def test_without_data_the_exit_code_is_1(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CONJOIN_SHARED", str(tmp_path))
    assert run.main(["regression"]) == 1
    assert "CONJOIN_SHARED" in capsys.readouterr().err
