"""The smallest case with the same fault: fields become plain one after another."""

from collections.abc import Callable
from dataclasses import fields, replace

from tests.campaign.cases import Case

ROWS = (1, 2, 3, 5, 8, 12, 20, 30)


def shrink(case: Case, fails: Callable[[Case], bool]) -> Case:
    """Return the smallest case found for which `fails` is still true."""
    changed = True
    while changed:
        changed = False
        for smaller in _smaller(case):
            if smaller != case and fails(smaller):
                case, changed = smaller, True
                break
    return case


def _smaller(case: Case):
    plain = Case()
    for one in fields(case):
        if one.name in ("seed", "columns", "column_powers", "rows", "datasets"):
            continue
        if getattr(case, one.name) != getattr(plain, one.name):
            yield replace(case, **{one.name: getattr(plain, one.name)})
    for k in range(2, case.datasets):
        yield replace(case, datasets=k)
    for rows in ROWS:
        if rows < case.rows:
            yield replace(case, rows=rows)
    powers = case.column_powers
    for j in range(len(case.columns)):
        if len(case.columns) > 1:
            yield replace(
                case,
                columns=case.columns[:j] + case.columns[j + 1 :],
                column_powers=powers[:j] + powers[j + 1 :],
            )
        if case.columns[j] != "normal":
            yield replace(case, columns=(*case.columns[:j], "normal", *case.columns[j + 1 :]))
        if j < len(powers) and powers[j]:
            yield replace(case, column_powers=(*powers[:j], 0, *powers[j + 1 :]))
