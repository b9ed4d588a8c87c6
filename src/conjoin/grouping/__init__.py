"""Groupings: from scores of pairs to a partition."""

from conjoin.grouping.greedy import greedy
from conjoin.grouping.partition import Grouping, Merge

GROUPINGS = {"greedy": greedy}

__all__ = ["GROUPINGS", "Grouping", "Merge", "greedy"]
