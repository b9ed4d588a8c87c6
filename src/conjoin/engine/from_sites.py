"""Files of sites as a source whose rows are elsewhere.

What sites sent enters (`sites.receive`), with a request; a `Reduced` leaves, as from a database.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from conjoin.api.request import Question, Request
from conjoin.engine.coordinates import second_moments, settle
from conjoin.engine.remote import Reduced
from conjoin.engine.remote_cells import RemoteCells, intercept_of
from conjoin.errors import ArgumentError, DataError
from conjoin.models.glm_families import family_of
from conjoin.models.padded_rows import SortedRows
from conjoin.models.remote_glm import RemoteGlmRows
from conjoin.moments import Basis, Moments
from conjoin.moments.collinear import directions_of_moments
from conjoin.sites.desk import RoundDesk
from conjoin.sites.folder import Study, as_study
from conjoin.sites.receive import Received
from conjoin.sites.rounds import Frame
from conjoin.tables.checks import check_target_varies, drop_constant


def reduce_sites(files: Study, request: Request, fewest: int = 2) -> Reduced:
    """Return the moments of sites' datasets and folds in common coordinates."""
    received = files.receive()
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
    cells = None
    if plan.family != "gaussian":
        if not request.intercept:
            raise ArgumentError("intercept=False is for numbers; leave it out for this plan.")
        basis = replace(basis, target_center=0.0, target_scale=1.0)
        cells = cells_of(received, basis, files)
    return Reduced(
        cells=cells,
        names=received.names,
        sizes=received.sizes,
        schema=schema,
        limits=received.limits(),
        basis=basis,
        folds=moments,
        copies=received.copies,
        scatter=received.scatter(basis),
        promise=received.promise(),
        noise_shares=received.noise_shares(),
        # Rounding differs between sums of sites and rows in one place. Where sites lack columns, a
        # search that stops early would make more of it.
        last_digits=plan.family == "gaussian",
    )


def cells_of(received: Received, basis: Basis, files: Study) -> "RemoteCells":
    """Return the rows of sites as a likelihood sees them: sums that are asked for in rounds."""
    few = [one for one in received.datasets if len(one.n) < 2]
    if few:
        raise DataError(
            f"Dataset {few[0].name!r} was exported without folds, because it has too few rows, so "
            "its errors cannot be estimated; leave its site out with --without "
            f"{few[0].site}."
        )
    family = family_of(received.plan.schema.response)
    assert family is not None
    frame = Frame(received.agreed, received.plan.schema.features, basis)
    sites = {one.name: one.site for one in received.datasets}
    carrier = files.carrier(frame, sites, {one.name: len(one.n) for one in received.datasets})
    desk = RoundDesk(carrier, carrier.earlier())
    K, F = len(received.datasets), received.folds
    n, places = np.zeros((K, F)), []
    for k, one in enumerate(received.datasets):
        places.append(np.arange(len(one.n)) * F // len(one.n))
        n[k, places[k]] = one.n
    classes = np.stack([one.classes for one in received.datasets])
    rows = RemoteGlmRows(
        family, (), SortedRows.one_dataset(np.zeros((0, 1)), np.zeros(0), np.zeros(0)),
        n * family.m, n,
        names=received.names,
        places=tuple(places),
        classes=classes if classes.shape[1] else np.zeros((K, 1)),
        desk=desk,
    )  # fmt: skip
    start = np.zeros(frame.size)
    weight = float(n.sum())
    total = (
        np.array([received.mean[-1] * weight]) if family.free_dispersion else classes.sum(axis=0)
    )
    start[: family.m] = intercept_of(family, total, weight)
    return RemoteCells(rows, start, carrier)


# Options that the plan fixes, or that need rows.
FIXED = ("by", "features", "weights", "family", "missing", "columns", "category", "ignore", "time",
         "repeat", "robust", "folds", "horizon", "gap", "sample_rows", "query",
         "representation", "keep_moments", "checkpoint", "engine")  # fmt: skip


# Options that no plan can have either, and why.
NOT_IN_PLANS = {
    "weights": "a plan has no weights of rows",
    "time": "a plan has no order of rows in time",
    "repeat": "a plan has no column of repeated measurements",
}


def refuse_row_options(request: Question, *, rows_needed: bool) -> None:
    """Refuse options that files of sites cannot serve."""
    for name in FIXED:
        value = getattr(request, name, getattr(Request, name))
        if value != getattr(Request, name) and name in NOT_IN_PLANS:
            raise ArgumentError(
                f"{name}={value!r} does not go with files of sites: they hold sums over rows that "
                f"all count the same, and {NOT_IN_PLANS[name]}; leave it out."
            )
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
    sites = as_study(data)
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
