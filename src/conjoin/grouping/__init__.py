"""Groupings: from costs of clusters to a partition, and the steps that led there."""

from conjoin.grouping.merge import Grouping, Step

__all__ = ["Grouping", "Step"]
