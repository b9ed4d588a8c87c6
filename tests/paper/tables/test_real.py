from pathlib import Path

import pytest

from conjoin.errors import ArgumentError
from conjoin.paper.tables.methods import (
    BIFACTOR,
    BIFACTOR_CLUSTERS,
    BIFACTOR_IDENTITY,
    DEFAULT,
    IDENTITY_CLUSTERS,
    INDIVIDUAL,
    LITERAL,
    POOLED,
)
from conjoin.paper.tables.protocol import BOOTSTRAP, HELD_OUT
from conjoin.paper.tables.real import (
    HEADER,
    TABLES,
    cases_of,
    results_for,
    run_case,
    text_rows,
)
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
    for case in TABLES[table].printed:
        own = [line for line in lines if (line.set, line.representation) == case]
        assert len(own) == 3 * (1 + len(set(TABLES[table].methods)))


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
        ("BB", IDENTITY_CLUSTERS),
        ("BB", BIFACTOR_CLUSTERS),
        ("BB", BIFACTOR),
        ("DFOIP by category", IDENTITY_CLUSTERS),
        ("WDAF by stores", IDENTITY_CLUSTERS),
        ("DFOIP by category", BIFACTOR_CLUSTERS),
        ("DFOIP by category", BIFACTOR),
        ("WDAF by stores", BIFACTOR_CLUSTERS),
        ("WDAF by stores", BIFACTOR),
        # Its own coefficients, which the paper does not report. On BB it is nearly a tie, and with
        # all rows BiFactor is ahead: see scripts/close_call.py.
        ("BB", BIFACTOR_IDENTITY),
        ("DFOIP by category", BIFACTOR_IDENTITY),
        ("WDAF by stores", BIFACTOR_IDENTITY),
    ],
)
def test_the_default_beats_bifactor_on_every_set_of_table_7(name, rival):
    ours, theirs = (
        result_of("table7", name, method, representation="MLP1").error
        for method in (DEFAULT, rival)
    )
    assert ours < theirs


def test_the_pages_have_the_stored_figures():
    from scripts.paper_tables import PAGES, render

    for page in PAGES:
        assert render(page.read_text()) == page.read_text()


def test_errors_are_shown_as_sums_and_means():
    lines = [dict(zip(HEADER, row)) for row in text_rows("table5", stored("table5"))]
    wdaf = next(line for line in lines if line["set"] == "WDAF" and line["method"] == INDIVIDUAL)
    assert float(wdaf["sum"]) == pytest.approx(2 * float(wdaf["mean"]), rel=1e-3)
    assert wdaf["paper's sum"] == "0.898"


def test_algorithm_3_is_not_guaranteed_to_lower_the_error():
    literal = result_of("table1", "CFGSF", LITERAL, representation="MLP1")
    assert literal.reduction < -500


def test_joining_helps_models_of_fifty_rows_and_hurts_those_of_all_rows():
    lines = [line for line in stored("table1") if (line.set, line.method) == ("RSS", POOLED)]
    fifty, everything = (
        next(line for line in lines if (line.protocol, line.rows) == (HELD_OUT, rows))
        for rows in (50, 0)
    )
    assert fifty.reduction > 15 and everything.reduction < -15


def test_the_minimum_that_the_text_names_is_not_that_of_the_table():
    assert min(printed.reduction for printed in TABLES["table6"].printed.values()) == 63.55


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "case"),
    [
        ("table1", ("CFGSF", "MLP1")),
        ("table5", ("BB", "columns")),
        ("table6", ("SBSD", "MLP1")),
        ("table7", ("WDAF by stores", "MLP1")),
    ],
)
def test_a_small_form_of_each_table_gives_the_stored_figures(table, case, paper_data):
    """Individual and pooled models, which are quick, on the same draws as all other methods."""
    kept = {
        (line.protocol, line.rows, line.method): line.error
        for line in stored(table)
        if (line.set, line.representation) == case
    }
    for line in run_case(case, [POOLED], paper_data):
        expected = kept[line.protocol, line.rows, line.method]
        assert line.error == pytest.approx(expected, rel=1e-3)


def test_both_protocols_are_stored():
    assert {line.protocol for line in stored("table5")} == {BOOTSTRAP, HELD_OUT}
