"""Names of datasets: values of one or several columns as text, in natural order."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from conjoin._typing import IntArray
from conjoin.errors import DataError
from conjoin.tables.dataset import natural_order

DATASET = "dataset"  # name of the column that names datasets where tables come one by one
SEPARATOR = " | "


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
    refuse_twins(labels)
    rank = {name: k for k, name in enumerate(names)}
    return names, np.array([rank[label] for label in labels], dtype=np.int64)[codes]


def refuse_twins(labels: Sequence[str]) -> None:
    """Refuse names that are the same once the values of several columns are joined."""
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
    parts = []
    for keys in reversed(texts):
        code, position = divmod(code, len(keys))
        parts.append(keys[position])
    return SEPARATOR.join(reversed(parts))


def name_of(value: Any) -> str:
    """Return a value as a dataset's name; 3.0 from a column with gaps is still dataset 3."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def is_valid(text: str) -> bool:
    """Say whether a text can be written in UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
