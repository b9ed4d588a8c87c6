"""The page: landmarks, escaping, size; and one page as it was when last looked at."""

import dataclasses
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import conjoin
from conjoin.errors import ArgumentError
from conjoin.report.facts import facts
from conjoin.report.html import render
from conjoin.report.representation import plain_picture
from conjoin.representations.picture import project, take_picture
from scripts.golden_report import FOLDER, PAGES, golden_page
from tests.report import results

SECTIONS = ["verdict", "clusters", "map", "coefficients", "datasets", "made"]


class Page(HTMLParser):
    """Tags, ids and text of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.attributes, self.scripts = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [value for key, value in attrs if key == "id"]


@pytest.fixture(scope="module")
def text():
    return render(facts(results.hostile(), details=True))


def test_sections_come_in_order(text):
    assert [i for i in Page(text).ids if i in SECTIONS] == SECTIONS


def test_names_are_text_everywhere(text):
    page = Page(text)
    assert page.tags.count("script") == 2  # the facts and the program
    assert "b" not in page.tags
    assert "img" not in page.tags
    assert not [key for key, _ in page.attributes if key.startswith("on")]
    assert "49" not in re.findall(r"\$x\^2\$ (\S+)", text)
    assert "&lt;img src=x onerror=alert(1)&gt;" in text


def test_nothing_is_loaded(text):
    links = [v for k, v in Page(text).attributes if k in ("src", "href", "xlink:href", "action")]
    assert all(link.startswith(("#", "data:image/png;base64,")) for link in links)
    assert "url(" not in text
    policies = [v for k, v in Page(text).attributes if k == "content" and "default-src" in v]
    assert policies[0].startswith("default-src 'none'; img-src data:;")
    assert not re.search(r"https?://(?!www\.w3\.org)", text)


def test_ids_are_unique_and_figures_have_words(text):
    page = Page(text)
    assert len(page.ids) == len(set(page.ids))
    assert "Arrow keys move from pair to pair." in text


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    results.hostile().report(str(tmp_path / "page.html"), title="Stores & <co>")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<title>Stores &amp; &lt;co&gt;</title>" in page
    with pytest.raises(ArgumentError, match="cannot be written"):
        results.hostile().report(tmp_path / "none" / "page.html")


def test_two_hundred_datasets_stay_small():
    page = render(facts(results.clusters(200), details=True))
    assert len(page.encode()) < 2_000_000


def test_the_picture_of_a_representation():
    features = np.random.default_rng(0).standard_normal((40, 3))
    projection = project(features, np.repeat([0, 1], 20), 2)
    picture = take_picture(projection, ["<i>", "b"], np.array([0, 1]))
    found = facts(results.hostile(), details=True)
    found["details"]["representation"] = {"learned": True, "rows": "all 40 rows"}
    found["details"]["picture"] = plain_picture(picture)
    page = render(found)
    assert 'href="#picture"' in page and 'id="picture"' in page
    assert "Cluster 2: 1 dataset, 20 rows" in page
    assert "&lt;i&gt;" in page and "<i>" not in page


def test_a_model_file_gives_the_same_page(tmp_path):
    result = results.hostile()
    result.save(tmp_path / "model.json", evidence=True)
    result.report(tmp_path / "live.html")
    conjoin.load(tmp_path / "model.json").report(tmp_path / "stored.html")
    live, stored = (tmp_path / f"{name}.html" for name in ("live", "stored"))
    assert live.read_text(encoding="utf-8") == stored.read_text(encoding="utf-8")


def test_a_model_file_without_details_says_so(tmp_path):
    results.hostile().save(tmp_path / "model.json", evidence=True)
    loaded = conjoin.load(tmp_path / "model.json")
    bare = dataclasses.replace(loaded.analysis, details=None)
    page = render(facts(dataclasses.replace(loaded, analysis=bare), details=True))
    assert page.count("the model file was written without") == 3


def test_heads_of_columns_and_their_legend_use_the_same_words(text):
    for table in ("cluster-table", "dataset-table"):
        section = text[: text.index(f'id="{table}"')].rsplit("<section", 1)[1]
        legend = " ".join(section.replace("&#39;", "'").split()).lower()
        heads = re.search(rf'id="{table}">\s*<thead>(.*?)</thead>', text, re.DOTALL)[1]
        names = re.findall(r"<button[^>]*>(.*?)</button>", heads)
        assert len(names) >= 7
        known = ("cluster", "datasets", "dataset", "rows", "trained, and why", "change")
        for name in (name.replace("&#39;", "'") for name in names):
            assert name in known or f"{name}: " in legend, name


NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(?:e[-+]?\d+)?")


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_as_it_was(name):
    """Words and marks are the same, numbers nearly: another machine rounds otherwise."""
    new, old = golden_page(name), (FOLDER / name).read_text(encoding="utf-8")
    hint = "if the change is meant, run python -m scripts.golden_report and look at the page"
    assert NUMBER.sub("0", new) == NUMBER.sub("0", old), hint
    for a, b in zip(NUMBER.findall(new), NUMBER.findall(old)):
        x, y = (float(value.replace(",", "")) for value in (a, b))
        assert x == pytest.approx(y, rel=0.02, abs=0.2), hint
