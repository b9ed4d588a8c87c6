"""What figures are drawn with: SVG text, coordinates, labels, scales, PNG pictures.

Numbers and names enter, pieces of SVG leave. Names from the data are escaped by who puts them into
a figure; `tip` escapes what it is given.
"""

import math
import struct
import zlib
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

# Gains, in percent of the error, that are drawn alike however large they are: beyond, the axis
# would press what is near zero together.
MOST_PERCENT = 1000.0
JOIN, APART = (0x1F, 0x78, 0xC0), (0xDB, 0x62, 0x10)  # blue and orange, apart to the colour-blind
LABEL_CHARACTERS = 26  # of a name beside a figure; longer ones would take the figure's room
# Gains that an axis may name, in percent: about three to a power of ten.
TICKS = (300, 100, 30, 10, 3, 1, 0, -1, -3, -10, -30, -100, -300, -1000)


def px(value: float) -> str:
    """Return a coordinate with one decimal, which is finer than a screen shows."""
    return f"{value:.1f}".removesuffix(".0")


def stretch(percent: float) -> float:
    """Return where a gain is drawn: about linear within one percent, logarithmic beyond."""
    return math.asinh(max(-MOST_PERCENT, min(MOST_PERCENT, percent)))


def cut_label(text: str, most: int = LABEL_CHARACTERS) -> str:
    """Return a name that fits beside a figure."""
    clean = " ".join(text.split()) or "(blank)"
    return clean if len(clean) <= most else clean[: most - 1] + "…"


def label_width(leaves: Sequence[dict[str, Any]], size: float) -> float:
    """Return how much room names beside a figure need."""
    return 30 + 0.6 * size * max(len(leaf_label(leaf)) for leaf in leaves)


def leaf_label(leaf: dict[str, Any]) -> str:
    """Return the name of a dataset, or the first of several and how many they are."""
    if leaf["size"] == 1:
        return cut_label(leaf["name"])
    return f"{leaf['size']}: {cut_label(leaf['name'], 20)}"


def tick(value: float) -> str:
    """Return a gain on an axis."""
    return "0" if value == 0 else f"{'+' if value > 0 else '−'}{abs(value):,.0f} %"


def runs(colours: Sequence[int], clusters: Sequence[Any]) -> Iterable[tuple[int, int, int]]:
    """Yield the stretches of neighbours in one cluster, with their colour."""
    start = 0
    for i in range(1, len(clusters) + 1):
        if i == len(clusters) or clusters[i] != clusters[start]:
            yield start, i, colours[start]
            start = i


def ticks(low: float, high: float, count: int = 4) -> list[float]:
    """Return round numbers between two ends.

    >>> ticks(0, 1)
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    span = (high / 2 - low / 2) / count * 2  # in halves: the whole difference may be no double
    power = 10.0 ** math.floor(math.log10(span)) if span > 0 else 1.0
    step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= span * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(i * step, 12) if abs(step) > 1e-9 else i * step for i in range(first, last + 1)]


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


def svg(width: float, height: float, body: str, kind: str, more: str = "") -> str:
    """Return an SVG figure of a class `kind`, hidden from screen readers."""
    return (
        f'<svg class="{kind}" viewBox="0 0 {px(width)} {px(height)}" width="{px(width)}" '
        f'height="{px(height)}" aria-hidden="true" focusable="false"{more}>{body}</svg>'
    )


def tip(lines: Sequence[str]) -> str:
    """Return lines of a tooltip as the value of an attribute."""
    return escape("\n".join(" ".join(line.split()) for line in lines))
