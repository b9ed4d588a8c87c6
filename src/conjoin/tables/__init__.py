"""Tables in, checked numbers out: this room alone looks at the columns and types of frames."""

from conjoin.tables.collect import collect
from conjoin.tables.dataset import DatasetCollection

__all__ = ["DatasetCollection", "collect"]
