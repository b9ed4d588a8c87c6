"""A headless Chromium, and pages of three, six and five hundred datasets in it.

Playwright drives the system's chromium and fetches no browser of its own. Without playwright or
chromium these tests are skipped, except in CI (CONJOIN_BROWSER=required), which installs both.
"""

import os
import re
import shutil
from pathlib import Path

import pytest

from tests.report import results

AXE = Path(__file__).parents[2] / ".venv" / "axe" / "node_modules" / "axe-core" / "axe.min.js"


def missing(what, how):
    if os.environ.get("CONJOIN_BROWSER") == "required":
        pytest.fail(f"{what} is missing; {how}")
    pytest.skip(f"{what} is missing; {how}")


@pytest.fixture(scope="session")
def browser():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright", "install the extra: pip install 'conjoin[test]'")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        missing("chromium", "install it: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def axe():
    """The accessibility checker's program."""
    path = Path(os.environ.get("CONJOIN_AXE", AXE))
    if not path.is_file():
        missing("axe-core", "fetch it: make axe")
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """Paths of pages by name."""
    folder = tmp_path_factory.mktemp("pages")
    found = {
        "three": results.clusters(3, 2, 3),
        "hostile": results.hostile(),
        "classes": results.choices(3),
        "choice": results.choices(2),
        "many": results.clusters(500),
    }
    for name, result in found.items():
        result.report(folder / f"{name}.html")
    # The policy would stop a script that got through; names must be harmless without it.
    text = (folder / "hostile.html").read_text(encoding="utf-8")
    bare, count = re.subn(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    assert count == 1
    (folder / "hostile without policy.html").write_text(bare, encoding="utf-8")
    return {path.stem: path for path in folder.glob("*.html")}


class Opened:
    """A page and all that it said or asked for."""

    def __init__(self, page, path):
        self.page, self.said, self.asked, self.alerts = page, [], [], []
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("dialog", lambda dialog: (self.alerts.append(dialog.message), dialog.dismiss()))
        page.goto(path.as_uri())


@pytest.fixture
def opened(browser, written):
    """A function that opens a page by name."""
    contexts = []

    def open_(name, **options):
        screen = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
        contexts.append(browser.new_context(**{**screen, **options}))
        return Opened(contexts[-1].new_page(), written[name])

    yield open_
    for context in contexts:
        context.close()
