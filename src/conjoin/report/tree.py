"""The merge tree and the map of gains as plain values.

A `View` enters; leaves (datasets, or groups where these are many), merges and gains in percent of
the error in use leave. None where a model file has no details.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from conjoin.report.joins import line_facts
from conjoin.report.learners import verdict_in_words
from conjoin.report.numbers import finite, plain
from conjoin.report.view import COLOURS, View
from conjoin.result.details import VERDICTS, Node, cut, whole_tree
from conjoin.result.values import NOT_JUDGED, sides_of
from conjoin.text import listed

if TYPE_CHECKING:
    from conjoin.result.values import Merge


def tree_facts(view: View) -> dict[str, Any] | None:
    """Return leaves and merges; merges name their children by number, leaves first.

    "refused" are the lines of the ledger that are no forks: the best refused join of a cluster with
    one other cluster, where a fork above joins several. Groups of datasets have no such lines.
    """
    details = view.details
    if details is None or details.map is None:
        return None
    ledger = view.result.ledger()
    joined = [line for line in ledger if line.joined]
    # A fork that the ledger has is its line: only there p-values are adjusted.
    told = {(sides_of(line), line.judged_by): line for line in ledger}
    upper = [told.get((sides_of(line), line.judged_by), line) for line in details.upper]
    root = whole_tree(view.names, [*joined, *upper])
    if root is None:
        return None
    top = cut(root, len(details.map.groups))
    number = {id(node): i for i, node in enumerate(top)}
    merges: list[dict[str, Any]] = []
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if id(node) in number or node.children is None or node.merge is None:
            continue
        if not ready:
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(node.children))
            continue
        number[id(node)] = len(top) + len(merges)
        children = [number[id(child)] for child in node.children]
        line = _merge(view, node.merge)
        below = [merges[c - len(top)]["height"] for c in children if c >= len(top)]
        known = [x for x in (line["percent"], *below) if x is not None]
        merges.append({**line, "children": children, "height": min(known, default=None)})
    forks = set(map(sides_of, (*joined, *upper)))
    return {
        "leaves": [_group(view, node.members) for node in top],
        "merges": merges,
        "refused": [
            _merge(view, line)
            for line in (ledger if len(top) == len(view.names) else ())
            if sides_of(line) not in forks
        ],
    }


def _merge(view: View, line: "Merge") -> dict[str, Any]:
    # Ends are infinite, or the gain is not known, because of too few rows; or nobody judged it.
    few = math.isnan(line.gain) or all(math.isinf(end) for end in line.interval)
    return {
        "left": listed(line.left),
        "right": listed(line.right),
        "joined": line.joined,
        "verdict": line.verdict,
        "gain": finite(line.gain),
        "percent": view.percent(finite(line.gain), (*line.left, *line.right)),
        "interval": [finite(x) for x in line.interval],
        "p_value": finite(line.p_value),
        "adjusted_p": finite(line.adjusted_p),
        "judged_by": line.judged_by,
        "few": view.measure.few if few and line.judged_by != NOT_JUDGED else "",
        "verdict_words": verdict_in_words({"verdict": line.verdict, "judged_by": line.judged_by}),
        **line_facts(view, line),
    }


def _group(view: View, members: Sequence[int]) -> dict[str, Any]:
    names = [view.names[k] for k in members]
    labels = sorted({view.result.labels[name] for name in names})
    cluster = labels[0] if len(labels) == 1 else None
    return {
        "name": names[0] if len(names) == 1 else f"{names[0]}, {names[1]}, …",
        "size": len(names),
        "number": None if cluster is None else cluster + 1,
        "colour": COLOURS if cluster is None else view.colours[cluster],
    }


def map_facts(view: View) -> dict[str, Any] | None:
    """Return the gains of joining every two datasets or groups, in percent, row by row."""
    details = view.details
    if details is None or details.map is None:
        return None
    found = details.map
    size = np.array([len(group) for group in found.groups], dtype=np.float64)
    total = np.array([view.in_use[list(group)].sum() for group in found.groups])
    error = (total[:, None] + total) / (size[:, None] + size)
    scale = 100 / np.where(error > 0, error, np.nan)
    above = np.triu_indices(len(found.groups), 1)
    return {
        "groups": [_group(view, group) for group in found.groups],
        "percent": plain(found.gain * scale),
        "low": plain(found.low * scale),
        "high": plain(found.high * scale),
        "verdict": found.verdict.tolist(),
        "verdicts": list(VERDICTS),
        "pairs": len(above[0]),
        "helped": int(np.sum((found.gain * scale)[above] > 0)),
    }
