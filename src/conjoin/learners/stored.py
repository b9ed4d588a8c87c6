"""Trained learners as plain values of a model file, and back.

`PredictionColumns` enter and plain values leave, or the other way round. Trees are stored as
LightGBM's own text. Estimators of other libraries are no plain values: they are put into a list of
`objects`, which is saved in a file of its own (`learners.beside`), and stand by their position.
Plain values are checked when they are read, so that a file that was tampered with is refused.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np

from conjoin.errors import ArgumentError, ReadError
from conjoin.learners.blended import BlendedModel
from conjoin.learners.boosting import Boosting, TreeModel
from conjoin.learners.columns import LearnerColumn, LearnerColumns
from conjoin.learners.curves import CurveModel
from conjoin.learners.grouped import GroupedModel
from conjoin.learners.rows import Model, lines_of, position_of
from conjoin.learners.schema import LearnedSchema, PredictionColumns
from conjoin.learners.tree_text import tree_fault
from conjoin.tables.schema import Schema

Value = TypeVar("Value")
KINDS = {str: "text", int: "a whole number", bool: "true or false", list: "a list", dict: "a dict"}
ADVICE = "fit the model again, or fetch the original file."


def predictions_to_plain(found: PredictionColumns, objects: list[Any]) -> dict[str, Any]:
    """Return plain values; estimators are appended to `objects`."""
    columns = found.columns.columns
    return {
        "learner": found.learner,
        "columns": [{**asdict(one), "features": list(one.features)} for one in columns],
        "names": list(found.models),
        "models": [model.to_plain(objects) for model in found.models.values()],
        "datasets": sorted(found.datasets, key=lambda name: found.datasets[name]),
        "lines": found.lines,
        "leads": found.leads,
        "settings": {name: dict(one) for name, one in found.settings.items()},
    }


def schema_from_plain(
    schema: Schema, values: Any, datasets: Sequence[str], objects: Sequence[Any]
) -> LearnedSchema:
    """Return the schema with the predictions of learners that a file holds.

    Raises
    ------
    ReadError
        If the values do not fit the schema and the datasets, or cannot be used.
    """
    what = "the learner"
    columns = _columns(_get(values, "columns", list, what), len(schema.inputs))
    lines, names = _get(values, "lines", int, what), _get(values, "names", list, what)
    known, models = _get(values, "datasets", list, what), _get(values, "models", list, what)
    if lines != lines_of(schema.response):
        raise _fault(f"{what} has {lines} lines for {len(schema.response.classes)} classes")
    if known != list(datasets):
        raise _fault(f"{what} was trained on other datasets than the models")
    if len(set(map(str, names))) != len(models) or len(names) != len(models):
        raise _fault(f"{what} has {len(names)} names for {len(models)} models")
    shape = _Shape(len(columns.columns), lines, len(known), schema, objects)
    found = PredictionColumns(
        _get(values, "learner", str, what),
        columns,
        {str(name): _model(one, shape, f"{name!r}") for name, one in zip(names, models)},
        {name: k for k, name in enumerate(known)},
        lines,
        {name: dict(one) for name, one in _get(values, "settings", dict, what).items()},
        leads=_get(values, "leads", bool, what),
    )
    return LearnedSchema.of(schema, found)


def learner_to_plain(learner: Any, objects: list[Any]) -> Any:
    """Return the option `learner` as a plain value; an estimator is appended to `objects`."""
    if isinstance(learner, str):
        return learner
    if isinstance(learner, Boosting):
        return {"kind": "boosting", **learner.to_plain()}
    return {"kind": "estimator", "object": position_of(learner, objects)}


def learner_from_plain(values: Any, objects: Sequence[Any]) -> Any:
    """Return the option `learner` that a file holds."""
    if isinstance(values, str):
        return values
    what = "the option learner"
    if _get(values, "kind", str, what) == "estimator":
        return _object(values, "object", objects, what)
    try:
        return Boosting(**{name: value for name, value in values.items() if name != "kind"})
    except (TypeError, ArgumentError):
        raise _fault(f"{what} has unknown settings") from None


@dataclass(frozen=True)
class _Shape:
    """What the models of a file must fit."""

    columns: int
    lines: int
    datasets: int
    schema: Schema
    objects: Sequence[Any]


def _columns(values: list[Any], inputs: int) -> LearnerColumns:
    found = []
    for value in values:
        what = "a column of the learner"
        name, features = _get(value, "name", str, what), _get(value, "features", list, what)
        indicator = value.get("indicator")
        used = features if indicator is None else [*features, indicator]
        if not features or not all(type(j) is int and 0 <= j < inputs for j in used):
            raise _fault(f"column {name!r} of the learner is made of features that do not exist")
        category = _get(value, "category", bool, what)
        code = value.get("code") is True
        found.append(LearnerColumn(name, tuple(features), category, indicator, code))
    return LearnerColumns(tuple(found))


def _model(values: Any, shape: _Shape, what: str) -> Model:
    """Return a model; those of a grouped or blended model are single ones."""
    kind = _get(values, "kind", str, what)
    if kind == "grouped":
        return _grouped(values, shape, what)
    return _blended(values, shape, what) if kind == "blended" else _single(values, shape, what)


def _single(values: Any, shape: _Shape, what: str) -> Model:
    kind = _get(values, "kind", str, what)
    if kind == "trees":
        return _trees(values, shape, what)
    if kind == "estimator":
        return _estimator(values, shape, what)
    if kind == "curves":
        return _curves(values, shape, what)
    raise _fault(f"{what} is of the unknown kind {kind[:40]!r}")


def _trees(values: Any, shape: _Shape, what: str) -> TreeModel:
    text, named = _get(values, "text", str, what), _get(values, "named", bool, what)
    fault = tree_fault(text, shape.columns + named, shape.lines)
    if fault:
        raise _fault(f"the trees of {what} cannot be used: {fault}")
    center, scale = (_number(values, name, what) for name in ("center", "scale"))
    return TreeModel(text, center, scale, named, _get(values, "limited", bool, what))


def _curves(values: Any, shape: _Shape, what: str) -> CurveModel:
    column, width = _get(values, "column", int, what), _number(values, "width", what)
    try:
        knots, weights = (np.array(values[key], dtype=np.float64) for key in ("knots", "weights"))
    except (KeyError, TypeError, ValueError):
        raise _fault(f"{what} has no knots, or no weights of their kernels") from None
    fits = knots.ndim == 1 and weights.shape == (shape.datasets + 1, len(knots)) and width > 0
    if not fits or not 0 <= column < shape.columns or not np.isfinite(weights).all():
        raise _fault(f"the knots and weights of {what} do not fit its datasets and columns")
    return CurveModel(column, knots, width, weights)


def _grouped(values: Any, shape: _Shape, what: str) -> GroupedModel:
    labels = _wholes(values, "labels", what)
    clusters = _wholes(values, "clusters", what)
    models = _get(values, "models", list, what)
    if len(labels) != shape.datasets or len(clusters) != len(models):
        raise _fault(f"{what} has {len(labels)} datasets and {len(models)} models of clusters")
    return GroupedModel(
        np.array(labels, dtype=np.int64),
        {label: _single(one, shape, what) for label, one in zip(clusters, models)},
        _single(_get(values, "rest", dict, what), shape, what),
    )


def _blended(values: Any, shape: _Shape, what: str) -> BlendedModel:
    weights, models = _get(values, "weights", list, what), _get(values, "models", list, what)
    shares = all(type(w) is float and 0 <= w <= 1 for w in weights)
    if not shares or not models or len(weights) != len(models):
        raise _fault(f"{what} has {len(models)} models, and weights {str(weights)[:40]}")
    return BlendedModel(tuple(_trees(one, shape, what) for one in models), tuple(weights))


def _estimator(values: Any, shape: _Shape, what: str) -> Model:
    from conjoin.learners.foreign import DatasetNames, ForeignModel  # loads scikit-learn

    kind = _get(values, "names", str, what)
    if kind not in ("none", "category", "objects", "mean"):
        raise _fault(f"{what} takes names of datasets as {kind[:40]!r}")
    encoder = _object(values, "encoder", shape.objects, what) if kind == "mean" else None
    estimator = _object(values, "object", shape.objects, what)
    for one, method in ((estimator, "predict"), (encoder, "transform")):
        if one is not None and not hasattr(one, method):
            raise _fault(f"{what} is a {type(one).__name__}, which has no {method}")
    names = DatasetNames(kind, encoder)
    return ForeignModel(estimator, names, shape.schema.response, _get(values, "name", str, what))


def _object(values: Any, key: str, objects: Sequence[Any], what: str) -> Any:
    number = _get(values, key, int, what)
    if not 0 <= number < len(objects):
        raise _fault(f"{what} refers to estimator {number}, but the file beside has {len(objects)}")
    return objects[number]


def _get(values: Any, key: str, kind: type[Value], what: str) -> Value:
    """Return a value of a given type."""
    if not isinstance(values, Mapping) or key not in values:
        raise _fault(f"{what} lacks {key!r}")
    value: Any = values[key]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise _fault(f"{key!r} of {what} is {str(value)[:40]!r}, expected {KINDS[kind]}")
    return value


def _number(values: Mapping[str, Any], key: str, what: str) -> float:
    value: Any = values.get(key)
    if type(value) not in (int, float) or not math.isfinite(value):
        raise _fault(f"{key!r} of {what} is {str(value)[:40]!r}, expected a number")
    return float(value)


def _wholes(values: Any, key: str, what: str) -> list[int]:
    found = _get(values, key, list, what)
    if not all(type(one) is int and 0 <= one < 2**31 for one in found):
        raise _fault(f"{key!r} of {what} are no whole numbers")
    return found


def _fault(sentence: str) -> ReadError:
    return ReadError(f"The model file cannot be used: {sentence}; {ADVICE}")
