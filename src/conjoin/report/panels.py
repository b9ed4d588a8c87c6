"""Panels of coefficients and the figure of the calibration as SVG text.

Plain values of `report.facts` enter, SVG leaves. Colours are classes of the page's style sheet.
"""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from conjoin._typing import FloatArray
from conjoin.report.drawing import px, runs, svg, ticks, tip
from conjoin.report.numbers import number
from conjoin.report.wording import bin_in_words

PANEL_WIDTH, PANEL_HEIGHT = 340, 150  # in pixels: three panels fit beside each other

# --- coefficients --------------------------------------------------------------------------------


def panel(feature: dict[str, Any], facts: dict[str, Any], index: int) -> str:
    """Return one feature's coefficients across datasets, cluster by cluster."""
    feature = {key: _array(value) for key, value in feature.items() if isinstance(value, list)}
    left, right, top, bottom = 46.0, 8.0, 8.0, 18.0
    width, height = PANEL_WIDTH - left - right, PANEL_HEIGHT - top - bottom
    low, high = _range(feature)
    K = len(facts["names"])
    step = width / K

    def y(value: float) -> float:
        return top + height * (1 - (min(max(value, low), high) - low) / (high - low))

    parts = []
    for value in ticks(low, high):
        kind = "zero" if value == 0 else "grid"
        parts.append(f'<path class="{kind}" d="M{px(left)} {px(y(value))}h{px(width)}"/>')
        parts.append(
            f'<text class="tick" x="{px(left - 5)}" y="{px(y(value))}" text-anchor="end" '
            f'dominant-baseline="central">{number(value, 3)}</text>'
        )
    for start, stop, colour in runs(facts["colour"], facts["number"]):
        c = facts["number"][start] - 1
        a, b = left + start * step, left + stop * step
        parts.append(_model_line(feature, c, colour, a, b, y))
        whiskers, dots = [], []
        for k in range(start, stop):
            if not math.isfinite(feature["value"][k]):
                continue
            at = px(left + (k + 0.5) * step)
            whiskers.append(f"M{at} {px(y(feature['low'][k]))}V{px(y(feature['high'][k]))}")
            if low <= feature["value"][k] <= high:
                dots.append(f"M{at} {px(y(feature['value'][k]))}h0")
        thin = ' style="stroke-width:.6"' if step < 3 else ""
        small = ' style="stroke-width:2.2"' if step < 3 else ""
        parts.append(f'<path class="whisker c{colour}"{thin} d="{"".join(whiskers)}"/>')
        parts.append(f'<path class="dots c{colour}"{small} d="{"".join(dots)}"/>')
        if b - a > 14:
            parts.append(
                f'<text class="tick" x="{px((a + b) / 2)}" y="{px(PANEL_HEIGHT - 5)}" '
                f'text-anchor="middle">{c + 1}</text>'
            )
    parts.append('<path class="cursor" d=""/>')
    probe = (
        f' data-panel="{index}" data-x="{px(left)}" data-step="{step:.4f}" data-m="{K}" '
        f'data-y="{px(top)}" data-h="{px(height)}"'
    )
    return svg(PANEL_WIDTH, PANEL_HEIGHT, "".join(parts), "panel", probe)


def _array(values: list[float | None]) -> FloatArray:
    """Return numbers as an array, with nan for those that are not known."""
    return np.array(values, dtype=np.float64)


def _model_line(feature: dict[str, Any], c: int, colour: int, a: float, b: float, y: Any) -> str:
    """Return a cluster's coefficient as a line, its interval as a band."""
    value, low, high = (feature[key][c] for key in ("model", "model_low", "model_high"))
    text = ""
    if math.isfinite(low) and math.isfinite(high):
        above, below = y(high), y(low)
        text = (
            f'<rect class="band c{colour}" x="{px(a)}" y="{px(above)}" width="{px(b - a)}" '
            f'height="{px(max(below - above, 0.5))}"/>'
        )
    return text + f'<path class="model c{colour}" d="M{px(a)} {px(y(value))}H{px(b)}"/>'


def _range(feature: dict[str, Any]) -> tuple[float, float]:
    """Return the range of the axis: all clusters, and nearly all datasets."""
    known = feature["value"][np.isfinite(feature["value"])]
    values = [*feature["model"]]
    if len(known):
        values += [*np.quantile(known, (0.02, 0.98))]
    for key, at in (("low", 0.25), ("high", 0.75)):
        ends = feature[key]
        if np.isfinite(ends).any():
            values.append(float(np.quantile(ends[np.isfinite(ends)], at)))
    low, high = float(np.min(values)), float(np.max(values))
    room = 0.08 * (high - low) or 0.1 * abs(high) or 1.0
    return low - room, high + room


# --- calibration ---------------------------------------------------------------------------------


def calibration(bins: Sequence[Mapping[str, Any]], positive: str | None) -> str:
    """Return how often predictions of a probability came true; dots as large as their rows.

    `positive` is the class whose probability is predicted, None for that of every class.
    """
    left, right, top, bottom, side = 56.0, 28.0, 16.0, 46.0, 360.0
    end = top + side
    first, last = calibration_ends(bins)

    def x(value: float) -> float:
        return left + side * (value - first) / (last - first)

    def y(value: float) -> float:
        return end - side * (value - first) / (last - first)

    parts = [
        f'<path class="grid" d="M{px(left)} {px(y(value))}h{px(side)}M{px(x(value))} '
        f'{px(top)}v{px(side)}"/>'
        f'<text class="tick" x="{px(left - 7)}" y="{px(y(value))}" text-anchor="end" '
        f'dominant-baseline="central">{100 * value:g} %</text>'
        f'<text class="tick" x="{px(x(value))}" y="{px(end + 17)}" '
        f'text-anchor="middle">{100 * value:g} %</text>'
        for value in np.linspace(first, last, 6).tolist()
    ]
    parts.append(
        f'<path class="zero" stroke-dasharray="5 4" d="M{px(left)} {px(end)}L{px(left + side)} '
        f'{px(top)}"/>'
    )
    most = max((b["rows"] for b in bins), default=1)
    for b in sorted(bins, key=lambda b: -int(b["rows"])):  # small ones on top
        low, high = b["interval"]
        at = px(x(b["predicted"]))
        parts.append(
            f'<g data-tip="{tip(bin_in_words(b, positive))}"><path class="whisker" '
            f'd="M{at} {px(y(low))}V{px(y(high))}"/><circle class="dot chosen" cx="{at}" '
            f'cy="{px(y(b["observed"]))}" r="{px(3 + 7 * math.sqrt(b["rows"] / most))}" '
            f'fill-opacity=".8"/></g>'
        )
    parts.append(
        f'<text class="axis" x="{px(left + side / 2)}" y="{px(end + 38)}" '
        f'text-anchor="middle">predicted probability</text>'
        f'<text class="axis" x="14" y="{px(top + side / 2)}" text-anchor="middle" '
        f'transform="rotate(-90 14 {px(top + side / 2)})">came true</text>'
    )
    words = " ".join(". ".join(bin_in_words(b, positive)) + "." for b in bins)
    return _titled(left + side + right, end + bottom, "".join(parts), words)


def _titled(width: float, height: float, body: str, words: str) -> str:
    """Return the figure of the calibration with its title and a description in words."""
    title = "Calibration: how often predictions of a probability came true"
    return (
        f'<svg class="calibration" viewBox="0 0 {px(width)} {px(height)}" width="{px(width)}" '
        f'height="{px(height)}" role="img" aria-labelledby="calibration-name calibration-words">'
        f'<title id="calibration-name">{title}</title>'
        f'<desc id="calibration-words">{escape(words)}</desc>{body}</svg>'
    )


def calibration_ends(bins: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """Return the ends of the axes: 0 and 1, nearer where all bins lie in one half.

    >>> rare = {"predicted": 0.004, "interval": [0.001, 0.012]}
    >>> calibration_ends([rare])
    (0.0, 0.02)
    """
    ends = [end for b in bins for end in (b["predicted"], *b["interval"])]
    high, low = max(ends, default=1.0), min(ends, default=0.0)
    near = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
    return (
        1 - min((e for e in near if e >= 1 - low), default=1.0),
        min((e for e in near if e >= high), default=1.0),
    )
