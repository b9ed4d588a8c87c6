"""Ctrl-C while a learner is trained: within two seconds, with exit code 130, and no leftovers."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

# Runs the command line, and says on standard output when a stage has begun.
SCRIPT = """
import sys
from conjoin.learners import boosting, crossfit

boosting.MOST_ROUNDS, boosting.PATIENCE = 10**7, 10**7  # training has no end of its own
stage = sys.argv.pop(1)
if stage == "groups":
    inner = boosting.train_in_step

    def train(*arguments, **more):
        print("begun", flush=True)
        return inner(*arguments, **more)

    boosting.train_in_step = train
else:
    cross, inner = boosting.Boosting.cross_fit, crossfit._nested
    quick = boosting.Boosting(rounds=5, leaves=15)
    boosting.Boosting.cross_fit = lambda self, *a, **more: cross(quick, *a, **more)

    def nested(learner, rows, group, held_out, settings, progress):
        print("begun", flush=True)
        return inner(learner, rows, group, held_out, {**settings, "rounds": 10**7}, progress)

    crossfit._nested = nested
from conjoin.cli.main import main
sys.argv[0] = "conjoin"
main()
"""


@pytest.fixture(scope="module")
def many_rows(tmp_path_factory):
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    X = rng.normal(size=(15_000, 3))
    table = pd.DataFrame(X, columns=list("abc")).assign(s=np.arange(15_000) % 30)
    table.assign(y=np.sin(3 * X[:, 0]) + rng.normal(size=15_000)).to_parquet(path)
    return path


@pytest.mark.parametrize(("stage", "wait"), [("groups", 0.0), ("groups", 0.5), ("nested", 0.3)])
def test_ctrl_c_ends_training_within_two_seconds(many_rows, tmp_path, stage, wait):
    command = [sys.executable, "-c", SCRIPT, stage, "partition", str(many_rows), "-t", "y"]
    saved = ["-b", "s", "--save", str(tmp_path / "model.json")]
    process = subprocess.Popen(
        [*command, *saved], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "begun\n", process.stderr.read()
        time.sleep(wait)
        before = _processor_seconds(process.pid)
        start = time.perf_counter()
        process.send_signal(signal.SIGINT)
        code = process.wait(timeout=60)
        passed = time.perf_counter() - start
        assert code == 130
        assert process.stderr.read().endswith("Interrupted.\n")
        # On a busy machine the clock says little, the processor time does.
        used = os.times().children_user + os.times().children_system - before
        assert min(passed, used) < 2
        assert list(tmp_path.iterdir()) == []
    finally:
        process.kill()


def _processor_seconds(pid):
    """Return the processor time of a process so far, beside that of all that ended."""
    with open(f"/proc/{pid}/stat") as file:
        parts = file.read().rsplit(")", 1)[1].split()
    own = (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")
    return own + os.times().children_user + os.times().children_system
