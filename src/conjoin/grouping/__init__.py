"""Groupings: from scores of pairs, or costs of clusters, to a partition."""

from conjoin.grouping.greedy import greedy
from conjoin.grouping.partition import Grouping, Merge

__all__ = ["Grouping", "Merge", "greedy"]
