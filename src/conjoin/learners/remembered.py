"""Trained trees as entries of a checkpoint, and back.

Models and cross-fitted predictions of a learner enter; arrays and JSON leave, or the other way
round. Numbers come back bit by bit.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, TypeVar

from conjoin._typing import AnyArray
from conjoin.learners.rows import CrossFitted
from conjoin.sources.checkpoints import TEXT

Trained = TypeVar("Trained")


def pack_model(model: Any) -> dict[str, AnyArray | str]:
    """Return a model that is a dataclass of plain values."""
    return {TEXT: json.dumps(asdict(model))}


def unpack_model(found: Mapping[str, Any], model: Callable[..., Trained]) -> Trained:
    """Return the model again."""
    return model(**json.loads(found[TEXT]))


def pack_cross_fitted(found: CrossFitted) -> dict[str, AnyArray | str]:
    """Return cross-fitted predictions with their settings and models."""
    models: list[Any] = list(found.models)
    rest = {"settings": found.settings, "models": [asdict(one) for one in models]}
    return {"held_out": found.held_out, TEXT: json.dumps(rest)}


def unpack_cross_fitted(found: Mapping[str, Any], model: Callable[..., Any]) -> CrossFitted:
    """Return cross-fitted predictions again."""
    rest = json.loads(found[TEXT])
    models = tuple(model(**one) for one in rest["models"])
    return CrossFitted(found["held_out"], rest["settings"], models)
