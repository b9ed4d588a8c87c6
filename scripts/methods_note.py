"""Print the methods note of the site as a PDF: `make methods-note`, after `make docs`.

The page build/site/methods-note.html enters, build/site/methods-note.pdf leaves.
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

SITE = Path(__file__).parents[1] / "build" / "site"


def write_pdf(page: Path, output: Path) -> None:
    """Print a page of the site."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        raise FileNotFoundError("chromium is missing; install it: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        opened = browser.new_page(color_scheme="light")
        opened.goto(page.as_uri())
        margin = {"top": "20mm", "bottom": "20mm", "left": "20mm", "right": "20mm"}
        opened.pdf(path=output, format="A4", margin=margin)
        browser.close()


def main() -> int:
    """Write the note."""
    output = SITE / "methods-note.pdf"
    write_pdf(SITE / "methods-note.html", output)
    print(f"Methods note written to {output.relative_to(SITE.parents[1])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
