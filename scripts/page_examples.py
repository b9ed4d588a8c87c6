"""The examples of the README and the pages of docs: find them, run them, compare what they print.

A block ```python is run; blocks of a page share their names. A block ```text right after it is what
it prints. In a block ```console a line "$ conjoin ..." is run, and the lines below it are what it
prints; "..." stands for any text. Blocks of other kinds (```py, ```sh) are shown only.
"""

import contextlib
import io
import re
import shlex
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"```(python|console)\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
COMMAND = re.compile(r"^\$ conjoin (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
LONGEST = 300  # seconds of one command: pages are for people who wait


@dataclass(frozen=True)
class Printed:
    """What a page shows of one example, where that stands in the page, and what was printed."""

    code: str
    shown: str
    start: int
    end: int
    printed: str

    @property
    def agrees(self) -> bool:
        """Whether the page shows what was printed."""
        rules = ELLIPSIS | NORMALIZE_WHITESPACE
        return OutputChecker().check_output(self.shown, self.printed, rules)


def pages() -> list[Path]:
    """Return the README and all pages of docs that have examples."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if BLOCK.search(page.read_text(encoding="utf-8"))]


def blocks(page: Path) -> list[tuple[str, str, str]]:
    """Return kind, code and shown output of every block, in order."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def run(page: Path) -> Iterator[Printed]:
    """Run the examples of a page in the working folder, and yield what each prints."""
    text, names = page.read_text(encoding="utf-8"), dict[str, Any]()
    for found in BLOCK.finditer(text):
        kind, code, _ = found.groups()
        if kind == "python":
            start, end = found.span(3)
            yield Printed(code, found.group(3) or "", start, end, run_python(code, names))
            continue
        for line in COMMAND.finditer(code):
            offset = found.start(2)
            printed = run_command(line.group(1))
            if line.group(2):
                start, end = line.start(2) + offset, line.end(2) + offset
                yield Printed(line.group(1), line.group(2), start, end, printed)


def run_apart(page: Path) -> list[Printed]:
    """Run the examples of a page in a process of its own, and return what each prints.

    Java keeps the working folder in which it was started, so files of a page for Spark are found
    only if nothing before the page has started Java.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(_run_all, page).result()


def _run_all(page: Path) -> list[Printed]:
    return list(run(page))


def run_python(code: str, names: dict[str, Any]) -> str:
    """Run a block and return what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "page", "exec"), names)
    return printed.getvalue()


def run_command(arguments: str) -> str:
    """Run `conjoin` in this process and return what it prints.

    A new process would load the libraries again for each of some forty commands.
    """
    from typer.testing import CliRunner

    from conjoin.cli.main import app

    begun = time.perf_counter()
    words = shlex.split(arguments, comments=True)
    done = CliRunner().invoke(app, words, env=dict.fromkeys(("COLUMNS", "LINES")))
    if done.exit_code:
        raise RuntimeError(f"conjoin {arguments}\n{done.stderr}")
    if time.perf_counter() - begun > LONGEST:
        raise RuntimeError(f"conjoin {arguments} took more than {LONGEST} s.")
    return done.stdout
