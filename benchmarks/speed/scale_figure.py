"""The figure of docs/scaling.md: processor seconds and memory by the number of datasets."""

from collections.abc import Sequence
from math import log10
from pathlib import Path

# Size of a panel and room around it, in pixels.
WIDTH, HEIGHT, LEFT, TOP, GAP = 300, 220, 62, 30, 80
BLUE, GREY = "#1f78c0", "#8a8a8a"


def draw(path: Path, points: Sequence[tuple[float, float, float]]) -> None:
    """Write two panels over datasets: seconds and gigabytes, both with logarithmic axes.

    Each point is (datasets, seconds, gigabytes). A grey line through the last point shows what
    grows in proportion to the number of datasets.
    """
    if len(points) < 2:
        return
    panels = [
        _panel([(K, seconds) for K, seconds, _ in points], "processor seconds", 0),
        _panel([(K, memory) for K, _, memory in points], "peak memory, GB", WIDTH + GAP),
    ]
    size = f"{LEFT + 2 * WIDTH + GAP + 20} {TOP + HEIGHT + 50}"
    style = 'font-family="sans-serif" font-size="12"'
    text = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" {style}>'
    text += "<title>Time and memory by the number of datasets</title>"
    text += f'<rect width="100%" height="100%" fill="white"/>{"".join(panels)}</svg>\n'
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _panel(points: Sequence[tuple[float, float]], title: str, shift: float) -> str:
    """Return one panel."""
    ends = [(log10(min(v)), log10(max(v))) for v in zip(*points)]
    low = [int(a // 1) if axis else a - 0.1 for axis, (a, _) in enumerate(ends)]
    high = [int(-(-b // 1)) if axis else b + 0.1 for axis, (_, b) in enumerate(ends)]

    def place(x: float, y: float) -> tuple[float, float]:
        across = (log10(x) - low[0]) / (high[0] - low[0])
        up = (log10(y) - low[1]) / (high[1] - low[1])
        return round(LEFT + shift + WIDTH * across, 1), round(TOP + HEIGHT * (1 - up), 1)

    left, bottom = LEFT + shift, TOP + HEIGHT
    parts = [
        f'<text x="{left}" y="{TOP - 12}" font-weight="bold">{title}</text>',
        f'<path d="M{left} {TOP}V{bottom}H{left + WIDTH}" fill="none" stroke="black"/>',
        f'<text x="{left + WIDTH / 2}" y="{bottom + 38}" text-anchor="middle">datasets</text>',
    ]
    for x, _ in points:
        at = place(x, points[0][1])[0]
        parts.append(f'<text x="{at}" y="{bottom + 18}" text-anchor="middle">{x:,.0f}</text>')
    for power in range(int(low[1]), int(high[1]) + 1):
        at = place(points[0][0], 10.0**power)[1]
        parts.append(f'<text x="{left - 8}" y="{at + 4}" text-anchor="end">{10.0**power:g}</text>')
        parts.append(f'<path d="M{left} {at}h{WIDTH}" stroke="#dddddd"/>')
    x, y = points[-1]
    first = max(points[0][0], x * 10 ** low[1] / y)
    line = " ".join(f"{a},{b}" for a, b in (place(first, y * first / x), place(x, y)))
    parts.append(f'<polyline points="{line}" stroke="{GREY}" stroke-dasharray="4 4" fill="none"/>')
    line = " ".join(f"{a},{b}" for a, b in (place(*point) for point in points))
    parts.append(f'<polyline points="{line}" stroke="{BLUE}" stroke-width="2" fill="none"/>')
    for point in points:
        a, b = place(*point)
        parts.append(f'<circle cx="{a}" cy="{b}" r="4" fill="{BLUE}"/>')
    return "".join(parts)
