"""The picture of a representation."""

import json
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import conjoin
from conjoin.datasets import make_clusters
from conjoin.report.representation import (
    MARKS,
    describe,
    draw,
    picture_from,
    picture_of,
    plain_picture,
    write_picture,
)
from conjoin.report.view import COLOURS
from conjoin.representations.picture import DATASETS, project, take_picture

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = ["<b>", 'a "quote" & co', "line\nbreak\x00\ud800", "  ", "x" * 200]


@pytest.fixture(scope="module")
def stores():
    return make_clusters(sizes=(3, 2), n=60, p=4, distance=2.0).tables()


@pytest.fixture(scope="module")
def result(stores):
    return conjoin.partition(stores, target="y")


def hostile():
    codes = np.repeat(np.arange(5), 30)
    features = np.random.default_rng(0).standard_normal((150, 3))
    return take_picture(project(features, codes, 5), HOSTILE, np.array([0, 0, 0, 1, 2]))


def marks(panel):
    return [path for path in panel.iter(f"{SVG}path") if path.find(f"{SVG}title") is not None]


def test_every_dataset_has_a_colour_and_a_shape_of_its_own(result, stores):
    picture = picture_of(result, stores)
    root = ElementTree.fromstring(draw(picture))
    panels = root.findall(f"{SVG}g")
    assert len(panels) == len(result.clusters)
    for panel, cluster in zip(panels, result.clusters):
        drawn = marks(panel)
        assert [path.find(f"{SVG}title").text for path in drawn] == cluster
        assert len({path.get("class") for path in drawn}) == len(cluster)
        shapes = {path.get("d").split("m")[1] for path in drawn}
        assert len(shapes) == len(cluster)
        assert [path.get("d").count("M") for path in drawn] == [60] * len(cluster)
    assert len(set(MARKS)) == DATASETS == COLOURS


def test_points_lie_within_their_panel(result, stores):
    root = ElementTree.fromstring(draw(picture_of(result, stores)))
    for panel in root.findall(f"{SVG}g"):
        for path in marks(panel):
            places = [part.split("m")[0].split() for part in path.get("d").split("M")[1:]]
            x, y = np.array(places, dtype=float).T
            assert x.min() >= 10 and x.max() <= 470
            assert y.min() >= 40 and y.max() <= 300


def test_plain_values_give_the_same_picture(result, stores):
    picture = picture_of(result, stores)
    plain = json.loads(json.dumps(plain_picture(picture)))
    assert draw(picture_from(plain)) == draw(picture)


def test_words_say_what_is_drawn(result, stores):
    words = describe(picture_of(result, stores))
    assert words.startswith("Cluster 1: 3 datasets, 180 rows: d1, d2, d3. Cluster 2: 2 datasets")
    assert "of the variance." in words
    root = ElementTree.fromstring(draw(picture_of(result, stores)))
    assert root.get("role") == "img"
    assert root.find(f"{SVG}desc").text == words
    assert root.find(f"{SVG}title").get("id") in root.get("aria-labelledby")


def test_names_from_the_data_stay_text(tmp_path):
    write_picture(hostile(), tmp_path / "picture.svg")
    root = ElementTree.parse(tmp_path / "picture.svg").getroot()
    assert root.tag == f"{SVG}svg"
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert "<b>" in texts and 'a "quote" & co' in texts and "(blank)" in texts
    assert max(map(len, texts)) < 80
    assert not list(root.iter(f"{SVG}b"))


def test_a_file_of_its_own_has_colours_for_light_and_dark(tmp_path):
    write_picture(hostile(), tmp_path / "picture.svg")
    text = (tmp_path / "picture.svg").read_text(encoding="utf-8")
    assert "path.c0{stroke:#0072b2}" in text
    assert "prefers-color-scheme: dark" in text and "path.c0{stroke:#56b4e9}" in text
    assert "var(" not in text and "http" not in text.replace("http://www.w3.org/2000/svg", "")


def test_one_table_gives_the_same_as_many(result, stores):
    frame = pd.concat([pd.DataFrame(table) for table in stores.values()])
    names = np.repeat(list(stores), 60)
    assert draw(picture_of(result, frame, names)) == draw(picture_of(result, stores))
    unknown = picture_of(result, frame, np.where(names == "d1", "d9", names))
    assert unknown.panels[0].rows == 120


NO_ROWS = "This page contains no rows of the data, loads nothing and sends nothing."
SOME_ROWS = "contains some rows of the data, as points of the picture, and no others"
LITTLE = "their coefficients mean little by themselves"


def page_of(result, folder):
    result.report(folder / "page.html")
    return " ".join((folder / "page.html").read_text(encoding="utf-8").split())


def test_the_report_has_the_picture_where_there_is_a_representation(stores, result, tmp_path):
    learned = conjoin.partition(stores, target="y", representation=np.tanh)
    page = page_of(learned, tmp_path)
    assert 'id="picture"' in page and "which is not drawn here" in page
    assert draw(picture_of(learned, stores)) in page
    assert "Points are drawn from all 300 rows." in page
    assert "Rows in the representation" in page and "learned features" not in page
    assert SOME_ROWS in page and NO_ROWS not in page and LITTLE in page
    plain = page_of(result, tmp_path)
    assert 'id="picture"' not in plain and "#picture" not in plain
    assert NO_ROWS in plain and LITTLE not in plain


def test_one_feature_has_no_picture(stores, tmp_path):
    one = conjoin.partition(stores, target="y", representation=lambda X: X[:, :1])
    page = page_of(one, tmp_path)
    assert "#picture" not in page and NO_ROWS in page


def test_the_picture_says_which_rows_are_drawn_and_a_file_why_it_has_none(stores, tmp_path):
    pytest.importorskip("torch")
    learned = conjoin.partition(stores, target="y", representation="mlp1")
    page = page_of(learned, tmp_path)
    assert "Rows in the learned representation" in page
    assert "drawn from all 300 rows." in page
    learned.save(tmp_path / "model.json", evidence=True)
    stored = page_of(conjoin.load(tmp_path / "model.json"), tmp_path)
    assert "There is no picture here: it is drawn from rows, and the model file" in stored
    assert NO_ROWS in stored and LITTLE in stored


def test_names_below_a_panel_are_in_natural_order():
    codes = np.repeat(np.arange(3), [10, 30, 20])
    features = np.random.default_rng(0).standard_normal((60, 3))
    names = ["d1", "d10", "d2"]
    (panel,) = take_picture(project(features, codes, 3), names, np.zeros(3, dtype=int)).panels
    assert panel.datasets == ("d1", "d2", "d10")
    assert np.bincount(panel.dataset).tolist() == [10, 20, 30]
