"""The page in a browser: it loads alone, can be sorted, searched, hovered, and read by all."""

import pytest

from tests.report.results import BREAKING, FEATURE, HOSTILE

PAGES = ["three", "hostile", "many", "classes", "choice"]


@pytest.mark.parametrize("name", PAGES)
def test_it_loads_with_no_error_and_no_request(opened, name):
    page = opened(name)
    assert page.said == []
    asked = [url for url in page.asked if not url.startswith("data:")]
    assert len(asked) == 1
    assert asked[0].startswith("file://")
    classes = name in ("classes", "choice")
    assert page.page.locator("section").count() == (7 if classes else 6)
    assert page.page.locator("svg.calibration").count() == classes
    assert page.page.locator("svg.panel").count() > 0


def names(page, table, column=0):
    return page.page.locator(f"#{table} tbody tr:not([hidden])").evaluate_all(
        f"rows => rows.map(row => row.cells[{column}].textContent.trim())"
    )


def test_sorting(opened):
    page = opened("many")
    before = names(page, "dataset-table")
    button = page.page.get_by_role("button", name="own model, borrowing strength", exact=True)
    button.click()
    errors = [float(x) for x in names(page, "dataset-table", 3)]
    assert errors == sorted(errors)
    head = page.page.locator("#dataset-table th", has=button)
    assert head.get_attribute("aria-sort") == "ascending"
    button.press("Enter")  # by keyboard, the other way
    errors = [float(x) for x in names(page, "dataset-table", 3)]
    assert errors == sorted(errors, reverse=True)
    page.page.locator("#dataset-table").get_by_role("button", name="dataset").click()
    found = names(page, "dataset-table")
    assert sorted(found) == sorted(before)
    assert found[:3] == ["d1", "d2", "d3"]
    assert found[9] == "d10"  # numbers inside names count as numbers


def test_searching(opened):
    page = opened("many")
    field = page.page.get_by_label("Search datasets")
    field.fill("d49")
    assert names(page, "dataset-table")[:2] == ["d49", "d490"]
    assert "of 500 shown" in page.page.locator("#found-datasets").text_content()
    field.fill("no such name")
    assert names(page, "dataset-table") == []
    field.fill("")
    assert len(names(page, "dataset-table")) == 500
    page.page.get_by_label("Search clusters").fill("d500")  # a member that is folded away
    assert len(names(page, "cluster-table")) == 1


def tip(page):
    found = page.page.locator("#tip")
    return found.inner_text() if found.is_visible() else None


def test_hovering(opened):
    page = opened("three")
    page.page.locator(".merge .hit").first.dispatch_event("pointermove", {"bubbles": True})
    assert "gain" in tip(page)
    assert "verdict: " in tip(page)
    heat = page.page.locator("#heat svg")
    heat.scroll_into_view_if_needed()
    box, cell = heat.bounding_box(), float(heat.get_attribute("data-cell"))
    x, y = (float(heat.get_attribute(f"data-{axis}")) for axis in "xy")
    page.page.mouse.move(box["x"] + x + 1.5 * cell, box["y"] + y + 0.5 * cell)
    words = tip(page)
    assert "(cluster " in words
    assert "gain" in words
    assert "interval" in words
    assert "verdict: " in words
    page.page.mouse.move(5, 5)
    assert tip(page) is None
    panel = page.page.locator(".probe[data-kind=panel]").first
    panel.scroll_into_view_if_needed()
    page.page.wait_for_timeout(100)  # scrolling hides what is told
    panel.hover()
    assert "cluster" in tip(page)


def test_the_calibration_tells_its_numbers(opened):
    page = opened("choice")
    figure = page.page.get_by_role("img", name="Calibration: how often predictions")
    figure.scroll_into_view_if_needed()
    page.page.locator("svg.calibration circle").first.hover()
    assert "predicted for 'yes & <b>no</b>'" in tip(page)
    assert "came true, between" in tip(page)
    page.page.get_by_label("Search scores").fill("<i>3")
    assert names(page, "score-table") == ["<i>3"]


def test_figures_by_keyboard(opened):
    page = opened("three")
    page.page.locator("#heat").focus()
    page.page.keyboard.press("ArrowRight")
    page.page.keyboard.press("ArrowRight")
    said = page.page.locator("#live").text_content()
    assert "gain" in said
    page.page.keyboard.press("Escape")
    assert tip(page) is None
    page.page.keyboard.press("Tab")
    page.page.keyboard.press("ArrowRight")
    assert "cluster" in page.page.locator("#live").text_content()


@pytest.mark.parametrize("name", ["hostile", "hostile without policy"])
def test_hostile_names_stay_text(opened, name):
    page = opened(name)
    found = names(page, "dataset-table")
    assert HOSTILE in found
    assert BREAKING in found
    assert page.page.locator("img, b").count() == 0
    assert any(FEATURE in text for text in page.page.locator(".panels h3").all_text_contents())
    for fork in page.page.locator(".merge .hit").all():
        fork.dispatch_event("pointermove", {"bubbles": True})
    assert "<" in page.page.locator("#tip").text_content()
    page.page.locator("#heat").focus()
    for _ in range(4):
        page.page.keyboard.press("ArrowRight")
    page.page.get_by_label("Search datasets").fill("<img")
    assert HOSTILE in names(page, "dataset-table")
    assert page.page.locator("#tip img").count() == 0
    assert page.alerts == []
    assert page.said == []


def test_many_datasets_are_reduced(opened):
    page = opened("many")
    assert len(names(page, "dataset-table")) == 500
    assert "too many datasets for one line each" in page.page.locator("#map").text_content()
    assert int(page.page.locator("#heat svg").get_attribute("data-m")) <= 40


@pytest.mark.parametrize("width", [400, 1280])
def test_it_fits_the_screen(opened, width):
    page = opened("many", viewport={"width": width, "height": 800})
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width


A4 = {"width": 718, "height": 1047}  # in pixels of a page, within margins of a centimetre


@pytest.mark.parametrize("name", PAGES)
def test_it_prints_whole_tables_in_light(opened, name):
    page = opened(name, color_scheme="dark", viewport=A4)
    page.page.emulate_media(media="print", color_scheme="dark")
    ground = page.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(255, 255, 255)"
    assert not page.page.locator("nav").is_visible()
    limit = page.page.locator(".scroll.tall").first.evaluate("e => getComputedStyle(e).maxHeight")
    assert limit == "none"
    assert page.page.evaluate("document.documentElement.scrollWidth") <= A4["width"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["three", "many", "classes"])
def test_accessibility(opened, axe, name, scheme):
    page = opened(name, color_scheme=scheme)
    page.page.evaluate("() => document.querySelectorAll('details').forEach(d => d.open = true)")
    page.page.evaluate(axe)
    # A table of 500 alike rows is checked on its first ones.
    page.page.evaluate(
        "() => document.querySelectorAll('tbody').forEach(t => "
        "[...t.rows].slice(20).forEach(row => row.remove()))"
    )
    found = page.page.evaluate("() => axe.run()")
    told = [
        (rule["id"], rule["impact"], [node["html"][:120] for node in rule["nodes"][:3]])
        for rule in found["violations"]
        if rule["impact"] in ("serious", "critical")
    ]
    assert told == []
    assert found["passes"]
