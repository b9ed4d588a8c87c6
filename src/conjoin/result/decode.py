"""Values of a model file back into objects: models, ledger, details, scores, placement.

Plain values of the file's content enter, the objects that `result.store` made plain leave.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from conjoin.criterion import PairScore
from conjoin.errors import ReadError
from conjoin.families import Label
from conjoin.models.newcomer import Prior
from conjoin.moments import Basis
from conjoin.result.arrays import plain_to_array
from conjoin.result.common_model import CommonModel
from conjoin.result.details import Details, Map, by_ledger
from conjoin.result.fits import Fit, Limits, LinearFit, LogisticFit
from conjoin.result.placement import Placement, StrategyPrior
from conjoin.result.scores import Bin, Scored, Scores
from conjoin.result.store import DETAIL_ARRAYS, PLACEMENT_ARRAYS, PRIOR_ARRAYS, SCORE_NUMBERS
from conjoin.result.values import THEORY, Assignment, Merge
from conjoin.tables.schema import Schema


def common_model_from_plain(plain: Mapping[str, Any] | None) -> CommonModel | None:
    """Return what is known of the common model; older files, and those of lines, have nothing."""
    return None if plain is None else CommonModel.from_plain(plain)


def fits_from_plain(fits: Mapping[str, Any], schema: Schema, limits: Limits) -> list[Fit]:
    """Return the models of datasets, of clusters, or the pooled one."""
    response = schema.response
    known = list(zip(fits["rows"], map(float, fits["error"])))
    each = len(fits["intercept"]) // max(len(known), 1)  # lines of a model
    kind = "gaussian" if response.classes else response.family
    coef, features = plain_to_array(fits["coef"]), len(schema.features)
    if len(coef) and coef.shape[1] != features:
        raise ReadError(
            f"The model file cannot be used: its models have {coef.shape[1]} coefficients for "
            f"{features} features; fit the model again, or fetch the original file."
        )
    slopes = coef.tolist()
    lines = [
        LinearFit(intercept, dict(zip(schema.features, slopes[i])), *known[i // each], limits, kind)
        for i, intercept in enumerate(fits["intercept"])
    ]
    if not response.classes:
        return list(lines)
    return [
        LogisticFit(response.classes, tuple(lines[i * each : (i + 1) * each]), rows, error)
        for i, (rows, error) in enumerate(known)
    ]


def merge_from_plain(line: Mapping[str, Any], names: Sequence[str], score: PairScore) -> Merge:
    """Return a line of the ledger."""
    left, right = (tuple(names[k] for k in line[side]) for side in ("left", "right"))
    low, high = line["interval"]
    gain, interval = float(line["gain"]), (float(low), float(high))
    numbers = {
        name: float("nan" if line.get(name) is None else line[name])
        for name in ("p_value", "adjusted_p", "validated_change", "standard_error")
    }
    kind = line.get("judged_by", THEORY)
    return Merge(
        left, right, score.join, line["verdict"], gain, interval, score, **numbers, judged_by=kind
    )


def score_from_plain(values: Mapping[str, Any]) -> PairScore:
    """Return what a method said of a pair."""
    plain: dict[str, Any]
    plain = {key: float(v) if isinstance(v, str) else v for key, v in values.items()}
    return PairScore(**plain)


def details_from_plain(
    values: Mapping[str, Any] | None, names: Sequence[str], ledger: Sequence[Merge] | None = None
) -> Details | None:
    """Return the figures of the report; None if the file has none.

    The `ledger` is given where a learner chose the clusters. Older files have verdicts by theory
    here that it does not have.
    """
    if values is None:
        return None
    refused = PairScore(float("nan"), False)
    found = Details(
        # Older files call the model for all the pooled one.
        errors={
            "all" if name == "pooled" else name: plain_to_array(array)
            for name, array in values["errors"].items()
        },
        **{name: plain_to_array(values[name]) for name in DETAIL_ARRAYS},
        dependent=values["dependent"],
        far={int(j): distance for j, distance in values["far"].items()},
        upper=tuple(merge_from_plain(line, names, refused) for line in values["upper"]),
        map=None if values["map"] is None else map_from_plain(values["map"]),
        # Files of version 0.2 and before lack the weights; datasets counted the same by default.
        weights=plain_to_array(values["weights"]) if "weights" in values else np.ones(len(names)),
    )
    return found if ledger is None else by_ledger(found, ledger, names, learners=True)


def scores_from_plain(
    content: Mapping[str, Any], names: Sequence[str], classes: tuple[Label, ...]
) -> Scored | None:
    """Return how good probabilities are; None if the file does not say so."""
    values = content.get("scores")
    if values is None:
        return None
    scores = {
        name: Scores(
            **{key: float(values[key][k]) for key in SCORE_NUMBERS},
            rows=values["rows"][k],
            shares=dict(zip(classes, map(float, values["shares"][k]))),
        )
        for k, name in enumerate(names)
    }
    bins = (
        Bin(low, high, predicted, observed, rows, (lower, upper))
        for low, high, predicted, observed, rows, lower, upper in content["calibration"]
    )
    return Scored(scores, tuple(bins))


def map_from_plain(values: Mapping[str, Any]) -> Map:
    """Return the map of gains."""
    M = len(values["groups"])
    left, right = np.triu_indices(M, 1)
    judged = plain_to_array(values["judged"]).astype(int)
    tables = np.full((3, M, M), np.nan)
    verdict = np.zeros((M, M), dtype=int)
    a, b = left[judged], right[judged]
    for i, j in ((left, right), (right, left)):
        tables[0, i, j] = plain_to_array(values["gain"])
    for i, j in ((a, b), (b, a)):
        verdict[i, j] = plain_to_array(values["verdict"]).astype(int)
        tables[1, i, j] = plain_to_array(values["low"])
        tables[2, i, j] = plain_to_array(values["high"])
    groups = tuple(tuple(group) for group in values["groups"])
    return Map(groups, tables[0], tables[1], tables[2], verdict)


def placement_from_plain(values: Mapping[str, Any], features: int) -> Placement:
    """Return what places a new dataset, for models with so many features."""
    basis, columns = values["basis"], values.get("columns")
    own = features if columns is None else len(columns)
    known = columns is None or all(type(j) is int and 0 <= j < features for j in columns)
    if not known or plain_to_array(basis["center"]).shape != (own,):
        raise ReadError(
            "The model file cannot be used: what places new datasets does not fit the features of "
            "the models; fit the model again, or fetch the original file."
        )
    return Placement(
        basis=Basis(
            plain_to_array(basis["center"]),
            plain_to_array(basis["scale"]),
            basis["target_center"],
            basis["target_scale"],
            basis["intercept"],
            plain_to_array(basis["matrix"]) if "matrix" in basis else None,
        ),
        noise=values["noise"],
        **{name: plain_to_array(values[name]) for name in PLACEMENT_ARRAYS},
        priors=tuple(_prior_from_plain(one) for one in values.get("priors", [])),
        columns=None if columns is None else np.array(columns, dtype=np.int64),
    )


def _prior_from_plain(values: Mapping[str, Any]) -> StrategyPrior:
    arrays = {name: plain_to_array(values[name]) for name in PRIOR_ARRAYS}
    prior = Prior(noise=values["noise"], noise_df=float(values["noise_df"]), **arrays)
    return StrategyPrior(values["name"], values["weight"], prior)


def added_from_plain(
    values: Mapping[str, Any] | None, schema: Schema, limits: Limits
) -> dict[str, Assignment]:
    """Return the datasets that got a model after fitting; none in older files."""
    if values is None:
        return {}
    models = fits_from_plain(values["models"], schema, limits)
    return {
        name: Assignment(
            cluster=cluster,
            probability=max(probabilities),
            probabilities=tuple(probabilities[:-1]),
            probability_new=probabilities[-1],
            model=model,
            errors={key: float(value) for key, value in errors.items()},
            standard_error=float(standard_error),
        )
        for name, model, cluster, probabilities, errors, standard_error in zip(
            values["datasets"],
            models,
            values["cluster"],
            values["probabilities"],
            values["errors"],
            values["standard_error"],
        )
    }
