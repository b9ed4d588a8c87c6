"""README and docs are in plain English: short sentences, no riddles, an index of all pages."""

import re
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, page_name, paragraphs, sentences, words

# A reader with English as a second language loses the thread beyond this; issue and house rule.
MOST_WORDS = 30
# Phrases that readers stumbled over; the plain ones to use instead are in brackets.
RIDDLES = (
    "anew",  # again
    "lets lines go on",  # allows extrapolation
    "gone over",  # passes over the rows
    "live on what",  # rely on
    "model a cluster",  # one model for each cluster
    "set out",  # start
    "more alike than noise",
    "for its word",  # too optimistic
    "hang on",  # depend on
    "hangs on",
    "of classes the error",  # for classes, the error
)


def prose(page: Path) -> list[str]:
    return paragraphs(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_no_sentence_is_too_long(page: Path) -> None:
    found = [s for paragraph in prose(page) for s in sentences(paragraph)]
    too_long = [f"{words(s)}: {s}" for s in found if words(s) > MOST_WORDS]
    assert not too_long, "\n".join(too_long)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=page_name)
def test_there_are_no_riddles(page: Path) -> None:
    text = " ".join(page.read_text(encoding="utf-8").split()).lower()
    found = [riddle for riddle in RIDDLES if re.search(rf"\b{re.escape(riddle)}\b", text)]
    assert not found


def test_the_index_has_one_line_for_each_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- \[[^\]]+\]\((\S+?)\): ", index, flags=re.MULTILINE)
    assert "tutorials/index.md" in listed
    assert sorted(set(listed) - {"tutorials/index.md"}) == sorted(
        p.name for p in (ROOT / "docs").glob("[!R]*.md")
    )


def test_long_sentences_are_found() -> None:
    text = f"Short one. {'word ' * 31}end.\n\n- {'item ' * 31}"
    counts = [words(s) for p in paragraphs(text) for s in sentences(p)]
    assert counts == [2, 32, 31]
