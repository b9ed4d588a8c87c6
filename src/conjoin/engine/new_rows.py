"""New rows of a result: read with its schema, and without gross errors.

Tables or files and a result enter; a `DatasetCollection` with the features of the result leaves.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conjoin.errors import DataError, warn_caller
from conjoin.result.file_assignment import read_with_names
from conjoin.result.partition import Partition
from conjoin.sources.read import is_source
from conjoin.tables import DatasetCollection
from conjoin.tables.collect import one_frame
from conjoin.tables.frame import in_memory, is_mapping_of_tables, to_frame
from conjoin.tables.further import collect_further
from conjoin.tables.names import dataset_names
from conjoin.tables.wild import find_wild_rows, without_rows
from conjoin.text import listed

if TYPE_CHECKING:
    from conjoin.api.request import Request


def read_new(
    result: Partition,
    new: Any,
    by: Sequence[str] | None,
    query: str | None,
    *,
    unsafe_query: bool,
) -> DatasetCollection:
    """Return new rows with the features of the result."""
    schema = result.schema
    if is_source(new):
        named = [new] if not isinstance(new, (list, tuple)) else list(new)
        why = "which is learned from"
        found = read_with_names(result, named, by, query, why, unsafe_query=unsafe_query)
        frame, names, what = found
        return collect_further(frame, names, schema, what)
    if is_mapping_of_tables(new):
        stacked, roles = one_frame(new, replace(schema.roles, by=()))
        frame = in_memory(stacked)
        return collect_further(frame, dataset_names(frame, roles.by), schema)
    frame = in_memory(to_frame(new))
    columns = tuple(by or schema.roles.by)
    absent = [name for name in columns if name not in frame.columns]
    if absent or not columns:
        lacks = f"lacks the column {absent[0]!r}, which names" if absent else "does not name"
        raise DataError(
            f"NEW {lacks} the dataset of a row; name a column with by=..., or pass a mapping of "
            "dataset names to tables."
        )
    return collect_further(frame, dataset_names(frame, columns), schema)


def without_gross_errors(rows: DatasetCollection, request: "Request") -> DatasetCollection:
    """Leave out new rows with gross errors, with a warning, unless they are to be kept."""
    if request.drop_outliers is False:
        return rows
    wild = find_wild_rows(rows)
    if not len(wild.rows) or len(wild.rows) == len(rows.y):
        return rows
    try:
        rest = without_rows(rows, wild.rows)
    except DataError:
        return rows
    if rest.features != rows.features:
        return rows
    places = listed([f"{one.column!r} of {one.dataset!r}" for one in wild.outliers[:3]])
    warn_caller(
        f"{len(wild.rows):,} of {len(rows.y):,} new rows have gross errors ({places}); they are "
        "left out. To keep such rows, fit with drop_outliers=False."
    )
    return rest
