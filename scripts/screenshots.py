"""Take pictures of the report in headless Chromium: `make screenshots`.

`docs/images/report.png` is the one that the README shows, of the bundled data; pages of 3 and 500
datasets, and of three classes, in light and dark, go to `build/screenshots`.
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

import conjoin
from conjoin.datasets import make_clusters

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "screenshots"
README = ROOT / "docs" / "images" / "report.png"
CLASSES = ROOT / "tests" / "golden" / "classes.json"
DATA = ROOT / "src" / "conjoin" / "datasets" / "data" / "seoul_bikes.csv.gz"


def write_pages() -> list[str]:
    """Write the pages to take pictures of; return their names."""
    three = make_clusters(sizes=(2, 1), n=60, p=3, distance=1.0).tables()
    many = make_clusters(sizes=(90, 90, 80, 80, 80, 80), n=60, p=8, distance=0.4).tables()
    results = {
        "bikes": conjoin.partition(DATA, target="rented_bikes", by="hour"),
        "three": conjoin.partition(three, target="y"),
        "many": conjoin.partition(many, target="y"),
        "classes": conjoin.load(CLASSES),
    }
    for name, result in results.items():
        result.report(BUILD / f"{name}.html")
    return list(results)


def take(browser: Browser, name: str, scheme: str) -> None:
    """Write a picture of a whole page."""
    page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
    page.goto((BUILD / f"{name}.html").as_uri())
    page.screenshot(path=BUILD / f"{name}-{scheme}.png", full_page=True)
    if (name, scheme) == ("bikes", "light"):
        README.parent.mkdir(parents=True, exist_ok=True)
        page.screenshot(
            path=README, full_page=True, clip={"x": 0, "y": 0, "width": 1280, "height": 1100}
        )
    page.close()


def main() -> int:
    """Write pages and pictures."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        print("chromium is missing; install it, for example apt-get install chromium")
        return 2
    BUILD.mkdir(parents=True, exist_ok=True)
    names = write_pages()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for name in names:
            for scheme in ("light", "dark"):
                take(browser, name, scheme)
        browser.close()
    for picture in [README, *sorted(BUILD.glob("*.png"))]:
        print(f"{picture.relative_to(ROOT)}: {picture.stat().st_size // 1024} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
