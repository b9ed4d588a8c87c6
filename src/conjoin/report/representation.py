"""The picture of a representation as SVG: clusters side by side, one mark and colour per dataset.

A `Picture` (points in two coordinates) enters, SVG leaves. On the page its colours are those of the
style sheet; a file of its own contains them, for light and dark. Marks differ in shape as well, so
that no reader depends on colours.
"""

import re
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from conjoin._typing import FloatArray
from conjoin.report.drawing import cut_label
from conjoin.report.numbers import share
from conjoin.representations.picture import Panel, Picture, project, take_picture

if TYPE_CHECKING:
    from conjoin.result.partition import Partition

WIDTH, HEIGHT = 480.0, 280.0  # of a panel
GAP, TOP, BOTTOM, LEFT = 40.0, 30.0, 30.0, 30.0  # around panels: room for titles and axes
LINE = 17.0  # of the names below a panel
COLUMNS = 2  # of panels, and of names below each
MARKS = (  # around a point, each as large as the others to the eye
    "m-2.6 0a2.6 2.6 0 1 0 5.2 0a2.6 2.6 0 1 0 -5.2 0",  # circle
    "m-2.4 -2.4h4.8v4.8h-4.8z",  # square
    "m0 -3.2l3 5.2h-6z",  # triangle
    "m0 -3.4l3.4 3.4l-3.4 3.4l-3.4 -3.4z",  # diamond
    "m-2.6 -2.6l5.2 5.2m0 -5.2l-5.2 5.2",  # cross
    "m-3.3 0h6.6m-3.3 -3.3v6.6",  # plus
    "m0 3.2l3 -5.2h-6z",  # triangle that stands on its tip
    "m-3 0h6",  # dash
)
TITLE = "Rows of clusters in two coordinates of their representation"


def picture_of(result: "Partition", data: Any, dataset: Any = None) -> Picture:
    """Return the picture of a result's clusters from rows, such as those it was fitted to.

    Parameters
    ----------
    result : Partition
    data : mapping of dataset name to table, or a table
        With the columns that the result was fitted to. Rows of datasets it does not know are left
        out.
    dataset : name, or one a row, optional
        As in `Partition.predict`, for one table.

    Examples
    --------
    >>> import conjoin
    >>> from conjoin.datasets import make_clusters
    >>> stores = make_clusters(sizes=(3, 2), n=60, p=4, distance=2.0).tables()
    >>> picture = picture_of(conjoin.partition(stores, target="y"), stores)
    >>> [panel.datasets for panel in picture.panels]
    [('d1', 'd2', 'd3'), ('d4', 'd5')]
    """
    if isinstance(data, Mapping) and set(map(str, data)) <= set(result.labels):
        parts = [result.predictor.encode(table, str(name)) for name, table in data.items()]
        features = np.concatenate([rows for rows, _ in parts])
        names = [name for _, some in parts for name in some]
    else:
        features, names = result.predictor.encode(data, dataset)
    position = {name: k for k, name in enumerate(result.labels)}
    codes = np.array([-1 if name is None else position.get(name, -1) for name in names])
    known = codes >= 0
    projection = project(features[known], codes[known], len(position))
    return take_picture(projection, list(position), np.array([*result.labels.values()]))


def plain_picture(picture: Picture) -> dict[str, Any]:
    """Return the picture as plain values, which `picture_from` reads."""
    return {
        "explained": list(picture.explained),
        "panels": [
            {**vars(panel), "datasets": list(panel.datasets), "points": panel.points.tolist(),
             "dataset": panel.dataset.tolist()}
            for panel in picture.panels
        ],
    }  # fmt: skip


def picture_from(plain: Mapping[str, Any]) -> Picture:
    """Return the picture that plain values describe."""
    first, second = plain["explained"]
    panels = tuple(
        Panel(
            cluster=one["cluster"],
            datasets=tuple(one["datasets"]),
            others=one["others"],
            rows=one["rows"],
            points=np.array(one["points"], dtype=np.float64).reshape(-1, 2),
            dataset=np.array(one["dataset"], dtype=np.int64),
        )
        for one in plain["panels"]
    )
    return Picture(panels, (first, second))


def draw(picture: Picture, extra: str = "") -> str:
    """Return the picture as SVG text; `extra` goes before everything that is drawn."""
    columns = min(COLUMNS, len(picture.panels))
    width = LEFT + columns * (WIDTH + GAP) - GAP + 10
    height, parts = 0.0, []
    drawn = list(zip(picture.panels, _places(picture)))
    for start in range(0, len(drawn), COLUMNS):
        line = drawn[start : start + COLUMNS]
        for i, (panel, points) in enumerate(line):
            x = LEFT + i * (WIDTH + GAP)
            at = f"translate({x:.0f} {height:.0f})"
            parts.append(f'<g transform="{at}">{_panel(panel, points)}</g>')
        names = max(len(panel.datasets) for panel, _ in line)
        height += TOP + HEIGHT + LINE * (1 - names // -COLUMNS)
    height += BOTTOM
    first, second = (f"{share(s)} of the variance" for s in picture.explained)
    middle = (height - BOTTOM) / 2
    parts.append(
        f'<text class="axis" x="{width / 2:.0f}" y="{height - 10:.0f}" text-anchor="middle">'
        f"first principal component, {first}</text>"
        f'<text class="axis" x="14" y="{middle:.0f}" text-anchor="middle" '
        f'transform="rotate(-90 14 {middle:.0f})">second, {second}</text>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="picture" viewBox="0 0 {width:.0f} '
        f'{height:.0f}" width="{width:.0f}" height="{height:.0f}" role="img" '
        f'aria-labelledby="picture-name picture-words"><title id="picture-name">{TITLE}</title>'
        f'<desc id="picture-words">{escape(describe(picture))}</desc>{extra}{"".join(parts)}</svg>'
    )


def describe(picture: Picture) -> str:
    """Return the picture in words."""
    words = [f"{_heading(panel)}: {', '.join(_drawn(panel))}." for panel in picture.panels]
    first, second = map(share, picture.explained)
    return " ".join([*words, f"The coordinates have {first} and {second} of the variance."])


def write_picture(picture: Picture, path: str | Path) -> None:
    """Write the picture to an SVG file of its own."""
    from conjoin.files import write_text

    style = f"<style>{_style()}</style>"
    ground = '<rect class="page" width="100%" height="100%"/>'
    write_text(Path(path), draw(picture, style + ground) + "\n")


def _places(picture: Picture) -> list[FloatArray]:
    """Return where points are in their panel; all panels have the same scale."""
    points = [panel.points for panel in picture.panels]
    every = np.concatenate([*points, np.zeros((1, 2))])
    low = every.min(axis=0)
    span = np.ptp(every, axis=0)
    span[span == 0] = 1.0
    pad, room = 10.0, np.array([WIDTH, HEIGHT]) - 20.0
    turned = [(p - low) / span * [1.0, -1.0] + [0.0, 1.0] for p in points]  # the second upwards
    return [pad + room * share + [0.0, TOP] for share in turned]


def _panel(panel: Panel, points: FloatArray) -> str:
    parts = [
        f'<text x="0" y="{TOP - 10:.0f}">{escape(_heading(panel))}</text>'
        f'<path class="grid" d="M0 {TOP:.0f}h{WIDTH:.0f}v{HEIGHT:.0f}h-{WIDTH:.0f}z"/>'
    ]
    names = _drawn(panel)
    for i, name in enumerate(names):
        row, column = divmod(i, COLUMNS)
        x, y = column * WIDTH / COLUMNS + 6, TOP + HEIGHT + LINE * (row + 1)
        mine = points[panel.dataset == i]
        marks = "".join(f"M{a:.1f} {b:.1f}{MARKS[i]}" for a, b in mine)
        kind = f'class="c{i}" fill="none" stroke-width="1.3"'
        parts.append(
            f'<path {kind} stroke-opacity=".85" d="{marks}"><title>{escape(name)}</title></path>'
            f'<path {kind} d="M{x:.0f} {y:.0f}{MARKS[i]}"/><text class="tick" x="{x + 10:.0f}" '
            f'y="{y:.0f}" dominant-baseline="central">{escape(name)}</text>'
        )
    return "".join(parts)


def _heading(panel: Panel) -> str:
    shown, every = len(panel.datasets), len(panel.datasets) + panel.others
    count = f"{every:,} dataset{'s' if every > 1 else ''}"
    largest = f" ({shown} largest drawn)" if panel.others else ""
    return f"Cluster {panel.cluster + 1}: {count}{largest}, {panel.rows:,} rows"


def _drawn(panel: Panel) -> list[str]:
    """Return names of datasets that a line of XML can hold."""
    clean = ("".join(c if c.isprintable() else " " for c in name) for name in panel.datasets)
    return [cut_label(name) for name in clean]


def _style() -> str:
    """Return rules for a file of its own, with the colours of the page's style sheet."""
    sheet = files("conjoin.report").joinpath("templates/style.css").read_text(encoding="utf-8")
    light, dark = (
        dict(re.findall(r"--(\w+): (#\w+);", block))
        for block in re.findall(r":root \{(.*?)\}", sheet, re.DOTALL)
    )
    return f"{_rules(light)}@media (prefers-color-scheme: dark){{{_rules(dark)}}}"


def _rules(colours: Mapping[str, str]) -> str:
    marks = "".join(f"path.c{i}{{stroke:{colours[f'c{i}']}}}" for i in range(len(MARKS)))
    return (
        f"text{{font:13px system-ui,sans-serif;fill:{colours['ink']}}}"
        f".tick,.axis{{font-size:12px;fill:{colours['soft']}}}"
        f".grid{{fill:none;stroke:{colours['line']}}}.page{{fill:{colours['ground']}}}{marks}"
    )
