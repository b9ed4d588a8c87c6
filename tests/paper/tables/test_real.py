from pathlib import Path

import pytest

from conjoin.errors import ArgumentError
from conjoin.paper.tables.methods import BIFACTOR, BIFACTOR_CLUSTERS, DEFAULT, POOLED
from conjoin.paper.tables.protocol import BOOTSTRAP, HELD_OUT
from conjoin.paper.tables.real import TABLES, cases_of, results_for, run_case
from conjoin.paper.tables.results import read_results

ROOT = Path(__file__).parents[3]
MISSED = pytest.mark.xfail(reason="missed; docs/paper-tables.md has the results")


def stored(table):
    return read_results(ROOT / "experiments" / table / "results.csv")


def test_cases_of_two_tables_are_run_once():
    cases = cases_of(["table1", "table6"], ["RSS"])
    assert list(cases) == [("RSS", "MLP1"), ("RSS", "MLP2")]
    assert BIFACTOR in cases["RSS", "MLP1"] and BIFACTOR not in cases["RSS", "MLP2"]
    with pytest.raises(ArgumentError, match="Set 'BB' is not in table1; expected one of RSS, SSF"):
        cases_of(["table1"], ["BB"])


@pytest.mark.parametrize("table", TABLES)
def test_stored_tables_are_whole(table):
    lines = stored(table)
    assert results_for(table, lines) == lines
    assert {(line.set, line.representation) for line in lines} == set(TABLES[table].printed)
    assert len(lines) == 3 * (1 + len(TABLES[table].methods)) * len(TABLES[table].printed)


@pytest.mark.slow
def test_stored_results_come_from_the_command(paper_data):
    """A set of table 5, run again."""
    fresh = run_case(("WDAF", "columns"), [POOLED, DEFAULT], paper_data)
    kept = {
        (line.protocol, line.rows, line.method): line.error
        for line in stored("table5")
        if line.set == "WDAF"
    }
    for line in fresh:
        expected = kept[line.protocol, line.rows, line.method]
        assert line.error == pytest.approx(expected, rel=1e-3)


def test_printed_reductions_follow_from_printed_errors_but_for_two():
    wrong = {}
    for table in TABLES.values():
        for cell, printed in table.printed.items():
            if printed.individual is not None:
                follows = 100 * (1 - printed.joined / printed.individual)
                if abs(follows - printed.reduction) > 0.1:
                    wrong[cell] = round(follows, 1)
    assert wrong == {("MITV", "MLP1"): 34.2, ("SBSD", "MLP2"): 64.1}


def result_of(table, name, method, *, protocol=HELD_OUT, representation="columns"):
    return next(
        line
        for line in stored(table)
        if (line.set, line.representation, line.method) == (name, representation, method)
        and (line.protocol, line.rows) == (protocol, 50)
    )


@pytest.mark.parametrize(
    ("name", "paper", "protocol"),
    [
        ("WDAF", 17.5, BOOTSTRAP),
        ("BB", 34.5, BOOTSTRAP),
        ("PPGE", 29.1, BOOTSTRAP),
        pytest.param("WDAF", 17.5, HELD_OUT, marks=MISSED),
        ("BB", 34.5, HELD_OUT),
        ("PPGE", 29.1, HELD_OUT),
    ],
)
def test_the_default_reduces_the_error_as_much_as_the_paper_says(name, paper, protocol):
    assert result_of("table5", name, DEFAULT, protocol=protocol).reduction >= paper


@pytest.mark.parametrize(
    ("name", "rival"),
    [
        ("BB", BIFACTOR_CLUSTERS),
        ("DFOIP by category", BIFACTOR_CLUSTERS),
        ("WDAF by stores", BIFACTOR_CLUSTERS),
        # Its own coefficients, which the paper does not report: a tie, see scripts/close_call.py.
        pytest.param("BB", BIFACTOR, marks=MISSED),
        ("DFOIP by category", BIFACTOR),
        ("WDAF by stores", BIFACTOR),
    ],
)
def test_the_default_beats_bifactor_on_every_set_of_table_7(name, rival):
    ours, theirs = (
        result_of("table7", name, method, representation="MLP1").error
        for method in (DEFAULT, rival)
    )
    assert ours < theirs


def test_the_paper_page_has_the_stored_figures():
    from scripts.paper_tables import render

    page = ROOT / "docs" / "paper-tables.md"
    assert render(page.read_text()) == page.read_text()


def test_both_protocols_are_stored():
    assert {line.protocol for line in stored("table5")} == {BOOTSTRAP, HELD_OUT}
