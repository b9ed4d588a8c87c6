"""The layout of the printed summary."""

from conjoin.report.summary import WIDTH, Summary, _table


def test_tables_fill_the_page_and_align_numbers_to_the_right():
    lines = _table(["name", "error"], [["a", "1.5"], ["long name", "22.75"]]).splitlines()
    assert lines[0].startswith("name") and len(lines[0]) == len(lines[1]) == WIDTH
    assert lines[2].endswith(" 1.5") and lines[3].endswith("22.75")


def test_a_summary_prints_as_it_is():
    assert repr(Summary("a\nb")) == str(Summary("a\nb")) == "a\nb"
