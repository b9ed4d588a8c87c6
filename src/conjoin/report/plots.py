"""The figures of the page as matplotlib axes, for notebooks (extra: plot).

A result enters, axes leave. Numbers are those of the page.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from conjoin.errors import ArgumentError
from conjoin.report.coefficients import coefficient_facts
from conjoin.report.drawing import JOIN, TICKS, leaf_label, stretch, tick
from conjoin.report.figures import strategy_scales
from conjoin.report.measure import measure_of
from conjoin.report.panels import calibration_ends
from conjoin.report.strategies import strategy_facts
from conjoin.report.tree import map_facts, tree_facts
from conjoin.report.view import COLOURS, LEVEL, View
from conjoin.report.wording import by_error
from conjoin.result.scores import LEVEL as SCORES_LEVEL

if TYPE_CHECKING:
    from conjoin.result.partition import Partition

# The colours of the page's style sheet, light: eight for clusters, then grey for the others.
PALETTE = (
    "#0072b2", "#d55e00", "#00916a", "#b5408f", "#9a7b00", "#4b3fa8", "#2e93bd", "#7b4b2a",
    "#868d97",
)  # fmt: skip
PERCENT = "gain of joining, percent of the error in use"


def _axes(ax: Any, width: float, height: float) -> Any:
    """Return axes to draw on, new ones if none are given."""
    if ax is not None:
        if not hasattr(ax, "plot"):
            raise ArgumentError(
                f"ax={ax!r} is nothing to draw on; expected axes of matplotlib, or leave it out."
            )
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ArgumentError(
            "Plots need matplotlib, which is not installed; run pip install 'conjoin[plot]', or "
            "write a page with report(...), which needs nothing else."
        ) from None
    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def plot_errors(result: "Partition", ax: Any = None) -> Any:
    """Draw how far every strategy is behind the best, with intervals; the one in use in colour."""
    ordered = by_error(strategy_facts(result))
    lines = [{"name": name, **line} for name, line in ordered if line["percent"] is not None]
    ax = _axes(ax, 6.4, 0.38 * len(lines) + 1.2)
    end = strategy_scales(lines)[1]
    for y, line in enumerate(lines):
        colour = PALETTE[0] if line["in_use"] else PALETTE[COLOURS]
        low, high = line["percent_interval"]
        ax.plot([max(low, 0.0), high], [y, y], color=colour, linewidth=1.6)
        ax.plot([line["percent"]], [y], "o", color=colour)
        if line["percent"] > end:
            ax.annotate(f"{line['percent']:,.0f} % ", (end, y), ha="right", va="center")
    ax.set_xlim(-0.03 * end, end)
    ax.set_yticks(range(len(lines)), [line["name"] for line in lines])
    ax.invert_yaxis()
    name = measure_of(result.family).short
    ax.set_xlabel(f"{name} above the best, percent ({100 * LEVEL:.0f} % intervals)")
    return ax


def plot_tree(result: "Partition", ax: Any = None) -> Any:
    """Draw the merge tree, every merge at its gain; merges that were not made are dashed."""
    facts = _known(tree_facts(View(result)), "The merge tree")
    leaves, merges = facts["leaves"], facts["merges"]
    ax = _axes(ax, 7.2, 0.2 * len(leaves) + 1.2)
    heights = [stretch(m["height"]) for m in merges if m["height"] is not None]
    start = max([*heights, 0.3]) + 0.3
    x, y = [start] * len(leaves), list(map(float, range(len(leaves))))
    colour = [leaf["colour"] for leaf in leaves]
    for merge in merges:
        a, b = merge["children"]
        at = start - 0.1 if merge["height"] is None else stretch(merge["height"])
        same = merge["joined"] and colour[a] == colour[b]
        style = {"color": PALETTE[colour[a]]} if same else {"color": "0.6", "linestyle": "--"}
        ax.plot([x[a], at, at, x[b]], [y[a], y[a], y[b], y[b]], linewidth=1.4, **style)
        x.append(at)
        y.append((y[a] + y[b]) / 2)
        colour.append(colour[a] if same else COLOURS)
    ax.axvline(0.0, color="0.3", linewidth=1)
    low = min([*heights, -0.3])
    shown = [value for value in TICKS if low <= stretch(value) <= start]
    ax.set_xticks([stretch(value) for value in shown], [tick(value) for value in shown])
    ax.set_xlim(start + 0.05, low - 0.2)
    ax.set_yticks(range(len(leaves)), [_plain(leaf_label(leaf)) for leaf in leaves])
    ax.invert_yaxis()
    ax.set_xlabel(PERCENT)
    return ax


def plot_gains(result: "Partition", ax: Any = None) -> Any:
    """Draw the gains of every two datasets (groups of them, where they are many), by cluster."""
    facts = _known(map_facts(View(result)), "The gains of pairs")
    groups = facts["groups"]
    ax = _axes(ax, 6.4, 5.4)
    from matplotlib.colors import LinearSegmentedColormap

    join = "#{:02x}{:02x}{:02x}".format(*JOIN)
    colours = LinearSegmentedColormap.from_list("gain", [PALETTE[1], "#f6f7f9", join])
    end = stretch(100.0)
    image = ax.imshow(
        np.arcsinh(np.array(facts["percent"], dtype=np.float64)), cmap=colours, vmin=-end, vmax=end
    )
    shown = (-100, -10, -1, 0, 1, 10, 100)
    bar = ax.figure.colorbar(image, ax=ax, ticks=[stretch(value) for value in shown], label=PERCENT)
    bar.ax.set_yticklabels([tick(value) for value in shown])
    if len(groups) <= 60:
        ax.set_yticks(range(len(groups)), [_plain(leaf_label(group)) for group in groups])
    ax.set_xticks([])
    return ax


def plot_coefficients(result: "Partition", feature: str | None = None, ax: Any = None) -> Any:
    """Draw a coefficient across datasets, cluster by cluster, with intervals."""
    facts = _known(coefficient_facts(View(result), None), "Coefficients of datasets")
    names = [line["name"] for line in facts["features"]]
    if feature is not None and not (isinstance(feature, str) and feature in names):
        raise ArgumentError(f"feature={feature!r} is unknown; expected one of {names}.")
    most = int(np.argmax([line["differ"] for line in facts["features"]]))
    line = facts["features"][most if feature is None else names.index(feature)]
    ax = _axes(ax, 6.4, 3.4)
    place = np.arange(len(facts["names"]))
    cluster, colour = np.array(facts["number"]), np.array(facts["colour"])
    value, lows, highs = (np.array(line[key], dtype=np.float64) for key in ("value", "low", "high"))
    for c in np.unique(cluster):
        index = place[cluster == c]
        shade = PALETTE[colour[index[0]]]
        ax.vlines(index, lows[index], highs[index], color=shade, linewidth=1, alpha=0.6)
        ax.plot(index, value[index], "o", color=shade, markersize=4)
        ends = [index[0] - 0.5, index[-1] + 0.5]
        ax.plot(ends, [line["model"][c - 1]] * 2, color=shade, linewidth=2)
    if len(place) <= 40:
        ax.set_xticks(place, [_plain(name) for name in facts["names"]], rotation=90)
    else:
        ax.set_xticks([])
        ax.set_xlabel("datasets, cluster by cluster")
    ax.set_ylabel(_plain(line["name"]))
    return ax


def plot_calibration(result: "Partition", ax: Any = None) -> Any:
    """Draw how often predictions of a probability came true, with intervals."""
    bins = result.calibration
    ax = _axes(ax, 4.8, 4.6)
    most = max(b.rows for b in bins)
    facts = [{"predicted": b.predicted, "interval": b.interval} for b in bins]
    first, last = calibration_ends(facts)
    ax.plot([first, last], [first, last], color="0.6", linestyle="--", linewidth=1)
    for b in bins:
        ax.plot([b.predicted] * 2, b.interval, color=PALETTE[0], linewidth=1.2, alpha=0.7)
    ax.scatter(
        [b.predicted for b in bins],
        [b.observed for b in bins],
        s=[12 + 120 * b.rows / most for b in bins],
        color=PALETTE[0],
        alpha=0.8,
        zorder=3,
    )
    what = f" of {result.classes[1]}" if len(result.classes) == 2 else ""
    ax.set_xlabel(_plain(f"predicted probability{what}"))
    ax.set_ylabel(f"share that came true ({100 * SCORES_LEVEL:.0f} % intervals)")
    room = 0.02 * (last - first)
    ax.set_xlim(first - room, last + room)
    ax.set_ylim(first - room, last + room)
    ax.set_aspect("equal")
    return ax


def _known(facts: Any, what: str) -> Any:
    if facts is None:
        raise ArgumentError(f"{what} cannot be drawn: the model file was written without it.")
    return facts


def _plain(text: str) -> str:
    """Return text in which matplotlib finds no formula."""
    return text.replace("$", r"\$")
