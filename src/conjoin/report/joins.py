"""Joins with their reasons in words, and how stable clusters are, as plain values.

A result enters; for each join its change of the held-out error, how often its sides are together
when the search sees random halves of the rows, and a reason leave.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from conjoin.api.request import Request
from conjoin.report.measure import Measure
from conjoin.report.numbers import finite, plain, unsigned
from conjoin.report.view import View
from conjoin.result.found import MOST_CHANGES
from conjoin.result.values import NOT_JUDGED, THEORY
from conjoin.text import listed

if TYPE_CHECKING:
    from conjoin.result.partition import Partition
    from conjoin.result.stability import Stability
    from conjoin.result.values import Merge

# Datasets up to which the plain values have the table of every two: more would be megabytes.
MOST_IN_TABLE = 100
# Share of halves from which two clusters count as not told apart: more often together than not.
OFTEN = 0.5
MOST_NAMED = 4  # names of a cluster that a sentence shows


def join_facts(
    view: View,
    left: Sequence[str],
    right: Sequence[str],
    *,
    joined: bool,
    verdict: str,
    judged_by: str = THEORY,
    gain: float | None = None,
) -> dict[str, Any]:
    """Return what is known of a join beside its `gain`: change, frequency and reason."""
    change, spread = view.result.analysis.join_change(tuple(left), tuple(right))
    percent, percent_error = _in_percent(view, (*left, *right), change, spread)
    found = {
        "change": finite(change),
        "change_standard_error": finite(spread),
        "change_percent": percent,
        "change_percent_standard_error": percent_error,
        "together": together(view.result.analysis.stability, left, right),
    }
    kind = join_kind({**found, "gain": gain}, joined=joined, verdict=verdict)
    if judged_by == NOT_JUDGED:
        kind = _unjudged(joined)
    return {**found, "why": WHY[kind], "reason": reason(kind, found, view.measure)}


def _in_percent(
    view: View, names: Sequence[str], change: float, spread: float
) -> tuple[float | None, float | None]:
    """Return a change of the held-out error in percent of the error apart, as it is shown.

    The error in use stands for the lower one of joined and apart. So a fall is less than 100 %.
    """
    error = view.percent(1.0, names)  # 100 over the error in use
    if error is None or not math.isfinite(change):
        return None, None
    apart = 100 / error + max(-change, 0.0)
    # A root changes half as much, to first order around no change.
    half = 0.5 if view.measure.root else 1.0
    return view.measure.percent(change / apart), finite(100 * half * spread / apart)


def _unjudged(joined: bool) -> str:
    """Return the reason for a join that the learner chose with all others and did not judge."""
    return "with all" if joined else "other model"


def unknown_join(*, joined: bool, verdict: str, judged_by: str = THEORY) -> dict[str, Any]:
    """Return the same of a join whose change is not computed, since there are so many."""
    names = ("change", "change_standard_error", "change_percent", "change_percent_standard_error")
    kind = join_kind({}, joined=joined, verdict=verdict)
    kind = _unjudged(joined) if judged_by == NOT_JUDGED else kind
    known = {**dict.fromkeys(names), "together": None}
    return {**known, "why": WHY[kind], "reason": f"{REASONS[kind]}."}


def line_facts(view: View, line: "Merge") -> dict[str, Any]:
    """Return these facts for a line of a ledger."""
    return join_facts(
        view,
        line.left,
        line.right,
        joined=line.joined,
        verdict=line.verdict,
        judged_by=line.judged_by,
        gain=line.gain,
    )


def ledger_facts(view: View, lines: Sequence[Any]) -> list[dict[str, Any]]:
    """Return these facts for lines of a ledger; only the first of very many have changes."""
    level = float(view.result.analysis.settings.get("delta", Request.delta))
    found = []
    for i, line in enumerate(lines):
        known = i < MOST_CHANGES
        one = unknown_join(joined=line.joined, verdict=line.verdict, judged_by=line.judged_by)
        # Whether the verdict holds for all joins together, not for this one alone.
        sure = line.verdict != "undecided" and line.adjusted_p <= level
        found.append({"holds_for_all": bool(sure), **(line_facts(view, line) if known else one)})
    return found


# --- reasons -------------------------------------------------------------------------------------

BY_SEARCH = "joined by the search"  # against what the two alone say
# Why a join was made or refused, in a few words and as the start of a sentence.
WHY = {
    "better": "joined: better together",
    "leans together": "joined: rows lean to it",
    "better held out": "joined: better on held-out rows",
    "same": "joined: no difference",
    "worse": BY_SEARCH,
    "against": BY_SEARCH,
    "apart": "apart: better apart",
    "leans apart": "apart: rows lean to it",
    "worse held out": "apart: better on held-out rows",
    "verdict": "apart: the verdict",
    "despite": "apart by the search",
    "no gain": "apart: no gain shown",
    "with all": "joined: one model is best",
    "other model": "apart: two models are best",
}
REASONS = {
    "better": "Joined: they predict better together",
    "leans together": "Joined: held-out rows lean towards together, which is not certain",
    "better held out": "Joined: they predict better together on held-out rows, although the gain, "
    "an estimate from all rows, is below zero",
    "same": "Joined: no difference between them could be shown",
    "worse": "Joined by the search over all datasets, although alone they predict worse together",
    "against": "Joined by the search over all datasets, although the verdict on the two is 'apart'",
    "apart": "Kept apart: they predict better apart",
    "leans apart": "Kept apart: held-out rows lean towards apart, which is not certain",
    "worse held out": "Kept apart: they predict better apart on held-out rows, although the gain, "
    "an estimate from all rows, is above zero",
    "verdict": "Kept apart: the verdict on the two is 'apart'",
    "despite": "Kept apart by the search over all datasets, although they predict better together",
    "no gain": "Kept apart: no gain from joining could be shown",
    "with all": "Joined: one model predicts best; this join was not judged alone",
    "other model": "Kept apart: two models predict best; this join was not judged alone",
}


def join_kind(found: Mapping[str, Any], *, joined: bool, verdict: str) -> str:
    """Return the reason for a join, or for its refusal, from its verdict and held-out error.

    A change within its standard error is no change. Beyond it, it is a leaning where the verdict is
    undecided.

    >>> join_kind({"change": -3.0, "change_standard_error": 1.0}, joined=True, verdict="undecided")
    'leans together'
    """
    change, spread = found.get("change"), found.get("change_standard_error")
    lower = higher = False
    if change is not None and spread is not None:
        lower, higher = change < -spread, change > spread
    if verdict == "apart" and not higher:
        # The reason may not say of the error what the number beside it denies.
        if change is not None and change < 0:
            return "against" if joined else "verdict"
        return "worse" if joined else "apart"
    # A gain is an estimate from all rows, and its sign can deny the change on held-out rows.
    gain = found.get("gain") or 0.0
    if verdict == "undecided" and (
        (joined and lower and gain < 0) or (not joined and higher and gain > 0)
    ):
        return "better held out" if joined else "worse held out"
    sure = verdict != "undecided"
    if joined:
        if lower and not sure:
            return "leans together"
        better = lower or (verdict == "join" and not higher)
        return "better" if better else "worse" if higher else "same"
    if higher:
        return "apart" if sure else "leans apart"
    return "despite" if lower else "no gain"


def reason(kind: str, found: Mapping[str, Any], measure: Measure) -> str:
    """Return the reason as a sentence, with the change of the held-out error."""
    percent, spread = found["change_percent"], found["change_percent_standard_error"]
    if percent is None or spread is None:
        return f"{REASONS[kind]}."
    way = "lower" if percent < 0 else "higher"
    return (
        f"{REASONS[kind]} (held-out {measure.short} {unsigned(percent)} {way} together, standard "
        f"error {unsigned(spread)})."
    )


# --- stability -----------------------------------------------------------------------------------


def together(
    stability: "Stability | None", left: Sequence[str], right: Sequence[str]
) -> float | None:
    """Return how often the two sides of a join are together in resamples."""
    return None if stability is None else stability.between(left, right)


def stability_facts(result: "Partition") -> dict[str, Any] | None:
    """Return how stable the partition is; None where that is not known."""
    found = result.analysis.stability
    if found is None:
        return None
    return {
        "resamples": found.resamples,
        "agreement": found.agreement,
        "with_shown": found.with_shown,
        "fewer": has_fewer(found, result.clusters),
        "shaky": found.shaky,
        "splits": int(np.sum(found.sizes > 1)) if len(result.clusters) == 1 else None,
        "clusters": [found.inside(members) for members in result.clusters],
        "together": plain(found.frequencies) if len(result.labels) <= MOST_IN_TABLE else None,
        "words": stability_in_words(found, result.clusters),
    }


def stability_in_words(found: "Stability", clusters: Sequence[Sequence[str]]) -> str:
    """Say how much searches in random halves agree, and which clusters they do not tell apart."""
    text = (
        f"Stability: the search was repeated in {found.resamples} random halves of the rows of "
        f"every dataset; the partitions {_agreement(found)}; 1 is the same partition every time, "
        "0 is chance)."
    )
    whole = int(np.sum(found.sizes == 1))
    if found.shaky and len(clusters) == 1 and whole < found.resamples:
        together = 100 * found.inside(clusters[0])
        return (
            f"{text} In {whole} of them all datasets are in one cluster, as here. In the mean two "
            f"datasets are together in {together:.0f} % of them."
        )
    if found.finds_others and whole > 0 and len(clusters) > 1:
        text += f" In {whole} of them all datasets are in one cluster."
    if len(found.names) > MOST_IN_TABLE:
        return text
    pairs = [(found.between(a, b), a, b) for a, b in combinations(clusters, 2)]
    often = [pair for pair in pairs if pair[0] > OFTEN]
    if not often:
        return text
    share, *sides = max(often, key=lambda pair: pair[0])
    one, two = (listed(side, most=MOST_NAMED) for side in sides)
    others = len(often) - 1
    more = f" So are {others} more pairs." if others > 1 else " So is one more pair." * others
    return (
        f"{text} Halves have fewer rows, and with fewer rows joining helps more: "
        f"{{{one}}} and {{{two}}} are together in {100 * share:.0f} % of them.{more}"
    )


def _agreement(found: "Stability") -> str:
    """Say how much partitions of halves agree, with each other and with the one in use."""
    if found.finds_others and found.with_shown is not None:
        return (
            "mostly differ from the clusters here (mean adjusted Rand index "
            f"{found.with_shown:.2f} with these, {found.agreement:.2f} with each other"
        )
    how = "little" if found.shaky else "well" if found.agreement >= 0.8 else "fairly well"
    return f"agree {how} (mean adjusted Rand index {found.agreement:.2f}"


def has_fewer(found: "Stability", clusters: Sequence[Sequence[str]]) -> bool:
    """Say whether halves have fewer clusters than the partition in use, on average."""
    return bool(found.sizes.mean() < len(clusters))


def share_together(value: float | None, size: int) -> str:
    """Return how stable a cluster is, for a table cell.

    >>> share_together(0.847, 3), share_together(0.3, 1), share_together(None, 2)
    ('together 85 %', 'alone 30 %', '')
    """
    if value is None:
        return ""
    return f"{'together' if size > 1 else 'alone'} {100 * value:.0f} %"
