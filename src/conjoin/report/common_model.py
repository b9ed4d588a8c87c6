"""The section on the model that all datasets share: which columns matter, how, and for whom not.

A result enters `common_facts`, plain values leave. Plain values enter `drawn`, and leave with their
figures as SVG text. Colours are classes of the page's style sheet.
"""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from conjoin.report.coefficients import reach_facts
from conjoin.report.drawing import cut_label, px, svg, ticks
from conjoin.report.learners import learner_in_words
from conjoin.report.numbers import number

if TYPE_CHECKING:
    from conjoin.result.partition import Partition

MOST_COLUMNS = 20  # lines of the table of importance: about one screen
MOST_DEPARTURES = 9  # datasets drawn: three lines of panels
DOUBTFUL = 0.1  # chance above which a departure may be luck, as for verdicts
PANEL_WIDTH, PANEL_HEIGHT = 340.0, 170.0  # in pixels: three panels fit beside each other
LEFT, RIGHT, TOP, BOTTOM = 50.0, 10.0, 10.0, 22.0  # around the plot: room for the axes


def common_facts(result: "Partition") -> dict[str, Any] | None:
    """Return what the section shows; None for lines. Figures that a file lacks are None."""
    predictions = getattr(result.schema, "predictions", None)
    if predictions is None:
        return None
    found = result.analysis.common_model
    reach = {name: reach_facts(result, name).get("reach") for name in result.labels}
    known = {name: one for name, one in reach.items() if one is not None}
    # The same dataset has no figure if its own fit has too few rows.
    facts = {"learner": learner_in_words(predictions.learner), "reach": known, "known": False}
    if found is None:
        return facts
    sure = {k: one for k, one in found.departures.items() if one.p_value <= DOUBTFUL}
    order = sorted(sure, key=lambda name: (sure[name].p_value, name))
    classes = result.classes
    return {
        **facts,
        "known": True,
        "name": found.name,
        "columns": len(found.importance),
        "importance": [
            {"name": name, "rise": one.rise, "interval": list(one.interval), "gain": one.gain}
            for name, one in list(found.importance.items())[:MOST_COLUMNS]
        ],
        "curves": [
            {"name": name, "values": list(one.values), "lines": list(map(list, one.predictions))}
            for name, one in found.dependence.items()
        ],
        "classes": [str(c) for c in (classes[1:] if len(classes) == 2 else classes)],
        "judged": len(found.departures),
        "departing": len(sure),
        "departures": [{"dataset": name, **vars(sure[name])} for name in order[:MOST_DEPARTURES]],
    }


def drawn(facts: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the plain values with their figures."""
    if facts is None or not facts["known"]:
        return None if facts is None else dict(facts)
    most = max((line["rise"] for line in facts["importance"]), default=0.0)
    return {
        **facts,
        "importance": [
            {**line, "bar": Markup(_bar(line["rise"], most))} for line in facts["importance"]
        ],
        "curves": [
            {**one, "svg": Markup(curve(one)), "words": _curve_in_words(one, facts["classes"])}
            for one in facts["curves"]
        ],
        "departures": [
            {**one, "svg": Markup(departure(one)), "words": departure_in_words(one)}
            for one in facts["departures"]
        ],
    }


def departure_in_words(one: Mapping[str, Any]) -> str:
    """Say where a dataset departs most.

    >>> departure_in_words({"column": "price", "middles": [1.0, 9.0], "difference": [0.5, -2.0],
    ...                     "half": [0.6, 0.4], "label": None})
    'Farthest at price 9: 2 below the prediction (90 % interval 1.6 to 2.4).'
    """
    far = max(range(len(one["half"])), key=lambda i: abs(one["difference"][i]) / one["half"][i])
    value, half = one["difference"][far], one["half"][far]
    side = "above" if value > 0 else "below"
    size = abs(value)
    what = "the prediction" if one["label"] is None else f"the predicted share of '{one['label']}'"
    low, high = (number(x, 3) for x in (size - half, size + half))
    at = _shown(one["middles"][far])
    return (
        f"Farthest at {one['column']} {at}: {number(size, 3)} {side} {what} "
        f"(90 % interval {low} to {high})."
    )


def _shown(value: Any) -> str:
    return number(value, 3) if isinstance(value, (int, float)) else str(value)


def _curve_in_words(one: Mapping[str, Any], classes: Sequence[str]) -> str:
    """Return the ends of a curve in words, for readers who do not see it."""
    first = [line[0] for line in one["lines"]]
    low, high = (min(range(len(first)), key=lambda i: s * first[i]) for s in (1, -1))
    of = f"Probability of '{classes[0]}'" if classes else "Mean prediction"
    return (
        f"{of}: lowest {number(first[low], 3)} at {_shown(one['values'][low])}, highest "
        f"{number(first[high], 3)} at {_shown(one['values'][high])}."
    )


# --- figures -------------------------------------------------------------------------------------


def _bar(value: float, most: float) -> str:
    """Return the bar of an importance, from zero to the largest."""
    width = 220.0
    length = width * max(value, 0.0) / most if most > 0 else 0.0
    shape = f'<rect class="bar chosen" x="0" y="4" width="{px(length)}" height="12" rx="2"/>'
    return svg(width, 20, shape, "bars")


class _Axes:
    """From values to places in a panel; categories stand at equal distances."""

    def __init__(self, values: Sequence[Any], heights: Sequence[float]) -> None:
        self.numeric = all(isinstance(v, (int, float)) for v in values)
        at = [float(v) for v in values] if self.numeric else [float(i) for i in range(len(values))]
        self.values, self.at = values, at
        room = 0.0 if self.numeric else 0.5
        self.first, self.last = min(at) - room, max(at) + room
        low, high = min(heights), max(heights)
        pad = 0.08 * (high - low) or 0.1 * abs(high) or 1.0
        self.low, self.high = low - pad, high + pad

    def x(self, at: float) -> float:
        """Return where a value stands from left to right."""
        span = (self.last - self.first) or 1.0
        return LEFT + (PANEL_WIDTH - LEFT - RIGHT) * (at - self.first) / span

    def y(self, value: float) -> float:
        """Return where a value stands from top to bottom."""
        share = (value - self.low) / (self.high - self.low)
        return TOP + (PANEL_HEIGHT - TOP - BOTTOM) * (1 - share)

    def frame(self) -> str:
        """Return grid and ticks."""
        parts = []
        for value in ticks(self.low, self.high):
            kind = "zero" if value == 0 else "grid"
            parts.append(
                f'<path class="{kind}" d="M{px(LEFT)} {px(self.y(value))}'
                f'H{px(PANEL_WIDTH - RIGHT)}"/><text class="tick" x="{px(LEFT - 5)}" '
                f'y="{px(self.y(value))}" text-anchor="end" dominant-baseline="central">'
                f"{number(value, 3)}</text>"
            )
        if self.numeric:
            marks = [(v, number(v, 3)) for v in ticks(self.first, self.last)]
        else:
            short = max(3, math.floor(40 / max(len(self.at), 1)))
            marks = [(a, cut_label(str(v), short)) for a, v in zip(self.at, self.values)]
        for at, label in marks:
            parts.append(
                f'<text class="tick" x="{px(self.x(at))}" y="{px(PANEL_HEIGHT - 6)}" '
                f'text-anchor="middle">{escape(label)}</text>'
            )
        return "".join(parts)


def curve(one: Mapping[str, Any]) -> str:
    """Return a partial dependence: a line for numbers, dots for categories; a colour a class."""
    heights = [value for line in one["lines"] for value in line]
    axes = _Axes(one["values"], heights)
    parts = [axes.frame()]
    for c in range(len(one["lines"][0])):
        places = [(axes.x(a), axes.y(line[c])) for a, line in zip(axes.at, one["lines"])]
        if axes.numeric:
            path = "L".join(f"{px(x)} {px(y)}" for x, y in places)
            parts.append(f'<path class="model c{c % 8}" d="M{path}"/>')
        else:
            dots = "".join(f"M{px(x)} {px(y)}h0" for x, y in places)
            parts.append(f'<path class="dots c{c % 8}" d="{dots}"/>')
    return svg(PANEL_WIDTH, PANEL_HEIGHT, "".join(parts), "panel")


def departure(one: Mapping[str, Any]) -> str:
    """Return mean differences along a column, each with its interval."""
    ends = [d + s * h for d, h in zip(one["difference"], one["half"]) for s in (-1, 1)]
    axes = _Axes(one["middles"], [*ends, 0.0])
    whiskers, dots = [], []
    for at, value, half in zip(axes.at, one["difference"], one["half"]):
        x = px(axes.x(at))
        whiskers.append(f"M{x} {px(axes.y(value - half))}V{px(axes.y(value + half))}")
        dots.append(f"M{x} {px(axes.y(value))}h0")
    body = (
        f'{axes.frame()}<path class="whisker c0" d="{"".join(whiskers)}"/>'
        f'<path class="dots c0" d="{"".join(dots)}"/>'
    )
    return svg(PANEL_WIDTH, PANEL_HEIGHT, body, "panel")
