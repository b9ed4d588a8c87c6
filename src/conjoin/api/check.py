"""`check`: say whether a model keeps its promise on new rows."""

from pathlib import Path
from typing import Any

from conjoin.errors import ArgumentError
from conjoin.result.checking import Check, check_source, check_table
from conjoin.result.partition import Partition
from conjoin.sources.read import is_source


def check(result: Partition, data: Any) -> Check:
    """Say whether new rows with known target bear out what was promised at fitting.

    Parameters
    ----------
    result : Partition
        What `partition` or `load` returned.
    data : frame, mapping of columns, or files
        Columns as at fitting, with the names of datasets and the target.

    Returns
    -------
    Check
        For every dataset the error beside the promised one, for every join the verdict of the new
        rows alone; `passed` says whether nothing needs a look.

    Raises
    ------
    ArgumentError
        If the first argument is no result.
    DataError
        If a column is missing, or no row names a dataset.

    Examples
    --------
    >>> import numpy as np, conjoin
    >>> rng = np.random.default_rng(0)
    >>> def stores(noise):
    ...     x = rng.standard_normal(200)
    ...     y = x + noise * rng.standard_normal(200)
    ...     return {"store": np.repeat(["a", "b"], 100), "x": x, "y": y}
    >>> result = conjoin.partition(stores(1.0), target="y", by="store", learner="linear")
    >>> check(result, stores(1.0)).passed
    True
    >>> [one.status for one in check(result, stores(3.0)).datasets]
    ['look', 'look']
    """
    if not isinstance(result, Partition):
        kind = type(result).__name__
        raise ArgumentError(
            f"check needs a result of conjoin.partition or conjoin.load, not {kind}."
        )
    if is_source(data):
        return check_source(result, [data] if isinstance(data, (str, Path)) else list(data))
    return check_table(result, data)
