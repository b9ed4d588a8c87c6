"""The commands of docs/paper-notes.md: tests that they name exist, and `conjoin` runs."""

import re
import shlex
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from conjoin.cli.main import app
from tests.docs.pages import ROOT

PAGES = [ROOT / "docs" / f"{name}.md" for name in ("paper-notes", "paper-names", "paper-tables")]
QUOTED = re.compile(r"`((?:pytest|conjoin|python -m) [^`]+)`")
# What makes a command of the page cheap; tables of real data are run by tests/paper/tables.
QUICK = {"reproduce": ["--repetitions", "1", "--pairs", "40"], "paper": ["--help"]}


def commands(kind):
    found = [c for page in PAGES for c in QUOTED.findall(" ".join(page.read_text().split()))]
    return sorted({command for command in found if command.startswith(kind + " ")})


def test_every_point_of_the_notes_has_a_command():
    text = (ROOT / "docs" / "paper-notes.md").read_text()
    for head in ("## What does not hold", "## Where we differ on purpose"):
        part = text.split(head)[1].split("\n## ")[0]
        points = re.split(r"\n(?=\d+\. )", part)[1:]
        assert len(points) >= 9
        assert [point[:60] for point in points if not QUOTED.search(" ".join(point.split()))] == []


def test_the_tests_that_the_pages_name_are_there():
    """All in one process; each pair of a file and words selects at least one test."""
    asked = [shlex.split(command)[1:] for command in commands("pytest")]
    assert len(asked) > 15
    files = sorted({word for words in asked for word in words if word.startswith("tests/")})
    listed = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *files],
        capture_output=True, text=True, cwd=ROOT, timeout=300,
    ).stdout.splitlines()  # fmt: skip
    for words in asked:
        own = [line for line in listed if line.startswith(tuple(w for w in words if "/" in w))]
        wanted = words[words.index("-k") + 1].split(" or ") if "-k" in words else [""]
        for word in wanted:
            assert any(word in line.lower() for line in own), (words, word)


@pytest.mark.parametrize("command", [c for c in commands("conjoin") if "FOLDER" not in c])
def test_a_cheap_form_of_the_command_runs(command, tmp_path):
    words = shlex.split(command)[1:]
    tables = [word for word in words[1:] if word.startswith(("table", "figure", "timings"))]
    if tables and tables[0] not in ("table2", "table3", "table4"):
        pytest.skip("needs the paper's data: tests/paper/tables runs a small form")
    quick = QUICK[words[0]]
    output = ["--output", str(tmp_path / "t.csv")] if words[0] == "reproduce" else []
    if words == ["reproduce", "classification"]:
        pytest.skip("tests/cli/test_reproduce.py runs a small form")
    done = CliRunner().invoke(app, [*words, *quick, *output])
    assert done.exit_code == 0, done.stderr


def test_the_scripts_that_the_pages_name_are_there():
    for command in commands("python"):
        module = command.split()[2]
        assert (ROOT / (module.replace(".", "/") + ".py")).is_file()
