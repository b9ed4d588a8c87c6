"""Intervals around predictions: ends for numbers and counts, sets of classes.

Linear predictors of rows and the names of their datasets enter, with a `Spread` of held-out rows.
Intervals leave: new rows lie inside with the probability that was asked for, on average over rows
like those at fitting.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from conjoin._typing import AnyArray, BoolArray, FloatArray
from conjoin.errors import ArgumentError
from conjoin.families import Response, expected, most_likely, softmax
from conjoin.models.spread import Spread
from conjoin.result.arrays import array_to_plain

if TYPE_CHECKING:
    from conjoin.result.partition import Partition

UNSEEN = -1  # the number of a dataset that was not there at fitting


class Intervals(NamedTuple):
    """Predictions of numbers with an interval each, arrays (rows,)."""

    prediction: FloatArray
    low: FloatArray
    high: FloatArray


class PredictionSets(NamedTuple):
    """Most likely classes (rows,), and which classes are in the set of a row (rows, classes)."""

    prediction: AnyArray
    sets: BoolArray


def find_intervals(
    linear: FloatArray,
    names: Sequence[str | None],
    level: float,
    spread: Spread | None,
    known: Mapping[str, int],
    response: Response,
    added: Mapping[str, float],
) -> Intervals | PredictionSets:
    """Return intervals of rows by their linear predictors (n, L).

    `known` are the numbers of datasets, `added` the errors of those that got a model later.
    """
    if spread is None:
        raise ArgumentError(
            "The model file was written without what intervals need; fit the model again."
        )
    dataset = np.array([UNSEEN if n is None else known.get(n, UNSEEN) for n in names], dtype=int)
    if response.classes:
        P = softmax(linear)
        sets = 1 - P <= spread.quantile(dataset, level)[:, None]
        sets[np.arange(len(P)), np.argmax(P, axis=1)] = True
        return PredictionSets(most_likely(P, response.classes), sets)
    mean = expected(linear, response)
    low, high = spread.ends(dataset, level)
    if added and response.family == "gaussian":
        scale = np.array([np.sqrt(added.get(n, np.nan)) if n else np.nan for n in names])
        own = np.isfinite(scale)
        low[own] = spread.of_shape((1 - level) / 2) * scale[own]
        high[own] = spread.of_shape((1 + level) / 2) * scale[own]
    unit, least = score_scale(mean, response), 0.0 if response.family == "poisson" else -np.inf
    # The prediction lies inside, also where scores of a dataset all have one sign.
    low, high = np.minimum(low, 0.0) * unit, np.maximum(high, 0.0) * unit
    return Intervals(mean, np.maximum(mean + low, least), mean + high)


def score_scale(mean: FloatArray, response: Response) -> FloatArray:
    """Return what a unit of the score is worth (n,): the root of an expected count, else one."""
    if response.family == "poisson":
        return np.sqrt(np.maximum(mean, np.finfo(float).tiny))
    return np.ones(len(mean))


def spread_to_plain(result: "Partition") -> dict[str, Any]:
    """Return what intervals of the strategy in use need, for a model file."""
    spread = result.analysis.spread(result.strategy)
    if spread is None:
        return {}
    names = ("own", "unseen", "shape")
    return {"spread": {name: array_to_plain(getattr(spread, name)) for name in names}}
