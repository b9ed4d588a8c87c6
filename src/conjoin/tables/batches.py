"""Columns of numbers in a file, read in batches: memory holds the rows once.

A file whose columns are stored apart enters (`StoredColumns`). A `DatasetCollection` leaves, or
None if anything needs a closer look. `tables.collect` gives the same numbers from one Arrow table,
which needs several times the memory of the rows.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from conjoin._typing import AnyArray, FloatArray, IntArray
from conjoin.execution import give_back_memory
from conjoin.tables.clean import of_clean_columns
from conjoin.tables.dataset import DatasetCollection
from conjoin.tables.names import names_and_codes
from conjoin.tables.roles import Roles
from conjoin.tables.stack import is_text

# Columns that are read at once: whoever reads a file may hold all that it reads.
TOGETHER = 3
# Rows of a batch: of three columns it takes 1.5 MB.
BATCH_ROWS = 65_536


@dataclass(frozen=True)
class StoredColumns:
    """A file whose columns can be read one without the other, always in the same order of rows.

    Parameters
    ----------
    table : lazy table
        The same for whoever reads all of it.
    schema : pyarrow.Schema
    rows : int
    read : callable
        From names of columns and the rows of a batch to batches, as Arrow tables.
    """

    table: Any
    schema: pa.Schema
    rows: int
    read: Callable[[Sequence[str], int], Iterator[pa.Table]] = field(repr=False)


class _NotCleanError(Exception):
    """A value is missing or not finite."""


def collect_batches(
    data: StoredColumns, roles: Roles, fewest: int, family: str
) -> DatasetCollection | None:
    """Return the collection of a file of clean numbers; None if it is not clean."""
    names = data.schema.names
    used = roles.feature_columns(names)
    needed = [*used, *(c for c in (roles.target, roles.weights) if c is not None)]
    if roles.category or roles.time or roles.repeat or len(roles.by) != 1 or not used:
        return None
    if not data.rows or not {*needed, *roles.by, *roles.ignore} <= set(names):
        return None
    if not all(_is_number(data.schema.field(c).type) for c in needed):
        return None
    try:
        codes, labels = _names(data, roles.by[0])
        X = np.empty((data.rows, len(used)))
        for start in range(0, len(used), TOGETHER):
            some = used[start : start + TOGETHER]
            _fill(data, some, [X[:, start + j] for j in range(len(some))])
        aside = {c: np.empty(data.rows, _dtype(data, c)) for c in needed if c not in used}
        _fill(data, list(aside), list(aside.values()))
    except _NotCleanError:
        return None
    give_back_memory()  # whoever read the file holds as much as a third of it
    flags = [pa.types.is_boolean(data.schema.field(c).type) for c in used]
    encoded = pa.chunked_array([pa.DictionaryArray.from_arrays(codes, labels)])
    columns = (used, X, flags, aside)
    return of_clean_columns(columns, *names_and_codes([encoded]), roles, fewest, family)


def _is_number(kind: Any) -> bool:
    return any(
        test(kind) for test in (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
    )


def _dtype(data: StoredColumns, name: str) -> Any:
    return data.schema.field(name).type.to_pandas_dtype()


def _fill(data: StoredColumns, names: Sequence[str], into: Sequence[FloatArray]) -> None:
    """Read some columns into arrays (rows,)."""
    first = 0
    for batch in data.read(names, BATCH_ROWS):
        part = slice(first, first + len(batch))
        for column, array in zip(batch.columns, into):
            array[part] = _finite(column)
        first += len(batch)
    assert first == data.rows


def _finite(column: Any) -> AnyArray:
    """Return the values of a column; raise an error if one is missing or not finite."""
    if column.null_count:
        raise _NotCleanError
    values: AnyArray = column.to_numpy()
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise _NotCleanError
    return values


def _names(data: StoredColumns, name: str) -> tuple[IntArray, Any]:
    """Return the number of every row's dataset (rows,), and the names in order of appearance."""
    kind = data.schema.field(name).type
    if not (is_text(kind) or pa.types.is_integer(kind)):
        raise _NotCleanError
    known: dict[Any, int] = {}
    codes, first = np.empty(data.rows, dtype=np.int32), 0
    for batch in data.read([name], BATCH_ROWS):
        column = batch.column(0).combine_chunks()
        if column.null_count:
            raise _NotCleanError
        found = column if pa.types.is_dictionary(column.type) else pc.dictionary_encode(column)
        own = [known.setdefault(one, len(known)) for one in found.dictionary.to_pylist()]
        numbers = np.asarray(own, dtype=np.int32)
        codes[first : first + len(batch)] = numbers[found.indices.to_numpy(zero_copy_only=False)]
        first += len(batch)
    assert first == data.rows
    return codes, pa.array(list(known))
