"""Tables that fit a terminal: words are wrapped, and no number is cut.

A table of rich and a console enter; the table, narrowed where it has to be, is printed. rich would
shorten the widest columns first and cut what is in them. Here a column gives way down to its
longest word, and names are folded last. A terminal too narrow even for that wraps the lines.
"""

from collections.abc import Sequence
from textwrap import wrap

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

BETWEEN = 3  # characters between two columns: a blank on each side and an empty line of the box
# Characters of a name that stay on one line: enough to tell most names by, and little enough for
# the ledger, with two columns of names and two of large numbers, to fit 80 characters.
SHORTEST_NAME = 8


def print_fitted(console: Console, table: Table) -> None:
    """Print a table in the width of the console, or wider where it does not fit."""
    ranges = [_range(console, table, i) for i in range(len(table.columns))]
    widths = shared_widths(ranges, console.width - BETWEEN * (len(ranges) - 1))
    if sum(widths) < sum(most for _, most in ranges):
        for column, width in zip(table.columns, widths):
            column.width = width
            # A head over numbers, which stay whole, is wrapped by hand.
            column.header = Text("\n".join(wrap(str(column.header), width)))
    needed = sum(widths) + BETWEEN * (len(widths) - 1)
    if needed <= console.width:
        console.print(table)
        return
    known, console.width = console.width, needed
    console.print(table)
    console.width = known


def shared_widths(ranges: Sequence[tuple[int, int]], room: int) -> list[int]:
    """Return widths between the least and the most of each column that fill the room.

    The widest column that can give way does so first. Where even the least do not fit, they are
    returned.

    >>> shared_widths([(5, 30), (10, 10), (4, 12)], 40), shared_widths([(5, 30), (10, 10)], 12)
    ([18, 10, 12], [5, 10])
    """
    widths = [most for _, most in ranges]
    while sum(widths) > room:
        slack = [i for i, (least, _) in enumerate(ranges) if widths[i] > least]
        if not slack:
            break
        widths[max(slack, key=lambda i: widths[i])] -= 1
    return widths


def _range(console: Console, table: Table, number: int) -> tuple[int, int]:
    """Return the least and the most characters that a column needs."""
    column = table.columns[number]
    cells = [*column.cells]
    head = Measurement.get(console, console.options, column.header)
    inside = [Measurement.get(console, console.options, cell) for cell in cells]
    most = max([head.maximum, *(one.maximum for one in inside)])
    if column.no_wrap:
        return max([head.minimum, *(one.maximum for one in inside)]), most
    words = max((one.minimum for one in inside), default=0)
    folded = column.overflow == "fold"
    return max(head.minimum, min(words, SHORTEST_NAME) if folded else words), most
