"""Write what examples print into README and docs: `python -m scripts.refresh_outputs [PAGE...]`.

All examples are run as the tests run them. Where a page shows another output, the new one takes its
place. Parts that a page leaves out ("...") stay left out: the lines beside them are looked for in
the new output by their likeness, and a line that ends in "..." keeps its length. Check the
difference before you commit it.
"""

import difflib
import os
import sys
import tempfile
import textwrap
import warnings
from pathlib import Path

from scripts.page_examples import ROOT, Printed, pages, run

WIDTH = 112  # characters of a line of output on a page; longer lines are wrapped there
GAP = "..."


def refreshed(one: Printed) -> str:
    """Return what the page is to show."""
    if one.agrees:
        return one.shown
    lines = [part for line in one.printed.splitlines() for part in wrapped(line)]
    if GAP not in one.shown:
        return "\n".join(lines) + "\n"
    found: list[str] = []
    position = 0
    for part in segments(one.shown):
        if part == [GAP]:
            found.append(GAP)
            continue
        position = nearest(part[0], lines, position)
        for old in part:
            new = lines[position] if position < len(lines) else old
            cut = old.endswith(GAP) and len(old.rstrip(".")) < len(new)
            found.append(new[: len(old) - len(GAP)] + GAP if cut else new)
            position += 1
    return "\n".join(found) + "\n"


def wrapped(line: str) -> list[str]:
    """Return a line in parts that fit the page."""
    return textwrap.wrap(line, WIDTH) if len(line) > WIDTH else [line.rstrip()]


def segments(shown: str) -> list[list[str]]:
    """Return the lines of an output in runs; a line of dots is a run of its own."""
    found: list[list[str]] = []
    for line in shown.splitlines():
        if line.strip() == GAP or not found or found[-1] == [GAP]:
            found.append([line.strip() if line.strip() == GAP else line])
        else:
            found[-1].append(line)
    return found


def nearest(line: str, lines: list[str], start: int) -> int:
    """Return the position of the line that is most like one, from a position on."""
    scores = [
        difflib.SequenceMatcher(None, line.removesuffix(GAP), other[: len(line)]).ratio()
        for other in lines[start:]
    ]
    return start + (scores.index(max(scores)) if scores else 0)


def refresh(page: Path) -> int:
    """Write the outputs of a page again; return how many changed."""
    text, changed, moved = page.read_text(encoding="utf-8"), 0, 0
    for one in run(page):
        if one.start < 0 and one.printed:
            print(f"{page.name}: the page does not show what this prints:\n{one.code}")
        if one.start < 0 or not one.shown.strip():
            if one.start < 0:
                continue
        new = refreshed(one)
        if new != one.shown:
            changed += 1
            text = text[: one.start + moved] + new + text[one.end + moved :]
            moved += len(new) - len(one.shown)
    if changed:
        page.write_text(text, encoding="utf-8")
    return changed


def main() -> int:
    """Refresh the pages that are named, or all."""
    named = [Path(name).absolute() for name in sys.argv[1:]] or pages()
    home = Path.cwd()
    for page in named:
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            os.chdir(folder)
            (Path(folder) / "src").symlink_to(ROOT / "src")
            try:
                changed = refresh(page)
            finally:
                os.chdir(home)
        print(f"{page.relative_to(ROOT)}: {changed} outputs changed", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
