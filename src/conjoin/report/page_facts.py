"""What only the page shows, as plain values: `facts(result, details=True)["details"]`.

A result enters; tree, map, coefficients, clusters and datasets with reasons, hints on
columns, settings and versions leave. Figures come from the result and its details; nothing is
fitted or judged here. What a model file lacks is None, and the page says so.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from conjoin._typing import FloatArray
from conjoin.report import again, wording
from conjoin.report.cautions import data_hints
from conjoin.report.coefficients import coefficient_facts
from conjoin.report.common_model import common_facts
from conjoin.report.course import course_facts
from conjoin.report.measure import Measure, page_words
from conjoin.report.numbers import finite, mean, percent_change
from conjoin.report.probabilities import page_scores
from conjoin.report.representation import plain_picture
from conjoin.report.tree import map_facts, tree_facts
from conjoin.report.view import LEVEL, View
from conjoin.representations.picture import take_picture
from conjoin.text import listed

if TYPE_CHECKING:
    from conjoin.result.partition import Partition
    from conjoin.result.values import Alternative

MOST_SHIFTS = 3  # coefficients named for a cluster: as many as fit beside its members


def page_facts(result: "Partition", panels: int | None) -> dict[str, Any]:
    """Return all that only the page shows, with the coefficients of at most so many features."""
    view, several = View(result), len(result.clusters) > 1
    kind = {"family": result.family, "target": result.schema.roles.target}
    scored = result.analysis.scored(result.strategy) if result.classes else None
    return {
        "words": page_words({**kind, "classes": result.classes}),
        "level": round(100 * LEVEL),
        "clusters": _clusters(view),
        "tree": tree_facts(view),
        # With one cluster there are no clusters to tell apart, nor pairs of them.
        "map": map_facts(view) if several else None,
        "coefficients": coefficient_facts(view, panels) if several else None,
        "probabilities": page_scores(result.classes, scored) if result.classes else None,
        "datasets": _datasets(view),
        "hints": data_hints(result, view.details),
        "settings": again.settings_in_words(result),
        "versions": again.versions(),
        "commands": again.commands(result),
        "representation": _representation(result),
        "picture": _picture(result),
        "course": course_facts(result.analysis.course(result.strategy), view.measure),
        "common": common_facts(result),
    }


def _representation(result: "Partition") -> dict[str, Any] | None:
    """Return what the section on a representation says; None where it has nothing to show."""
    learned = result.representation
    if learned is None or len(result.features) < 2:
        return None
    rows = wording.rows_drawn(learned.rows, learned.train_rows, learned.model_rows)
    return {"learned": learned.learns_from_target, "rows": rows}


def _picture(result: "Partition") -> dict[str, Any] | None:
    """Return the points of the picture; None without a representation, and from a file."""
    learned = result.representation
    if learned is None or learned.projection is None or len(result.features) < 2:
        return None
    labels = np.array([*result.labels.values()])
    return plain_picture(take_picture(learned.projection, [*result.labels], labels))


def _clusters(view: View) -> list[dict[str, Any]]:
    """Return errors of own models and in use, their change, and how coefficients differ."""
    result, details = view.result, view.details
    common = view.common
    found = []
    for c, (members, model) in enumerate(zip(result.clusters, result.models)):
        index = [view.position[name] for name in members]
        own = None if details is None else _average(view, details.errors["own"], index)
        coef = view.coef(model)
        order = np.argsort(-np.abs(coef - common) * view.widths, kind="stable")[:MOST_SHIFTS]
        found.append(
            {
                "colour": view.colours[c],
                "own": view.measure.shown(own),
                "in_use": view.measure.shown(_average(view, view.in_use, index)),
                "change": percent_change(view.measure.shown(model.error), view.measure.shown(own)),
                "shifts": [
                    {
                        "feature": view.columns[j],
                        "coef": float(coef[j]),
                        "common": float(common[j]),
                    }
                    for j in (order if len(result.clusters) > 1 else ())
                ],
            }
        )
    return found


def _average(view: View, errors: FloatArray, index: Sequence[int]) -> float | None:
    """Return the mean error of some datasets, weighed as in the errors of strategies."""
    some = errors[index]
    if view.details is None or not np.isfinite(some).all():
        return mean(some)
    return finite(float(np.average(some, weights=view.details.weights[index])))


def _datasets(view: View) -> dict[str, dict[str, Any]]:
    """Return errors of several models, the decision with its reason, and the runner-up."""
    result, details = view.result, view.details
    found = {}
    alternatives = result.analysis.all_alternatives
    for k, name in enumerate(view.names):
        cluster = result.labels[name]
        own, other = _own_and_other(view, name, alternatives[name])
        errors = {} if details is None else details.errors
        shown = {
            key: view.measure.shown(float(errors[key][k])) if key in errors else None
            for key in wording.MODELS
        }
        known = {key: error for key, error in shown.items() if error is not None}
        others = [n for n in result.clusters[cluster] if n != name]
        found[name] = {
            "colour": view.colours[cluster],
            "models": shown,
            "lowest": min(known, key=lambda key: known[key]) if known else None,
            "decision": wording.decision(others, 3),
            "reason": wording.brief_reason(own, other, view.measure),
            "verdict": own["verdict"] if own else None,
            "verdict_words": wording.brief_verdict(own) if own else None,
            "runner_up": other and _runner_up(other, view.measure),
        }
    return found


def _runner_up(other: dict[str, Any], measure: Measure) -> dict[str, Any]:
    """Return the best other cluster with words for its effect and its verdict."""
    effect = wording.brief_effect(other["percent"], measure, other["judged_by"])
    return {**other, "effect": effect, "verdict_words": wording.brief_verdict(other)}


def _own_and_other(
    view: View, name: str, lines: Sequence["Alternative"]
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Return what is known of a dataset's own cluster, and of the best other one."""
    cluster = view.result.labels[name]
    own = next((line for line in lines if line.cluster == cluster), None)
    others = [line for line in lines if line.cluster != cluster]
    known = [line for line in others if not math.isnan(line.gain)]
    best = max(known, key=lambda line: line.gain) if known else next(iter(others), None)
    return _line(view, name, own), _line(view, name, best)


def _line(view: View, name: str, line: "Alternative | None") -> dict[str, Any] | None:
    if line is None:
        return None
    members = view.result.clusters[line.cluster]
    others = line.others or [n for n in members if n != name]
    gain = finite(line.gain)
    return {
        "number": line.cluster + 1,
        "members": listed(members, 2),
        # What the dataset was joined with, where that is only a part of its cluster.
        "with": f"{listed(others, 2)} " if 1 + len(others) < len({name, *members}) else "",
        "verdict": line.verdict,
        "judged_by": line.judged_by,
        "gain": gain,
        "percent": view.percent(gain, [name, *others]),
    }
