"""Errors of strategies on held-out rows with intervals, and how they compare, on demand.

Losses on held-out rows enter. An `Estimate` for each strategy leaves, and `Improvements`: how much
better a strategy is than separate models and than one model for all, with intervals, the datasets
that carry the comparison, and those that win and lose.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from conjoin._typing import FloatArray
from conjoin.engine.methods import Chosen, validate_search
from conjoin.engine.strategies import Strategies
from conjoin.execution import one_thread
from conjoin.result.improvement import Improvement, Improvements
from conjoin.result.values import Estimate
from conjoin.strategies import SEARCHED
from conjoin.strategies.average import summarise
from conjoin.strategies.improvement import (
    HeldOut,
    Ratio,
    carriers,
    compare_errors,
    error_interval,
    typical_ratio,
)
from conjoin.strategies.plan import Start

# What a strategy is compared with.
REFERENCES = ("separate", "pooled")


@one_thread()
def held_out_losses(
    strategies: Strategies, chosen: Chosen, method: str, start: Start
) -> dict[str, HeldOut]:
    """Return the losses of every strategy, of both kinds of clusters, and of those searched again.

    The last is missing where the method cannot search again, or found a single cluster.
    """
    none = np.zeros(len(chosen.labels))
    validated = {**strategies.validated, "clusters": chosen.clusters, "plain": chosen.plain}
    found = {
        name: HeldOut(one.losses, none if one.shift is None else one.shift)
        for name, one in validated.items()
    }
    searched = validate_search(method, chosen, start)
    if searched is not None:
        found[SEARCHED] = HeldOut(searched, found["clusters"].shift)
    return found


def estimate_errors(
    held: Mapping[str, HeldOut],
    w: FloatArray,
    weights: FloatArray,
    scale: float,
    noise: FloatArray | None = None,
) -> dict[str, Estimate]:
    """Return the mean error of every strategy, with its distance to the lowest and its interval.

    The partition of "clusters" and "plain" has seen the held-out rows, so their errors are not
    called the lowest where the fair one is known. `scale` is what a unit of the losses is worth.
    `noise` (K,) is that of `error_interval`.
    """
    kept = [one for one in ("clusters", "plain") if one in held and SEARCHED in held]
    fair = [name for name in held if name not in kept]
    losses = np.stack([held[name].losses for name in (*fair, *kept)])
    found = dict(zip((*fair, *kept), zip(*summarise(losses, w, weights, len(fair)))))
    return {
        name: _estimate([*found[name], *error_interval(one.losses, w, weights, noise)], scale)
        for name, one in held.items()
    }


def mean_error(errors: FloatArray, weights: FloatArray) -> float:
    """Return the mean of errors (K,) by weight; those of weight zero are not known."""
    known = weights > 0
    if not known.any():
        return float("nan")
    return float(np.average(errors[known], weights=weights[known]))


def _estimate(values: Sequence[float], scale: float) -> Estimate:
    error, behind, spread, low, high = (float(x) * scale for x in values)
    return Estimate(error, behind, spread, (low, high))


def find_improvements(
    one: HeldOut,
    held: Mapping[str, HeldOut],
    w: FloatArray,
    weights: FloatArray,
    names: Sequence[str],
) -> Improvements:
    """Compare the losses of a strategy with those of separate models and of one model for all."""
    references = {name: held[name] for name in REFERENCES}
    errors, own = (held.losses.sum(axis=0) / w for held in (one, references["separate"]))
    with np.errstate(divide="ignore", invalid="ignore"):
        change = np.where(own > 0, errors / own - 1, np.nan)
    known = np.where(np.isfinite(change), change, 0.0)
    best, worst = int(np.argmin(known)), int(np.argmax(known))
    loses, usual = known[worst] > 0, float(weights @ own / weights.sum())
    return Improvements(
        over={name: _improvement(one, two, w, weights, names) for name, two in references.items()},
        lower=int(np.sum(known < 0)),
        higher=int(np.sum(known > 0)),
        winner=(names[best], float(known[best])) if known[best] < 0 else None,
        loser=(names[worst], float(known[worst])) if loses else None,
        loser_separate=float(own[worst]) / usual if loses and usual > 0 else float("nan"),
    )


def _improvement(
    one: HeldOut, other: HeldOut, w: FloatArray, weights: FloatArray, names: Sequence[str]
) -> Improvement:
    found = _changes(compare_errors(one, other, w, weights))
    parts = [held.losses.sum(axis=0) / w * weights for held in (one, other)]
    some, typical = carriers(*parts), typical_ratio(one, other) - 1
    if len(some) == 0:
        return Improvement(*found, typical=typical)
    rest = np.setdiff1d(np.arange(len(w)), some)
    without = compare_errors(one.of(rest), other.of(rest), w[rest], weights[rest])
    share = float(parts[1][some].sum() / parts[1].sum())
    who = tuple(names[k] for k in some)
    return Improvement(*found, who, share, *_changes(without), typical)


def _changes(ratio: Ratio) -> tuple[float, tuple[float, float]]:
    return ratio.value - 1, (ratio.low - 1, ratio.high - 1)
