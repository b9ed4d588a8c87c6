"""Put stored results into docs/paper-tables.md and docs/paper-notes.md.

python -m scripts.paper_tables
"""

import csv
import re
from collections.abc import Sequence
from pathlib import Path

from conjoin.paper.tables.real import HEADER, TABLES, WORDS, text_rows
from conjoin.paper.tables.results import read_results
from conjoin.paper.tables.synthetic import LAMBDA

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "docs" / f"{name}.md" for name in ("paper-tables", "paper-notes")]
SYNTHETIC_HEADER = (
    "shift", "p", "d", "paper", "ours", "s.e.", "paper's Direct", "1 - our join rate",
    "Direct, exact", "literal", "signed", "default", "ceiling",
)  # fmt: skip
PLACE = re.compile(r"<!-- (\w+) -->\n.*?<!-- end -->", re.DOTALL)


def render(text: str) -> str:
    """Return the page with every table replaced by its stored results."""
    return PLACE.sub(lambda match: _block(match[1]), text)


def _block(name: str) -> str:
    path = ROOT / "experiments" / name / "results.csv"
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    if name == "synthetic":
        header, rows = SYNTHETIC_HEADER, [*_synthetic("table3"), *_synthetic("table4")]
    elif name in TABLES:
        header, rows = HEADER, text_rows(name, read_results(path))
    else:
        with path.open(newline="") as file:
            header, *rows = csv.reader(file)
    return f"<!-- {name} -->\n{_markdown(header, rows)}<!-- end -->"


def _synthetic(table: str) -> list[list[str]]:
    """Return the lines of Table 3 or 4, with what both rules decide and the ceiling."""
    with (ROOT / "experiments" / table / "results.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    columns = ("shift", "p", "d", "paper", "ours", "standard_error", "paper_direct",
               "one_minus_join_rate", "direct_exact")  # fmt: skip
    rows = []
    for line in lines:
        apart = float(line["direct_exact"])
        signed = 100 - float(line["one_minus_join_rate"]) - apart
        rules = ("join" if x > 0 else "apart" for x in (float(line["ours"]) - 100 * LAMBDA, signed))
        ceiling = f"{max(apart, 100 - apart):.1f}"
        rows.append([*(line[name] for name in columns), *rules, line["default"], ceiling])
    return rows


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    words = sum(name in WORDS for name in header)
    rule = ["---"] * words + ["---:"] * (len(header) - words)
    return "".join(f"| {' | '.join(line)} |\n" for line in (header, rule, *rows))


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(render(page.read_text()))
