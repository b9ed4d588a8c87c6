"""Coefficients of datasets and clusters as plain values, for the panels of the page.

A `View` enters; for each feature the coefficients of datasets' own fits and of clusters' models,
with intervals, leave. Features in which clusters differ most come first.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from conjoin._typing import FloatArray
from conjoin.report.learners import learner_in_words
from conjoin.report.numbers import plain
from conjoin.report.view import LEVEL, View

if TYPE_CHECKING:
    from conjoin.result.partition import Partition

MOST_PANELS = 12  # features that are drawn, and classes that have panels: four rows on a screen
FEWEST_PANELS = 2  # of a class: with one, classes could not be compared by more than a feature


@dataclass(frozen=True, eq=False)
class Spread:
    """Coefficients of models (m, p), their standard errors and half the width of intervals."""

    value: FloatArray
    standard_error: FloatArray
    half: FloatArray

    def row(self, i: int) -> list[tuple[float, float, float, float]]:
        """Return estimate, standard error and both ends of every coefficient of a model."""
        value, half = self.value[i], self.half[i]
        found = zip(value, self.standard_error[i], value - half, value + half)
        return [(float(a), float(b), float(c), float(d)) for a, b, c, d in found]


def spreads(view: View, level: float = LEVEL) -> tuple[Spread, Spread] | None:
    """Return the coefficients of datasets' own fits and of clusters' models, with intervals.

    Own fits use the t distribution with their own degrees of freedom. None if a file has none.
    """
    d = view.details
    if d is None:
        return None
    models = np.stack([view.coef(model) for model in view.result.models])  # (C, p)
    t = stdtrit(np.maximum(d.degrees, 1.0), (1 + level) / 2)[:, None]
    normal = float(stdtrit(np.inf, (1 + level) / 2))
    return (
        Spread(d.own, d.own_spread, t * d.own_spread),
        Spread(models, d.cluster_spread, normal * d.cluster_spread),
    )


def coefficient_facts(view: View, most: int | None = MOST_PANELS) -> dict[str, Any] | None:
    """Return coefficients by feature, at most so many; None where a file has no details."""
    found, result = spreads(view), view.result
    if found is None:
        return None
    own, clusters = found
    models, missing = clusters.value, np.isnan(own.value)
    order = sorted(range(len(view.names)), key=lambda k: (result.labels[view.names[k]], k))
    labels = np.array([result.labels[view.names[k]] for k in order])
    differ = _differences(view, models, labels)
    shown = _panels(view, differ, most)
    d_line = len(view.line_columns)
    return {
        "names": [view.names[k] for k in order],
        "number": (labels + 1).tolist(),
        "colour": [view.colours[c] for c in labels],
        "left_out": len(view.columns) - len(shown),
        "without": int(missing.all(axis=1).sum()),
        "partly": int((missing.any(axis=1) & ~missing.all(axis=1)).sum()),
        "features": [
            {
                "name": view.columns[j],
                "block": view.classes[j // d_line] if view.classes else None,
                "differ": float(differ[j]),
                "value": plain(own.value[order, j]),
                "low": plain((own.value - own.half)[order, j]),
                "high": plain((own.value + own.half)[order, j]),
                "model": plain(models[:, j]),
                "model_low": plain((models - clusters.half)[:, j]),
                "model_high": plain((models + clusters.half)[:, j]),
            }
            for j in shown
        ],
    }


def _differences(view: View, models: FloatArray, labels: Any) -> FloatArray:
    """Return how much clusters (C, p) differ in each column; one cluster: from zero."""
    if len(models) > 1:
        spread: FloatArray = np.std(models[labels], axis=0) * view.widths
        return spread
    differ: FloatArray = np.abs(models[0]) * view.widths
    if len(view.line_columns) > len(view.features):
        differ[:: len(view.line_columns)] = 0.0  # a level is always large, and says little
    return differ


def _panels(view: View, differ: FloatArray, most: int | None) -> list[int]:
    """Return the coefficients to draw, those that differ most first.

    With more than two classes class by class, the same features for each.
    """
    if not view.classes:
        return [int(j) for j in np.argsort(-differ, kind="stable")[:most]]
    C, d = len(view.classes), len(view.line_columns)
    table = differ.reshape(C, d)
    classes = np.sort(np.argsort(-table.max(axis=1), kind="stable")[:most])
    per_class = None if most is None else max(2 * most // C, FEWEST_PANELS)
    features = np.argsort(-table.max(axis=0), kind="stable")[:per_class]
    return [int(c * d + j) for c in classes for j in features]


def reach_facts(result: "Partition", name: str) -> dict[str, Any]:
    """Return how far the learner's common model holds for a dataset; empty if it is not known."""
    if result.learner == "linear" or len(result.pooled.lines) > 1:
        return {}
    if result.analysis.details is None:
        return {}
    found = result.reach()[name]
    if not math.isfinite(found.value + sum(found.interval)):
        return {}
    return {"reach": {"value": found.value, "interval": list(found.interval)}}


def reach_in_words(facts: dict[str, Any]) -> str:
    """Say how far the common model holds.

    >>> known = {"value": 0.93, "interval": [0.8, 1.06]}
    >>> reach_in_words({"learner": "boosting", "reach": known})[:57]
    'The common model (boosted trees) counts 0.93 times here ('
    """
    low, high = facts["reach"]["interval"]
    return (
        f"The common model ({learner_in_words(facts['learner'])}) counts "
        f"{facts['reach']['value']:.2f} times here (90 % interval {low:.2f} to {high:.2f}; 1: it "
        "holds entirely, 0: not at all)."
    )
