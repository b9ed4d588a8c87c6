"""The public tables: stored lines, and the table that is printed."""

from benchmarks.public.run import HEAD, main, read, show, write
from benchmarks.public.sets import PUBLISHED, SETS


def line(method, fold, mse):
    values = ("au-import", method, "0", str(fold), str(mse), "1", "100")
    return dict(zip(HEAD, values))


def test_lines_are_written_in_order_and_read_again(tmp_path):
    path = tmp_path / "results.csv"
    lines = [line("lightgbm", 0, 1.2), line("conjoin", 1, 0.6), line("conjoin", 0, 0.5)]
    write(path, lines)
    assert read(path) == lines[::-1]
    assert read(tmp_path / "none.csv") == []


def test_our_errors_stand_beside_the_published_ones():
    text = show([line("conjoin", 0, 0.5), line("conjoin", 1, 0.6)])
    assert "conjoin              0.5500  mean of 2 of 5 folds, this run" in text
    assert "GPBoost              0.6510  published" in text
    assert set(PUBLISHED) == set(SETS)


def test_stored_results_are_shown(capsys):
    assert main(["--show"]) == 0
    assert "au-import" in capsys.readouterr().out
