"""The examples in the docstrings of benchmarks, which the doctest run of the package leaves out."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "benchmarks").rglob("*.py"))
MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in FILES
    if ">>>" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    found = doctest.testmod(import_module(name))
    assert found.failed == 0 and found.attempted > 0
