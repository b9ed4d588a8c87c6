"""Tables at the width of a terminal: nothing is lost, and no number is cut."""

import io

import pytest
from rich.console import Console

from conjoin.cli.fitted import print_fitted, shared_widths
from conjoin.cli.show import _ledger, _strategies, _table
from conjoin.report.measure import measure_of
from tests.report.test_headline import strategy

NAMES = ["Massachusetts General Hospital", "Sankt-Georgs-Krankenhaus", "3"]


def printed(table, width):
    stream = io.StringIO()
    print_fitted(Console(file=stream, width=width), table)
    return stream.getvalue().splitlines()


def ledger():
    line = {
        "left": NAMES, "right": NAMES[:2], "gain": -123456.7, "interval": [-1.234e5, 9.876e6],
        "too_few_rows": False, "verdict": "undecided", "judged_by": "theory", "holds_for_all": True,
        "why": "joined: better together",
    }  # fmt: skip
    other = {**line, "left": ["b"], "right": ["a" * 30], "verdict": "join", "judged_by": "cv"}
    return _ledger([line, other], measure_of("gaussian"), learned=True)


def test_a_ledger_is_readable_in_80_columns():
    lines = printed(ledger(), 80)
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    for part in ("-1.235e+05", "-1.23e+05", "+9.88e+06", "undecided", "together", "Hospital"):
        assert part in text
    assert "…" not in text
    assert "join *" in text
    assert text.count("a" * 8) >= 2  # a long name is folded, and whole


def test_a_terminal_too_narrow_for_the_numbers_wraps_lines():
    lines = printed(ledger(), 30)
    assert any("-1.235e+05" in line for line in lines)


def test_a_table_that_fits_stays_as_it_is():
    table = _table("join", "gain", right=("gain",))
    table.add_row("a with b", "+1.5")
    assert printed(table, 80)[-1] == "a with b   +1.5"


@pytest.mark.parametrize("width", [80, 100])
def test_strategies_fit(width):
    one = {"in_use": False, "weight": 0.12, "percent": 12.3, "percent_standard_error": 4.5}
    lines = {
        name: {**strategy(error), **one}
        for name, error in (("auto", 1e10), ("clusters, searched again", 4e12))
    }
    found = {"family": "gaussian", "strategies": lines}
    shown = printed(_strategies(found, 8 if width < 100 else 16), width)
    assert max(map(len, shown)) <= width
    assert "clusters, searched again" in "\n".join(shown)


def test_widths_are_shared():
    assert shared_widths([(3, 10), (4, 10)], 30) == [10, 10]
    assert shared_widths([(3, 10), (9, 10)], 15) == [6, 9]
    assert shared_widths([(3, 10), (9, 10)], 5) == [3, 9]
