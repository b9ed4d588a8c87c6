from conjoin.cli.show_paper import show_cells, show_rows
from conjoin.paper.tables.real import HEADER, WORDS
from conjoin.paper.tables.synthetic import Cell


def test_numbers_are_aligned_to_the_right_and_words_to_the_left(capsys):
    rows = [("BB", "1.5"), ("a longer name", "-10.0"), ("c", "")]
    show_rows("Title", ("set", "error"), rows, words=["set"])
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert "Title" in lines
    ends = [line for line in lines if line.endswith((" 1.5", "-10.0"))]
    assert len(ends) == 2
    assert len(ends[0]) == len(ends[1])
    assert ends[0].startswith("BB ")


def test_one_repetition_has_no_standard_error(capsys):
    cell = Cell(10, 0.1, 0, 79.4, 80.0, float("nan"), 20.5, 19.0, 2.0, 81.0)
    show_cells([cell], "table2")
    out = capsys.readouterr().out
    assert "nan" not in out
    assert "+0.6" in out
    assert "Direct comparison itself never joins" in " ".join(out.split())


def test_words_stay_whole_in_the_widest_table_of_a_file(capsys):
    row = ["CFGSF", "MLP1", "BiFactor, identity"] + ["-1.234e+05"] * (len(HEADER) - 3)
    show_rows("Title", HEADER, [row], words=WORDS)
    assert " ".join(row) in " ".join(capsys.readouterr().out.split())
