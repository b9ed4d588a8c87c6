"""Tables: the only rooms that see frames and files."""

from conjoin.tables.dataset import DatasetCollection
from conjoin.tables.schema import collect

__all__ = ["DatasetCollection", "collect"]
