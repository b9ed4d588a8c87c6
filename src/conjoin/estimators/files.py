"""Estimators in files: the model file of their result, with their parameters beside it.

A fitted estimator enters, a file is written; a file enters, an estimator leaves. The file holds no
rows and no code. `result.store` and `result.load` write and read the result itself.
"""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from conjoin.errors import ReadError
from conjoin.estimators.input import Layout, plain_parameter
from conjoin.learners.beside import Trusted
from conjoin.representations.learned import from_settings, to_settings
from conjoin.result.load import load_with_extra
from conjoin.result.store import save

if TYPE_CHECKING:
    from conjoin.estimators.base import Join
    from conjoin.result.partition import Partition

Estimator = TypeVar("Estimator", bound="Join")


def save_estimator(
    model: "Join", result: "Partition", layout: Layout, path: str | Path, *, evidence: bool
) -> None:
    """Write a fitted estimator to a file; `evidence` is that of `result.store`."""
    if result.representation is not None:
        _ = result.representation.layers  # raises an error if it is no network
    params = model.get_params(deep=False)
    learner = params.pop("learner")
    settings: Any = to_settings(params.pop("representation"))
    if not isinstance(settings, dict):
        settings = plain_parameter("representation", settings)
    extra = {
        "estimator": type(model).__name__,
        "params": {
            **{name: plain_parameter(name, value) for name, value in params.items()},
            "representation": settings,
            "learner": learner,  # made plain by `save`
        },
        "layout": asdict(layout),
        "named": hasattr(model, "feature_names_in_"),
    }
    save(result, path, extra, evidence=evidence)


def load_estimator(
    cls: type[Estimator], path: str | Path, trusted: Trusted = None
) -> "tuple[Estimator, Layout, Partition]":
    """Return an estimator with its parameters, the layout of its X, and its result."""
    result, extra = load_with_extra(path, trusted)
    if extra.get("estimator") != cls.__name__:
        held = extra.get("estimator", "a result without an estimator")
        raise ReadError(
            f"File {Path(path).name!r} holds {held}, no {cls.__name__}; read it with "
            "conjoin.load, or with the class that wrote it."
        )
    params = extra["params"]
    model = cls(**{**params, "representation": from_settings(params.get("representation"))})
    layout = Layout(**{**extra["layout"], "columns": tuple(extra["layout"]["columns"])})
    model.n_features_in_ = len(layout.columns)
    if extra["named"]:
        model.feature_names_in_ = np.array(layout.columns, dtype=object)
    return model, layout, result
