"""The Python examples of the README and the pages run as written."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("tables", "representations")),
]


def examples(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = examples(page)
    assert blocks
    for block in blocks:
        exec(compile(block, str(page), "exec"), {})


def test_the_first_example_is_short_and_true(capsys):
    first = examples(PAGES[0])[0]
    assert len(first.strip().splitlines()) <= 15
    exec(compile(first, "README.md", "exec"), {})
    assert "True" in capsys.readouterr().out
