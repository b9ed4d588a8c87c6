"""Write the pages that tests compare with: `python -m scripts.golden_report`.

They are made from stored models, so that they move with the page and not with the fits; `--model`
fits those again, which is needed only when the format of model files changes. Pictures and versions
are taken out, since they differ from machine to machine. Look at the pages before keeping new ones.
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

import conjoin
from conjoin.datasets import make_clusters
from conjoin.report.facts import facts
from conjoin.report.html import render
from conjoin.result.partition import Partition

FOLDER = Path(__file__).parents[1] / "tests" / "golden"


def _numbers() -> Partition:
    """Fit two clusters of five datasets."""
    tables = make_clusters(sizes=(3, 2), n=60, p=3, distance=1.0).tables()
    return conjoin.partition(tables, target="y")


def _classes() -> Partition:
    """Fit the same with a class in place of the number: the thirds of its values."""
    tables = make_clusters(sizes=(3, 2), n=90, p=2, distance=2.0).tables()
    y = np.concatenate([table["y"] for table in tables.values()])
    low, high = np.quantile(y, (1 / 3, 2 / 3))
    for table in tables.values():
        table["y"] = np.array(["low", "middle", "high"])[np.digitize(table["y"], (low, high))]
    return conjoin.partition(tables, target="y")


# By the name of the page: the stored model, and what it was fitted to.
PAGES: dict[str, tuple[str, Callable[[], Partition]]] = {
    "report.html": ("model.json", _numbers),
    "classes.html": ("classes.json", _classes),
}


def golden_page(name: str) -> str:
    """Return a small page without pictures and versions."""
    found = facts(conjoin.load(FOLDER / PAGES[name][0]), details=True)
    found["conjoin"], found["details"]["versions"] = "any", {"conjoin": "any"}
    text = render(found)
    return re.sub(r"data:image/png;base64,[\w+/=]+", "data:image/png;base64,", text)


def main() -> None:
    """Write the pages and, if asked, the models."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, (model, fit) in PAGES.items():
        if "--model" in sys.argv[1:] or not (FOLDER / model).is_file():
            fit().save(FOLDER / model, evidence=True)
        (FOLDER / name).write_text(golden_page(name), encoding="utf-8")
        print(f"{name}: {(FOLDER / name).stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
