"""Names of datasets: the values of one or several columns as text, in natural order.

Columns of values enter; names, and the dataset of every row as a number, leave.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from conjoin._typing import IntArray
from conjoin.errors import DataError

DATASET = "dataset"  # column that names datasets where each table is one dataset
SEPARATOR = " | "  # between the values of several columns in a name


def names_and_codes(by: Sequence[Any]) -> tuple[list[str], IntArray]:
    """Return the names of datasets in natural order, and the position of every row's dataset."""
    codes = np.zeros(len(by[0]), dtype=np.int64)
    texts: list[list[str]] = []
    for values in by:
        keys, inverse = _unique(values)
        texts.append(keys)
        codes = codes * len(keys) + inverse
    found, codes = np.unique(codes, return_inverse=True)
    labels = [_label(code, texts) for code in found.tolist()]
    names = natural_order(sorted(set(labels)))
    check_distinct_names(labels)
    rank = {name: k for k, name in enumerate(names)}
    return names, np.array([rank[label] for label in labels], dtype=np.int64)[codes]


def check_distinct_names(labels: Sequence[str]) -> None:
    """Raise an error if two datasets have one name once the values of columns are joined."""
    if len(set(labels)) < len(labels):
        twice = min(name for name in labels if labels.count(name) > 1)
        raise DataError(
            f"Two datasets are named {twice!r}, once their names are joined by {SEPARATOR!r}; "
            "rename one, or name datasets by one column."
        )


def _unique(values: Any) -> tuple[list[str], IntArray]:
    """Return the names in an array of numpy or Arrow, and the position of each row's name."""
    if isinstance(values, pa.ChunkedArray):
        found = values.combine_chunks()
        if not pa.types.is_dictionary(found.type):
            found = found.dictionary_encode()
        return [name_of(key) for key in found.dictionary.to_pylist()], found.indices.to_numpy()
    if values.dtype.kind == "O":
        return _unique(pa.chunked_array([pa.array(values)]))
    keys, inverse = np.unique(values, return_inverse=True)
    return [name_of(key) for key in keys.tolist()], inverse


def _label(code: int, texts: Sequence[Sequence[str]]) -> str:
    """Return the name that a number stands for: one digit per column."""
    parts = []
    for keys in reversed(texts):
        code, position = divmod(code, len(keys))
        parts.append(keys[position])
    return SEPARATOR.join(reversed(parts))


def name_of(value: Any) -> str:
    """Return a value as the name of a dataset; a column with gaps has 3.0 for 3.

    >>> name_of(3.0), name_of(2.5), name_of("north")
    ('3', '2.5', 'north')
    """
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def dataset_names(frame: Any, by: Sequence[str]) -> list[str | None]:
    """Return the name of each row's dataset from the columns `by`; None where one is missing."""
    absent = [name for name in by if name not in frame.columns]
    if absent or not by:
        raise DataError(
            f"X lacks column {absent[0] if absent else 'by'!r}, which names the dataset of a row; "
            "add it or pass dataset=..."
        )
    columns = [frame.get_column(name).to_list() for name in by]
    return [
        None
        if any(value is None or value != value for value in values)
        else SEPARATOR.join(name_of(value) for value in values)
        for values in zip(*columns)
    ]


def natural_key(name: str) -> tuple[tuple[int, float, str], ...]:
    """Return a sort key that compares numbers inside names as numbers."""
    parts = re.split(r"(\d+(?:\.\d+)?)", name)
    return tuple((0, float(part), "") if i % 2 else (1, 0.0, part) for i, part in enumerate(parts))


def natural_order(names: Sequence[str]) -> list[str]:
    """Return names in natural order; names with equal keys, such as 1 and 01, by their text.

    >>> natural_order(["store 10", "store 2"])
    ['store 2', 'store 10']
    """
    return sorted(names, key=lambda name: (natural_key(name), name))


def is_utf8(text: str) -> bool:
    """Say whether a text can be written in UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
