"""Two datasets: read them, and compare them by what their target is.

Two tables and a request enter, a `Comparison` leaves. Linear models of numbers go on to
`engine.pair_numbers`, of classes and counts to `engine.pair_likelihood`, other learners to
`engine.pair_learner`.
"""

from dataclasses import replace
from typing import Any

from conjoin.api.request import PairRequest
from conjoin.engine.criteria import make_criterion
from conjoin.engine.learner_choice import make_pair_learner, warn_of_weights
from conjoin.engine.pair_learner import compare_auto, compare_learner
from conjoin.engine.pair_likelihood import compare_likelihoods
from conjoin.engine.pair_numbers import compare_numbers
from conjoin.engine.pair_sites import compare_sites
from conjoin.engine.reading import read_one, source_names
from conjoin.engine.wild import Steps, settle
from conjoin.errors import ArgumentError, OutlierWarning, warn_caller
from conjoin.result.comparison import Comparison
from conjoin.result.findings import Answer, Findings
from conjoin.tables import DatasetCollection
from conjoin.tables.collect import collect_rows
from conjoin.tables.roles import Roles


def compare_pair(a: Any, b: Any, request: PairRequest) -> Comparison:
    """Compare two tables, or the files that they name."""
    criterion = make_criterion(request.method, dict(request.options))
    of_sites = compare_sites(a, b, request, criterion)
    if of_sites is not None:
        return of_sites
    learner = make_pair_learner(request)
    r = request
    collection = collect_rows(
        {
            _called(name, data): read_one(data, request.target)
            for name, data in (("a", a), ("b", b))
        },
        Roles.of(r.target, None, r.features, r.weights, r.category, r.ignore, (r.time, r.repeat)),
        missing=request.missing,
        columns=request.columns,
        family=request.family,
    )
    warn_of_weights(learner, collection.weights)
    family = collection.response.family
    if family != "gaussian" and request.method != "risk":
        raise ArgumentError(
            f"method={request.method_name!r} is for numbers, but the target is of family "
            f"{family!r}; leave method out."
        )

    def linear(rows: DatasetCollection) -> Comparison:
        if family == "gaussian":
            return compare_numbers(rows, request, criterion)
        return compare_likelihoods(rows, request)

    def analyse(rows: DatasetCollection, progress: Any = None) -> Comparison:
        if learner is None:
            return linear(rows)
        if request.learner == "auto":
            return compare_auto(rows, request, learner, lambda: linear(rows))
        return compare_learner(rows, request, learner)

    def attach(result: Comparison, findings: Findings) -> Comparison:
        return replace(result, findings=findings, schema=collection.schema)

    found: Comparison = settle(collection, request, Steps(analyse, _answer, attach, _same))
    if found.findings.changed:
        warn_caller(found.notices[0], OutlierWarning)
    return found


def _answer(result: Comparison) -> Answer:
    """Return the answer of a comparison in short."""
    error = min(result.error_joined, result.error_separate)
    how = result.method if result.learner == "linear" else result.learner
    return Answer(1 if result.join else 2, 2, how, error, result.verdict)


def _same(one: Comparison, other: Comparison) -> bool:
    return (one.verdict, one.join) == (other.verdict, other.join)


def _called(name: str, data: Any) -> str:
    """Return what messages call one of the two datasets; the first sorts before the second."""
    return " ".join([name, *(f"({file})" for file in source_names(data))])
