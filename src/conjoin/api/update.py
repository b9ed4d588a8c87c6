"""`update`: add rows or datasets to a result without reading its rows again."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from conjoin._typing import Progress
from conjoin.engine.updating import update_result
from conjoin.errors import ArgumentError
from conjoin.progress import progress_of_call
from conjoin.result.load import load
from conjoin.result.partition import Partition
from conjoin.result.update import Update


def update(
    result: Partition | str | Path,
    new: Any,
    *,
    by: str | Sequence[str] | None = None,
    settled: bool = True,
    query: str | None = None,
    unsafe_query: bool = False,
    progress: Progress | None = None,
) -> Update:
    """Add rows or datasets to a result that kept its moments.

    The rows of the result are not read again. The models are those of all rows: with
    `settled=False` the answer is that of `partition` on all rows with `keep_moments=True`.

    Parameters
    ----------
    result : Partition or path
        What `partition` returned with `keep_moments=True`, or its model file.
    new : frame, mapping of names to frames, or files
        New rows, with columns as before. A dataset that is known gets more rows, others are new.
    by : str or list of str, optional
        Columns that name the dataset of a row; by default those of the result.
    settled : bool, default True
        Whether a dataset changes its cluster only if the error on held-out rows falls by more than
        the standard error of the fall. False makes every change that a fresh search makes.
    query : str, optional
        SELECT over new files, as table 'data'.
    unsafe_query : bool, default False
        Let the query read other files, and write.
    progress : callable, optional
        Called with the number of steps done so far and in all.

    Returns
    -------
    Update
        `result` is the new result; printed, it says what changed and why.

    Raises
    ------
    ArgumentError
        If the result keeps no moments.
    DataError
        If new rows lack a column, or are in the result already.

    Examples
    --------
    >>> import conjoin
    >>> from conjoin.datasets import make_clusters
    >>> tables = make_clusters(sizes=(2, 2), n=100, p=4, distance=2.0).tables()
    >>> last = {"d4": tables.pop("d4")}
    >>> first = conjoin.partition(tables, target="y", learner="linear", keep_moments=True)
    >>> print(conjoin.update(first, last))
    Added 100 rows of 1 dataset, of which 'd4' is new.
    New dataset 'd4' joined 'd3'.
    No verdict changed.
    """
    if isinstance(result, str | Path):
        result = load(result)
    if not isinstance(result, Partition):
        raise ArgumentError(
            f"result is a {type(result).__name__}; expected what partition returned, or the path "
            "of its model file."
        )
    names = [by] if isinstance(by, str) else by
    given: dict[str, Any] = {
        "by": names,
        "settled": settled,
        "query": query,
        "unsafe_query": unsafe_query,
    }
    if progress is not None:
        return update_result(result, new, **given, progress=progress)
    with progress_of_call() as report:
        return update_result(result, new, **given, progress=report)
