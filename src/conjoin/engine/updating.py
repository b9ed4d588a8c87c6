"""Further rows for a result that kept its moments: the engine runs on the sums of both.

A result and new tables or files enter; an `Update` leaves. Rows of the result are not read again.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from conjoin._typing import Progress
from conjoin.api.described import described
from conjoin.api.request import ROLES, Request
from conjoin.engine.kept import keep, reduce_kept
from conjoin.engine.new_rows import read_new, without_gross_errors
from conjoin.engine.reading import source_names
from conjoin.engine.run import analyse
from conjoin.engine.steps import Task
from conjoin.engine.wild import settle_partition
from conjoin.errors import ArgumentError, DataError
from conjoin.moments.kept import KeptMoments
from conjoin.result.partition import Partition
from conjoin.result.update import Update, changed_verdicts
from conjoin.tables.names import natural_order

MOST_LINES = 200  # lines of the ledger that are compared: more have no intervals


def update_result(
    result: Partition,
    new: Any,
    *,
    by: Sequence[str] | None = None,
    settled: bool = True,
    query: str | None = None,
    unsafe_query: bool = False,
    progress: Progress | None = None,
) -> Update:
    """Return the result of its own rows and new ones, and what changed."""
    kept = _kept_of(result)
    request = request_of(result)
    rows = read_new(result, new, by, query, unsafe_query=unsafe_query)
    rows = without_gross_errors(rows, request)
    more = keep(rows, kept.folds, int(request.random_state), few=True)
    _refuse_repeated(kept, more)
    order = natural_order([*dict.fromkeys((*kept.names, *more.names))])
    reduced = reduce_kept(kept.adding(more, order), result.schema, intercept=request.intercept)
    data = [*result.settings.get("data", []), *source_names(new)]
    settings = {**result.settings, "data": list(dict.fromkeys(data))}
    task = Task(request, None, None, settings, False, dict(result.labels), not settled)
    found = settle_partition(reduced, request, partial(analyse, task), progress)
    analysis: Any = found.analysis
    verdicts = changed_verdicts(result.ledger(MOST_LINES), found.ledger(MOST_LINES))
    added = {name: n for name, n in zip(more.names, more.sizes)}
    fresh = tuple(name for name in added if name not in result.labels)
    return Update(found, added, fresh, analysis.moves, tuple(verdicts), settled)


def _kept_of(result: Partition) -> KeptMoments:
    """Return the moments of a result; without them rows cannot be added."""
    kept = result.analysis.kept
    if kept is not None:
        return kept
    if result.family != "gaussian":
        why = "its target is no number, and such models read all rows at every step"
    elif result.settings.get("learner") != "linear":
        why = "its learner was trained on rows"
    elif result.settings.get("time") or result.schema.roles.time:
        why = "it validates forward in time, so new rows change every fold"
    else:
        raise ArgumentError(
            "The result keeps no moments, so rows cannot be added to it; fit it once more with "
            "keep_moments=True."
        )
    raise ArgumentError(
        f"The result cannot be updated: {why}. Fit all rows again, or give new datasets a model "
        "with assign."
    )


def request_of(result: Partition) -> Request:
    """Return what a result was asked for."""
    roles = result.schema.roles
    names = [name for name in described(Request) if name not in ROLES]
    settings: Mapping[str, Any] = result.settings
    return Request(
        target=roles.target,
        by=list(roles.by),
        features=roles.features,
        weights=roles.weights,
        category=roles.category or None,
        ignore=roles.ignore or None,
        strategy=result.strategy,
        **{name: settings[name] for name in names if name in settings and name != "query"},
    )


def _refuse_repeated(kept: KeptMoments, more: KeptMoments) -> None:
    """Refuse rows that are in the result already."""
    for batch in kept.batches:
        shared = batch.shared(more.batches[0])
        if shared:
            rows = more.batches[0].rows[shared[0]]
            raise DataError(
                f"The {rows:,} new rows of dataset {shared[0]!r} are in the result already; leave "
                "them out. Rows that were added twice would count twice."
            )
