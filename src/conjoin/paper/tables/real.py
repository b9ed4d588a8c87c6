"""Tables 1, 5, 6 and 7 of the paper on real data: which sets, which methods, what was printed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from conjoin._typing import Progress
from conjoin.errors import ArgumentError
from conjoin.paper.tables.protocol import (
    BIFACTOR,
    BIFACTOR_CLUSTERS,
    BOOTSTRAP,
    DEFAULT,
    HELD_OUT,
    INDIVIDUAL,
    LITERAL,
    MANY_DATASETS,
    POOLED,
    SIGNED,
    Line,
    Plan,
    compare_methods,
)
from conjoin.paper.tables.sets import GroupedRows, load

OURS = (POOLED, LITERAL, SIGNED, DEFAULT)
WITH_RIVALS = (POOLED, LITERAL, SIGNED, BIFACTOR, BIFACTOR_CLUSTERS, DEFAULT)
USUAL = Plan()
# The fewer rows, the more errors differ between splits: a dataset of BB has ten rows to judge on.
FEW_ROWS, MANY_ROWS = 1_000, 100_000
SMALL = Plan(bootstraps=200, splits=200)
LARGE = Plan(bootstraps=40, splits=2, draws=20)  # a split means a network to train
# Means over many datasets hardly differ between draws, and each takes long.
MANY = Plan(bootstraps=3, splits=1, draws=3)


@dataclass(frozen=True)
class Printed:
    """What the paper prints of a set: errors of individual fits and of Algorithm 3, percent."""

    individual: float | None
    joined: float | None
    reduction: float
    bifactor: float | None = None  # its reduction, in percent


@dataclass(frozen=True)
class PaperTable:
    """A table: the methods run, and for each set and representation what the paper printed."""

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
            ("WDAF", "columns"): Printed(8.98e11, 7.41e11, 17.5),
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
            ("BB", "MLP1"): Printed(2.822, 2.359, 16.41, 2.086),
            ("DFOIP by category", "MLP1"): Printed(3.097e3, 9.105e2, 70.60, 59.87),
            ("WDAF by stores", "MLP1"): Printed(1.495e2, 3.562e1, 76.17, 12.90),
        },
    ),
}


Cell = tuple[str, str]  # a set and a representation


def cells_of(tables: Sequence[str], sets: Sequence[str] | None = None) -> dict[Cell, list[str]]:
    """Return the methods that tables need of each set and representation, each once.

    `sets` are the names of those to run, by default all.

    Examples
    --------
    >>> list(cells_of(["table5"], ["BB"]))
    [('BB', 'columns')]
    """
    known = {name: None for table in tables for name, _ in TABLES[table].printed}
    for name in () if sets is None else sets:
        if name not in known:
            raise ArgumentError(
                f"Set {name!r} is not in {', '.join(tables)}; expected one of {', '.join(known)}."
            )
    cells: dict[Cell, list[str]] = {}
    for table in tables:
        for cell in TABLES[table].printed:
            if sets is None or cell[0] in sets:
                methods = cells.setdefault(cell, [])
                methods += [m for m in TABLES[table].methods if m not in methods]
    return cells


def run_cell(
    cell: Cell,
    methods: Sequence[str],
    folder: Path,
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> list[Line]:
    """Run both protocols on a set with a representation."""
    name, representation = cell
    rows = load(name, folder)
    plan = replace(plan_for(rows), seed=seed)
    return compare_methods(rows, name, representation, methods, plan, progress)


def plan_for(rows: GroupedRows) -> Plan:
    """Return how often a set is drawn from."""
    if len(rows.names) > MANY_DATASETS:
        return MANY
    if len(rows.y) > MANY_ROWS:
        return LARGE
    return SMALL if len(rows.y) < FEW_ROWS else USUAL


def lines_for(table: str, lines: Sequence[Line]) -> list[Line]:
    """Return those of the lines that belong to a table, sets in its order."""
    chosen = TABLES[table]
    return [
        line
        for cell in chosen.printed
        for line in lines
        if (line.set, line.representation) == cell and line.method in (INDIVIDUAL, *chosen.methods)
    ]


# --- as text -------------------------------------------------------------------------------------

HEADER = ("set", "features", "method", "paper", "bootstrap", "held out", "median", "all rows")
CEILING = "all rows, best"


def text_rows(table: str, lines: Sequence[Line]) -> list[tuple[str, ...]]:
    """Return a table as text, under HEADER: reductions in percent.

    The last row of a set is the reduction of the least error on held-out rows that any method
    has with all training rows, against individual fits to n rows: no model of this kind that has
    only n rows of each dataset can be expected to do better.
    """
    rows: list[tuple[str, ...]] = []
    for cell, printed in TABLES[table].printed.items():
        own = [line for line in lines if (line.set, line.representation) == cell]
        if not own:
            continue
        for method in TABLES[table].methods:
            at = {(line.protocol, line.rows > 0): line for line in own if line.method == method}
            boot, few, full = (at[BOOTSTRAP, True], at[HELD_OUT, True], at[HELD_OUT, False])
            told = {LITERAL: printed.reduction, BIFACTOR_CLUSTERS: printed.bifactor}.get(method)
            figures = (boot.reduction, few.reduction, few.median_reduction, full.reduction)
            rows.append((*cell, method, *(_percent(v) for v in (told, *figures))))
        held = [line for line in own if line.protocol == HELD_OUT]
        least = min(line.error for line in held if not line.rows)
        start = next(line.error for line in held if line.rows and line.method == INDIVIDUAL)
        rows.append((*cell, CEILING, "", "", _percent(100 * (1 - least / start)), "", ""))
    return rows


def _percent(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.1f}" if value > -1000 else f"{value:.1e}"
