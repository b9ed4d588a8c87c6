"""Tables as CSV files: a header and rows of texts or numbers enter, a file leaves."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def write_rows(header: Sequence[str], rows: Sequence[Sequence[Any]], path: Path) -> None:
    """Write a table as CSV; folders that do not exist are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
