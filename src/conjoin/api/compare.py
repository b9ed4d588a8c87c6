"""`compare`: say whether two datasets should be trained together."""

from collections.abc import Sequence
from typing import Any

from conjoin.api.described import documented
from conjoin.api.request import PairRequest
from conjoin.engine.from_sites import target_of
from conjoin.engine.pair import compare_pair
from conjoin.errors import ArgumentError
from conjoin.result.comparison import Comparison


@documented(PairRequest)
def compare(
    a: Any,
    b: Any,
    *,
    target: str | None = None,
    method: Any = PairRequest.method,
    learner: Any = PairRequest.learner,
    delta: float = PairRequest.delta,
    verdict: str = PairRequest.verdict,
    random_state: int = PairRequest.random_state,
    features: Sequence[str] | None = PairRequest.features,
    weights: str | None = PairRequest.weights,
    missing: str = PairRequest.missing,
    columns: str | None = PairRequest.columns,
    family: str = PairRequest.family,
    category: Sequence[str] | None = PairRequest.category,
    ignore: Sequence[str] | None = PairRequest.ignore,
    time: str | None = PairRequest.time,
    repeat: str | None = PairRequest.repeat,
    drop_outliers: bool | None = PairRequest.drop_outliers,
    robust: bool = PairRequest.robust,
    intercept: bool = PairRequest.intercept,
    **options: Any,
) -> Comparison:
    """Say whether two datasets should be trained together, and how sure that is.

    Parameters
    ----------
    a, b : frames
        Frames (pandas, Polars, ...), mappings of column names to arrays, or files. Files that sites
        exported (`conjoin.sites`) hold no rows; their plan names the target.
    {options}
    **options
        Options of the criterion, such as `n`, `resamples` and `rule` of method="tuned". The delta
        of the paper's inequalities is `paper_delta`; `delta` is the level of the verdict.

    Returns
    -------
    Comparison
        The verdict, the gain with its confidence interval, and the three models.

    Raises
    ------
    ArgumentError
        If an argument has a value that cannot be used.
    DataError
        If the tables cannot be used as they are.
    ReadError
        If a file cannot be read.

    Examples
    --------
    >>> from conjoin.datasets import make_pair
    >>> same = compare(*make_pair(p=10, n=300, d=0.0).tables().values(), target="y")
    >>> same.join, same.verdict
    (True, 'join')
    >>> far = compare(*make_pair(p=10, n=300, d=1.0).tables().values(), target="y")
    >>> far.join, far.verdict
    (False, 'apart')
    """
    if "representation" in options:
        raise ArgumentError(
            "compare has no representation; pass both tables to partition instead: "
            "conjoin.partition({'a': a, 'b': b}, target=..., representation=...)."
        )
    request = PairRequest(
        target=target_of([a, b], target),
        method=method,
        learner=learner,
        delta=delta,
        verdict=verdict,
        random_state=random_state,
        features=features,
        weights=weights,
        missing=missing,
        columns=columns,
        family=family,
        category=category,
        ignore=ignore,
        time=time,
        repeat=repeat,
        drop_outliers=drop_outliers,
        robust=robust,
        intercept=intercept,
        options=options,
    )
    return compare_pair(a, b, request)
