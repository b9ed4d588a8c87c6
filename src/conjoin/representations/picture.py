"""The paper's Figure 1: rows of four clusters in two coordinates of their representation.

All rows are projected on the two directions in which they vary most (principal components, the same
for all datasets), and a few of each dataset are kept. What a panel shows is how features lie; what
decides on clusters is the line from features to target, which no panel shows.

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

PANELS = 4
DATASETS = 8  # in a panel, the largest; each has a colour of its own
POINTS = 300  # in a panel


@dataclass(frozen=True, eq=False)
class Projection:
    """Some rows of each dataset in two coordinates.

    Parameters
    ----------
    points : tuple of arrays (kept, 2)
        One a dataset, sorted; evenly spaced among its rows along the first coordinate.
    rows : array (K,)
        Rows of each dataset in all.
    shares : (float, float)
        Of the variance of all features, by coordinate.
    """

    points: tuple[FloatArray, ...]
    rows: IntArray
    shares: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Panel:
    """One cluster.

    Parameters
    ----------
    cluster : int
        Its number.
    datasets : tuple of str
        Those that are drawn, the largest, in natural order.
    others : int
        How many more it has.
    rows : int
        Rows of all its datasets.
    points : array (n, 2)
    dataset : array (n,)
        The position of each point's dataset among `datasets`.
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
    shares: tuple[float, float]


def project(features: FloatArray, codes: IntArray, datasets: int) -> Projection:
    """Project rows of features (n, width) that belong to the datasets numbered by codes (n,).

    Examples
    --------
    >>> line = np.outer(np.arange(6.0), [3.0, 4.0])
    >>> found = project(line, np.array([0, 0, 0, 0, 1, 1]), datasets=2)
    >>> found.points[1][:, 0].round(9).tolist(), found.shares
    ([7.5, 12.5], (1.0, 0.0))
    """
    E = features - features.mean(axis=0)
    if E.shape[1] == 1:
        E = np.pad(E, ((0, 0), (0, 1)))  # the second coordinate is 0
    values, vectors = np.linalg.eigh(E.T @ E)
    V = vectors[:, :-3:-1]
    # An eigenvector may point either way: its largest coordinate is made positive.
    V = V * np.where(V[np.abs(V).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    variances = np.maximum(values[::-1], 0.0)
    first, second = (variances[:2] / (variances.sum() or 1.0)).tolist()
    rows = np.bincount(codes, minlength=datasets)
    by_dataset = np.split((E @ V)[np.argsort(codes, kind="stable")], np.cumsum(rows)[:-1])
    points = tuple(_thin(some[np.lexsort(some.T[::-1])], POINTS) for some in by_dataset)
    return Projection(points, rows, (first, second))


def take_picture(projection: Projection, names: Sequence[str], labels: IntArray) -> Picture:
    """Choose clusters by the labels (K,) of datasets: those of most datasets, then of most rows."""
    members = {int(c): np.flatnonzero(labels == c) for c in np.unique(labels)}
    rows = {c: int(projection.rows[k].sum()) for c, k in members.items()}
    chosen = sorted(members, key=lambda c: (-len(members[c]), -rows[c], c))[:PANELS]
    panels = []
    for c in sorted(chosen):
        largest = sorted(members[c].tolist(), key=lambda k: (-projection.rows[k], k))[:DATASETS]
        place = {names[k]: k for k in largest}
        drawn = [place[name] for name in natural_order(list(place))]
        samples = [projection.points[k] for k in drawn]
        counts = _deal(np.array([len(sample) for sample in samples]), POINTS)
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
    return Picture(tuple(panels), projection.shares)


def _thin(points: FloatArray, most: int) -> FloatArray:
    """Keep so many of sorted points, evenly spaced among them."""
    if len(points) <= most:
        return points
    return points[((np.arange(most) + 0.5) * len(points) / most).astype(int)]


def _deal(sizes: IntArray, most: int) -> IntArray:
    """Deal out so many places as evenly as sizes allow, the first ones getting what is left over.

    >>> _deal(np.array([100, 2, 100]), 9).tolist()
    [4, 2, 3]
    """
    levels = np.arange(most + 1)
    level = levels[np.minimum.outer(levels, sizes).sum(axis=1) <= most][-1]
    counts = np.minimum(sizes, level)
    wanting = np.flatnonzero(sizes > level)[: most - counts.sum()]
    counts[wanting] += 1
    return counts
