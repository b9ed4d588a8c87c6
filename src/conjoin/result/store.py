"""Models to a file: one JSON document with a version and a checksum, no rows and no code.

A partition enters, a file is written. The document is
`{"format", "format_version", "conjoin", "checksum", "content"}`. The checksum is that of the
content in its canonical form, so that an edited or cut file is noticed. Numbers are written so that
they come back bit by bit, large arrays as base64 of their bytes. `result.load` reads the file.

A learner of another library is saved beside it (`learners.beside`): the content has the checksum of
that file. Both files are written, or none.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from conjoin.files import path_of, write_together
from conjoin.learners.beside import beside, checksum_of, objects_to_bytes
from conjoin.learners.schema import LearnedSchema
from conjoin.learners.stored import learner_to_plain, predictions_to_plain
from conjoin.result.arrays import array_to_plain
from conjoin.result.details import Details, Map
from conjoin.result.document import FORMAT, FORMAT_VERSION, checksum
from conjoin.result.fits import Fit
from conjoin.result.found import changes_to_plain, improvements_to_plain, stability_to_plain
from conjoin.result.intervals import spread_to_plain
from conjoin.result.kept import kept_to_plain
from conjoin.result.placement import Placement, StrategyPrior
from conjoin.result.values import THEORY, Alternative, Assignment, Estimate, Merge
from conjoin.tables.schema import Schema
from conjoin.version import __version__

if TYPE_CHECKING:
    from conjoin.result.partition import Partition

LEAST_FOUR, MOST_FOUR = 1e-30, 1e30  # sizes that four bytes hold with all their digits
SCORE_NUMBERS = ("log_loss", "brier", "auc")
DETAIL_ARRAYS = ("own", "own_spread", "degrees", "cluster_spread", "noise")
PLACEMENT_ARRAYS = ("centre", "covariance", "datasets", "means")
PRIOR_ARRAYS = ("centre", "covariance", "shares")


def save(
    result: "Partition",
    path: str | Path,
    extra: Mapping[str, Any] | None = None,
    *,
    evidence: bool = False,
) -> None:
    """Write a result to a file, completely or not at all.

    `extra` are plain values that are kept beside it. Without `evidence`, figures that take long and
    that nobody has asked for yet are left out: they would take longer than the models themselves.
    """
    if evidence:
        _ = result.analysis.details, result.analysis.stability
    path, objects = path_of(path, "path"), list[Any]()
    content = {**_content(result, objects), "extra": _extra(extra or {}, objects)}
    files = {}
    if objects:
        data = objects_to_bytes(objects)
        files[beside(path)] = data
        content["beside"] = {"checksum": checksum_of(data), "objects": len(objects)}
    document = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "conjoin": __version__,
        "checksum": checksum(content),
        "content": content,
    }
    text = json.dumps(document, allow_nan=False, ensure_ascii=False, indent=1)
    write_together({**files, path: text.encode("utf-8", errors="surrogatepass")})


def _extra(extra: Mapping[str, Any], objects: list[Any]) -> dict[str, Any]:
    """Return what is kept beside a result; the option `learner` of an estimator is made plain."""
    params = dict(extra.get("params", {}))
    if "learner" in params:
        params["learner"] = learner_to_plain(params["learner"], objects)
    return {**extra, **({"params": params} if params else {})}


def _common_model(result: "Partition") -> dict[str, Any]:
    """Return what is known of the model that all datasets share; nothing for lines."""
    found = result.analysis.common_model
    return {} if found is None else {"common_model": found.to_plain()}


def _content(result: "Partition", objects: list[Any]) -> dict[str, Any]:
    names, limits = list(result.coefficients), result.pooled.limits
    numbers = {name: k for k, name in enumerate(names)}
    learned = result.representation
    details, stability = (
        getattr(result.analysis, name) if result.analysis.knows(name) else None
        for name in ("details", "stability")
    )
    return {
        "schema": result.schema.to_plain(),
        **({} if learned is None else {"representation": learned.to_plain(array_to_plain)}),
        **_predictions(result.schema, objects),
        "method": result.method,
        "grouping": result.grouping,
        "strategy": result.strategy,
        "datasets": names,
        "labels": [result.labels[name] for name in names],
        "limits": {name: [_number(x) for x in limits[name]] for name in limits},
        "models": {
            "datasets": _fits([result.coefficients[name] for name in names]),
            "clusters": _fits(result.models),
            "pooled": _fits([result.pooled]),
        },
        "weights": result.weights,
        "errors": {name: _estimate(one) for name, one in result.errors.items()},
        "improvements": improvements_to_plain(result),
        "join_changes": changes_to_plain(result, details),
        "stability": stability_to_plain(stability),
        "ledger": [{**_merge(line, numbers), "score": _score(line)} for line in result.ledger()],
        "alternatives": _alternatives(result.analysis.all_alternatives, names),
        "settings": dict(result.settings),
        "copies": result.analysis.copies,
        "findings": result.analysis.findings.to_plain(),
        "details": _details(details, numbers),
        **_scores(result, names),
        **spread_to_plain(result),
        **_course(result),
        **_common_model(result),
        "placement": _placement(result.analysis.placement),
        **({"added": _added(result.added)} if result.added else {}),
        **_kept(result),
    }


def _kept(result: "Partition") -> dict[str, Any]:
    """Return the moments that rows can be added to, if they were asked for."""
    kept = result.analysis.kept
    return {} if kept is None else {"kept": kept_to_plain(kept)}


def _predictions(schema: Schema, objects: list[Any]) -> dict[str, Any]:
    if not isinstance(schema, LearnedSchema):
        return {}
    return {"predictions": predictions_to_plain(schema.predictions, objects)}


def _added(added: Mapping[str, Assignment]) -> dict[str, Any]:
    """Return the datasets that got a model after fitting."""
    return {
        "datasets": list(added),
        "models": _fits([one.model for one in added.values()]),
        "cluster": [one.cluster for one in added.values()],
        "probabilities": [[*one.probabilities, one.probability_new] for one in added.values()],
        "errors": [{name: _number(x) for name, x in one.errors.items()} for one in added.values()],
        "standard_error": [_number(one.standard_error) for one in added.values()],
    }


def _estimate(one: Estimate) -> list[float | str]:
    return [_number(x) for x in (one.error, one.behind, one.standard_error, *one.interval)]


def _fits(fits: Sequence[Fit]) -> dict[str, Any]:
    """Return models line by line: a regression has one line, a model of C > 2 classes has C."""
    lines = [line for fit in fits for line in fit.lines]
    return {
        "intercept": [line.intercept for line in lines],
        "coef": array_to_plain(np.array([list(line.coef.values()) for line in lines])),
        "rows": [fit.rows for fit in fits],
        "error": [_number(fit.error) for fit in fits],
    }


def _merge(line: Merge, numbers: Mapping[str, int]) -> dict[str, Any]:
    return {
        "left": [numbers[name] for name in line.left],
        "right": [numbers[name] for name in line.right],
        "verdict": line.verdict,
        "gain": _number(line.gain),
        "interval": [_number(x) for x in line.interval],
        "p_value": _number(line.p_value),
        "adjusted_p": _number(line.adjusted_p),
        "validated_change": _number(line.validated_change),
        "standard_error": _number(line.standard_error),
        **({} if line.judged_by == THEORY else {"judged_by": line.judged_by}),
    }


def _score(line: Merge) -> dict[str, Any]:
    return {
        key: _number(value) if isinstance(value, float) else value
        for key, value in asdict(line.score).items()
    }


def _alternatives(
    found: Mapping[str, Sequence[Alternative]], names: Sequence[str]
) -> list[list[list[Any]]]:
    return [
        [
            [
                a.cluster,
                a.verdict,
                _number(a.gain),
                *map(_number, a.interval),
                *([] if a.judged_by == THEORY else [a.judged_by]),
            ]
            for a in found[name]
        ]
        for name in names
    ]


def _details(details: Details | None, numbers: Mapping[str, int]) -> dict[str, Any] | None:
    if details is None:
        return None
    return {
        "errors": {name: array_to_plain(values) for name, values in details.errors.items()},
        **{name: array_to_plain(getattr(details, name)) for name in DETAIL_ARRAYS},
        "dependent": details.dependent,
        "far": {str(j): distance for j, distance in details.far.items()},
        "upper": [_merge(line, numbers) for line in details.upper],
        "map": None if details.map is None else _map(details.map),
        "weights": array_to_plain(details.weights),
    }


def _scores(result: "Partition", names: Sequence[str]) -> dict[str, Any]:
    """Return scores of probabilities, if the target is a class and they are known."""
    found = result.analysis.scored(result.strategy) if result.classes else None
    if found is None:
        return {}
    scores = [found.scores[name] for name in names]
    return {
        "scores": {
            **{name: [_number(getattr(s, name)) for s in scores] for name in SCORE_NUMBERS},
            "rows": [s.rows for s in scores],
            "shares": [[_number(x) for x in s.shares.values()] for s in scores],
        },
        "calibration": [
            [b.low, b.high, b.predicted, b.observed, b.rows, *b.interval] for b in found.calibration
        ],
    }


def _course(result: "Partition") -> dict[str, Any]:
    """Return errors over time, where rows are ordered in time."""
    found = result.analysis.course(result.strategy)
    return {} if found is None else {"course": found.to_plain()}


def _map(found: Map) -> dict[str, Any]:
    """Return the upper triangles; of verdicts and intervals only those that are known."""
    above = np.triu_indices(len(found.groups), 1)
    verdict = found.verdict[above]
    judged = np.flatnonzero(verdict)
    # Four bytes are enough for a picture, and halve the largest part of the file. They do not hold
    # numbers beyond 1e38.
    ends = np.abs([found.gain[above], found.low[above], found.high[above]])
    ends = ends[np.isfinite(ends) & (ends > 0)]
    kind = "<f4" if not ends.size or LEAST_FOUR < ends.min() <= ends.max() < MOST_FOUR else "<f8"
    return {
        "groups": [list(group) for group in found.groups],
        "gain": array_to_plain(found.gain[above], kind),
        "judged": array_to_plain(judged, "<f4"),
        "verdict": array_to_plain(verdict[judged], "<f4"),
        "low": array_to_plain(found.low[above][judged], kind),
        "high": array_to_plain(found.high[above][judged], kind),
    }


def _placement(placement: Placement) -> dict[str, Any]:
    basis = placement.basis
    return {
        **({} if placement.columns is None else {"columns": placement.columns.tolist()}),
        "basis": {
            "center": array_to_plain(basis.center),
            "scale": array_to_plain(basis.scale),
            "target_center": basis.target_center,
            "target_scale": basis.target_scale,
            "intercept": basis.intercept,
            **({} if basis.matrix is None else {"matrix": array_to_plain(basis.matrix)}),
        },
        "noise": placement.noise,
        **{name: array_to_plain(getattr(placement, name)) for name in PLACEMENT_ARRAYS},
        "priors": [_prior(one) for one in placement.priors],
    }


def _prior(one: StrategyPrior) -> dict[str, Any]:
    return {
        "name": one.name,
        "weight": one.weight,
        "noise": one.prior.noise,
        "noise_df": _number(one.prior.noise_df),
        **{name: array_to_plain(getattr(one.prior, name)) for name in PRIOR_ARRAYS},
    }


def _number(value: float) -> float | str:
    """Return a number that JSON can hold."""
    return float(value) if math.isfinite(value) else str(float(value))
