"""Write the page that tests compare with: `python -m scripts.golden_report`.

Pictures and versions are taken out, since they differ from machine to machine without meaning
anything. Look at the page before keeping a new one.
"""

import re
from pathlib import Path

import conjoin
from conjoin.datasets import make_clusters
from conjoin.report.html import render
from conjoin.report.sections import describe

GOLDEN = Path(__file__).parents[1] / "tests" / "golden" / "report.html"


def golden_page() -> str:
    """Return a small page without pictures and versions."""
    tables = make_clusters(sizes=(3, 2), n=60, p=3, distance=1.0).tables()
    page = describe(conjoin.partition(tables, target="y"))
    text = render({**page, "versions": {"conjoin": "any"}, "conjoin": "any"})
    return re.sub(r"data:image/png;base64,[\w+/=]+", "data:image/png;base64,", text)


def main() -> None:
    """Write the page."""
    GOLDEN.parent.mkdir(parents=True, exist_ok=True)
    GOLDEN.write_text(golden_page(), encoding="utf-8")
    print(f"{GOLDEN.name}: {GOLDEN.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
