"""The examples of the README and the pages run as written and print what the pages show.

A block ```python is run; blocks of a page share their names. A block ```text right after it is what
it prints. In a block ```console a line "$ conjoin ..." is run, and the lines below it are what it
prints; "..." stands for any text.
"""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Pages of docs with examples.
SHOWN = ("tables", "representations", "report", "command-line", "paper-notes", "learners", "time")
PAGES = [ROOT / "README.md", *(ROOT / "docs" / f"{name}.md" for name in SHOWN)]
BLOCK = re.compile(r"```(python|console)\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
COMMAND = re.compile(r"^\$ conjoin (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


def blocks(page):
    """Return kind, code and shown output of every block, in order."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def run_python(code, names):
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "page", "exec"), names)
    return printed.getvalue()


def run_command(arguments):
    command = [sys.executable, "-m", "conjoin.cli.main", *shlex.split(arguments, comments=True)]
    clean = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=clean)
    assert done.returncode == 0, done.stderr
    return done.stdout


def assert_printed(shown, printed):
    if not OutputChecker().check_output(shown, printed, ELLIPSIS | NORMALIZE_WHITESPACE):
        pytest.fail(f"The page shows\n{shown}\nbut this was printed:\n{printed}")


@pytest.mark.learner
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_print_what_the_page_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").symlink_to(ROOT / "src")  # for the bundled table
    names = {}
    compared = 0
    for kind, code, shown in blocks(page):
        pairs = (
            [(shown, run_python(code, names))]
            if kind == "python"
            else [(expected, run_command(line)) for line, expected in COMMAND.findall(code)]
        )
        for expected, printed in pairs:
            if expected:
                assert_printed(expected, printed)
                compared += 1
            elif kind == "python":
                assert not printed, f"The page does not show what this prints:\n{code}"
    assert compared


def test_the_first_example_is_short():
    first = next(code for kind, code, _ in blocks(PAGES[0]) if kind == "python")
    assert len(first.strip().splitlines()) <= 15


def test_other_output_than_shown_is_noticed():
    assert_printed("1 ... 3\n", "1 2 3\n")
    with pytest.raises(pytest.fail.Exception, match="shows"):
        assert_printed("1 2\n", "1 3\n")
