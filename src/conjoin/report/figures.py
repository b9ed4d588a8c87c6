"""Figures of the page as SVG text, drawn from its plain values.

Colours are classes and variables of the page's style sheet, so that one drawing serves light, dark
and paper. Text from the data is escaped here; everything else is numbers.
"""

import base64
import math
import struct
import zlib
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from conjoin._typing import FloatArray
from conjoin.report.sections import COLOURS, signed

# Gains, in percent of the error, that are drawn alike however large they are.
MOST_PERCENT = 1000.0
JOIN, APART = (0x1F, 0x78, 0xC0), (0xDB, 0x62, 0x10)
IMAGE = 840  # about so many pixels has a side of the heat map
LABEL_CHARACTERS = 26
TREE_WIDTH = 1080
PANEL_WIDTH, PANEL_HEIGHT = 340, 150


def stretch(percent: float) -> float:
    """Return where a gain is drawn: about linear within one percent, logarithmic beyond."""
    return math.asinh(max(-MOST_PERCENT, min(MOST_PERCENT, percent)))


def number(value: float | None, digits: int = 4) -> str:
    """Return a number as people read it.

    >>> number(1234567.8), number(0.000123456), number(-12.3), number(None)
    ('1,234,568', '0.0001235', '−12.3', 'unknown')
    """
    if value is None or not math.isfinite(value):
        return "unknown"
    if value and (abs(value) >= 1e12 or abs(value) < 1e-4):
        text = f"{value:.{digits - 1}e}"
    elif abs(value) >= 10 ** (digits - 1):
        text = f"{value:,.0f}"
    else:
        text = f"{value:.{digits}g}"
    return text.replace("-", "−", 1) if value < 0 else text


def cut_label(text: str, most: int = LABEL_CHARACTERS) -> str:
    """Return a name that fits beside a figure."""
    clean = " ".join(text.split()) or "(blank)"
    return clean if len(clean) <= most else clean[: most - 1] + "…"


def _n(value: float) -> str:
    """Return a coordinate."""
    return f"{value:.1f}".removesuffix(".0")


# --- 1: strategies -------------------------------------------------------------------------------


def error_bar(line: dict[str, Any], most: float) -> str:
    """Return the bar of a strategy's error, from zero to `most`; longer ones are cut."""
    width = 220.0
    value = line["shown"]
    if value is None or not most > 0:
        return ""
    cut_off = value > most
    length = width if cut_off else width * value / most
    kind = "chosen" if line["chosen"] else "other"
    shape = f'<rect class="bar {kind}" x="0" y="4" width="{_n(length)}" height="12" rx="2"/>'
    if cut_off:
        shape += f'<path class="gap" d="M{width - 24:.0f} 1l-6 18m12 -18l-6 18"/>'
    return _svg(width, 20, shape, "bars")


def behind_dot(line: dict[str, Any], most: float) -> str:
    """Return a dot with its interval: how far a strategy is behind the best, in percent."""
    width, pad = 200.0, 8.0
    if line["behind"] is None:
        return ""

    def x(value: float) -> float:
        return pad + (width - 2 * pad) * min(max(value / most, -0.02), 1.02)

    shape = f'<path class="zero" d="M{_n(x(0))} 0v20"/>'
    if line["behind"] > most:
        shape += f'<path class="beyond" d="M{width - 14:.0f} 5l6 5l-6 5"/>'
        return _svg(width, 20, shape, "dots")
    low, high = x(max(line["low"], 0.0)), x(line["high"])
    kind = "chosen" if line["chosen"] else "other"
    shape += f'<path class="whisker" d="M{_n(low)} 10H{_n(high)}"/>'
    shape += f'<circle class="dot {kind}" cx="{_n(x(line["behind"]))}" cy="10" r="4.5"/>'
    return _svg(width, 20, shape, "dots")


def strategy_scales(lines: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """Return where bars and dots end: far-off strategies do not press the others together."""
    roots = [line["shown"] for line in lines if line["shown"]]
    least = min(roots, default=1.0)
    behind = sorted(line["high"] for line in lines if line["high"] is not None)
    far = 3 * max(behind[len(behind) // 2], 1.0) if behind else 1.0
    near = [x for x in behind if x <= far] or [far]
    return min(max(roots, default=1.0), 2 * least), max(*near, 0.5) * 1.05


# --- 3: the merge tree ---------------------------------------------------------------------------


def tree(facts: dict[str, Any], unit: str = "squared error") -> str:
    """Return the merge tree: leaves on the left, every merge at its gain, refused ones dashed.

    `unit` is what gains are told in.
    """
    leaves, merges = facts["leaves"], facts["merges"]
    pitch = 20.0 if len(leaves) <= 60 else 12.0
    top, bottom = 24.0, 28.0
    height = top + pitch * len(leaves) + bottom
    labels = _label_width(leaves, 11 if pitch < 15 else 12)
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
        path = f"M{_n(x[a])} {_n(y[a])}H{_n(at)}V{_n(y[b])}H{_n(x[b])}"
        parts.append(
            f'<g class="merge" data-tip="{_tip(_merge_words(merge, unit))}"><path class="{kind}" '
            f'd="{path}"/><path class="hit" d="{path}"/></g>'
        )
        x.append(at)
        y.append((y[a] + y[b]) / 2)
        colour.append(colour[a] if same else COLOURS)
    for leaf, at in zip(leaves, y):
        parts.append(_leaf(leaf, at, labels, small=pitch < 15))
    return _svg(TREE_WIDTH, height, "".join(parts), "tree")


def _label_width(leaves: Sequence[dict[str, Any]], size: float) -> float:
    """Return how much room names beside a figure need."""
    return 30 + 0.6 * size * max(len(leaf_label(leaf)) for leaf in leaves)


def leaf_label(leaf: dict[str, Any]) -> str:
    """Return the name of a dataset, or the first of several and how many they are."""
    if leaf["size"] == 1:
        return cut_label(leaf["name"])
    return f"{leaf['size']}: {cut_label(leaf['name'], 20)}"


def _leaf(leaf: dict[str, Any], y: float, labels: float, *, small: bool) -> str:
    shown = escape(leaf_label(leaf))
    kind = "leaf small" if small else "leaf"
    return (
        f'<text class="{kind}" x="{_n(labels - 18)}" y="{_n(y)}" text-anchor="end" '
        f'dominant-baseline="central">{shown}</text>'
        f'<circle class="c{leaf["colour"]}" cx="{_n(labels - 8)}" cy="{_n(y)}" r="3.5"/>'
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
            parts.append(f'<path class="{kind}" d="M{_n(at)} {_n(top)}V{_n(bottom)}"/>')
            if at - last > 44 or value == 0:
                parts.append(
                    f'<text class="tick" x="{_n(at)}" y="{_n(top - 8)}" '
                    f'text-anchor="middle">{tick(value)}</text>'
                )
                last = at
        for at, anchor, words in (
            (self.start + 16, "start", "← joining helps"),
            (self.end, "end", "joining costs →"),
        ):
            parts.append(
                f'<text class="axis" x="{_n(at)}" y="{_n(bottom + 20)}" '
                f'text-anchor="{anchor}">{words}</text>'
            )
        return "".join(parts)


TICKS = (300, 100, 30, 10, 3, 1, 0, -1, -3, -10, -30, -100, -300, -1000)


def tick(value: float) -> str:
    """Return a gain on an axis."""
    return "0" if value == 0 else f"{'+' if value > 0 else '−'}{abs(value):,.0f} %"


def _merge_words(merge: dict[str, Any], unit: str) -> list[str]:
    done = "joined" if merge["joined"] else "kept apart"
    return [
        f"{merge['left']}  +  {merge['right']}",
        gain_words(merge["percent"], merge["interval"], merge["gain"], unit),
        f"verdict: {merge['verdict']}; {done}",
    ]


def gain_words(
    percent: float | None, interval: Sequence[float | None], gain: float | None, unit: str
) -> str:
    """Return a gain in words, and its interval if there is one."""
    if gain is None or percent is None:
        return "gain not known: too few rows"
    text = f"gain {signed(percent)} of the error ({unit} {number(gain)}"
    low, high = interval
    if low is not None and high is not None:
        text += f", between {number(low)} and {number(high)}"
    elif low is not None:
        text += f", at least {number(low)}"
    elif high is not None:
        text += f", at most {number(high)}"
    return text + ")"


# --- 3: the heat map -----------------------------------------------------------------------------


def heat_map(facts: dict[str, Any]) -> str:
    """Return the heat map: a picture, a frame of clusters around it, one cell to be probed."""
    groups = facts["groups"]
    M = len(groups)
    side, band = min(600.0, 44.0 * M + 40), 10.0
    cell = side / M
    labelled = M <= 60
    left = _label_width(groups, 10) if labelled else band + 6
    image = heat_image(np.asarray(facts["percent"]))
    parts = [
        f'<rect class="ground" x="{_n(left)}" y="{_n(band + 4)}" width="{_n(side)}" '
        f'height="{_n(side)}"/><image x="{_n(left)}" y="{_n(band + 4)}" width="{_n(side)}" '
        f'height="{_n(side)}" preserveAspectRatio="none" href="{image}"/>'
    ]
    for start, stop, colour in _runs([group["colour"] for group in groups],
                                     [group["cluster"] for group in groups]):  # fmt: skip
        at, length = start * cell, (stop - start) * cell
        parts.append(
            f'<rect class="c{colour}" x="{_n(left + at)}" y="0" width="{_n(length - 0.6)}" '
            f'height="{_n(band)}"/><rect class="c{colour}" x="{_n(left - band - 4)}" '
            f'y="{_n(band + 4 + at)}" width="{_n(band)}" height="{_n(length - 0.6)}"/>'
        )
        if M > 1 and stop - start < M:
            parts.append(
                f'<rect class="block" x="{_n(left + at)}" y="{_n(band + 4 + at)}" '
                f'width="{_n(length)}" height="{_n(length)}"/>'
            )
    if labelled:
        parts += [
            f'<text class="leaf small" x="{_n(left - band - 9)}" text-anchor="end" '
            f'y="{_n(band + 4 + (i + 0.5) * cell)}" dominant-baseline="central">'
            f"{escape(leaf_label(group))}</text>"
            for i, group in enumerate(groups)
        ]
    parts.append('<rect class="cursor" width="0" height="0"/>')
    probe = f' data-x="{_n(left)}" data-y="{_n(band + 4)}" data-cell="{cell:.4f}" data-m="{M}"'
    return _svg(left + side + 2, side + band + 6, "".join(parts), "heat", probe)


def _runs(colours: Sequence[int], clusters: Sequence[Any]) -> Iterable[tuple[int, int, int]]:
    """Yield the stretches of neighbours in one cluster, with their colour."""
    start = 0
    for i in range(1, len(clusters) + 1):
        if i == len(clusters) or clusters[i] != clusters[start]:
            yield start, i, colours[start]
            start = i


def heat_image(percent: FloatArray) -> str:
    """Return gains (M, M) in percent as a picture: blue where joining helps, orange where not.

    The stronger, the less transparent, so that the picture suits any ground.
    """
    M = len(percent)
    unit = max(1, IMAGE // M)
    strength = np.abs(np.arcsinh(np.clip(np.nan_to_num(percent, nan=0.0, posinf=MOST_PERCENT,
                                                       neginf=-MOST_PERCENT),
                                         -MOST_PERCENT, MOST_PERCENT)))  # fmt: skip
    alpha = np.minimum(strength / math.asinh(100.0), 1.0)
    helps = np.nan_to_num(percent, nan=0.0) >= 0
    pixels = np.empty((M, M, 4), dtype=np.uint8)
    pixels[..., :3] = np.where(helps[..., None], JOIN, APART)
    pixels[..., 3] = np.round(alpha * 255)
    large = np.repeat(np.repeat(pixels, unit, axis=0), unit, axis=1)
    return "data:image/png;base64," + base64.b64encode(png(large)).decode()


def png(pixels: Any) -> bytes:
    """Return pixels (height, width, 4) as a PNG file."""
    height, width = pixels.shape[:2]
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)

    def chunk(kind: bytes, body: bytes) -> bytes:
        check = zlib.crc32(kind + body)
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", check)

    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    body = zlib.compress(rows.tobytes(), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def legend() -> str:
    """Return the colours of the heat map with the gains they stand for."""
    values = (-100, -30, -10, -3, -1, 0, 1, 3, 10, 30, 100)
    width = 46.0
    parts = []
    for i, value in enumerate(values):
        alpha = min(abs(math.asinh(value)) / math.asinh(100.0), 1.0)
        red, green, blue = JOIN if value >= 0 else APART
        parts.append(
            f'<rect class="ground" x="{_n(i * width)}" y="0" width="{_n(width)}" height="12"/>'
            f'<rect x="{_n(i * width)}" y="0" width="{_n(width)}" height="12" '
            f'fill="rgb({red},{green},{blue})" fill-opacity="{alpha:.2f}"/>'
            f'<text class="tick" x="{_n((i + 0.5) * width)}" y="28" text-anchor="middle">'
            f"{tick(value)}</text>"
        )
    return _svg(width * len(values), 32, "".join(parts), "legend")


# --- 4: coefficients -----------------------------------------------------------------------------


def panel(feature: dict[str, Any], facts: dict[str, Any], index: int) -> str:
    """Return one feature's coefficients across datasets, cluster by cluster."""
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
        parts.append(f'<path class="{kind}" d="M{_n(left)} {_n(y(value))}h{_n(width)}"/>')
        parts.append(
            f'<text class="tick" x="{_n(left - 5)}" y="{_n(y(value))}" text-anchor="end" '
            f'dominant-baseline="central">{number(value, 3)}</text>'
        )
    for start, stop, colour in _runs(facts["colour"], facts["cluster"]):
        c = facts["cluster"][start] - 1
        a, b = left + start * step, left + stop * step
        parts.append(_model_line(feature, c, colour, a, b, y))
        whiskers, dots = [], []
        for k in range(start, stop):
            if not math.isfinite(feature["value"][k]):
                continue
            at = _n(left + (k + 0.5) * step)
            whiskers.append(f"M{at} {_n(y(feature['low'][k]))}V{_n(y(feature['high'][k]))}")
            if low <= feature["value"][k] <= high:
                dots.append(f"M{at} {_n(y(feature['value'][k]))}h0")
        thin = ' style="stroke-width:.6"' if step < 3 else ""
        small = ' style="stroke-width:2.2"' if step < 3 else ""
        parts.append(f'<path class="whisker c{colour}"{thin} d="{"".join(whiskers)}"/>')
        parts.append(f'<path class="dots c{colour}"{small} d="{"".join(dots)}"/>')
        if b - a > 14:
            parts.append(
                f'<text class="tick" x="{_n((a + b) / 2)}" y="{_n(PANEL_HEIGHT - 5)}" '
                f'text-anchor="middle">{c + 1}</text>'
            )
    parts.append('<path class="cursor" d=""/>')
    probe = (
        f' data-panel="{index}" data-x="{_n(left)}" data-step="{step:.4f}" data-m="{K}" '
        f'data-y="{_n(top)}" data-h="{_n(height)}"'
    )
    return _svg(PANEL_WIDTH, PANEL_HEIGHT, "".join(parts), "panel", probe)


def _model_line(feature: dict[str, Any], c: int, colour: int, a: float, b: float, y: Any) -> str:
    """Return a cluster's coefficient as a line, its interval as a band."""
    value, low, high = (feature[key][c] for key in ("model", "model_low", "model_high"))
    text = ""
    if math.isfinite(low) and math.isfinite(high):
        above, below = y(high), y(low)
        text = (
            f'<rect class="band c{colour}" x="{_n(a)}" y="{_n(above)}" width="{_n(b - a)}" '
            f'height="{_n(max(below - above, 0.5))}"/>'
        )
    return text + f'<path class="model c{colour}" d="M{_n(a)} {_n(y(value))}H{_n(b)}"/>'


def _range(feature: dict[str, Any]) -> tuple[float, float]:
    """Return the range of the axis: all clusters, and nearly all datasets."""
    known = np.asarray(feature["value"])[np.isfinite(feature["value"])]
    values = [*feature["model"]]
    if len(known):
        values += [*np.quantile(known, (0.02, 0.98))]
    for key, at in (("low", 0.25), ("high", 0.75)):
        ends = np.asarray(feature[key])
        if np.isfinite(ends).any():
            values.append(float(np.quantile(ends[np.isfinite(ends)], at)))
    low, high = float(np.min(values)), float(np.max(values))
    room = 0.08 * (high - low) or 0.1 * abs(high) or 1.0
    return low - room, high + room


def ticks(low: float, high: float, count: int = 4) -> list[float]:
    """Return round numbers between two ends.

    >>> ticks(0, 1)
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    span = (high - low) / count
    power = 10.0 ** math.floor(math.log10(span)) if span > 0 else 1.0
    step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= span * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(i * step, 12) if abs(step) > 1e-9 else i * step for i in range(first, last + 1)]


# --- 5: calibration ------------------------------------------------------------------------------


def calibration(facts: dict[str, Any]) -> str:
    """Return how often predictions of a probability came true; dots as large as their rows."""
    left, right, top, bottom = 56.0, 28.0, 16.0, 46.0
    side = 360.0
    end = top + side
    first, last = calibration_ends(facts["bins"])

    def x(value: float) -> float:
        return left + side * (value - first) / (last - first)

    def y(value: float) -> float:
        return end - side * (value - first) / (last - first)

    parts = []
    for value in np.linspace(first, last, 6).tolist():
        parts.append(
            f'<path class="grid" d="M{_n(left)} {_n(y(value))}h{_n(side)}M{_n(x(value))} '
            f'{_n(top)}v{_n(side)}"/>'
            f'<text class="tick" x="{_n(left - 7)}" y="{_n(y(value))}" text-anchor="end" '
            f'dominant-baseline="central">{100 * value:g} %</text>'
            f'<text class="tick" x="{_n(x(value))}" y="{_n(end + 17)}" '
            f'text-anchor="middle">{100 * value:g} %</text>'
        )
    parts.append(
        f'<path class="zero" stroke-dasharray="5 4" d="M{_n(left)} {_n(end)}L{_n(left + side)} '
        f'{_n(top)}"/>'
    )
    most = max((b["rows"] for b in facts["bins"]), default=1)
    for b in sorted(facts["bins"], key=lambda b: -int(b["rows"])):  # small ones on top
        low, high = b["interval"]
        at = _n(x(b["predicted"]))
        parts.append(
            f'<g data-tip="{_tip(bin_words(b, facts["positive"]))}"><path class="whisker" '
            f'd="M{at} {_n(y(low))}V{_n(y(high))}"/><circle class="dot chosen" cx="{at}" '
            f'cy="{_n(y(b["observed"]))}" r="{_n(3 + 7 * math.sqrt(b["rows"] / most))}" '
            f'fill-opacity=".8"/></g>'
        )
    parts.append(
        f'<text class="axis" x="{_n(left + side / 2)}" y="{_n(end + 38)}" '
        f'text-anchor="middle">predicted probability</text>'
        f'<text class="axis" x="14" y="{_n(top + side / 2)}" text-anchor="middle" '
        f'transform="rotate(-90 14 {_n(top + side / 2)})">came true</text>'
    )
    title = "Calibration: how often predictions of a probability came true"
    words = " ".join(". ".join(bin_words(b, facts["positive"])) + "." for b in facts["bins"])
    width, height = left + side + right, end + bottom
    return (
        f'<svg class="calibration" viewBox="0 0 {_n(width)} {_n(height)}" width="{_n(width)}" '
        f'height="{_n(height)}" role="img" aria-labelledby="calibration-name calibration-words">'
        f'<title id="calibration-name">{title}</title>'
        f'<desc id="calibration-words">{escape(words)}</desc>{"".join(parts)}</svg>'
    )


def calibration_ends(bins: Sequence[dict[str, Any]]) -> tuple[float, float]:
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


def bin_words(b: dict[str, Any], positive: str | None) -> list[str]:
    """Return what a dot of the calibration says."""
    low, high = b["interval"]
    what = "a class" if positive is None else f"‘{positive}’"
    return [
        f"{share(b['predicted'])} predicted for {what}",
        f"{share(b['observed'])} came true, between {share(low)} and {share(high)}",
        f"{b['rows']:,} {'rows' if positive is not None else 'predictions'}",
    ]


def share(value: float) -> str:
    """Return a share in percent.

    >>> share(0.12345), share(0.0012), share(1.0)
    ('12.3 %', '0.12 %', '100 %')
    """
    percent = 100 * value
    if percent >= 99.95:
        return "100 %"
    return f"{percent:.1f} %" if percent >= 10 else f"{percent:.2g} %"


# --- shared --------------------------------------------------------------------------------------


def _svg(width: float, height: float, body: str, kind: str, more: str = "") -> str:
    return (
        f'<svg class="{kind}" viewBox="0 0 {_n(width)} {_n(height)}" width="{_n(width)}" '
        f'height="{_n(height)}" aria-hidden="true" focusable="false"{more}>{body}</svg>'
    )


def _tip(lines: Sequence[str]) -> str:
    """Return lines of a tooltip as the value of an attribute."""
    return escape("\n".join(" ".join(line.split()) for line in lines))
