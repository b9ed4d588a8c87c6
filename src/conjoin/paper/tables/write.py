"""Results to files."""

import csv
from collections.abc import Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

from conjoin.paper.tables.protocol import Line
from conjoin.paper.tables.synthetic import CSV_COLUMNS, Cell


def write_cells(cells: Sequence[Cell], path: Path) -> None:
    """Write the lines of a table as CSV, in percent with one decimal."""
    rows = [[_text(column, getattr(cell, column)) for column in CSV_COLUMNS] for cell in cells]
    write_rows(CSV_COLUMNS, rows, path)


def _text(column: str, value: float) -> str:
    return f"{value:g}" if column in ("p", "d", "shift") else f"{value:.1f}"


def write_lines(lines: Sequence[Line], path: Path) -> None:
    """Write what methods did on real data as CSV."""
    header = [field.name for field in fields(Line)]
    rows = [[f"{v:.6g}" if isinstance(v, float) else v for v in astuple(line)] for line in lines]
    write_rows(header, rows, path)


def write_rows(header: Sequence[str], rows: Sequence[Sequence[Any]], path: Path) -> None:
    """Write a table as CSV."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def read_lines(path: Path) -> list[Line]:
    """Read what `write_lines` has written."""
    kinds = {field.name: field.type for field in fields(Line)}
    with path.open(newline="") as file:
        return [
            Line(**{name: kinds[name](text) for name, text in line.items()})  # type: ignore[operator]
            for line in csv.DictReader(file)
        ]
