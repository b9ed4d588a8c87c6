"""Coefficients of a result as a frame: one row for each dataset."""

from importlib import import_module
from typing import Any

import pyarrow as pa

from conjoin.estimators.input import free_name
from conjoin.result.partition import Partition
from conjoin.tables.names import DATASET


def coefficient_frame(result: Partition) -> Any:
    """Return intercept and coefficients of each dataset, as a pandas frame or an Arrow table."""
    fits = [fit.lines for fit in result.coefficients.values()]
    several = len(fits[0]) > 1
    columns: dict[str, Any] = {}
    for i in range(len(fits[0])):
        label = f"{result.classes[i]}: " if several else ""
        constant = free_name("intercept", result.features)
        columns[label + constant] = [lines[i].intercept for lines in fits]
        for name in result.features:
            columns[label + name] = [lines[i].coef[name] for lines in fits]
    names = list(result.coefficients)
    try:
        pd = import_module("pandas")
    except ImportError:
        return pa.table({free_name(DATASET, list(columns)): names, **columns})
    return pd.DataFrame(columns, index=pd.Index(names, name=DATASET))
