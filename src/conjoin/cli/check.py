"""`conjoin check` says whether a saved model keeps its promise on new rows.

A model file and new rows with known target enter; a test report is printed. Exit code 3 says that
something needs a look. Heavy imports happen inside, so that help is quick.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import typer

from conjoin.cli.options import Json, Model, Query, Sources, Trust

NEEDS_A_LOOK = 3  # the exit code
MOST_SHOWN = 40  # lines of a table: those that need a look come first


def check(
    model: Model, data: Sources, query: Query = None, as_json: Json = False, trust: Trust = None
) -> None:
    """Check saved models on new rows with known target; exit code 3 if something needs a look.

    Says for each dataset whether the error is still what was promised, and which joins the new rows
    would judge otherwise.
    """
    from conjoin.cli.show import show_json
    from conjoin.report.checking import check_facts
    from conjoin.result.checking import check_source
    from conjoin.result.load import load

    loaded = load(model, trusted=trust)
    found = check_source(loaded, data, query=query)
    facts = check_facts(found, loaded.family)
    if as_json:
        show_json(facts)
    else:
        _show(facts, loaded.family)
    if not found.passed:
        raise typer.Exit(NEEDS_A_LOOK)


def _show(found: Mapping[str, Any], family: str) -> None:
    """Print the check like a test report, what needs a look first."""
    from conjoin.cli.show import print_table, print_text
    from conjoin.report.measure import error_text, measure_of

    head = measure_of(family).head
    numbers = ("rows", f"{head} now", "promised", "p", "in 90 % interval")
    lines = [
        (
            one["dataset"],
            one["status"],
            f"{one['rows']:,}",
            error_text(one["shown"]["error"]),
            error_text(one["shown"]["promised"]),
            "" if one["p_value"] is None else f"{one['p_value']:.3f}",
            "" if one["inside"] is None else f"{100 * one['inside']:.0f} %",
        )
        for one in _first(found["datasets"])
    ]
    print_table("Datasets", ("dataset", "status", *numbers), lines, numbers)
    joins = [one for one in found["joins"] if one["status"] == "look"]
    if joins:
        texts = [
            (
                f"{', '.join(one['left'])} + {', '.join(one['right'])}",
                one["status"],
                f"{'joined' if one['joined'] else 'not joined'} ({one['verdict']})",
                one["today"],
            )
            for one in joins[:MOST_SHOWN]
        ]
        print_table("Joins", ("join", "status", "at fitting", "new rows say"), texts, ())
    print_text(found["summary"])


def _first(lines: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return sorted(lines, key=lambda one: one["status"] != "look")[:MOST_SHOWN]
