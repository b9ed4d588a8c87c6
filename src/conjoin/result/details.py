"""What a report shows beyond the result itself: plain figures in the units of the data.

`Details` holds them: errors of every dataset under several models, coefficients of its own fit with
standard errors, the merges above the clusters, a map of gains, and what is odd about the columns.
`engine.details` computes them. `whole_tree` puts merges together into one tree, `cut` cuts it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.result.values import NOT_JUDGED, THEORY, Merge, sides_of, unjudged


@dataclass(frozen=True, eq=False)
class Map:
    """Gains of joining every two datasets, or groups of them.

    Parameters
    ----------
    groups : tuple of tuples of int
        Datasets, by number, in the order of the merge tree's leaves; each alone where there are
        few.
    gain, low, high : arrays (M, M)
        Estimated gain and the ends of its interval; nan on the diagonal and where not known.
    verdict : array (M, M) of int
        0 not judged, 1 join, 2 apart, 3 undecided.
    """

    groups: tuple[tuple[int, ...], ...]
    gain: FloatArray
    low: FloatArray
    high: FloatArray
    verdict: IntArray


VERDICTS = ("", "join", "apart", "undecided")


@dataclass(frozen=True, eq=False)
class Details:
    """Figures behind a report, K datasets, C clusters, p columns of the design.

    Parameters
    ----------
    errors : mapping of str to array (K,)
        Mean squared error on left-out rows of each dataset's "own" model (in a cluster of one), of
        the "separate" one (older files lack it), of the one of its "cluster" and of the one for
        "all"; and of one model of all "others" on all its rows.
    own, own_spread : arrays (K, lines * d)
        Coefficients of each dataset's own fit and their standard errors; the first is the level,
        the prediction at average features (if there is an intercept). nan where a dataset has too
        few rows, or where they do not tell a coefficient. With more than two classes there are as
        many of these, one class after another.
    degrees : array (K,)
        Degrees of freedom of the noise.
    cluster_spread : array (C, lines * d)
        Standard errors of the coefficients of clusters' models.
    noise : array (K,)
        Residual variance of each dataset's own fit; nan without residuals.
    dependent : int
        By how many the features are more than the columns that are not sums of others.
    far : mapping of int to float
        Features with far values: how many standard deviations from the mean the farthest is.
    upper : tuple of Merge
        Merges above the clusters, in the order made, down to one cluster.
    map : Map, optional
    weights : array (K,)
        How much the error of each dataset counts in a mean.
    """

    errors: dict[str, FloatArray]
    own: FloatArray
    own_spread: FloatArray
    degrees: FloatArray
    cluster_spread: FloatArray
    noise: FloatArray
    dependent: int
    far: dict[int, float]
    upper: tuple[Merge, ...]
    map: Map | None
    weights: FloatArray


def by_ledger(
    details: Details, ledger: Sequence[Merge], names: Sequence[str], *, learners: bool
) -> Details:
    """Return the figures with what the ledger says of merges, so that both say the same.

    Where a learner chose the clusters (`learners`), theory says nothing of merges. The map has
    nothing at merges that nobody judged.
    """
    known = {sides_of(line): line for line in ledger if not line.joined}

    def told(line: Merge) -> Merge:
        line = known.get(sides_of(line), line)
        return unjudged(line) if learners and line.judged_by == THEORY else line

    upper = tuple(map(told, details.upper))
    empty = [line for line in (*ledger, *upper) if line.judged_by == NOT_JUDGED]
    return replace(details, upper=upper, map=details.map and _emptied(details.map, empty, names))


def _emptied(shown: Map, lines: Sequence[Merge], names: Sequence[str]) -> Map:
    """Return the map with nothing known of the pairs that are these joins."""
    place = {
        tuple(sorted(names[k] for k in group)): number for number, group in enumerate(shown.groups)
    }
    known = np.ones_like(shown.verdict, dtype=bool)
    for line in lines:
        i, j = (place.get(tuple(sorted(side))) for side in (line.left, line.right))
        if i is not None and j is not None:
            known[i, j] = known[j, i] = False
    gain, low, high = (np.where(known, x, np.nan) for x in (shown.gain, shown.low, shown.high))
    return Map(shown.groups, gain, low, high, np.where(known, shown.verdict, 0))


# --- the merge tree ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Node:
    """A node of the whole merge tree: its datasets by number, its children, where it is drawn.

    `height` falls from leaves (infinity) to the root: the gain of the merge, or the lowest below
    it, so that no parent lies left of its children.
    """

    members: tuple[int, ...]
    children: tuple["Node", "Node"] | None = None
    merge: Merge | None = None
    height: float = float("inf")


def whole_tree(names: Sequence[str], merges: Sequence[Merge]) -> Node | None:
    """Return the root of the tree that merges make, or None if they make none."""
    position = {name: k for k, name in enumerate(names)}
    roots: dict[frozenset[int], Node] = {frozenset((k,)): Node((k,)) for k in range(len(names))}
    for merge in merges:
        sides = [frozenset(position[name] for name in side) for side in (merge.left, merge.right)]
        if any(side not in roots for side in sides):
            return None
        left, right = (roots.pop(side) for side in sides)
        gain = float("inf") if np.isnan(merge.gain) else merge.gain
        first, second = sorted((left, right), key=lambda node: node.members[0])
        roots[sides[0] | sides[1]] = Node(
            (*first.members, *second.members),
            (first, second),
            merge,
            min(gain, left.height, right.height),
        )
    return next(iter(roots.values())) if len(roots) == 1 else None


def cut(root: Node, most: int) -> list[Node]:
    """Return at most so many nodes that hold all datasets, in the order of the leaves.

    Refused merges are undone first, those that would cost most before others; then joins of two
    large groups, as long as either has a hundredth of all datasets.
    """
    if most >= len(root.members):
        return list(leaves(root))
    least = max(2, len(root.members) // 100)
    nodes = [root]
    while len(nodes) < most:
        worst = min(range(len(nodes)), key=lambda i: _wholeness(nodes[i]))
        joined, smaller, _ = _wholeness(nodes[worst])
        if nodes[worst].children is None or (joined and -smaller < least):
            break
        nodes[worst : worst + 1] = nodes[worst].children or ()
    return nodes


def _wholeness(node: Node) -> tuple[bool, int, float]:
    """Return what nodes are undone by: refused, else the size of the smaller part; the gain."""
    if node.children is None or node.merge is None:
        return True, 0, node.height
    joined = node.merge.joined
    return joined, -min(len(c.members) for c in node.children) if joined else 0, node.height


def leaves(root: Node) -> Iterator[Node]:
    """Yield the datasets in the order of the tree."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.children is None:
            yield node
        else:
            stack.extend(reversed(node.children))
