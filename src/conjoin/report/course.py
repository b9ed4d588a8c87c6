"""Errors over time on the page: a figure, a table and a sentence.

A `Course` enters; plain values with words and SVG leave.
"""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from conjoin.report.drawing import px
from conjoin.report.measure import Measure
from conjoin.report.numbers import finite
from conjoin.result.course import Course
from conjoin.strategies import SEARCHED

WIDTH, HEIGHT, LEFT, RIGHT, LINE = 640.0, 220.0, 70.0, 170.0, 18.0  # of the figure, in pixels
# Dashes tell lines apart without colours, which are those of a palette for the colour-blind.
STYLES = ("#1f78c0", ""), ("#db6210", "6 3"), ("#2c7a2c", "2 3"), ("#6a3d9a", "8 3 2 3")


def course_facts(course: Course | None, measure: Measure) -> dict[str, Any] | None:
    """Return periods, errors as they are shown, and a sentence; None where rows have no order."""
    if course is None:
        return None
    shown = {
        name: [measure.shown(finite(one)) for one in errors]
        for name, errors in course.errors.items()
    }
    unit = " days" if course.dated else ""
    return {
        "periods": list(course.periods),
        "rows": list(course.rows),
        "errors": shown,
        "ahead": [
            {"from": f"{low:.4g}", "to": f"{high:.4g}{unit}", "shown": measure.shown(finite(one))}
            for (low, high), one in zip(course.ahead, course.ahead_errors)
        ],
        "words": f"{course_in_words(course)} {_range_in_words(course, shown)}".strip(),
        "head": measure.head,
    }


def course_in_words(course: Course) -> str:
    """Say whether the advice was stable: how often the partition of earlier rows was right."""
    name = SEARCHED if SEARCHED in course.errors else "clusters"
    F = len(course.periods)
    parts = [f"Models were fitted {F} times to all rows before, and judged on what came next."]
    if name in course.errors and F:
        own = course.errors[name]
        for other, words in (("separate", "separate models"), ("pooled", "one model for all")):
            if other in course.errors:
                better = sum(a <= b for a, b in zip(own, course.errors[other]))
                parts.append(
                    f"The partition that earlier rows gave did at least as well as {words} in "
                    f"{better} of {F} periods."
                )
    return " ".join(parts)


def _range_in_words(course: Course, shown: Mapping[str, list[float | None]]) -> str:
    """Say between which errors the periods lie: a claim is their mean, and the next is one more."""
    name = "auto" if "auto" in shown else next(iter(shown), "")
    known = [(x, when) for x, when in zip(shown.get(name, ()), course.periods) if x is not None]
    if len(known) < 2:
        return ""
    (least, best), (most, worst) = min(known), max(known)
    return (
        f"The error of '{name}' was between {least:.4g} (from {best} on) and {most:.4g} (from "
        f"{worst} on). The next period can lie anywhere in between."
    )


def course_figure(found: Mapping[str, Any]) -> str:
    """Return the figure: the error of each strategy in every period."""
    values = [x for line in found["errors"].values() for x in line if x is not None]
    if len(found["periods"]) < 2 or not values:
        return ""
    # Separate models may be far off in a period; the others should stay readable.
    most = min(max(values), 3 * sorted(values)[len(values) // 2]) or 1.0
    step = (WIDTH - LEFT - RIGHT) / (len(found["periods"]) - 1)
    lines = [
        _line(name, line, k, step, most) for k, (name, line) in enumerate(found["errors"].items())
    ]
    ends = (found["periods"][0], found["periods"][-1])
    axis = "".join(
        f'<text x="{px(x)}" y="{px(HEIGHT - 4)}" text-anchor="{anchor}">{escape(text)}</text>'
        for x, anchor, text in ((LEFT, "start", ends[0]), (WIDTH - RIGHT, "end", ends[1]))
    )
    top = f'<text x="{px(LEFT - 6)}" y="14" text-anchor="end">{most:.4g}</text>'
    zero = f'<text x="{px(LEFT - 6)}" y="{px(HEIGHT - 22)}" text-anchor="end">0</text>'
    return (
        f'<svg class="course" viewBox="0 0 {px(WIDTH)} {px(HEIGHT)}" width="{px(WIDTH)}" '
        f'height="{px(HEIGHT)}" role="img" aria-labelledby="course-name course-words">'
        f'<title id="course-name">Errors over time</title>'
        f'<desc id="course-words">{escape(found["words"])}</desc>'
        f"{axis}{top}{zero}{''.join(lines)}</svg>"
    )


def _line(name: str, values: Sequence[float | None], k: int, step: float, most: float) -> str:
    """Return the line of one strategy with its name at the right."""
    colour, dash = STYLES[k % len(STYLES)]
    points = []
    for f, value in enumerate(values):
        if value is not None and math.isfinite(value):
            y = (HEIGHT - 26) - (HEIGHT - 36) * min(value / most, 1.0)
            points.append(f"{px(LEFT + f * step)},{px(y)}")
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    height = 16 + LINE * k
    return (
        f'<polyline points="{" ".join(points)}" fill="none" stroke="{colour}" stroke-width="2"'
        f'{dashes}/><line x1="{px(WIDTH - RIGHT + 8)}" x2="{px(WIDTH - RIGHT + 30)}" '
        f'y1="{px(height - 4)}" y2="{px(height - 4)}" stroke="{colour}" stroke-width="2"{dashes}/>'
        f'<text x="{px(WIDTH - RIGHT + 36)}" y="{px(height)}">{escape(name)}</text>'
    )
