import csv
from pathlib import Path

import pytest

from conjoin.paper.tables import real, sets
from conjoin.paper.tables.results import read_results, write_results

ROOT = Path(__file__).parents[2]


def test_a_table_is_written_and_printed(conjoin_, tmp_path, monkeypatch):
    output = tmp_path / "deep" / "t.csv"
    done = conjoin_("reproduce", "table2", "--repetitions", "1", "--output", output)
    assert done.code == 0, done.err
    assert "table2: percent of correct decisions of Algorithm 2, n = 50" in done.out
    assert f"Written to {output}\n" in done.out
    with output.open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [
        "p", "d", "shift", "paper", "ours", "standard_error", "paper_direct",
        "one_minus_join_rate", "direct_exact", "default",
    ]  # fmt: skip
    assert [row["d"] for row in rows] == ["0", "0.1", "0.3"]
    monkeypatch.chdir(tmp_path)
    default = conjoin_("reproduce", "table2", "--repetitions", "1")
    assert default.code == 0
    assert (tmp_path / "experiments" / "table2" / "results.csv").read_text() == output.read_text()


def test_classification_is_written_and_printed(conjoin_, tmp_path, monkeypatch):
    from conjoin.paper.tables import classification

    monkeypatch.setattr(classification, "SIZES", ((100, 100),))  # the larger take minutes
    output = tmp_path / "c.csv"
    done = conjoin_("reproduce", "classification", "--pairs", "2", "--output", output)
    assert done.code == 0, done.err
    assert "classification: percent of pairs that each reading of the bounds joins" in done.out
    with output.open() as file:
        assert [row["d"] for row in csv.DictReader(file)] == ["0", "0.1", "0.3", "1.41", "2"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["table3", "--sets", "BB"],
            "--sets works with table1, table5, table6, table7 only; table3",
        ),
        (["table2", "--seed", "-3"], "--seed -3 is negative"),
        (["table2", "--pairs", "0"], "--pairs 0 "),
        (["table2", "--fresh-rows", "0"], "--fresh-rows 0 "),
        (["table5", "--sets", ""], "Set '' is not in table5"),
        (["table5", "--sets", "bb, XX"], "Set 'XX' is not in table5"),
        (["table5", "--output", "x.pdf"], "--output 'x.pdf' cannot be written; name a .csv file"),
        (["figure1", "--output", "x.csv"], "--output 'x.csv' cannot be written; name a .svg file"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(conjoin_, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    refused = conjoin_("reproduce", *words)
    assert refused.code == 2
    assert message in refused.err
    assert list(tmp_path.iterdir()) == []


def test_results_of_other_sets_stay_in_the_file(conjoin_, tmp_path, monkeypatch):
    """Stored results stand in for the run of a set, which takes minutes."""
    stored = read_results(ROOT / "experiments" / "table5" / "results.csv")
    monkeypatch.setattr(sets, "check_files", lambda name, folder: None)
    monkeypatch.setattr(
        real, "run_case", lambda case, *_, **__: [one for one in stored if one.set == case[0]]
    )
    output = tmp_path / "t.csv"
    write_results([one for one in stored if one.set != "BB"], output)
    done = conjoin_("reproduce", "table5", "--sets", "bb", "--output", output)
    assert done.code == 0, done.err
    assert read_results(output) == stored
    assert "table5: Algorithm 3 on columns; reduction of the error in percent" in done.out
    assert "WDAF" not in done.out
