"""`partition`: find which datasets to train together, and fit the models."""

from collections.abc import Sequence
from difflib import get_close_matches
from inspect import signature
from typing import Any

from conjoin._typing import Progress
from conjoin.api.described import documented
from conjoin.api.request import PAPER_METHODS, Request, refuse_renamed
from conjoin.engine.from_sites import target_of
from conjoin.engine.run import run
from conjoin.errors import ArgumentError
from conjoin.progress import progress_of_call
from conjoin.result.partition import Partition

# What other libraries, and the command line, call some arguments.
SYNONYMS = {"group": "by", "groups": "by", "groupby": "by", "seed": "random_state", "y": "target"}


@documented(Request)
def partition(
    data: Any,
    *,
    target: str | None = None,
    by: str | Sequence[str] | None = Request.by,
    method: Any = Request.method,
    learner: Any = Request.learner,
    strategy: str = Request.strategy,
    grouping: str | None = Request.grouping,
    weigh_by: str = Request.weigh_by,
    delta: float = Request.delta,
    verdict: str = Request.verdict,
    folds: int = Request.folds,
    random_state: int = Request.random_state,
    features: Sequence[str] | None = Request.features,
    weights: str | None = Request.weights,
    missing: str = Request.missing,
    columns: str | None = Request.columns,
    sample_rows: int | None = Request.sample_rows,
    query: str | None = Request.query,
    unsafe_query: bool = Request.unsafe_query,
    family: str = Request.family,
    category: Sequence[str] | None = Request.category,
    ignore: Sequence[str] | None = Request.ignore,
    time: str | None = Request.time,
    horizon: Any = Request.horizon,
    gap: Any = Request.gap,
    repeat: str | None = Request.repeat,
    drop_outliers: bool | None = Request.drop_outliers,
    robust: bool = Request.robust,
    intercept: bool = Request.intercept,
    keep_moments: bool = Request.keep_moments,
    checkpoint: Any = Request.checkpoint,
    engine: str | None = Request.engine,
    master: str | None = Request.master,
    scheduler: str | None = Request.scheduler,
    memory: str | None = Request.memory,
    representation: Any = Request.representation,
    progress: Progress | None = None,
    **options: Any,
) -> Partition:
    """Find which datasets to train together, and fit the models.

    Parameters
    ----------
    data : frame, mapping of names to frames, or files
        One table with a column `by` that names the dataset of each row, or one table for each
        dataset: pandas, Polars, Arrow, DuckDB, Dask or PySpark, with columns of any kind. A text or
        a path names files, folders, patterns or a database table. Files that sites exported
        (`conjoin.sites`) hold no rows; their plan names the target.
    {options}
    progress : callable, optional
        Called with the number of steps done so far and in all. By default a bar appears on a
        terminal if the call takes more than three seconds.
    **options
        Options of a criterion, such as `n`, `resamples` and `rule` of method="tuned". The delta of
        the paper's inequalities is `paper_delta`.

    Returns
    -------
    Partition
        Clusters, models and errors; verdicts, predictions and the report are its methods.

    Raises
    ------
    ArgumentError
        If an argument has a value that cannot be used.
    DataError
        If the tables cannot be used as they are, for example if the target has missing values.
    ReadError
        If a file cannot be read.

    Examples
    --------
    >>> from conjoin.datasets import make_clusters
    >>> stores = make_clusters(sizes=(2, 2), n=100, p=4, distance=2.0)
    >>> result = partition(stores.tables(), target="y")
    >>> result.clusters
    [['d1', 'd2'], ['d3', 'd4']]
    >>> sorted(result.coefficients)
    ['d1', 'd2', 'd3', 'd4']
    """
    refuse_renamed(options)
    request = Request(
        target=target_of(data, target),
        by=by,
        method=method,
        learner=learner,
        strategy=strategy,
        grouping=grouping,
        weigh_by=weigh_by,
        delta=delta,
        verdict=verdict,
        folds=folds,
        random_state=random_state,
        features=features,
        weights=weights,
        missing=missing,
        columns=columns,
        sample_rows=sample_rows,
        query=query,
        unsafe_query=unsafe_query,
        family=family,
        category=category,
        ignore=ignore,
        time=time,
        horizon=horizon,
        gap=gap,
        repeat=repeat,
        drop_outliers=drop_outliers,
        robust=robust,
        intercept=intercept,
        keep_moments=keep_moments,
        checkpoint=checkpoint,
        engine=engine,
        master=master,
        scheduler=scheduler,
        memory=memory,
        representation=representation,
        options=options,
    )
    _check_options(request)
    if progress is not None:
        return run(request, data, progress)
    with progress_of_call() as report:
        return run(request, data, report)


def _check_options(request: Request) -> None:
    """Refuse arguments that neither `partition` nor the criterion knows."""
    takes = request.grouping == "greedy" or request.method in PAPER_METHODS
    if takes or not isinstance(request.method, str) or not request.options:
        return
    names = sorted(request.options)
    near = [close for name in names for close in _close_arguments(name)]
    hint = (
        f"did you mean {', '.join(near)}?"
        if near
        else f"leave {'it' if len(names) == 1 else 'them'} out."
    )
    given = ", ".join(f"{name}=..." for name in names)
    raise ArgumentError(
        f"partition with method={request.method_name!r} does not take {given}; {hint}"
    )


def _close_arguments(name: str) -> list[str]:
    """Return what an unknown argument may mean."""
    if name in SYNONYMS:
        return [SYNONYMS[name]]
    known = [one for one in signature(partition).parameters if one != "options"]
    return get_close_matches(name, known, n=1)
