"""What a report shows beyond the result itself: plain figures, found from moments.

Errors of every dataset under models of its own, its cluster, the others and all; coefficients of
its own fit with standard errors; the merge tree above the clusters; a map of pairwise gains; what
is odd about the columns. All in the units of the data.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from conjoin import linalg
from conjoin._typing import BoolArray, FloatArray, IntArray
from conjoin.criterion.judge import Judge
from conjoin.grouping.agglomerative import Restricted, grow
from conjoin.grouping.objective import Objective, sum_by
from conjoin.models.glm import contrasts
from conjoin.models.ols import fit_ols
from conjoin.moments import Basis, Moments
from conjoin.result.partition import MergeVerdict

MOST_ON_MAP = 200  # datasets up to which the map has each of them
GROUPS_ON_MAP = 40  # groups of datasets that it has beyond
MOST_VERDICTS = 60  # of groups on the map, up to which every pair gets a verdict
MOST_INTERVALS = 30  # up to which every pair gets an interval
MOST_CONTESTED = 200  # pairs that get both where there are more
FAR = 10.0  # standard deviations from the mean beyond which a value is told
SCALED_BY = 4.0  # `Basis` divides columns with far values by the farthest over this


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
        Mean squared error on left-out rows of each dataset's "own" model, of the one of its
        "cluster" and of the "pooled" one; and of one model of all "others" on all its rows.
    own, own_spread : arrays (K, lines * d)
        Coefficients of each dataset's own fit and their standard errors; the first is the level,
        the prediction at average features (if there is an intercept). nan where a dataset has too
        few rows. With more than two classes there are as many of these, one class after another.
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
    upper : tuple of MergeVerdict
        Merges above the clusters, in the order made, down to one cluster.
    map : Map, optional
    """

    errors: dict[str, FloatArray]
    own: FloatArray
    own_spread: FloatArray
    degrees: FloatArray
    cluster_spread: FloatArray
    noise: FloatArray
    dependent: int
    far: dict[int, float]
    upper: tuple[MergeVerdict, ...]
    map: Map | None


# --- coefficients and columns --------------------------------------------------------------------


def own_fits(moments: Moments, basis: Basis) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return coefficients (K, p), their standard errors and the noise (K,) of own fits."""
    inverse, rank = linalg.inverse_and_rank(moments.G)
    fit = fit_ols(moments)
    noise = fit.noise
    usable = (rank == moments.p) & (moments.n > moments.p)
    beta = np.where(usable[:, None], fit.beta, np.nan)
    covariance = np.where(usable, noise, np.nan)[:, None, None] * inverse
    return (
        _in_units(_lines(beta, moments.outputs), basis, level=True),
        _in_units(_line_spreads(covariance, moments.outputs), basis, level=False),
        noise * basis.target_scale**2,
    )


def cluster_spreads(moments: Moments, labels: IntArray, basis: Basis) -> FloatArray:
    """Return standard errors (C, p) of joint fits; noise from residuals within the clusters."""
    unions = moments.sum_by(labels)
    inverse, rank = linalg.inverse_and_rank(unions.G)
    usable = (rank == moments.p) & (unions.n > moments.p)
    covariance = np.where(usable, fit_ols(unions).noise, np.nan)[:, None, None] * inverse
    return _in_units(_line_spreads(covariance, moments.outputs), basis, level=False)


def _lines(beta: FloatArray, outputs: int) -> FloatArray:
    """Return the coefficients (K, lines, d) of each line of models (K, p)."""
    if outputs == 1:
        return beta[:, None]
    by_column = beta.reshape(len(beta), -1, outputs) @ contrasts(outputs + 1).T
    return np.swapaxes(by_column, 1, 2)


def _line_spreads(covariance: FloatArray, outputs: int) -> FloatArray:
    """Return their standard errors (K, lines, d) from covariances (K, p, p)."""
    K, p, _ = covariance.shape
    d = p // outputs
    blocks = covariance.reshape(K, d, outputs, d, outputs)
    own = blocks[:, np.arange(d), :, np.arange(d)]  # (d, K, outputs, outputs)
    V = np.ones((1, 1)) if outputs == 1 else contrasts(outputs + 1)
    variance = np.einsum("ca,dkab,cb->kcd", V, own, V)
    return np.sqrt(np.maximum(variance, 0.0))


def _in_units(beta: FloatArray, basis: Basis, *, level: bool) -> FloatArray:
    """Return coefficients (K, lines, d), or their standard errors, in the units of the data.

    One line after another, (K, lines * d).
    """
    first = int(basis.intercept)
    slopes = beta[..., first:] * basis.target_scale / basis.scale
    if first:
        middle = beta[..., :1] * basis.target_scale + (basis.target_center if level else 0.0)
        slopes = np.concatenate([middle, slopes], axis=-1)
    return slopes.reshape(len(beta), -1)


def others(moments: Moments) -> FloatArray | None:
    """Return coefficients (K, p) of all datasets but each one; None where there is one only."""
    if moments.shape[0] < 2:
        return None
    union = moments.union()
    return linalg.matvec(linalg.inverse(union.G - moments.G), union.h - moments.h)


def dependent_columns(moments: Moments) -> int:
    """Return how many columns of all rows together are sums of others."""
    return (moments.p - int(linalg.inverse_and_rank(moments.union().G)[1])) // moments.outputs


def far_values(moments: Moments, basis: Basis) -> dict[int, float]:
    """Return the features with values very far from their mean, and how far, in deviations.

    A column with far values was scaled by its farthest one, so that its mean square tells.
    """
    union = moments.union()
    diagonal = np.diagonal(union.G)[:: moments.outputs]
    first = int(basis.intercept)
    squares = diagonal[first:] / (diagonal[0] if first else union.w)
    distance = SCALED_BY / np.sqrt(np.maximum(squares, 1e-300))
    return {int(j): float(distance[j]) for j in np.flatnonzero((distance > FAR) & (squares > 0))}


# --- the merge tree and the map ------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Node:
    """A node of the whole merge tree: its datasets by number, its children, where it is drawn.

    `height` falls from leaves (infinity) to the root: the gain of the merge, or the lowest below
    it, so that no parent lies left of its children.
    """

    members: tuple[int, ...]
    children: tuple["Node", "Node"] | None = None
    merge: MergeVerdict | None = None
    height: float = float("inf")


def upper_merges(
    objective: Objective, labels: IntArray, near: FloatArray | None
) -> list[tuple[list[int], list[int]]]:
    """Return the merges of clusters, as lists of datasets, that lead to a single one."""
    C = int(labels.max()) + 1
    if C < 2:
        return []
    sums = sum_by(objective.sums, labels, C)
    centres = None
    if near is not None:
        sizes = np.bincount(labels, minlength=C)
        centres = np.stack([np.bincount(labels, x) for x in near.T], axis=1) / sizes[:, None]
    tree = grow(Restricted(objective, sums), centres)
    members = [np.flatnonzero(labels == c).tolist() for c in range(C)]

    def under(node: int) -> list[int]:
        return sorted(k for c in tree.members(node) for k in members[c])

    return [(under(int(a)), under(int(b))) for a, b in tree.children]


def whole_tree(names: Sequence[str], merges: Sequence[MergeVerdict]) -> Node | None:
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


def map_of(
    judge: Judge, groups: Sequence[tuple[int, ...]], labels: IntArray, delta: float, scale: float
) -> Map:
    """Return gains of joining every two groups, with verdicts on all pairs or the contested."""
    M = len(groups)
    left, right = np.triu_indices(M, 1)
    gains = judge.gains([(groups[int(i)], groups[int(j)]) for i, j in zip(left, right)])
    cluster = labels[[group[0] for group in groups]]
    chosen: IntArray = np.arange(len(left))
    if M > MOST_VERDICTS:
        chosen = _contested(gains, cluster[left] == cluster[right])
    pairs = [(groups[int(left[i])], groups[int(right[i])]) for i in chosen]
    interval = M <= MOST_INTERVALS or len(pairs) <= MOST_CONTESTED
    answers, ends = judge.verdicts(pairs, delta=delta, interval=interval)
    tables = np.full((3, M, M), np.nan)
    code = np.zeros((M, M), dtype=int)
    tables[0, left, right] = gains * scale
    a, b = left[chosen], right[chosen]
    if interval:
        tables[1, a, b], tables[2, a, b] = ends.T * scale
    code[a, b] = [VERDICTS.index(answer) for answer in answers]
    gain, low, high = (np.where(np.isnan(table), table.T, table) for table in tables)
    return Map(tuple(tuple(group) for group in groups), gain, low, high, code + code.T)


def _contested(gains: FloatArray, together: BoolArray) -> IntArray:
    """Return pairs in one cluster that gain least, and pairs across clusters that gain most."""
    doubt = np.where(together, -gains, gains)
    doubt = np.where(np.isfinite(doubt), doubt, -np.inf)
    half = MOST_CONTESTED // 2
    found = []
    for kind in (together, ~together):
        index = np.flatnonzero(kind)
        found.append(index[np.argsort(-doubt[index], kind="stable")[:half]])
    return np.sort(np.concatenate(found))
