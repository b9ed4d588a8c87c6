from xml.etree import ElementTree

from benchmarks.speed.scale_figure import draw

POINTS = [(1_000, 5.0, 0.3), (10_000, 40.0, 0.8), (100_000, 420.0, 5.5)]


def test_the_figure_has_both_panels_and_all_points(tmp_path):
    path = tmp_path / "images" / "scaling.svg"
    draw(path, POINTS)
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    tags = [one.tag.split("}")[1] for one in root.iter()]
    assert tags.count("circle") == 6 and tags.count("polyline") == 4
    texts = [one.text for one in root.iter() if one.text]
    assert {"processor seconds", "peak memory, GB", "100,000"} <= set(texts)
    seconds = [float(c.get("cy")) for c in root.iter() if c.tag.endswith("circle")][:3]
    assert seconds == sorted(seconds, reverse=True)  # more seconds are further up


def test_one_point_is_no_figure(tmp_path):
    draw(tmp_path / "none.svg", POINTS[:1])
    assert not (tmp_path / "none.svg").exists()
