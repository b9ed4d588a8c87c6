"""Between reading and study: gross errors in rows, and what is done about them.

A table and a request enter. What analyses a table is called once, or with and without the rows that
have gross errors; the result that is to be shown leaves, with what was found.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from conjoin._typing import Progress
from conjoin.api.request import Question, Request
from conjoin.engine.remote import Reduced
from conjoin.errors import ArgumentError, DataError, OutlierWarning, warn_caller
from conjoin.execution import one_thread
from conjoin.models.robust import huber_weights
from conjoin.moments import Basis
from conjoin.result.findings import Answer, Findings
from conjoin.result.partition import Partition
from conjoin.tables import DatasetCollection
from conjoin.tables.suspects import Suspects, find_in_names, find_suspects
from conjoin.tables.wild import Outlier, find_wild_rows, without_rows

# Relative change of the error from which two answers differ: a reader would act on less than that
# in no other place, and leaving out one ordinary row of a hundred changes it by about a percent.
OTHER_ERROR = 0.1
# Relative difference of errors up to which the average counts as the best strategy: by less the
# lowest of several strategies changes by chance.
SAME_ERROR = 0.01
# Huber's weight below which a row is said to weigh less: others have nearly all of their weight.
LIGHT = 0.5


@dataclass(frozen=True)
class Steps:
    """What `settle` calls: the analysis of a table, the answer in short, and the way to attach.

    Parameters
    ----------
    analyse : callable
        From a table and what reports progress to a result.
    answer : callable
        From a result to its answer in short.
    attach : callable
        From a result and findings to the result that holds them.
    same : callable
        Says whether two results give the same clusters or the same verdict.
    """

    analyse: Callable[[Any, Progress | None], Any]
    answer: Callable[[Any], Answer]
    attach: Callable[[Any, Findings], Any]
    same: Callable[[Any, Any], bool]


def settle_partition(
    table: DatasetCollection | Reduced,
    request: Request,
    analyse: Callable[[Any, Progress | None], Partition],
    progress: Progress | None,
) -> Partition:
    """Partition a table with or without the rows that have gross errors; warn if that matters."""
    steps = Steps(analyse, _answer, _with_findings, _same_clusters)
    found: Partition = settle(table, request, steps, progress)
    if found.analysis.findings.changed:
        warn_caller(found.notices[0], OutlierWarning)
    return found


def _answer(result: Partition) -> Answer:
    """Return the answer of a partition in short."""
    errors = result.errors
    best = min(errors, key=lambda name: errors[name].error)
    if errors["auto"].error <= (1 + SAME_ERROR) * errors[best].error:
        best = "auto"
    clusters, datasets = len(result.clusters), len(result.labels)
    if best == "clusters" and clusters in (1, datasets):  # the same models under another name
        best = "pooled" if clusters == 1 else "separate"
    return Answer(clusters, datasets, best, errors[result.strategy].error)


def _same_clusters(one: Partition, other: Partition) -> bool:
    return one.clusters == other.clusters


def _with_findings(result: Partition, findings: Findings) -> Partition:
    """Return the result with what was found before it."""
    analysis: Any = result.analysis
    from_files = bool(analysis.settings["data"])
    found = replace(findings, from_files=from_files)
    return replace(result, analysis=replace(analysis, findings=found))


def settle(
    table: DatasetCollection | Reduced,
    request: Question,
    steps: Steps,
    progress: Progress | None = None,
) -> Any:
    """Analyse a table with or without the rows that have gross errors, as the request says.

    By default both are done if there are such rows, and the result without them is returned where
    the two differ.
    """
    by = table.schema.roles.by if getattr(request, "by", None) else ()
    promise = table.promise if isinstance(table, Reduced) else ""
    base = Findings(suspects=_suspects(table), by=by, promise=promise)
    drop = request.drop_outliers
    with one_thread():
        outliers, fewer = without_wild_rows(table)
    base = replace(base, outliers=outliers, asked=drop is not None)
    if request.robust:
        assert isinstance(fewer, DatasetCollection)  # it reads rows
        assert isinstance(table, DatasetCollection)
        weighted, lighter = _with_huber_weights(table if drop is False else fewer, request)
        left_out = bool(outliers) and drop is not False
        found = replace(base, left_out=left_out, lighter=lighter, asked=True)
        return steps.attach(steps.analyse(weighted, progress), found)
    if not outliers or drop is False or fewer is None:
        return steps.attach(steps.analyse(table, progress), base)
    if drop:
        return steps.attach(steps.analyse(fewer, progress), replace(base, left_out=True))
    return _both(table, fewer, base, steps, progress)


def _both(
    table: DatasetCollection | Reduced,
    fewer: DatasetCollection | Reduced,
    base: Findings,
    steps: Steps,
    progress: Progress | None,
) -> Any:
    """Analyse with and without some rows; return the result without them if the two differ."""
    every = steps.analyse(table, _half(progress, 0))
    robust = steps.analyse(fewer, _half(progress, 1))
    with_them, without_them = steps.answer(every), steps.answer(robust)
    differ = not steps.same(every, robust) or _differ(with_them, without_them)
    found = replace(base, left_out=differ, with_them=with_them, without_them=without_them)
    return steps.attach(robust if differ else every, found)


def _differ(one: Answer, other: Answer) -> bool:
    """Say whether two answers differ in the best strategy or in the error."""
    if one.strategy != other.strategy:
        return True
    errors = one.error, other.error
    if not np.isfinite(errors).all():
        return bool(np.isfinite(errors).any())
    return abs(errors[0] - errors[1]) > OTHER_ERROR * min(map(abs, errors))


def _half(progress: Progress | None, part: int) -> Progress | None:
    """Return what reports the progress of the first or the second of two analyses."""
    if progress is None:
        return None

    def report(done: int, total: int) -> None:
        progress(done + part * total, 2 * total)

    return report


def without_wild_rows(
    table: DatasetCollection | Reduced,
) -> tuple[tuple[Outlier, ...], DatasetCollection | Reduced | None]:
    """Return the gross errors of a table, and the table without their rows."""
    if isinstance(table, Reduced):
        return table.outliers, table.fewer
    wild = find_wild_rows(table)
    if not len(wild.rows):
        return (), table
    try:
        return wild.outliers, without_rows(table, wild.rows)
    except DataError:  # without these rows nothing varies, so they are all that there is to learn
        return (), table


def _suspects(table: DatasetCollection | Reduced) -> Suspects:
    if isinstance(table, Reduced):
        return table.suspects or find_in_names(table.names, table.schema.roles.by)
    return find_suspects(table)


def _with_huber_weights(
    table: DatasetCollection, request: Question
) -> tuple[DatasetCollection, int]:
    """Return the table with Huber's weights, and the number of rows that weigh much less."""
    if table.response.family != "gaussian":
        raise ArgumentError(
            f"robust=True is for numbers, but the target is of family {table.response.family!r}; "
            "leave it out."
        )
    w = table.weights
    basis = Basis.from_rows(table.X, table.y, w, intercept=request.intercept)
    Z, t = basis.design(table.X), basis.response(table.y)
    with one_thread():
        u = huber_weights(Z, t, w, table.starts, intercept=request.intercept)
    weights = w * u
    # Weights are relative, so their mean stays what it was.
    return replace(table, weights=weights * (w.mean() / weights.mean())), int(np.sum(u < LIGHT))
