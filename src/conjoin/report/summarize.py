"""A result as a dict of plain values: what `--json` prints and what pages are made of."""

import math
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

from conjoin.report.measure import Measure, measure_of
from conjoin.report.probabilities import of_dataset
from conjoin.result.fits import Fit, LogisticFit
from conjoin.result.partition import Comparison, MergeVerdict, Partition
from conjoin.result.scores import Scored
from conjoin.text import listed
from conjoin.version import __version__

MOST_CLUSTERS_SHOWN = 6
CLEARLY = 1.01  # error over that of separate models from which these are recommended
EXACT = 1e-4  # error over the target's variance below which a feature may contain the target


def summarize(result: Partition, *, most_steps: int | None = None) -> dict[str, Any]:
    """Return a partition as plain values; numbers that are not finite are None.

    `most_steps` limits the ledger: a verdict on each of a thousand joins takes seconds.
    """
    errors = result.errors
    scored = result.analysis.scored(result.strategy) if result.classes else None
    scores = {} if scored is None else scored.scores
    return {
        "conjoin": __version__,
        "target": result.schema.roles.target,
        "family": result.family,
        **({"classes": list(result.classes)} if result.classes else {}),
        "by": list(result.schema.roles.by),
        "verdict": headline(result),
        "method": result.method,
        "strategy": result.strategy,
        "clusters": [
            {
                "datasets": members,
                "rows": model.rows,
                "error": _finite(model.error),
                "model": _model(model),
            }
            for members, model in zip(result.clusters, result.models)
        ],
        "strategies": {
            name: {
                "error": _finite(e.error),
                "behind": _finite(e.behind),
                "standard_error": _finite(e.standard_error),
                "weight": result.weights.get(name),
            }
            for name, e in errors.items()
        },
        "ledger": [_step(line) for line in result.ledger(most_steps)],
        "datasets": {
            name: {
                "cluster": result.labels[name],
                "rows": model.rows,
                "error": _finite(model.error),
                "model": _model(model),
                **({"scores": of_dataset(scores[name])} if scores else {}),
            }
            for name, model in result.coefficients.items()
        },
        **({} if scored is None else _scored(scored)),
        **_representation(result),
        "columns": result.columns,
        "cautions": cautions(result),
    }


def _representation(result: Partition) -> dict[str, Any]:
    """Return what is told of a representation."""
    learned = result.representation
    if learned is None:
        return {}
    return {
        "representation": {
            "description": learned.description,
            "features": list(learned.names),
            "rows": learned.rows,
            "taught": learned.taught,
            "used": learned.used,
            "losses": list(learned.losses),
            "held_out": list(learned.held_out),
        }
    }


def _scored(scored: Scored) -> dict[str, Any]:
    """Return scores averaged over datasets, and the calibration."""
    return {
        "scores": {name: _finite(value) for name, value in scored.means().items()},
        "calibration": [asdict(b) for b in scored.calibration],
    }


def scores_in_words(result: Partition) -> str:
    """Say how good the probabilities of classes are."""
    scored = result.analysis.scored(result.strategy)
    if scored is None:
        return "How good the probabilities are is not known: the model file was written without it."
    means = scored.means()
    area = "unknown" if math.isnan(means["auc"]) else f"{means['auc']:.3f}"
    return (
        f"Probabilities on left-out rows, averaged over datasets: log loss "
        f"{means['log_loss']:.4g}, Brier score {means['brier']:.4g}, AUC {area}."
    )


def cautions(result: Partition) -> list[str]:
    """Return what a reader should know before trusting the result."""
    found = []
    least = min(e.error for e in result.errors.values())
    if least < EXACT * result.analysis.placement.basis.target_scale**2:
        found.append(
            f"The features give '{result.schema.roles.target}' almost exactly; does one of them "
            "contain it? Leave such columns out with features."
        )
    if result.representation is not None and result.representation.flatters:
        found.append(
            "The representation has seen the target of the rows on which errors are validated, so "
            "they are too low; learn_share=0.5 leaves it other rows."
        )
    few = [name for name, m in result.coefficients.items() if m.rows <= len(result.features)]
    if few:
        have, live = ("has", "it lives") if len(few) == 1 else ("have", "they live")
        found.append(
            f"{len(few)} of {len(result.labels)} datasets {have} no more rows than features "
            f"({len(result.features)}); {live} on what others lend."
        )
    scored = result.analysis.scored(result.strategy) if result.classes else None
    one_class = 0 if scored is None else sum(math.isnan(s.auc) for s in scored.scores.values())
    if one_class:
        have = "has" if one_class == 1 else "have"
        found.append(
            f"{one_class} of {len(result.labels)} datasets {have} rows of one class only: there is "
            "no AUC, and models live on what others lend them."
        )
    return found


def summarize_dataset(result: Partition, name: str) -> dict[str, Any]:
    """Return all that is known of one dataset as plain values."""
    alternatives = result.explain(name)
    cluster = result.labels[name]
    model, pooled = result.coefficients[name], result.pooled
    scored = result.analysis.scored(result.strategy) if result.classes else None
    return {
        "dataset": name,
        "cluster": cluster,
        "members": result.clusters[cluster],
        "rows": model.rows,
        "strategy": result.strategy,
        "family": result.family,
        **({"classes": list(result.classes)} if result.classes else {}),
        "reason": _reason(result, name),
        "errors": _dataset_errors(result, name),
        **({} if scored is None else {"scores": of_dataset(scored.scores[name])}),
        "alternatives": [
            {
                "cluster": a.cluster,
                "own": a.cluster == cluster,
                "datasets": [n for n in result.clusters[a.cluster] if n != name],
                "verdict": a.verdict,
                "gain": _finite(a.gain),
                "interval": [_finite(x) for x in a.interval],
            }
            for a in alternatives
        ],
        "coef": {
            feature: {
                "own": model.coef[feature],
                "pooled": pooled.coef[feature],
                "shift": _finite((model.coef[feature] - pooled.coef[feature]) * width),
            }
            for feature, width in _widths(pooled)
        },
    }


def _widths(fit: Fit) -> Iterator[tuple[str, float]]:
    """Yield the coefficients of a model by name, each with the width of its column."""
    width = {column: high - low for column, (low, high) in fit.limits.items()}
    columns = [column for line in fit.lines for column in line.coef]
    for feature, column in zip(fit.coef, columns):
        yield feature, width.get(column, 1.0)


def _dataset_errors(result: Partition, name: str) -> dict[str, float | None]:
    """Return the errors of several models on left-out rows of one dataset."""
    found = {f"in use, strategy '{result.strategy}'": _finite(result.coefficients[name].error)}
    details = result.analysis.details
    if details is not None:
        k = list(result.labels).index(name)
        for key, words in (("own", "its own"), ("cluster", "its cluster's"), ("pooled", "pooled")):
            found[words] = _finite(float(details.errors[key][k]))
    return found


def _reason(result: Partition, name: str) -> str:
    """Say in a sentence why a dataset is where it is."""
    effect = partial(_effect, measure=measure_of(result.family))
    cluster = result.labels[name]
    others = [n for n in result.clusters[cluster] if n != name]
    lines = {a.cluster: a for a in result.explain(name)}
    nearest = next((a for a in lines.values() if a.cluster != cluster), None)
    if others:
        own = lines[cluster]
        text = (
            f"{name} is trained with {listed(others)}: joining it with them {effect(own.gain)} "
            f"(verdict: {own.verdict})."
        )
    else:
        text = f"{name} is trained alone."
    if nearest is not None:
        text += (
            " The nearest alternative is the cluster of "
            f"{listed(result.clusters[nearest.cluster])}: joining it {effect(nearest.gain)} (verdict: {nearest.verdict})."
        )
    if (others and lines[cluster].gain < 0) or (nearest is not None and nearest.gain > 0):
        text += (
            " The partition is chosen for all datasets together, so that a join judged by itself "
            "can point the other way."
        )
    return text


def _effect(gain: float, measure: Measure) -> str:
    """Say what a join does to the expected error."""
    if not math.isfinite(gain):
        return "has an effect that cannot be estimated"
    effect = "lowers" if gain >= 0 else "raises"
    return f"{effect} the expected {measure.gain} by {abs(gain):.4g}"


def summarize_comparison(result: Comparison) -> dict[str, Any]:
    """Return a comparison as plain values."""
    fit = result.fit_joined
    return {
        "conjoin": __version__,
        "family": "logistic" if isinstance(fit, LogisticFit) else fit.family,
        "verdict": result.verdict,
        "join": result.join,
        "gain": _finite(result.gain),
        "interval": [_finite(x) for x in result.interval],
        "delta": result.delta,
        "rows_to_settle": result.rows_to_settle,
        "method": result.method,
        "score": _finite(result.score),
        "error_separate": _finite(result.error_separate),
        "error_joined": _finite(result.error_joined),
        "models": {
            name: _model(fit)
            for name, fit in (
                ("a", result.fit_a), ("b", result.fit_b), ("joined", result.fit_joined),
            )
        },
    }  # fmt: skip


def headline(result: Partition) -> str:
    """Return the verdict in a sentence or two.

    Errors of the strategy in use, validated on rows left out, are compared with those of separate
    models and of one pooled model.
    """
    errors = result.errors
    ours = errors[result.strategy].error
    changes = [
        change(ours, errors[other].error, words)
        for other, words in (("separate", "separate models"), ("pooled", "one pooled model"))
        if other != result.strategy
    ]
    text = _models_in_words(result)
    name = measure_of(result.family).name
    text += f"; expected {name} {', '.join(changes)} (strategy '{result.strategy}')."
    if result.strategy != "clusters":
        cost = change(errors["clusters"].error, ours, f"'{result.strategy}'")
        text += f" With one plain model a cluster instead it is {cost}."
    if ours > CLEARLY * errors["separate"].error:
        text += " Separate models do best here: choose strategy 'separate'."
    return text


def in_short(result: Partition) -> str:
    """Return what was found, without what takes long to find, and where the evidence is."""
    return (
        f"{_models_in_words(result)} (strategy '{result.strategy}'). See errors, verdicts and "
        "report(path) for the evidence."
    )


def _models_in_words(result: Partition) -> str:
    count, datasets = len(result.clusters), len(result.labels)
    if count == datasets == 1:
        return "Train 1 model for the only dataset"
    if count == 1:
        return f"Train 1 model for all {datasets:,} datasets"
    if count == datasets:
        return f"Train {count:,} models, one for each dataset"
    return f"Train {count:,} models for {datasets:,} datasets: {clusters_in_words(result)}"


def clusters_in_words(result: Partition) -> str:
    """Return the clusters, the first few of them, in braces."""
    parts = []
    for cluster in result.clusters[:MOST_CLUSTERS_SHOWN]:
        parts.append("{" + listed(cluster) + "}")
    more = len(result.clusters) - MOST_CLUSTERS_SHOWN
    return ", ".join(parts) + (f" and {more} more" if more > 0 else "")


def change(error: float, other: float, words: str) -> str:
    """Say how much lower or higher an error is than another one, in percent."""
    if not (math.isfinite(error) and math.isfinite(other) and other > 0):
        return f"not comparable with {words}"
    if error > 3 * other:
        return f"{error / other:,.0f} times that of {words}"
    share = round(100 * (error / other - 1))
    if share == -100:
        return f"more than 99 % lower than {words}"
    if share == 0:
        return f"the same as {words}"
    return f"{abs(share)} % {'lower' if share < 0 else 'higher'} than {words}"


def _model(fit: Fit) -> dict[str, Any]:
    return {"intercept": fit.intercept, "coef": dict(fit.coef)}


def _step(line: MergeVerdict) -> dict[str, Any]:
    return {
        "left": list(line.left),
        "right": list(line.right),
        "joined": line.joined,
        "verdict": line.verdict,
        "gain": _finite(line.gain),
        "interval": [_finite(x) for x in line.interval],
    }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
