"""Two datasets whose target is a class or a count.

A collection of two and a request enter, a `Comparison` leaves. Errors are those on held-out rows,
and so is the point decision: the quadratic form of the loss is too flat where datasets are small
and far apart. The gain and its interval come from moments. Where the gain has another sign than the
difference of the errors, it is that difference. Where it contradicts the verdict, the verdict is
"undecided". The interval always holds the gain.
"""

import numpy as np
from scipy.special import stdtrit

from conjoin._typing import FloatArray
from conjoin.api.request import PairRequest, Request
from conjoin.criterion.judge import Judge
from conjoin.criterion.verdict import rows_to_settle
from conjoin.engine.remote import Reduced
from conjoin.engine.study import DatasetFacts, make_study
from conjoin.engine.verdicts import make_judge
from conjoin.execution import one_thread
from conjoin.result.comparison import Comparison
from conjoin.strategies.plan import start_values
from conjoin.strategies.refits import clusters, separate_ridged
from conjoin.strategies.validation import validate
from conjoin.tables import DatasetCollection

UNKNOWN = float("nan")  # what the paper's inequality has no value for
PAIR = [((0,), (1,))]  # the one pair of two datasets


def compare_likelihoods(collection: DatasetCollection, request: PairRequest) -> Comparison:
    """Compare two datasets of classes or counts."""
    return _compare(collection, request)


def compare_cells(table: Reduced, request: PairRequest) -> Comparison:
    """Compare two datasets of classes or counts whose rows are elsewhere."""
    return _compare(table, request)


def _compare(collection: DatasetCollection | Reduced, request: PairRequest) -> Comparison:
    with one_thread():
        study = make_study(collection, _as_request(request))
        start, facts = start_values(study.given), DatasetFacts.of(collection)
        judge = make_judge(study, start)
        answers, ends = judge.verdicts(PAIR, delta=request.delta, interval=True)
        refits = (separate_ridged, clusters(np.zeros(2, dtype=int), start.hyper, exact=False))
        fits = [validate(refit, start.problem) for refit in refits]
    own, both = (fit.losses.sum(axis=0) / judge.moments.w for fit in fits)
    basis, rows = study.basis, collection.sizes
    fit_a, fit_b = (facts.model(basis, fits[0].coef[k], rows[k], float(own[k])) for k in (0, 1))
    joined = facts.model(basis, fits[1].coef[0], sum(rows), float(both.mean()))
    lead = float(own.mean() - both.mean())
    gain = float(judge.gains(PAIR)[0]) * study.gain_scale
    if gain * lead < 0:  # moments and held-out rows disagree: the errors that are shown decide
        gain = lead
    # A verdict that held-out rows contradict is none.
    denied = (answers[0] == "join" and gain < 0) or (answers[0] == "apart" and gain > 0)
    verdict = "undecided" if denied else answers[0]
    more_rows = 1.0 if verdict != "undecided" else _rows_to_settle(judge, request.delta)
    low, high = (float(end) * study.gain_scale for end in ends[0])
    above = _upper_limit(fits[0].losses - fits[1].losses, judge.moments.w, request.delta)
    high = max(high, gain) if verdict == "apart" else max(high, gain, above)
    return Comparison(
        verdict=verdict,
        join=lead > 0 if verdict == "undecided" else verdict == "join",
        gain=gain,
        interval=(min(low, gain), high),
        delta=request.delta,
        rows_to_settle=more_rows,
        score=lead,
        threshold=0.0,
        phi=UNKNOWN,
        psi=UNKNOWN,
        alpha=UNKNOWN,
        method=request.method_name,
        fit_a=fit_a,
        fit_b=fit_b,
        fit_joined=joined,
        error_separate=(fit_a.error + fit_b.error) / 2,
        error_joined=joined.error,
    )


def _upper_limit(lead: FloatArray, w: FloatArray, delta: float) -> float:
    """Return the upper confidence limit of the gain on held-out rows, by Student's t.

    `lead` (F, 2) are the losses of the separate fits minus those of the joint fit, w (2,) the
    weights of the datasets. Rare categories make separate fits lose more on new rows than the
    information at hand says; held-out rows see some of it.
    """
    parts = (lead / w / 2).ravel()
    count = len(parts)
    error = np.sqrt(count / (count - 1) * np.sum((parts - parts.mean()) ** 2))
    return float(parts.sum() + stdtrit(count - 1, 1 - delta) * error)


def _as_request(request: PairRequest) -> Request:
    """Return the request of a partition of the two datasets, with its defaults."""
    return Request(
        target=request.target,
        intercept=request.intercept,
        random_state=request.random_state,
        time=request.time,
        repeat=request.repeat,
    )


def _rows_to_settle(judge: Judge, delta: float) -> float | None:
    """Return by what factor two datasets would have to grow for a verdict, if that is known."""
    m = judge.moments
    assert judge.backing is not None  # a likelihood has one
    short = float(judge.backing.short(m.p // m.outputs).max())
    if not np.isfinite(short) or judge.backing.lacking()[0]:
        return None
    grown = rows_to_settle(m[0], m[1], delta=delta, scatter=judge.scatter)
    return None if grown is None else max(grown, short)
