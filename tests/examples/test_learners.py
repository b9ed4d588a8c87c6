"""The examples of learners run and show what they promise."""

import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"


def printed(name, capsys):
    runpy.run_path(str(FOLDER / name), run_name="__main__")
    return capsys.readouterr().out


def errors(out):
    found = {}
    for line in out.splitlines():
        name, _, number = line.replace("log loss", "").rpartition(" ")
        if number.replace(".", "").isdigit():
            found[name.strip()] = float(number)
    return found


def test_a_forest_has_its_own_clusters(capsys):
    out = printed("forest.py", capsys)
    assert "['sensor 0', 'sensor 2', 'sensor 4']" in out
    found = errors(out)
    assert found["learner clusters"] < 0.7 * found["learner separate"]
    assert found["auto"] < 0.1 * found["linear"]


def test_a_pipeline_is_corrected_by_lines(capsys):
    found = errors(printed("own_pipeline.py", capsys))
    assert found["auto"] <= found["learner named"] < found["linear"]


def test_a_torch_network_is_a_learner(capsys):
    pytest.importorskip("torch", reason="torch is not installed (extra nn)")
    out = printed("torch_regressor.py", capsys)
    assert "Learner: TorchRegressor" in out
    found = errors(out)
    assert found["auto"] < 0.5 * found["linear"]
