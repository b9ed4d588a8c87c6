"""Put stored results into docs/paper-tables.md.

python -m scripts.paper_tables
"""

import csv
import re
from collections.abc import Sequence
from pathlib import Path

from conjoin.paper.tables.real import HEADER, TABLES, WORDS, text_rows
from conjoin.paper.tables.results import read_results

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "paper-tables.md"
PLACE = re.compile(r"<!-- (\w+) -->\n.*?<!-- end -->", re.DOTALL)


def render(text: str) -> str:
    """Return the page with every table replaced by its stored results."""
    return PLACE.sub(lambda match: _block(match[1]), text)


def _block(name: str) -> str:
    path = ROOT / "experiments" / name / "results.csv"
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    if name in TABLES:
        header, rows = HEADER, text_rows(name, read_results(path))
    else:
        with path.open(newline="") as file:
            header, *rows = csv.reader(file)
    return f"<!-- {name} -->\n{_markdown(header, rows)}<!-- end -->"


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    words = sum(name in WORDS for name in header)
    rule = ["---"] * words + ["---:"] * (len(header) - words)
    return "".join(f"| {' | '.join(line)} |\n" for line in (header, rule, *rows))


if __name__ == "__main__":
    PAGE.write_text(render(PAGE.read_text()))
