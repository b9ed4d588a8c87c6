"""The paper's Figure 1: rows of up to four clusters in two coordinates of their representation.

Features of rows enter; points of some rows (`Projection`, then `Picture`) leave. All rows are
projected on their first two principal components, the same for all datasets, and some rows of each
dataset are kept. A panel shows the distribution of the features. It does not show the relation
between features and target, which decides on clusters.

==========  =========================================================  ============
symbol      meaning                                                    shape
==========  =========================================================  ============
E           features of all rows, centred                              (n, width)
V           unit eigenvectors of E'E of the two largest eigenvalues    (width, 2)
==========  =========================================================  ============
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.tables.names import natural_order

PANELS = 4  # clusters in a picture, as in the paper's figure
DATASETS = 8  # datasets in a panel, the largest: as many as the report has marks and colours
POINTS = 300  # points in a panel: more would cover each other and make the page larger


@dataclass(frozen=True, eq=False)
class Projection:
    """Some rows of each dataset in two coordinates.

    Parameters
    ----------
    points : tuple of arrays (kept, 2)
        Points of each dataset, sorted; evenly spaced among its rows along the first coordinate.
    rows : array (K,)
        Number of rows of each dataset.
    explained : (float, float)
        Share of the variance of all features that each coordinate explains.
    """

    points: tuple[FloatArray, ...]
    rows: IntArray
    explained: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Panel:
    """Points of one cluster.

    Parameters
    ----------
    cluster : int
        Number of the cluster.
    datasets : tuple of str
        The datasets that are drawn, the largest ones, in natural order.
    others : int
        Number of datasets that are not drawn.
    rows : int
        Rows of all datasets of the cluster.
    points : array (n, 2)
        Coordinates.
    dataset : array (n,)
        Position of each point's dataset among `datasets`.
    """

    cluster: int
    datasets: tuple[str, ...]
    others: int
    rows: int
    points: FloatArray
    dataset: IntArray


@dataclass(frozen=True, eq=False)
class Picture:
    """Up to four clusters in the same two coordinates."""

    panels: tuple[Panel, ...]
    explained: tuple[float, float]


def project(features: FloatArray, codes: IntArray, datasets: int) -> Projection:
    """Project rows of features (n, width) that belong to the datasets numbered by codes (n,).

    Examples
    --------
    >>> line = np.outer(np.arange(6.0), [3.0, 4.0])
    >>> found = project(line, np.array([0, 0, 0, 0, 1, 1]), datasets=2)
    >>> found.points[1][:, 0].round(9).tolist(), found.explained
    ([7.5, 12.5], (1.0, 0.0))
    """
    E = features - features.mean(axis=0)
    if E.shape[1] == 1:
        E = np.pad(E, ((0, 0), (0, 1)))  # one feature: the second coordinate is 0
    values, vectors = np.linalg.eigh(E.T @ E)
    V = vectors[:, :-3:-1]
    # The sign of an eigenvector is arbitrary: its largest coordinate is made positive.
    V = V * np.where(V[np.abs(V).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    variances = np.maximum(values[::-1], 0.0)
    first, second = (variances[:2] / (variances.sum() or 1.0)).tolist()
    rows = np.bincount(codes, minlength=datasets)
    by_dataset = np.split((E @ V)[np.argsort(codes, kind="stable")], np.cumsum(rows)[:-1])
    points = tuple(_thin(some[np.lexsort(some.T[::-1])], POINTS) for some in by_dataset)
    return Projection(points, rows, (first, second))


def take_picture(projection: Projection, names: Sequence[str], labels: IntArray) -> Picture:
    """Return the points of the clusters with most datasets, and among equals with most rows.

    `labels` (K,) are the clusters of the datasets `names`.
    """
    members = {int(c): np.flatnonzero(labels == c) for c in np.unique(labels)}
    rows = {c: int(projection.rows[k].sum()) for c, k in members.items()}
    chosen = sorted(members, key=lambda c: (-len(members[c]), -rows[c], c))[:PANELS]
    panels = []
    for c in sorted(chosen):
        largest = sorted(members[c].tolist(), key=lambda k: (-projection.rows[k], k))[:DATASETS]
        place = {names[k]: k for k in largest}
        drawn = [place[name] for name in natural_order(list(place))]
        samples = [projection.points[k] for k in drawn]
        counts = _allot(np.array([len(sample) for sample in samples]), POINTS)
        panels.append(
            Panel(
                cluster=c,
                datasets=tuple(names[k] for k in drawn),
                others=len(members[c]) - len(drawn),
                rows=rows[c],
                points=np.concatenate([_thin(s, count) for s, count in zip(samples, counts)]),
                dataset=np.repeat(np.arange(len(drawn)), counts),
            )
        )
    return Picture(tuple(panels), projection.explained)


def _thin(points: FloatArray, most: int) -> FloatArray:
    """Keep at most `most` of the sorted points (n, 2), evenly spaced."""
    if len(points) <= most:
        return points
    return points[((np.arange(most) + 0.5) * len(points) / most).astype(int)]


def _allot(sizes: IntArray, most: int) -> IntArray:
    """Return how many of `most` points each sample gets: equal numbers, but no more than its size.

    The first samples get one more each if some points are left.

    >>> _allot(np.array([100, 2, 100]), 9).tolist()
    [4, 2, 3]
    """
    levels = np.arange(most + 1)
    level = levels[np.minimum.outer(levels, sizes).sum(axis=1) <= most][-1]
    counts = np.minimum(sizes, level)
    first = np.flatnonzero(sizes > level)[: most - counts.sum()]
    counts[first] += 1
    return counts
