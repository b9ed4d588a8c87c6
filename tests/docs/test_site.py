"""The site: its pages are all in the navigation, made pages are complete, links are followed."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer.main
import yaml

from conjoin.cli.main import app
from scripts import site, site_pages
from tests.docs.pages import ROOT

FENCE = re.compile(r"^```(\w*)", re.MULTILINE)


class Loader(yaml.SafeLoader):
    """Reads mkdocs.yml, whose tags name functions."""


Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda *args: None)
CONFIG = yaml.load((ROOT / "mkdocs.yml").read_text(), Loader)


def leaves(nav):
    for one in nav:
        for value in one.values() if isinstance(one, dict) else [one]:
            yield from leaves(value) if isinstance(value, list) else [value]


def test_every_page_is_in_the_navigation():
    written = {str(p.relative_to(ROOT / "docs")) for p in (ROOT / "docs").rglob("*.md")}
    assert written <= set(leaves(CONFIG["nav"]))


def test_nothing_comes_from_elsewhere():
    assert CONFIG["theme"]["font"] is False
    assert "offline" in CONFIG["plugins"]
    for path in (ROOT / "docs" / "assets").iterdir():
        assert "http" not in path.read_text(encoding="utf-8")


def test_the_reference_has_every_command_and_option():
    page = site_pages.commands_page()
    for name, command in typer.main.get_command(app).commands.items():
        assert f"## conjoin {name}" in page
        for one in command.params:
            if one.param_type_name == "option":
                assert f"`{one.opts[0]}`" in page


def test_the_gallery_has_ten_scripts_with_one_idea_each():
    found = list(site_pages.examples())
    assert len(found) >= 10
    for one in found:
        assert one.title and one.words and one.code
        assert len(one.code.splitlines()) <= 35, one.name
        assert f"{one.name}.png" in site_pages.example_page(one)
    assert all(one.title in site_pages.gallery_page() for one in found)


def test_a_broken_link_and_a_foreign_script_are_found(tmp_path: Path):
    (tmp_path / "a.html").write_text(
        '<h1 id="top">A</h1><a href="b.html#end">b</a><a href="b.html#none">b</a>'
        '<a href="c.html">c</a><script src="https://elsewhere.org/x.js"></script>'
    )
    (tmp_path / "b.html").write_text('<p id="end">B</p><a href="https://elsewhere.org">out</a>')
    assert site.broken(tmp_path) == [
        "a.html loads https://elsewhere.org/x.js",
        "a.html links to b.html#none, which has no such anchor",
        "a.html links to c.html",
    ]


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs" / "tutorials").glob("*.md")), ids=lambda p: p.stem
)
def test_tutorials_show_what_they_print(page):
    if page.stem != "index":
        assert "```text\n```" not in page.read_text(encoding="utf-8")


def test_links_to_other_pages_of_the_site_stay_links():
    hooks = pytest.importorskip("scripts.site_hooks", reason="needs mkdocs (extra docs)")

    def changed(text, uri):
        page = SimpleNamespace(file=SimpleNamespace(src_uri=uri))
        return hooks.on_page_markdown(text, page)

    assert changed("[time](../time.md#gaps)", "tutorials/stores.md") == "[time](../time.md#gaps)"
    told = "the rows (`benchmarks/rows.csv` in the repository)"
    assert changed("[the rows](../benchmarks/rows.csv)", "time.md") == told
    assert changed("[the rows](../../benchmarks/rows.csv)", "tutorials/stores.md") == told
