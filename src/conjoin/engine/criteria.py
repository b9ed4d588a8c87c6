"""Criteria of pairs by name, and partitions by a criterion (Algorithm 3 of the paper).

The criteria of the paper, and Algorithm 3, are loaded when asked for.
"""

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np

from conjoin._typing import IntArray, Progress
from conjoin.api.request import PAIR_METHODS, PAPER_METHODS, Request
from conjoin.criterion import Criterion, Gcv, Risk, Unit, Validated
from conjoin.engine.ordering import robust_scatter
from conjoin.engine.remote import Reduced
from conjoin.errors import ArgumentError
from conjoin.grouping import Step
from conjoin.models.scatter import Scatter
from conjoin.moments import Basis, Moments
from conjoin.moments.collinear import precise
from conjoin.moments.folds import deal_rows
from conjoin.tables import DatasetCollection

OWN: dict[str, Callable[..., Criterion]] = {"risk": Risk, "gcv": Gcv, "validated": Validated}
CRITERIA = (*PAIR_METHODS, *PAPER_METHODS)
# The delta of the paper's inequalities, as an option: `delta` is the level of conjoin's verdicts.
PAPER_DELTA = "paper_delta"


def criterion_class(name: str) -> Callable[..., Criterion]:
    """Return what makes the criterion of a name."""
    if name in OWN:
        return OWN[name]
    # Here, since the product does without the paper's criteria.
    from conjoin.paper.bound import Bound
    from conjoin.paper.direct import Direct
    from conjoin.paper.tuned import Tuned

    found: dict[str, Callable[..., Criterion]] = {"tuned": Tuned, "bound": Bound, "direct": Direct}
    return found[name]


def make_criterion(method: "str | Criterion", options: dict[str, Any]) -> Criterion:
    """Return the criterion of a name with its options, or the criterion passed."""
    if not isinstance(method, str):
        if options:
            raise ArgumentError(
                f"{sorted(options)} cannot be combined with a ready criterion; set them on "
                f"{type(method).__name__} instead."
            )
        return method
    if method not in CRITERIA:
        raise ArgumentError(
            f"method={method!r} is unknown; expected one of {', '.join(sorted(CRITERIA))}."
        )
    make = criterion_class(method)
    known = [PAPER_DELTA if name == "delta" else name for name in signature(make).parameters]
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise ArgumentError(
            f"method={method!r} does not take {', '.join(f'{name}=...' for name in unknown)}; "
            f"expected some of {', '.join(known)}."
        )
    return make(**{"delta" if name == PAPER_DELTA else name: options[name] for name in options})


def pair_criterion(request: Request) -> Criterion | None:
    """Return the criterion by which Algorithm 3 makes the clusters; None if a method finds them.

    Refuse what does not fit together.
    """
    method, grouping = request.method, request.grouping
    if isinstance(method, str):
        if grouping == "agglomerative" and method in PAPER_METHODS:
            raise ArgumentError(f"method={method!r} scores pairs only; leave grouping out.")
        if grouping == "greedy" and method not in CRITERIA:
            raise ArgumentError(f"method={method!r} finds clusters itself; leave grouping out.")
        if grouping != "greedy" and method not in PAPER_METHODS:
            return None
    return make_criterion(method, dict(request.options))


def to_units(collection: DatasetCollection, *, intercept: bool = True) -> list[Unit]:
    """Return each dataset in shared coordinates, as the criteria of pairs take it."""
    X, y, w = collection.X, collection.y, collection.weights
    basis = precise(X, w, Basis.from_rows(X, y, w, intercept=intercept))
    Z, t = basis.design(X), basis.response(y)
    units = []
    for k, name in enumerate(collection.names):
        rows = collection.rows(k)
        units.append(Unit((name,), (collection.sizes[k],), Z[rows], t[rows], w[rows], basis))
    return units


def group_greedily(
    criterion: Criterion,
    collection: DatasetCollection | Reduced,
    request: Request,
    progress: Progress | None,
) -> tuple[IntArray, tuple[Step[str], ...]]:
    """Return labels (K,) and the steps of Algorithm 3."""
    from conjoin.paper.greedy import greedy

    assert isinstance(collection, DatasetCollection)  # a criterion of pairs reads rows
    units = to_units(collection, intercept=request.intercept)
    found = greedy(criterion, units, int(request.random_state), progress)
    position = {name: i for i, cluster in enumerate(found.clusters) for name in cluster}
    return np.array([position[name] for name in collection.names]), found.steps


def scatter_of_units(units: list[Unit], collection: DatasetCollection) -> Scatter:
    """Return the scatter of the rows of both datasets, in which copies of a row count once."""
    Z, t, w = (
        np.concatenate([getattr(unit, name) for unit in units]) for name in ("Z", "t", "weights")
    )
    starts = collection.starts
    # The folds are not used, so neither their number nor the seed matters.
    dealt = deal_rows(collection.X, collection.y, starts, folds=2, seed=0)
    moments = Moments.by_dataset(Z, t, starts, w)
    return robust_scatter(lambda rows: Z[rows], t, collection, dealt, moments)
