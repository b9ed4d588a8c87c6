"""Write the page that tests compare with: `python -m scripts.golden_report`.

It is made from a stored model, so that it moves with the page and not with the fits; `--model` fits
that model again, which is needed only when the format of model files changes. Pictures and versions
are taken out, since they differ from machine to machine. Look at the page before keeping a new one.
"""

import re
import sys
from pathlib import Path

import conjoin
from conjoin.datasets import make_clusters
from conjoin.report.html import render
from conjoin.report.sections import describe

GOLDEN = Path(__file__).parents[1] / "tests" / "golden" / "report.html"
MODEL = GOLDEN.with_name("model.json")


def golden_page() -> str:
    """Return a small page without pictures and versions."""
    page = describe(conjoin.load(MODEL))
    text = render({**page, "versions": {"conjoin": "any"}, "conjoin": "any"})
    return re.sub(r"data:image/png;base64,[\w+/=]+", "data:image/png;base64,", text)


def main() -> None:
    """Write the page and, if asked, the model."""
    GOLDEN.parent.mkdir(parents=True, exist_ok=True)
    if "--model" in sys.argv[1:]:
        tables = make_clusters(sizes=(3, 2), n=60, p=3, distance=1.0).tables()
        conjoin.partition(tables, target="y").save(MODEL)
    GOLDEN.write_text(golden_page(), encoding="utf-8")
    print(f"{GOLDEN.name}: {GOLDEN.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
