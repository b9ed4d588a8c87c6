"""What `conjoin reproduce` prints: tables of the paper beside ours.

Results of `conjoin.paper.tables` enter; tables and notes on the terminal leave.
"""

import math
from collections.abc import Sequence

from conjoin.cli.show import _console, _section, _table, _text
from conjoin.paper.tables.synthetic import Cell, N

HEADER = (
    "shift", "p", "d", "paper", "ours", "s.e.", "diff.",
    "paper's Direct", "1 - join rate", "Direct, exact",
)  # fmt: skip


def show_cells(cells: Sequence[Cell], name: str) -> None:
    """Print a synthetic table of the paper beside ours."""
    title = f"{name}: percent of correct decisions of Algorithm 2, n = {N}"
    show_rows(title, HEADER, [_cell_texts(cell) for cell in cells])
    note = (
        "The paper's column Direct is one minus the join rate of Algorithm 2. Direct comparison "
        "itself never joins; the last column has its exact accuracy."
    )
    _console().print(_text(note, "dim"))


def _cell_texts(cell: Cell) -> list[str]:
    """Return a line of the table under HEADER; one repetition has no standard error."""
    error = cell.standard_error
    return [
        str(cell.shift),
        str(cell.p),
        f"{cell.d:g}",
        f"{cell.paper:.1f}",
        f"{cell.ours:.1f}",
        "" if math.isnan(error) else f"{error:.1f}",
        f"{cell.ours - cell.paper:+.1f}",
        f"{cell.paper_direct:.1f}",
        f"{cell.one_minus_join_rate:.1f}",
        f"{cell.direct_exact:.1f}",
    ]


def show_rows(
    title: str, header: Sequence[str], rows: Sequence[Sequence[str]], words: Sequence[str] = ()
) -> None:
    """Print a table of texts; all columns but `words` are numbers, aligned to the right."""
    table = _table(*header, right=[name for name in header if name not in words])
    for row in rows:
        table.add_row(*(_text(text) for text in row))
    _section(_console(), title, table)
