"""What the speed scripts share: the option for the output file, and writing it."""

import argparse
import csv
from collections.abc import Iterable, Sequence
from pathlib import Path


def output_of(description: str | None, default: Path) -> Path:
    """Read the command line of a script whose only option is ``--output``."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, default=default, help="CSV file to write")
    return parser.parse_args().output


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a header and rows to a CSV file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
