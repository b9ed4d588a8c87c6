"""The report from the command line, and the bars on the terminal."""

import subprocess
import sys

import pandas as pd
import pytest

from conjoin.datasets import make_clusters

COMMAND = [sys.executable, "-m", "conjoin.cli.main"]


def run(*arguments, cwd):
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, cwd=cwd, timeout=300
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("data")
    tables = make_clusters(sizes=(2, 1), n=60, p=2, distance=2.0).tables()
    frames = [pd.DataFrame(table).assign(store=name) for name, table in tables.items()]
    pd.concat(frames).to_csv(path / "long.csv", index=False)
    return path


@pytest.fixture(scope="module")
def done(folder):
    arguments = ["partition", "long.csv", "-t", "y", "-b", "store"]
    done = run(*arguments, "--report", "page.html", "--save", "model.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return done


def test_a_page_beside_the_result_and_from_its_file(folder, done):
    assert "Report written to page.html" in done.stdout
    page = (folder / "page.html").read_text(encoding="utf-8")
    command = "conjoin partition long.csv --target y --by store --report report.html"
    assert f"<pre>{command}</pre>" in page
    again = run("report", "model.json", "-o", "again.html", cwd=folder)
    assert again.returncode == 0, again.stderr
    assert (folder / "again.html").read_text(encoding="utf-8") == page


def test_bars_on_the_terminal(done):
    lines = [line for line in done.stdout.splitlines() if "██" in line or "##" in line]
    assert len(lines) >= 7


@pytest.mark.parametrize("where", ["none/page.html", "."])
def test_a_page_that_cannot_be_written_is_refused_first(folder, where):
    done = run("partition", "nothing.csv", "-t", "y", "--report", where, cwd=folder)
    assert done.returncode == 2
    assert "--report" in done.stderr
    assert "cannot be written" in done.stderr
