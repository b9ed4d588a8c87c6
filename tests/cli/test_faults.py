"""Faults while files are written: one sentence, exit code 2, the old file, nothing beside it."""

import os
import re
import resource
import subprocess
import sys

import pandas as pd
import pytest
from typer.testing import CliRunner

from conjoin.api import partition as room
from conjoin.cli.main import app
from conjoin.datasets import make_clusters
from scripts import faults

COMMAND = [sys.executable, "-m", "conjoin.cli.main"]
QUOTA = 2000  # bytes; a model file has more
# Without a terminal, work of ten seconds says how far it is: on a busy machine, also here.
PROGRESS = re.compile(r"[A-Z][a-z ]+: \d+ %, \d+ s\n")


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    tables = make_clusters(sizes=(2, 2), n=200, p=2).tables()
    frames = [pd.DataFrame(columns).assign(s=name) for name, columns in tables.items()]
    pd.concat(frames).to_csv(path, index=False)
    return path


def partition(rows, *options, **more):
    arguments = ["partition", str(rows), "-t", "y", "-b", "s", "--learner", "linear"]
    return subprocess.run(
        [*COMMAND, *arguments, *map(str, options)],
        capture_output=True,
        text=True,
        timeout=120,
        **more,
    )


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (QUOTA, QUOTA))


@pytest.mark.parametrize("option", ["--save", "--report"])
@pytest.mark.parametrize("old", [None, "old"])
def test_a_quota_is_said_and_leaves_the_old_file(rows, tmp_path, option, old):
    path = tmp_path / ("model.json" if option == "--save" else "page.html")
    if old:
        path.write_text(old)
    done = partition(rows, option, path, preexec_fn=limit_files)
    assert done.returncode == 2
    assert PROGRESS.sub("", done.stderr).count("\n") == 1
    assert f"'{path}' cannot be written (File too large)" in done.stderr
    assert [one.read_text() for one in tmp_path.iterdir()] == ([old] if old else [])


def test_a_quota_stops_predictions(rows, tmp_path):
    model, out = tmp_path / "model.json", tmp_path / "out.csv"
    assert partition(rows, "--save", model).returncode == 0
    done = subprocess.run(
        [*COMMAND, "predict", str(model), str(rows), "-o", str(out)],
        capture_output=True, text=True, timeout=120, preexec_fn=limit_files,
    )  # fmt: skip
    assert done.returncode == 2
    assert PROGRESS.sub("", done.stderr).count("\n") == 1
    assert "cannot be written" in done.stderr
    assert [one.name for one in tmp_path.iterdir()] == ["model.json"]


@pytest.mark.parametrize("option", ["--save", "--report"])
def test_a_full_disk_is_said_and_leaves_the_old_file(rows, tmp_path, option):
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("a small disk can be mounted by root only")
    try:
        path = disk / ("model.json" if option == "--save" else "page.html")
        path.write_text("old")
        done = partition(rows, option, path)
        assert done.returncode == 2
        assert f"'{path}' cannot be written (No space left on device)" in done.stderr
        assert [one.name for one in disk.iterdir()] == [path.name]
        assert path.read_text() == "old"
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="there is no folder like /proc")
def test_a_folder_that_takes_no_files(rows):
    done = partition(rows, "--save", "/proc/model.json")
    assert done.returncode == 2
    assert PROGRESS.sub("", done.stderr).count("\n") == 1
    assert "'/proc/model.json' cannot be written" in done.stderr


def test_a_killed_process_leaves_whole_files(capsys):
    """Processes are killed while they write; `python -m scripts.faults` does it 200 times."""
    done = subprocess.run(
        [sys.executable, "-m", "scripts.faults", "--kills", "30"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 files were not whole" in done.stdout


def test_a_file_that_is_not_whole_is_noticed(tmp_path):
    starts = ("{", "<html>", "PAR1", "{", "{", "PK")
    for target, part in zip(faults.targets(tmp_path), starts, strict=True):
        target.write()
        target.check()
        target.path.write_text(part)
        with pytest.raises(Exception, match=r"\S"):
            target.check()


def test_no_memory_is_said(rows, monkeypatch):
    def run(*arguments, **more):
        raise MemoryError("Unable to allocate 3.00 GiB for an array")

    monkeypatch.setattr(room, "run", run)
    done = CliRunner().invoke(app, ["partition", str(rows), "-t", "y", "-b", "s"])
    assert done.exit_code == 2
    assert done.stderr == (
        "Error: Memory ran out (Unable to allocate 3.00 GiB for an array). Name fewer columns with "
        "--features, or let trees learn from a sample with --sample-rows.\n"
    )
