"""Groupings: from costs of clusters to a partition."""

from conjoin.grouping.merge import Grouping, Merge

__all__ = ["Grouping", "Merge"]
