"""Errors of strategies, and how much better they are than others, as plain values.

A result enters. The error of every strategy leaves, with intervals; for the strategy in use and for
the plain clusters also changes against separate models and one model for all, datasets that carry
them, winners and losers. Percentages are of the error as it is shown: of RMSE for numbers.
"""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from conjoin.report.measure import Measure, measure_of
from conjoin.report.numbers import finite, percent_of
from conjoin.report.view import LEVEL
from conjoin.report.wording import STRATEGIES
from conjoin.strategies import SEARCHED

if TYPE_CHECKING:
    from conjoin.result.improvement import Improvement, Improvements
    from conjoin.result.partition import Partition
    from conjoin.result.values import Estimate

# Share of the mean error of separate models, as it is shown, below which the error of one of them
# is next to 0: a thousandth, as where a target is constant. A percentage of it says nothing.
NEXT_TO_NOTHING = 1e-3
# Why two intervals of one difference are not the same (`strategies.improvement`).
ON_THESE_ROWS = (
    "It is for these held-out rows; intervals in the first sentences are for a check on new rows, "
    "in percent of the other model's error."
)


def strategy_facts(result: "Partition") -> dict[str, dict[str, Any]]:
    """Return the errors of all strategies by name.

    `behind` is how much higher an error is than the lowest one, `percent` the same in percent of
    the lowest as it is shown (of RMSE for numbers); both come with a standard error, and `percent`
    with an interval. They are None for clusters whose partition has seen the held-out rows
    (`kept`), where the fair error is known. `interval` is that of the error as it is shown.
    """
    half = float(stdtrit(np.inf, (1 + LEVEL) / 2))
    measure = measure_of(result.family)
    found = {}
    for name, e in result.errors.items():
        kept = name in ("clusters", "plain") and SEARCHED in result.errors
        percent, spread = (None, None) if kept else _behind(e, measure)
        found[name] = {
            "error": finite(e.error),
            "shown": measure.shown(e.error),
            "interval": [measure.shown(end) for end in e.interval],
            "behind": None if kept else finite(e.behind),
            "standard_error": None if kept else finite(e.standard_error),
            "percent": percent,
            "percent_standard_error": spread,
            "percent_interval": [None, None]
            if percent is None or spread is None
            else [percent - half * spread, percent + half * spread],
            "weight": result.weights.get(name),
            "in_use": name == result.strategy,
            "kept": kept,
            "words": STRATEGIES.get(name, ""),
        }
    return found


def _behind(e: "Estimate", measure: Measure) -> tuple[float | None, float | None]:
    """Return how far an error is behind the lowest, and its standard error, in percent."""
    least = finite(e.error - e.behind)
    behind, spread = (percent_of(finite(x), least) for x in (e.behind, e.standard_error))
    if behind is None or spread is None:
        return None, None
    # A root changes half as much, to first order around the error itself.
    slope = 0.5 / math.sqrt(1 + behind / 100) if measure.root and behind > -100 else 1.0
    return measure.percent(behind / 100), spread * slope


def improvement_facts(result: "Partition") -> dict[str, dict[str, Any]]:
    """Return the comparisons of the strategy in use and of the plain models, where known.

    Plain models are those of the clusters, and with a learner the one that knows the name.
    """
    measure = measure_of(result.family)
    found = {}
    for name in dict.fromkeys((result.strategy, plain_name(result.errors), "learner named")):
        known = result.analysis.improvements(name) if name in result.errors else None
        if known is not None and len(result.labels) > 1:
            found[name] = _plain(known, measure)
    return found


def plain_name(errors: Any) -> str:
    """Return the name of the fair error of plain clusters."""
    if "learner clusters" in errors:
        return "learner clusters"
    return SEARCHED if SEARCHED in errors else "clusters"


def _plain(found: "Improvements", measure: Measure) -> dict[str, Any]:
    return {
        "over": {name: _one(one, measure) for name, one in found.over.items()},
        "lower": found.lower,
        "higher": found.higher,
        "winner": _dataset(found.winner, measure),
        "loser": _loser(found, measure),
    }


def _one(one: "Improvement", measure: Measure) -> dict[str, Any]:
    return {
        "percent": measure.percent(one.change),
        "interval": [measure.percent(end) for end in one.interval],
        "carriers": list(one.carriers),
        "share": finite(one.share),
        "percent_without": measure.percent(one.change_without),
        "interval_without": [measure.percent(end) for end in one.interval_without],
        "percent_typical": measure.percent(one.typical),
    }


def _dataset(found: tuple[str, float] | None, measure: Measure) -> dict[str, Any] | None:
    return None if found is None else {"dataset": found[0], "percent": measure.percent(found[1])}


def behind_note(measure: Measure) -> str:
    """Say what is in that column."""
    return (
        f"Behind the best: how much higher the {measure.short} is than that of the best strategy, "
        f"± one standard error. {ON_THESE_ROWS}"
    )


def _loser(found: "Improvements", measure: Measure) -> dict[str, Any] | None:
    """Return the dataset that loses most, and whether its separate error is next to nothing."""
    one = _dataset(found.loser, measure)
    if one is None:
        return None
    share = measure.shown(found.loser_separate)  # of the mean separate error, as it is shown
    return {**one, "separate_next_to_0": share is not None and share < NEXT_TO_NOTHING}
