"""Results to files."""

import csv
from collections.abc import Sequence
from pathlib import Path

from conjoin.reproduce.synthetic import CSV_COLUMNS, Cell


def write_cells(cells: Sequence[Cell], path: Path) -> None:
    """Write the lines of a table as CSV, in percent with one decimal."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(CSV_COLUMNS)
        for cell in cells:
            writer.writerow([_text(column, getattr(cell, column)) for column in CSV_COLUMNS])


def _text(column: str, value: float) -> str:
    return f"{value:g}" if column in ("p", "d", "shift") else f"{value:.1f}"
