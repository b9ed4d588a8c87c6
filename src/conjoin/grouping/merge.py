"""A partition of datasets into clusters, and how it came about."""

from collections.abc import Sequence
from dataclasses import dataclass

from conjoin.criterion.base import PairScore


@dataclass(frozen=True)
class Merge:
    """One step: two groups of datasets, what the criterion said of them, whether they joined."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    result: PairScore

    @property
    def joined(self) -> bool:
        """Whether the two groups were put together."""
        return self.result.join


@dataclass(frozen=True)
class Grouping:
    """Clusters of dataset names, in the order of their first dataset, and the steps taken."""

    clusters: tuple[tuple[str, ...], ...]
    history: tuple[Merge, ...]


def in_order(
    clusters: Sequence[Sequence[str]], names: Sequence[str]
) -> tuple[tuple[str, ...], ...]:
    """Sort members by the datasets' order, and clusters by their first member."""
    position = {name: i for i, name in enumerate(names)}
    sorted_members = [tuple(sorted(cluster, key=position.__getitem__)) for cluster in clusters]
    return tuple(sorted(sorted_members, key=lambda cluster: position[cluster[0]]))
