"""The public functions: tables in, decisions and models out."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from conjoin._typing import FloatArray
from conjoin.criterion import Criterion, Unit, make_criterion
from conjoin.criterion.risk import cluster_errors, noise_variances
from conjoin.errors import ArgumentError
from conjoin.grouping import GROUPINGS
from conjoin.models.ols import fit_ols
from conjoin.moments import Basis, Moments
from conjoin.result import Comparison, LinearFit, Partition
from conjoin.tables import DatasetCollection, collect


def compare(
    a: Any,
    b: Any,
    *,
    target: str,
    method: str | Criterion = "tuned",
    random_state: int = 0,
    features: Sequence[str] | None = None,
    weights: str | None = None,
    intercept: bool = True,
    **options: Any,
) -> Comparison:
    """Say whether two datasets should be trained together.

    Parameters
    ----------
    a, b : frames
        pandas or Polars frames, or mappings of column names to arrays.
    target : str
        Column to predict.
    method : str or Criterion
        "tuned" (the paper's Algorithm 2), "bound" (Algorithm 1), "direct" (training losses), or a
        ready criterion.
    random_state : int
        Seed of every random draw.
    features : list of str, optional
        Columns to use; by default all that are not target or weights.
    weights : str, optional
        Column of row weights.
    intercept : bool
        Whether models have an intercept.
    **options
        Passed to the criterion, such as `delta`, `n`, `resamples`, `rule`.

    Examples
    --------
    >>> from conjoin.datasets import make_pair
    >>> pair = make_pair(p=5, n=300, d=0.0, random_state=0)
    >>> compare(*pair.tables().values(), target="y").join
    True
    >>> far = make_pair(p=5, n=300, d=1.0, random_state=0)
    >>> compare(*far.tables().values(), target="y").join
    False
    """
    criterion = make_criterion(method, options)
    collection = collect({"a": a, "b": b}, target=target, features=features, weights=weights)
    units = to_units(collection, intercept=intercept)
    seed = check_seed(random_state)
    one, two = (criterion.prepare(unit, seed) for unit in units)
    result = criterion.compare(one, two)
    moments = Moments.stack([unit.moments for unit in units])
    noise = noise_variances(moments)
    basis = units[0].basis
    fit_a, fit_b = (_linear_fit(collection, basis, moments[[k]], noise[[k]]) for k in (0, 1))
    fit_joined = _linear_fit(collection, basis, moments, noise)
    return Comparison(
        join=result.join,
        score=result.score,
        threshold=criterion.threshold,
        phi=float(basis.error_to_original(np.asarray(result.phi))),
        psi=float(basis.error_to_original(np.asarray(result.psi))),
        alpha=result.alpha,
        method=_method_name(method),
        fit_a=fit_a,
        fit_b=fit_b,
        fit_joined=fit_joined,
        error_separate=(fit_a.error + fit_b.error) / 2,
        error_joined=fit_joined.error,
    )


def partition(
    data: Any,
    *,
    target: str,
    by: str | None = None,
    method: str | Criterion = "tuned",
    grouping: str = "greedy",
    random_state: int = 0,
    features: Sequence[str] | None = None,
    weights: str | None = None,
    intercept: bool = True,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Partition:
    """Find which datasets to train together.

    Parameters
    ----------
    data : frame, or mapping of names to frames
        One table with a column `by` that names the dataset of each row, or a table per dataset.
    target : str
        Column to predict.
    by : str, optional
        Column that names the dataset; needed when data is one table.
    method, random_state, features, weights, intercept, **options
        As in `compare`.
    grouping : str
        "greedy", the paper's Algorithm 3.
    progress : callable, optional
        Called with the number of datasets placed so far and in all.

    Examples
    --------
    >>> from conjoin.datasets import make_clusters
    >>> stores = make_clusters(sizes=(2, 2), n=300, p=4, distance=2.0, random_state=0)
    >>> partition(stores.tables(), target="y").clusters
    [['d1', 'd2'], ['d3', 'd4']]
    """
    criterion = make_criterion(method, options)
    if grouping not in GROUPINGS:
        raise ArgumentError(
            f"grouping={grouping!r} is unknown; expected one of {sorted(GROUPINGS)}."
        )
    collection = collect(data, target=target, by=by, features=features, weights=weights)
    units = to_units(collection, intercept=intercept)
    found = GROUPINGS[grouping](criterion, units, check_seed(random_state), progress)
    moments = Moments.stack([unit.moments for unit in units])
    noise = noise_variances(moments)
    position = {name: k for k, name in enumerate(collection.names)}
    members = [[position[name] for name in cluster] for cluster in found.clusters]
    models = [_linear_fit(collection, units[0].basis, moments[k], noise[k]) for k in members]
    return Partition(
        clusters=[list(cluster) for cluster in found.clusters],
        labels={name: i for i, cluster in enumerate(found.clusters) for name in cluster},
        history=found.history,
        models=models,
        method=_method_name(method),
        grouping=grouping,
        features=collection.features,
    )


def to_units(collection: DatasetCollection, *, intercept: bool = True) -> list[Unit]:
    """Bring each dataset into the shared centred and scaled coordinates."""
    X, y, w = collection.X, collection.y, collection.weights
    basis = Basis.from_rows(X, y, w, intercept=intercept)
    Z, t = basis.design(X), basis.response(y)
    units = []
    for k, name in enumerate(collection.names):
        rows = collection.rows(k)
        units.append(Unit((name,), (collection.sizes[k],), Z[rows], t[rows], w[rows], basis))
    return units


def check_seed(random_state: int) -> int:
    """Refuse a seed from which no stream can be made."""
    if isinstance(random_state, bool) or not isinstance(random_state, (int, np.integer)):
        raise ArgumentError(f"random_state={random_state!r} is no seed; expected a whole number.")
    if random_state < 0:
        raise ArgumentError(f"random_state={random_state!r} is negative; expected >= 0.")
    return int(random_state)


def _method_name(method: str | Criterion) -> str:
    return method if isinstance(method, str) else type(method).__name__.lower()


def _linear_fit(
    collection: DatasetCollection, basis: Basis, moments: Moments, noise: FloatArray
) -> LinearFit:
    """Fit one model to the datasets of a cluster, moments (K,), and estimate its error."""
    joint = moments.union()
    intercept, slopes = basis.to_original(fit_ols(joint).beta)
    error = basis.error_to_original(np.asarray(np.mean(cluster_errors(moments, noise))))
    return LinearFit(
        intercept=float(intercept),
        coef=dict(zip(collection.features, map(float, slopes))),
        rows=int(joint.n),
        error=float(error),
    )
