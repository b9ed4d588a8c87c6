"""How often two datasets are together when the search sees random halves of the rows.

A frozen value that `engine.stability` computes and that model files keep.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.grouping.stability import adjusted_rand

# Mean adjusted Rand index between resamples, or of resamples with the partition in use, below which
# a partition is called shaky. Half-way between chance (0) and the same partition every time (1).
SHAKY = 0.5


@dataclass(frozen=True, eq=False)
class Stability:
    """Partitions found in random halves of the rows of every dataset.

    Parameters
    ----------
    names : tuple of str
        The K datasets.
    labels : array (B, K) of int
        The cluster of each dataset in each of B resamples.
    agreement : float
        Mean adjusted Rand index of every two resamples: 1 if all find the same partition, about 0
        if they agree by chance only.
    shown : array (K,) of int, optional
        The cluster of each dataset in the partition in use.

    Examples
    --------
    >>> import conjoin
    >>> from conjoin.datasets import make_clusters
    >>> tables = make_clusters(sizes=(2, 2), n=80, distance=2.0).tables()
    >>> found = conjoin.partition(tables, target="y").stability()
    >>> found.together("d1", "d2"), found.together("d1", "d3"), found.shaky
    (1.0, 0.0, False)
    >>> found.with_shown
    1.0
    """

    names: tuple[str, ...]
    labels: IntArray
    agreement: float
    shown: IntArray | None = None

    @property
    def shaky(self) -> bool:
        """Whether resamples agree little, with each other or with the partition in use.

        Little is a mean adjusted Rand index below 0.5.
        """
        return self.agreement < SHAKY or self.finds_others

    @property
    def finds_others(self) -> bool:
        """Whether most resamples find another partition than the one in use."""
        return self.with_shown is not None and self.with_shown < SHAKY

    @cached_property
    def with_shown(self) -> float | None:
        """Mean adjusted Rand index of resamples with the partition in use; None if unknown."""
        if self.shown is None:
            return None
        return float(np.mean([adjusted_rand(one, self.shown) for one in self.labels]))

    @property
    def sizes(self) -> IntArray:
        """The number of clusters of each resample, (B,)."""
        return np.array([len(np.unique(one)) for one in self.labels], dtype=np.int64)

    @property
    def resamples(self) -> int:
        """The number of resamples."""
        return len(self.labels)

    @property
    def frequencies(self) -> FloatArray:
        """How often every two datasets are together, (K, K), between 0 and 1."""
        same: FloatArray = np.mean([one[:, None] == one for one in self.labels], axis=0)
        return same

    def together(self, a: str, b: str) -> float:
        """Return how often two datasets are together, between 0 and 1."""
        return self.between([a], [b])

    def between(self, left: Sequence[str], right: Sequence[str]) -> float:
        """Return how often a dataset of one group is together with one of another, on average."""
        a, b = ([self._position[name] for name in names] for names in (left, right))
        return float(np.mean(self.labels[:, a][:, :, None] == self.labels[:, b][:, None, :]))

    def inside(self, members: Sequence[str]) -> float:
        """Return how often two datasets of a cluster are together, on average over its pairs.

        For a single dataset it is how often it is alone.
        """
        some = [self._position[name] for name in members]
        if len(some) == 1:
            same = self.labels == self.labels[:, some]
            return float(np.mean(same.sum(axis=1) == 1))
        counts = np.array([np.bincount(one[some]) @ np.bincount(one[some]) for one in self.labels])
        m = len(some)
        return float(np.mean(counts - m) / (m * (m - 1)))

    @cached_property
    def _position(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.names)}
