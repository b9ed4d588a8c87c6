"""The example joins writers with the same kind of page, and its heads predict the same."""

import runpy
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch is not installed (extra nn)")

SCRIPT = Path(__file__).parents[2] / "examples" / "digits_writers.py"


def test_writers_with_the_same_kind_of_page_are_joined(capsys):
    runpy.run_path(str(SCRIPT), run_name="__main__")
    out = capsys.readouterr().out
    for page in ("upright", "sideways", "mirrored"):
        assert f"  {page} 1, {page} 2, {page} 3, {page} 4\n" in out
    assert out.rstrip().endswith(("within 0e+00.", "e-16.", "e-15."))
