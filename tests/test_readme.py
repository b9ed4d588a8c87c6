"""The examples of the README and the pages run as written and print what the pages show."""

import re

import pytest

from scripts import page_examples
from scripts.page_examples import ROOT, Printed, blocks, pages, run, run_apart
from scripts.refresh_outputs import refreshed

README = ROOT / "README.md"
# One screen: what a terminal or a browser shows without scrolling twice.
MOST_LINES = 90


def name(page):
    return str(page.relative_to(ROOT))


@pytest.mark.learner
@pytest.mark.filterwarnings("default::conjoin.ConjoinWarning")  # users see them beside the output
@pytest.mark.parametrize("page", pages(), ids=name)
def test_examples_print_what_the_page_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").symlink_to(ROOT / "src")  # for the bundled tables
    compared = 0
    for_spark = "import SparkSession" in page.read_text(encoding="utf-8")
    for one in run_apart(page) if for_spark else run(page):
        if one.shown:
            assert one.agrees, f"The page shows\n{one.shown}\nbut this was printed:\n{one.printed}"
            compared += 1
        elif one.start < 0:
            assert not one.printed, f"The page does not show what this prints:\n{one.code}"
    assert compared


def test_every_block_of_python_is_run():
    """Blocks ```py are scripts of the gallery and code of other libraries, which have own tests."""
    for page in [README, *(ROOT / "docs").rglob("*.md")]:
        kinds = re.findall(r"^```([a-z]+)", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
        allowed = {"python", "console", "text", "sh", "bibtex", "sql", "r"}
        shown = set(kinds) - allowed
        assert shown <= ({"py"} if page.name == "other-libraries.md" else set()), page


def test_the_readme_is_one_screen_and_its_example_short():
    first = next(code for kind, code, _ in blocks(README) if kind == "python")
    assert len(first.strip().splitlines()) <= 8
    assert len(README.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def test_other_output_than_shown_is_noticed():
    assert Printed("", "1 ... 3\n", 0, 0, "1 2 3\n").agrees
    assert not Printed("", "1 2\n", 0, 0, "1 3\n").agrees


def test_outputs_are_refreshed_around_what_is_left_out():
    shown = "Best: a 1.0\n...\nrow b   2.5...\n...\nend\n"
    printed = "Best: a 1.5\nother\nrow c   9.123\nrow b   3.456\nmore\nend\n"
    assert refreshed(Printed("", shown, 0, 0, printed)) == (
        "Best: a 1.5\n...\nrow b   3.4...\n...\nend\n"
    )
    long = "word " * 40
    assert max(map(len, refreshed(Printed("", "x\n", 0, 0, long)).splitlines())) <= 112


def test_a_command_that_fails_is_an_error():
    with pytest.raises(RuntimeError, match="nothing.csv"):
        page_examples.run_command("partition nothing.csv --target y --by g")
