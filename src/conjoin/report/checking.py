"""What a check of new rows says: plain values for `--json`, and a sentence.

A `Check` enters; a dict and words leave.
"""

from typing import Any

from conjoin.report.measure import measure_of
from conjoin.report.numbers import finite
from conjoin.result.checking import Check, CheckedDataset, CheckedJoin


def check_facts(check: Check, family: str) -> dict[str, Any]:
    """Return a check as plain values; unknown numbers are None."""
    return {
        "passed": check.passed,
        "summary": check_in_words(check),
        "datasets": [_dataset(one, family) for one in check.datasets],
        "joins": [_join(one) for one in check.joins],
    }


def _dataset(one: CheckedDataset, family: str) -> dict[str, Any]:
    measure = measure_of(family)
    numbers = {"error": finite(one.error), "promised": finite(one.promised)}
    return {
        "dataset": one.name,
        "status": one.status,
        "rows": one.rows,
        **numbers,
        "shown": {name: measure.shown(value) for name, value in numbers.items()},
        "p_value": finite(one.p_value),
        "inside": finite(one.inside),
    }


def _join(one: CheckedJoin) -> dict[str, Any]:
    return {
        "left": list(one.left),
        "right": list(one.right),
        "status": one.status,
        "joined": one.joined,
        "verdict": one.verdict,
        "today": one.today,
    }


def check_in_words(check: Check) -> str:
    """Say in a sentence what needs a look."""
    errors = sum(one.status == "look" for one in check.datasets)
    joins = sum(one.status == "look" for one in check.joins)
    if check.passed:
        return f"Passed: {_count(len(check.datasets), 'dataset')} checked, nothing needs a look."
    parts = [
        f"{_count(errors, 'dataset')} with a higher error than promised" if errors else "",
        f"{_count(joins, 'join')} that new rows judge otherwise" if joins else "",
    ]
    return f"Needs a look: {' and '.join(part for part in parts if part)}."


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
