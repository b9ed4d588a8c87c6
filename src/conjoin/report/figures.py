"""Figures of strategies, the merge tree and the map of gains as SVG text.

Plain values of `report.facts` enter, SVG leaves. Colours are classes and variables of the page's
style sheet, so that one drawing serves light, dark and paper. Text from the data is escaped here;
everything else is numbers.
"""

import base64
import math
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from conjoin._typing import FloatArray
from conjoin.report.drawing import (
    APART,
    JOIN,
    MOST_PERCENT,
    TICKS,
    label_width,
    leaf_label,
    png,
    px,
    runs,
    stretch,
    svg,
    tick,
    tip,
)
from conjoin.report.view import COLOURS
from conjoin.report.wording import merge_in_words

IMAGE = 840  # pixels of a side of the heat map, about: sharp at twice its width on the page
FULL_COLOUR = 100.0  # gain, in percent, from which a cell of the map has its full colour
# Width of the tree in its own units: that of the page's text on a wide screen, where one unit is
# one pixel.
TREE_WIDTH = 1080
# Leaves up to which names have lines of 20 units in the tree, and stand beside the map; more would
# make the tree longer than three screens and the names of the map overlap.
MOST_LABELLED = 60

# --- strategies ----------------------------------------------------------------------------------


def error_bar(line: dict[str, Any], most: float) -> str:
    """Return the bar of a strategy's error, from zero to `most`; longer ones are cut."""
    width = 220.0
    value = line["shown"]
    if value is None or not most > 0:
        return ""
    cut_off = value > most
    length = width if cut_off else width * value / most
    kind = "chosen" if line["in_use"] else "other"
    shape = f'<rect class="bar {kind}" x="0" y="4" width="{px(length)}" height="12" rx="2"/>'
    if cut_off:
        shape += f'<path class="gap" d="M{width - 24:.0f} 1l-6 18m12 -18l-6 18"/>'
    return svg(width, 20, shape, "bars")


def behind_dot(line: dict[str, Any], most: float) -> str:
    """Return a dot with its interval: how far a strategy is behind the best, in percent."""
    width, pad = 200.0, 8.0
    if line["percent"] is None:
        return ""

    def x(value: float) -> float:
        return pad + (width - 2 * pad) * min(max(value / most, -0.02), 1.02)

    shape = f'<path class="zero" d="M{px(x(0))} 0v20"/>'
    if line["percent"] > most:
        shape += f'<path class="beyond" d="M{width - 14:.0f} 5l6 5l-6 5"/>'
        return svg(width, 20, shape, "dots")
    low, high = line["percent_interval"]
    kind = "chosen" if line["in_use"] else "other"
    shape += f'<path class="whisker" d="M{px(x(low))} 10H{px(x(high))}"/>'
    shape += f'<circle class="dot {kind}" cx="{px(x(line["percent"]))}" cy="10" r="4.5"/>'
    return svg(width, 20, shape, "dots")


def strategy_scales(lines: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """Return where bars and dots end: strategies far off do not press the others together."""
    roots = [line["shown"] for line in lines if line["shown"]]
    least = min(roots, default=1.0)
    ends = [line["percent_interval"][1] for line in lines]
    behind = sorted(end for end in ends if end is not None)
    far = 3 * max(behind[len(behind) // 2], 1.0) if behind else 1.0
    near = [x for x in behind if x <= far] or [far]
    return min(max(roots, default=1.0), 2 * least), max(*near, 0.5) * 1.05


# --- the merge tree ------------------------------------------------------------------------------


def tree(facts: dict[str, Any], unit: str = "squared error") -> str:
    """Return the merge tree: leaves on the left, every merge at its gain, refused ones dashed.

    `unit` is that of gains.
    """
    leaves, merges = facts["leaves"], facts["merges"]
    pitch = 20.0 if len(leaves) <= MOST_LABELLED else 12.0
    top, bottom = 24.0, 28.0
    height = top + pitch * len(leaves) + bottom
    labels = label_width(leaves, 11 if pitch < 15 else 12)
    scale = _TreeScale([m["height"] for m in merges], labels)
    y = [top + pitch * (i + 0.5) for i in range(len(leaves))]
    x = [scale.start] * len(leaves)
    colour = [leaf["colour"] for leaf in leaves]
    parts = [scale.axis(top, height - bottom)]
    for merge in merges:
        a, b = merge["children"]
        at = scale(merge["height"])
        same = merge["joined"] and colour[a] == colour[b]
        kind = f"c{colour[a]}" if same else "refused"
        path = f"M{px(x[a])} {px(y[a])}H{px(at)}V{px(y[b])}H{px(x[b])}"
        parts.append(
            f'<g class="merge" data-tip="{tip(merge_in_words(merge, unit))}"><path class="{kind}" '
            f'd="{path}"/><path class="hit" d="{path}"/></g>'
        )
        x.append(at)
        y.append((y[a] + y[b]) / 2)
        colour.append(colour[a] if same else COLOURS)
    for leaf, at in zip(leaves, y):
        parts.append(_leaf(leaf, at, labels, small=pitch < 15))
    return svg(TREE_WIDTH, height, "".join(parts), "tree")


def _leaf(leaf: dict[str, Any], y: float, labels: float, *, small: bool) -> str:
    shown = escape(leaf_label(leaf))
    kind = "leaf small" if small else "leaf"
    return (
        f'<text class="{kind}" x="{px(labels - 18)}" y="{px(y)}" text-anchor="end" '
        f'dominant-baseline="central">{shown}</text>'
        f'<circle class="c{leaf["colour"]}" cx="{px(labels - 8)}" cy="{px(y)}" r="3.5"/>'
    )


class _TreeScale:
    """From gains in percent to places on the tree's axis: gains fall from left to right."""

    def __init__(self, heights: Sequence[float | None], start: float) -> None:
        known = [h for h in heights if h is not None]
        self.high = max([stretch(h) for h in known] + [0.3])
        self.low = min([stretch(h) for h in known] + [-0.3])
        self.start = start
        self.end = TREE_WIDTH - 24.0

    def __call__(self, height: float | None) -> float:
        """Return the place of a gain; one that is not known lies beside the leaves."""
        left = self.start + 16
        if height is None:
            return left
        share = (self.high - stretch(height)) / (self.high - self.low)
        return left + 10 + (self.end - left - 10) * share

    def axis(self, top: float, bottom: float) -> str:
        """Return ticks, and the line at which joining gains nothing."""
        parts = []
        last = -math.inf
        for value in TICKS:
            if not self.low <= stretch(value) <= self.high:
                continue
            at = self(value)
            kind = "zero" if value == 0 else "grid"
            parts.append(f'<path class="{kind}" d="M{px(at)} {px(top)}V{px(bottom)}"/>')
            if at - last > 44 or value == 0:
                parts.append(
                    f'<text class="tick" x="{px(at)}" y="{px(top - 8)}" '
                    f'text-anchor="middle">{tick(value)}</text>'
                )
                last = at
        for at, anchor, words in (
            (self.start + 16, "start", "← joining helps"),
            (self.end, "end", "joining costs →"),
        ):
            parts.append(
                f'<text class="axis" x="{px(at)}" y="{px(bottom + 20)}" '
                f'text-anchor="{anchor}">{words}</text>'
            )
        return "".join(parts)


# --- the heat map --------------------------------------------------------------------------------


def heat_map(facts: dict[str, Any]) -> str:
    """Return the heat map: a picture, a frame of clusters around it, one cell to be probed."""
    groups = facts["groups"]
    M = len(groups)
    side, band = min(600.0, 44.0 * M + 40), 10.0
    cell = side / M
    labelled = M <= MOST_LABELLED
    left = label_width(groups, 10) if labelled else band + 6
    image = heat_image(np.array(facts["percent"], dtype=np.float64))
    parts = [
        f'<rect class="ground" x="{px(left)}" y="{px(band + 4)}" width="{px(side)}" '
        f'height="{px(side)}"/><image x="{px(left)}" y="{px(band + 4)}" width="{px(side)}" '
        f'height="{px(side)}" preserveAspectRatio="none" href="{image}"/>'
    ]
    colours, clusters = ([group[key] for group in groups] for key in ("colour", "number"))
    for start, stop, colour in runs(colours, clusters):
        at, length = start * cell, (stop - start) * cell
        parts.append(
            f'<rect class="c{colour}" x="{px(left + at)}" y="0" width="{px(length - 0.6)}" '
            f'height="{px(band)}"/><rect class="c{colour}" x="{px(left - band - 4)}" '
            f'y="{px(band + 4 + at)}" width="{px(band)}" height="{px(length - 0.6)}"/>'
        )
        if M > 1 and stop - start < M:
            parts.append(
                f'<rect class="block" x="{px(left + at)}" y="{px(band + 4 + at)}" '
                f'width="{px(length)}" height="{px(length)}"/>'
            )
    if labelled:
        parts += [
            f'<text class="leaf small" x="{px(left - band - 9)}" text-anchor="end" '
            f'y="{px(band + 4 + (i + 0.5) * cell)}" dominant-baseline="central">'
            f"{escape(leaf_label(group))}</text>"
            for i, group in enumerate(groups)
        ]
    parts.append('<rect class="cursor" width="0" height="0"/>')
    probe = f' data-x="{px(left)}" data-y="{px(band + 4)}" data-cell="{cell:.4f}" data-m="{M}"'
    return svg(left + side + 2, side + band + 6, "".join(parts), "heat", probe)


def heat_image(percent: FloatArray) -> str:
    """Return gains (M, M) in percent as a picture: blue where joining helps, orange where not.

    The stronger, the less transparent, so that the picture suits any ground.
    """
    M = len(percent)
    unit = max(1, IMAGE // M)
    known = np.nan_to_num(percent, nan=0.0, posinf=MOST_PERCENT, neginf=-MOST_PERCENT)
    strength = np.abs(np.arcsinh(np.clip(known, -MOST_PERCENT, MOST_PERCENT)))
    alpha = np.minimum(strength / math.asinh(FULL_COLOUR), 1.0)
    helps = np.nan_to_num(percent, nan=0.0) >= 0
    pixels = np.empty((M, M, 4), dtype=np.uint8)
    pixels[..., :3] = np.where(helps[..., None], JOIN, APART)
    pixels[..., 3] = np.round(alpha * 255)
    large = np.repeat(np.repeat(pixels, unit, axis=0), unit, axis=1)
    return "data:image/png;base64," + base64.b64encode(png(large)).decode()


def legend() -> str:
    """Return the colours of the heat map with the gains they stand for."""
    values = (-100, -30, -10, -3, -1, 0, 1, 3, 10, 30, 100)
    width = 46.0
    parts = []
    for i, value in enumerate(values):
        alpha = min(abs(math.asinh(value)) / math.asinh(FULL_COLOUR), 1.0)
        red, green, blue = JOIN if value >= 0 else APART
        parts.append(
            f'<rect class="ground" x="{px(i * width)}" y="0" width="{px(width)}" height="12"/>'
            f'<rect x="{px(i * width)}" y="0" width="{px(width)}" height="12" '
            f'fill="rgb({red},{green},{blue})" fill-opacity="{alpha:.2f}"/>'
            f'<text class="tick" x="{px((i + 0.5) * width)}" y="28" text-anchor="middle">'
            f"{tick(value)}</text>"
        )
    return svg(width * len(values), 32, "".join(parts), "legend")
