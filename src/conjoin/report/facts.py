"""A result as one dict of plain values, which feeds `--json`, the page, terminal and notebook.

A `Partition` or a `Comparison` enters; dicts, lists, texts and finite numbers leave (None for what
is not known), so that JSON can hold all of it. Faces take every number and sentence from here, so
that one number has one name everywhere. What takes long to find is included only if asked for.
"""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from conjoin.report import headline, wording
from conjoin.report.cautions import cautions
from conjoin.report.coefficients import MOST_PANELS, reach_facts, reach_in_words
from conjoin.report.joins import join_facts, ledger_facts, stability_facts
from conjoin.report.measure import measure_of
from conjoin.report.notices import outlier_facts
from conjoin.report.numbers import finite
from conjoin.report.page_facts import page_facts
from conjoin.report.probabilities import dataset_scores, score_facts
from conjoin.report.strategies import improvement_facts, strategy_facts
from conjoin.report.view import View
from conjoin.result.fits import Fit, LinearFit, LogisticFit
from conjoin.strategies import SEARCHED
from conjoin.version import __version__

if TYPE_CHECKING:
    from conjoin.result.comparison import Comparison
    from conjoin.result.learned_fit import LearnedFit
    from conjoin.result.partition import Partition
    from conjoin.result.scores import Scored
    from conjoin.result.values import Alternative, Merge

# Names of models in the "errors" of `dataset_facts`, which scripts may know.
OLD_NAMES = {
    "in_use": "in use, strategy '{}'",
    "own": "its own",
    "cluster": "its cluster's",
    "all": "for all",
}


def facts(
    result: "Partition",
    *,
    most_steps: int | None = None,
    details: bool = False,
    panels: int | None = MOST_PANELS,
) -> dict[str, Any]:
    """Return a partition as plain values.

    Parameters
    ----------
    result : Partition
    most_steps : int, optional
        Lines of the ledger; by default all, of which a thousand take seconds.
    details : bool, default False
        Whether there is a key "details" with what only the page shows: tree, map of gains,
        coefficients with intervals, reasons for every dataset, settings, versions.
    panels : int, optional
        Features whose coefficients are in the details, None for all; by default twelve.

    Returns
    -------
    dict
        With "notices" (what to know first), "outliers", "verdict" (the headline), "clusters",
        "strategies", "ledger", "datasets", "cautions"
        and what they are about. Errors stand as "error" (mean squared error, log loss or half the
        deviance) and as "shown" (its root for mean squared errors).

    Examples
    --------
    >>> import conjoin
    >>> from conjoin.datasets import make_clusters
    >>> stores = make_clusters(sizes=(3, 2), n=60, p=4, distance=2.0).tables()
    >>> found = facts(conjoin.partition(stores, target="y"))
    >>> [cluster["datasets"] for cluster in found["clusters"]]
    [['d1', 'd2', 'd3'], ['d4', 'd5']]
    >>> round(found["strategies"]["clusters"]["shown"], 2)
    1.03
    """
    scored = result.analysis.scored(result.strategy) if result.classes else None
    found = {
        "conjoin": __version__,
        "target": result.schema.roles.target,
        "family": result.family,
        **({"classes": list(result.classes)} if result.classes else {}),
        "by": list(result.schema.roles.by),
        "notices": result.notices,
        "outliers": outlier_facts(result.analysis.findings),
        "verdict": "",
        "method": result.method,
        "grouping": result.grouping,
        **_brief(result),
        "strategies": strategy_facts(result),
        "advice": "",
        "improvements": improvement_facts(result),
        "stability": stability_facts(result),
        "steps": len(result.analysis.steps),
        "ledger": _ledger(result, most_steps),
        "datasets": _datasets(result, scored),
        **({} if scored is None else score_facts(scored)),
        **_representation(result),
        "columns": result.columns,
        "cautions": cautions(result, scored),
        "found_again": SEARCHED in result.errors,
    }
    found["advice"] = headline.advice(found)
    sentences = headline.headline(found)
    found |= {"verdict": " ".join(sentences), "sentences": sentences}
    if details:
        found["details"] = page_facts(result, panels)
    return found


def brief_facts(result: "Partition") -> dict[str, Any]:
    """Return what is known of a partition without its errors, which can take long to find."""
    return {"family": result.family, "notices": result.notices, **_brief(result)}


def _brief(result: "Partition") -> dict[str, Any]:
    measure = measure_of(result.family)
    return {
        "strategy": result.strategy,
        "learner": result.learner,
        "measure": {"percent": measure.name, "gain": measure.gain, "shown": measure.short},
        "counts": {
            "datasets": len(result.labels),
            "clusters": len(result.clusters),
            "rows": result.pooled.rows,
            "features": len(result.features),
        },
        "clusters": [
            {
                "number": c + 1,
                "datasets": members,
                "rows": model.rows,
                **_error(result, model),
                "model": _model(model),
            }
            for c, (members, model) in enumerate(zip(result.clusters, result.models))
        ],
    }


def _datasets(result: "Partition", scored: "Scored | None") -> dict[str, dict[str, Any]]:
    scores = {} if scored is None else scored.scores
    return {
        name: {
            "cluster": result.labels[name],
            "number": result.labels[name] + 1,
            "rows": model.rows,
            **_error(result, model),
            "model": _model(model),
            **({"scores": dataset_scores(scores[name])} if scores else {}),
        }
        for name, model in result.coefficients.items()
    }


def _representation(result: "Partition") -> dict[str, Any]:
    learned = result.representation
    if learned is None:
        return {}
    return {
        "representation": {
            "description": learned.description,
            "features": list(learned.names),
            "rows": learned.rows,
            "taught": learned.train_rows,
            "used": learned.model_rows,
            "losses": list(learned.losses),
            "held_out": list(learned.held_out),
        }
    }


# --- one dataset, and two ------------------------------------------------------------------------


def dataset_facts(result: "Partition", name: str) -> dict[str, Any]:
    """Return all that is known of one dataset as plain values.

    Parameters
    ----------
    result : Partition
    name : str
        A dataset of the result.

    Returns
    -------
    dict
        With "reason" (why it is in its cluster), "alternatives" (its own cluster and the nearest
        others), "models" (errors of several models on its held-out rows) and "coef".

    Raises
    ------
    DataError
        If the result has no such dataset.

    Examples
    --------
    >>> import conjoin
    >>> from conjoin.datasets import make_clusters
    >>> stores = make_clusters(sizes=(3, 2), n=60, p=4, distance=2.0).tables()
    >>> dataset_facts(conjoin.partition(stores, target="y"), "d1")["members"]
    ['d1', 'd2', 'd3']
    """
    lines, view = result.explain(name), View(result)
    cluster, model = result.labels[name], result.coefficients[name]
    scored = result.analysis.scored(result.strategy) if result.classes else None
    models = _dataset_models(result, view, name)
    found = {
        "dataset": name,
        "cluster": cluster,
        "number": cluster + 1,
        "members": result.clusters[cluster],
        "rows": model.rows,
        "strategy": result.strategy,
        "learner": result.learner,
        **reach_facts(result, name),
        "family": result.family,
        **({"classes": list(result.classes)} if result.classes else {}),
        "time": result.schema.roles.time,
        "reason": "",
        "models": models,
        # The same under the names that scripts know.
        "errors": {
            OLD_NAMES[key].format(result.strategy): one["error"]
            for key, one in models.items()
            if key in OLD_NAMES
        },
        **({} if scored is None else {"scores": dataset_scores(scored.scores[name])}),
        "alternatives": [_alternative(result, view, name, line) for line in lines],
        "coef": {
            feature: {
                "own": model.coef[feature],
                "in_use": model.coef[feature],
                "all": result.pooled.coef[feature],
                "shift": finite((model.coef[feature] - result.pooled.coef[feature]) * width),
            }
            for feature, width in _widths(result.pooled)
        },
    }
    reason = wording.reason(found)
    if "reach" in found:
        reason += f" {reach_in_words(found)}"
    return {**found, "reason": reason, "others_note": wording.others_note(found)}


def _alternative(result: "Partition", view: View, name: str, line: "Alternative") -> dict[str, Any]:
    others = list(line.others) or [n for n in result.clusters[line.cluster] if n != name]
    own = line.cluster == result.labels[name]
    return {
        "cluster": line.cluster,
        "number": line.cluster + 1,
        "own": own,
        "datasets": others,
        "verdict": line.verdict,
        "gain": finite(line.gain),
        "percent": view.percent(finite(line.gain), [name, *others]),
        **_interval(line.interval),
        "judged_by": line.judged_by,
        **join_facts(
            view,
            [name],
            others,
            joined=own,
            verdict=line.verdict,
            judged_by=line.judged_by,
            gain=line.gain,
        ),
    }


def _dataset_models(result: "Partition", view: View, name: str) -> dict[str, dict[str, Any]]:
    """Return the errors of several models on held-out rows of one dataset."""
    found = {"in_use": _error(result, result.coefficients[name])}
    details = view.details
    if details is not None:
        k = view.position[name]
        for key in wording.MODELS:
            if key in details.errors:
                error = finite(float(details.errors[key][k]))
                found[key] = {"error": error, "shown": view.measure.shown(error)}
    return found


def _widths(fit: Fit) -> Iterator[tuple[str, float]]:
    """Yield the coefficients of a model by name, each with the width of its column."""
    width = {column: high - low for column, (low, high) in fit.limits.items()}
    columns = [column for line in fit.lines for column in line.coef]
    for feature, column in zip(fit.coef, columns):
        yield feature, width.get(column, 1.0)


def comparison_facts(
    result: "Comparison", a: str = "the first dataset", b: str = "the second dataset"
) -> dict[str, Any]:
    """Return a comparison as plain values; `a` and `b` name the two datasets in its sentence.

    Examples
    --------
    >>> import conjoin
    >>> from conjoin.datasets import make_pair
    >>> one, two = make_pair(p=3, n=200, d=1.0).tables().values()
    >>> comparison_facts(conjoin.compare(one, two, target="y"), "one", "two")["verdict"]
    'apart'
    """
    fit = result.fit_joined
    family = "logistic" if isinstance(fit, LogisticFit) else fit.family
    shown = measure_of(family).shown
    found = {
        "conjoin": __version__,
        "family": family,
        "notices": list(result.notices),
        "outliers": outlier_facts(result.findings),
        "verdict": result.verdict,
        "join": result.join,
        "gain": finite(result.gain),
        "interval": [finite(x) for x in result.interval],
        "delta": result.delta,
        "few_rows_decide": result.few_rows_decide,
        "rows_to_settle": result.rows_to_settle,
        "method": result.method,
        "learner": result.learner,
        "learner_asked": result.asked,
        "learner_errors": {name: shown(error) for name, error in result.learner_errors.items()},
        "folds": result.folds,
        "repeats": result.repeats,
        "reason": result.reason,
        "score": finite(result.score),
        **_paper_facts(result),
        "error_separate": finite(result.error_separate),
        "error_joined": finite(result.error_joined),
        "shown_separate": shown(result.error_separate),
        "shown_joined": shown(result.error_joined),
        "models": {
            name: {"rows": fit.rows, **_any_model(fit)}
            for name, fit in (
                ("a", result.fit_a), ("b", result.fit_b), ("joined", result.fit_joined),
            )
        },
    }  # fmt: skip
    return {**found, "sentence": headline.comparison_headline(found, a, b)}


def _paper_facts(result: "Comparison") -> dict[str, Any]:
    """Return the numbers of the paper's methods; None for other methods."""
    ends = result.proxy_acc_range
    return {
        "threshold": result.threshold,
        "phi": finite(result.phi),
        "psi": finite(result.psi),
        "alpha": finite(result.alpha),
        "proxy_acc": finite(result.proxy_acc),
        "proxy_acc_range": None if ends is None else [finite(end) for end in ends],
    }


# --- shared --------------------------------------------------------------------------------------


def _error(result: "Partition", model: Fit) -> dict[str, float | None]:
    shown = measure_of(result.family).shown(model.error)
    return {"error": finite(model.error), "shown": shown}


def _model(fit: Fit) -> dict[str, Any]:
    return {"intercept": fit.intercept, "coef": dict(fit.coef)}


def _any_model(fit: "Fit | LearnedFit") -> dict[str, Any]:
    """Return what there is to say of a model: coefficients of lines, settings of a learner."""
    if isinstance(fit, LinearFit | LogisticFit):
        return _model(fit)
    return {"learner": fit.learner, "error": finite(fit.error), "settings": dict(fit.settings)}


def _interval(ends: tuple[float, float]) -> dict[str, Any]:
    """Return an interval, and whether its ends are infinite because there are too few rows."""
    few = all(math.isinf(end) for end in ends)
    return {"interval": [finite(end) for end in ends], "too_few_rows": few}


def _ledger(result: "Partition", most: int | None) -> list[dict[str, Any]]:
    lines, view = result.ledger(most), View(result)
    return [{**_step(line), **why} for line, why in zip(lines, ledger_facts(view, lines))]


def _step(line: "Merge") -> dict[str, Any]:
    return {
        "left": list(line.left),
        "right": list(line.right),
        "joined": line.joined,
        "verdict": line.verdict,
        "gain": finite(line.gain),
        **_interval(line.interval),
        "p_value": finite(line.p_value),
        "adjusted_p": finite(line.adjusted_p),
        "judged_by": line.judged_by,
    }
