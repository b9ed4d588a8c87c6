"""Tables 1, 5, 6 and 7 of the paper on real data: their sets, methods and printed results.

Names of tables enter; results of all methods, and the tables as text, leave.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from conjoin._typing import Progress
from conjoin.errors import ArgumentError
from conjoin.paper.tables.methods import (
    BIFACTOR,
    BIFACTOR_CLUSTERS,
    BIFACTOR_IDENTITY,
    DEFAULT,
    IDENTITY_CLUSTERS,
    INDIVIDUAL,
    LITERAL,
    MANY_DATASETS,
    POOLED,
    SIGNED,
)
from conjoin.paper.tables.protocol import BOOTSTRAP, HELD_OUT, Plan, compare_methods
from conjoin.paper.tables.results import MethodResult
from conjoin.paper.tables.sets import GroupedRows, load

OURS = (POOLED, LITERAL, SIGNED, DEFAULT)
WITH_RIVALS = (
    POOLED,
    LITERAL,
    SIGNED,
    BIFACTOR_IDENTITY,
    IDENTITY_CLUSTERS,
    BIFACTOR,
    BIFACTOR_CLUSTERS,
    DEFAULT,
)
CLUSTERED = (IDENTITY_CLUSTERS, BIFACTOR_CLUSTERS)  # how the paper uses BiFactor
# Rows of a set below which it is small and above which it is large. BB has 730 rows, then comes
# PPGE with 1,197; RSS has 844,338, and the next of few datasets, MITV, 48,180.
SMALL_SET, LARGE_SET = 1_000, 100_000
USUAL = Plan()
# With few rows, errors differ much between splits: one dataset of BB has ten rows to judge on.
SMALL = Plan(bootstraps=200, splits=200)
# Each split trains a network on hundreds of thousands of rows, so few splits with many draws.
LARGE = Plan(bootstraps=40, splits=2, draws=20)
# Means over more than MANY_DATASETS datasets hardly differ between draws, and each takes long.
MANY = Plan(bootstraps=3, splits=1, draws=3)


@dataclass(frozen=True)
class Printed:
    """What the paper prints: errors of separate fits and of Algorithm 3, reduction in percent.

    Its errors are sums over datasets; ours are means.
    """

    individual: float | None
    joined: float | None
    reduction: float
    bifactor: float | None = None  # reduction by BiFactor, in percent
    bifactor_error: float | None = None  # beside an individual error of its own, not kept here


@dataclass(frozen=True)
class PaperTable:
    """A table: the methods to run, and what the paper prints for each set and representation."""

    name: str
    title: str
    methods: Sequence[str]
    printed: dict[tuple[str, str], Printed]


TABLES: dict[str, PaperTable] = {
    "table1": PaperTable(
        "table1",
        "Algorithm 3 and multi-task learning (BiFactor), on features of MLP1",
        WITH_RIVALS,
        {
            ("RSS", "MLP1"): Printed(None, None, 87.0, 12.0),
            ("SSF", "MLP1"): Printed(None, None, 64.0, 37.0),
            ("CFGSF", "MLP1"): Printed(None, None, 71.0, 18.0),
        },
    ),
    "table5": PaperTable(
        "table5",
        "Algorithm 3 on columns",
        OURS,
        {
            ("DFOIP", "columns"): Printed(4.14e8, 1.25e6, 99.7),
            ("WDAF", "columns"): Printed(0.898, 0.741, 17.5),  # 8.98e11 and 7.41e11 dollars^2
            ("BB", "columns"): Printed(2.057, 1.347, 34.5),
            ("PPGE", "columns"): Printed(5.57e-2, 3.95e-2, 29.1),
        },
    ),
    "table6": PaperTable(
        "table6",
        "Algorithm 3 on features of MLP1 and MLP2",
        OURS,
        {
            ("RSS", "MLP1"): Printed(2.197e3, 2.326e2, 89.41),
            ("SSF", "MLP1"): Printed(1.381e4, 4.310e3, 68.79),
            ("CFGSF", "MLP1"): Printed(1.564e1, 4.308, 72.46),
            ("SBSD", "MLP1"): Printed(1.325e1, 4.830, 63.55),
            ("MITV", "MLP1"): Printed(2.111e3, 1.388e3, 72.46),
            ("RSS", "MLP2"): Printed(1.327e3, 2.760e2, 79.20),
            ("SSF", "MLP2"): Printed(3.277e6, 3.816e4, 98.83),
            ("CFGSF", "MLP2"): Printed(1.320e2, 4.723e1, 64.22),
            ("SBSD", "MLP2"): Printed(1.146e1, 4.110, 63.55),
            ("MITV", "MLP2"): Printed(1.699e3, 2.028e2, 88.06),
        },
    ),
    "table7": PaperTable(
        "table7",
        "Algorithm 3 and BiFactor, on features of MLP1",
        WITH_RIVALS,
        {
            ("BB", "MLP1"): Printed(2.822, 2.359, 16.41, 2.086, 3.239),
            ("DFOIP by category", "MLP1"): Printed(3.097e3, 9.105e2, 70.60, 59.87, 1.167e3),
            ("WDAF by stores", "MLP1"): Printed(1.495e2, 3.562e1, 76.17, 12.90, 9.697e1),
        },
    ),
}


Case: TypeAlias = tuple[str, str]  # a set and a representation


def cases_of(tables: Sequence[str], sets: Sequence[str] | None = None) -> dict[Case, list[str]]:
    """Return the methods to run for each set and representation of some tables, each once.

    `sets` are the names of the sets to run, by default all.

    Examples
    --------
    >>> list(cases_of(["table5"], ["BB"]))
    [('BB', 'columns')]
    """
    known = {name: None for table in tables for name, _ in TABLES[table].printed}
    for name in () if sets is None else sets:
        if name not in known:
            raise ArgumentError(
                f"Set {name!r} is not in {', '.join(tables)}; expected one of {', '.join(known)}."
            )
    cases: dict[Case, list[str]] = {}
    for table in tables:
        for case in TABLES[table].printed:
            if sets is None or case[0] in sets:
                methods = cases.setdefault(case, [])
                methods += [m for m in TABLES[table].methods if m not in methods]
    return cases


def run_case(
    case: Case,
    methods: Sequence[str],
    folder: Path,
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> list[MethodResult]:
    """Run both protocols on a set with a representation."""
    name, representation = case
    rows = load(name, folder)
    plan = replace(plan_for(rows), seed=seed)
    return compare_methods(rows, name, representation, methods, plan, progress)


def plan_for(rows: GroupedRows) -> Plan:
    """Return how often rows of a set are drawn."""
    if len(rows.names) > MANY_DATASETS:
        return MANY
    if len(rows.y) > LARGE_SET:
        return LARGE
    return SMALL if len(rows.y) < SMALL_SET else USUAL


def results_for(table: str, results: Sequence[MethodResult]) -> list[MethodResult]:
    """Return the results that belong to a table, sets in its order."""
    chosen = TABLES[table]
    return [
        one
        for case in chosen.printed
        for one in results
        if (one.set, one.representation) == case and one.method in (INDIVIDUAL, *chosen.methods)
    ]


# --- as text -------------------------------------------------------------------------------------

HEADER = (
    "set", "features", "method", "paper", "bootstrap", "held out", "median", "all rows",
    "paper's sum", "sum", "mean",
)  # fmt: skip
WORDS = ("set", "features", "method")  # the columns of HEADER that are not numbers
CEILING = "all rows, best"
WIDEST = -1000  # below it a percentage is written as a power of ten, to keep columns narrow


def text_rows(table: str, results: Sequence[MethodResult]) -> list[tuple[str, ...]]:
    """Return a table as text, under HEADER: reductions in percent, then errors.

    The paper's errors are sums over datasets. Ours, by the paper's protocol, are shown as sums and
    as means.

    The last row of a set takes the method with the smallest error on held-out rows when all
    training rows are used. It shows the reduction of that error against separate fits to n rows.
    A model of this kind with only n rows of each dataset can hardly do better.
    """
    rows: list[tuple[str, ...]] = []
    for case, printed in TABLES[table].printed.items():
        own = [one for one in results if (one.set, one.representation) == case]
        if not own:
            continue
        for method in (INDIVIDUAL, *TABLES[table].methods):
            at = {(one.protocol, one.rows > 0): one for one in own if one.method == method}
            if not at:  # not run on this set
                continue
            boot, few, full = (at[BOOTSTRAP, True], at[HELD_OUT, True], at[HELD_OUT, False])
            by_method = {LITERAL: printed.reduction, **dict.fromkeys(CLUSTERED, printed.bifactor)}
            paper = by_method.get(method)
            ours = (boot.reduction, few.reduction, few.median_reduction, full.reduction)
            reductions = ("",) * 5 if method == INDIVIDUAL else map(_percent, (paper, *ours))
            levels = (_printed_level(printed, method), boot.error * boot.datasets, boot.error)
            rows.append((*case, method, *reductions, *map(_level, levels)))
        held_out = [one for one in own if one.protocol == HELD_OUT]
        least = min(one.error for one in held_out if not one.rows)
        start = next(one.error for one in held_out if one.rows and one.method == INDIVIDUAL)
        ceiling = _percent(100 * (1 - least / start))
        rows.append((*case, CEILING, "", "", ceiling, *[""] * 5))
    return rows


def _printed_level(printed: Printed, method: str) -> float | None:
    """Return the error that the paper prints for a method."""
    levels = {
        INDIVIDUAL: printed.individual,
        LITERAL: printed.joined,
        **dict.fromkeys(CLUSTERED, printed.bifactor_error),
    }
    return levels.get(method)


def _level(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _percent(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.1f}" if value > WIDEST else f"{value:.1e}"
