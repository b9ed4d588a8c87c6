"""The documentation site in a browser: search, copying, light and dark, a phone, accessibility.

`make docs` builds it; CI does that before the tests.
"""

import pytest

from tests.browser.conftest import missing
from tests.docs.pages import ROOT

SITE = ROOT / "build" / "site"
PAGES = [
    "index",
    "getting-started",
    "tutorials/hospitals",
    "reference/functions",
    "reference/commands",
]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}


@pytest.fixture
def site(browser):
    """A function that opens a page of the site from disk."""
    if not (SITE / "index.html").exists():
        missing("the site", "build it: make docs")
    contexts = []

    def open_(name="index", **options):
        screen = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
        contexts.append(browser.new_context(**{**screen, **options}))
        page = contexts[-1].new_page()
        page.asked, page.said = [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.goto((SITE / f"{name}.html").as_uri())
        return page

    yield open_
    for context in contexts:
        context.close()


def test_search_finds_verdict_and_nothing_is_fetched(site):
    page = site()
    page.get_by_role("textbox", name="Search").click()
    page.keyboard.type("verdict")
    results = page.locator(".md-search-result__item a.md-search-result__link")
    results.first.wait_for(timeout=20_000)
    texts = " ".join(results.all_inner_texts()).lower()
    assert "verdict" in texts
    assert all(url.startswith(("file://", "data:", "about:", "blob:")) for url in page.asked)
    assert page.said == []


def test_code_copies(site):
    page = site("getting-started", permissions=["clipboard-read", "clipboard-write"])
    button = page.locator(".highlight button.md-code__button, .highlight button.md-clipboard").first
    button.click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "pip install" in copied


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_follow_the_reader(site, scheme):
    page = site(color_scheme=scheme)
    page.wait_for_timeout(200)
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    channels = [int(x) for x in background.strip("rgba()").split(",")[:3]]
    assert (sum(channels) > 384) == (scheme == "light")


def test_the_reader_can_switch(site):
    page = site(color_scheme="light")
    before = page.locator("body").get_attribute("data-md-color-scheme")
    page.locator("form[data-md-component=palette] label:visible").click()
    assert page.locator("body").get_attribute("data-md-color-scheme") != before


@pytest.mark.parametrize("name", PAGES)
def test_a_phone_shows_the_page_without_scrolling_sideways(site, name):
    page = site(name, **PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_accessibility_has_no_serious_finding(site, axe, name, scheme):
    page = site(name, color_scheme=scheme)
    page.wait_for_timeout(200)
    page.evaluate(axe)
    found = page.evaluate("axe.run()")["violations"]
    serious = [
        (one["id"], [node["target"] for node in one["nodes"]][:3])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
    assert serious == []
