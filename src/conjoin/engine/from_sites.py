"""Files of sites as a source whose rows are elsewhere.

What sites sent enters (`sites.receive`), with a request; a `Reduced` leaves, as from a database.
"""

from typing import Any

import numpy as np

from conjoin.api.request import Question, Request
from conjoin.engine.coordinates import second_moments, settle
from conjoin.engine.remote import Reduced
from conjoin.errors import ArgumentError, DataError
from conjoin.moments import Basis, Moments
from conjoin.moments.collinear import directions_of_moments
from conjoin.sites.folder import as_site_files
from conjoin.sites.receive import Received
from conjoin.tables.checks import check_target_varies, drop_constant


def reduce_sites(received: Received, request: Request, fewest: int = 2) -> Reduced:
    """Return the moments of sites' datasets and folds in common coordinates."""
    plan = received.plan
    if len(received.datasets) < fewest:
        raise DataError(
            f"There is only one dataset ({received.names[0]!r}); joining needs at least two."
        )
    constant = received.constant()
    if constant[-1]:
        value = float(received.mean[-1])
        check_target_varies(plan.target, value, value)
    schema, kept = drop_constant(plan.schema, constant[:-1])
    received = received.taking(np.flatnonzero(kept), schema)
    usual, folds = received.basis(intercept=request.intercept), received.folds

    def form(basis: Basis) -> Moments:
        return received.moments(basis, folds)

    moments = form(usual)
    second = second_moments(moments, usual)
    basis, moments = settle(usual, moments, lambda: directions_of_moments(second, usual), form)
    return Reduced(
        names=received.names,
        sizes=received.sizes,
        schema=schema,
        limits=received.limits(),
        basis=basis,
        folds=moments,
        copies=received.copies,
        scatter=received.scatter(basis),
    )


# Options that the plan fixes, or that need rows.
FIXED = ("by", "features", "weights", "family", "missing", "columns", "category", "ignore", "time",
         "repeat", "robust", "folds", "horizon", "gap", "sample_rows", "query",
         "representation")  # fmt: skip


def refuse_row_options(request: Question, *, rows_needed: bool) -> None:
    """Refuse options that files of sites cannot serve."""
    for name in FIXED:
        value = getattr(request, name, getattr(Request, name))
        if value != getattr(Request, name):
            raise ArgumentError(
                f"{name}={value!r} does not go with files of sites, whose plan says how rows are "
                "read; leave it out, or make another plan with conjoin site plan."
            )
    if rows_needed:
        raise ArgumentError(
            f"method={request.method_name!r} and its options read rows, which files of sites do "
            "not have; leave method out."
        )
    if request.learner_name not in ("auto", "linear"):
        raise ArgumentError(
            f"learner={request.learner_name!r} is trained on rows, which files of sites do not "
            "have; leave it out. A model that was trained elsewhere can be a column of the plan."
        )


def target_of(data: Any, target: str | None) -> str:
    """Return the target: the one that is named, or that of the plan of sites' files."""
    sites = as_site_files(data)
    if sites is None:
        if target is None:
            raise ArgumentError("target is missing; name the column to predict with target=...")
        return target
    found = sites.plan.target
    if target is not None and target != found:
        raise ArgumentError(
            f"target={target!r} is not the target of the sites' plan, {found!r}; leave it out."
        )
    return found
