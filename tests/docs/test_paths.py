"""What README and docs point to is there: links, files, modules and tests."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, page_name

LINK = re.compile(r"\]\(([^)\s]+)\)")
FILE = re.compile(r"\b((?:src|tests|scripts|benchmarks|experiments|examples)/[\w/.-]*\w)")
MODULE = re.compile(r"python -m ([\w.]+)")
ROOM_FILE = re.compile(r"`([a-z_]+/[\w/]+\.py)`")


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub forms them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        other = page.parent / path if path else page
        assert other.exists(), target
        assert not anchor or anchor in anchors(other), target


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_files_and_modules_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    missing = [path for path in FILE.findall(text) if not (ROOT / path).exists()]
    missing += [
        path
        for path in ROOM_FILE.findall(text)
        if not any((ROOT / base / path).exists() for base in ("", "src/conjoin"))
    ]
    missing += [name for name in MODULE.findall(text) if find_spec(name) is None]
    assert not missing
