"""Tables: the only rooms that see frames and files."""

from conjoin.tables.collect import collect
from conjoin.tables.dataset import DatasetCollection

__all__ = ["DatasetCollection", "collect"]
