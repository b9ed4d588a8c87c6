"""A run that was killed goes on from its finished steps, to the same bits."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import conjoin
from conjoin.errors import ArgumentError
from conjoin.sources.checkpoints import checkpointing, digest, remembered, remembered_array

SCRIPT = """
import sys
import conjoin
from conjoin.datasets import make_clusters
tables = make_clusters(sizes=(1, 1), n=30, p=1, distance=1.0).tables()
learner = conjoin.Boosting(rounds=8, leaves=4)
folder = sys.argv[2] if len(sys.argv) > 2 else None
conjoin.partition(tables, target="y", learner=learner, folds=3, checkpoint=folder).save(sys.argv[1])
"""


def run(*arguments, script=SCRIPT):
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)], stderr=subprocess.PIPE, text=True
    )


def test_a_killed_run_goes_on_to_the_same_bits(tmp_path, monkeypatch):
    folder = tmp_path / "run"
    killed = run(tmp_path / "never.json", folder)
    while killed.poll() is None and len(list(folder.glob("*.npz"))) < 4:
        time.sleep(0.02)
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    assert not (tmp_path / "never.json").exists()
    before = len(list(folder.glob("*.npz")))
    words = run(tmp_path / "a.json", folder).communicate()[1]
    monkeypatch.setattr(sys, "argv", ["script", str(tmp_path / "b.json")])
    exec(SCRIPT, {})  # here, and without a checkpoint
    assert f"{before} finished steps were taken over" in words
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_other_data_and_options_are_refused(tmp_path):
    tables = conjoin.datasets.make_clusters(sizes=(2, 2), n=30, p=1, distance=2.0).tables()
    asked = {"target": "y", "learner": "linear", "folds": 3, "checkpoint": tmp_path / "run"}
    conjoin.partition(tables, **asked)
    with pytest.raises(ArgumentError, match="is of a run with other options"):
        conjoin.partition(tables, **asked, weigh_by="rows")
    del tables["d1"]
    with pytest.raises(ArgumentError, match="is of other data; name another folder"):
        conjoin.partition(tables, **asked)


def test_what_is_no_checkpoint_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ArgumentError, match="holds other files"), checkpointing(tmp_path, {}):
        pass
    (tmp_path / "checkpoint.json").write_text('{"format": "other"}')
    with pytest.raises(ArgumentError, match="is no checkpoint"), checkpointing(tmp_path, {}):
        pass
    with (
        pytest.raises(ArgumentError, match="cannot be made"),
        checkpointing(tmp_path / "notes.txt", {}),
    ):
        pass
    with pytest.raises(ArgumentError, match="checkpoint=3 is no folder"):
        conjoin.partition({}, target="y", checkpoint=3)


def test_a_broken_entry_is_computed_again(tmp_path):
    folder, calls = tmp_path / "run", []

    def compute():
        calls.append(1)
        return np.arange(3.0)

    for broken in (False, True, False):
        with checkpointing(folder, {"a": 1}) as store:
            store.resumed = False  # nothing is said here
            entries = list(folder.glob("*.npz"))
            if broken:
                entries[0].write_bytes(b"PK half")
            assert remembered_array("step", (1,), compute).tolist() == [0.0, 1.0, 2.0]
    assert len(calls) == 2
    assert remembered_array("step", (1,), compute) is not None and len(calls) == 3


def test_entries_hold_no_code(tmp_path):
    class Code:
        def __reduce__(self):
            return (print, ("run",))

    with checkpointing(tmp_path / "run", {}), pytest.raises(ValueError, match="pickle"):
        remembered("step", (), Code, lambda one: {"a": np.array([one])}, lambda found: found)


def test_a_digest_depends_on_all_that_is_in_a_value():
    one = {"a": (1, 2.0, "x", None), "b": np.arange(4).reshape(2, 2)}
    assert digest(one) == digest({"b": np.arange(4).reshape(2, 2), "a": [1, 2.0, "x", None]})
    for other in (
        {**one, "a": (1, 2.0, "y", None)},
        {**one, "a": (1, 2, "x", None)},
        {**one, "b": np.arange(4)},
    ):
        assert digest(one) != digest(other)
    assert digest(Path("a")) != digest("a")
