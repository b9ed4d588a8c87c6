"""Linear models as weights of the last layers of a network.

Fitted models and the network whose activations they were fitted to enter; the arrays that `Heads`
needs leave (`HeadWeights`). A result (`conjoin.Partition`) is recognised by its attributes, so this
module imports no results.

==========  ============================================================  =======================
symbol      meaning                                                       shape
==========  ============================================================  =======================
heads       number of models: one per cluster, or one per dataset         scalar
outputs     linear predictors of a model: 1, or one per class             scalar
width       activations of the network                                    scalar
slopes      coefficients of the models, 0 for activations not in a model  (heads, outputs, width)
intercepts  intercepts of the models                                      (heads, outputs)
==========  ============================================================  =======================
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from conjoin._typing import FloatArray
from conjoin.errors import ArgumentError, DataError
from conjoin.families import Label, label_array
from conjoin.representations.base import Features
from conjoin.representations.embedding import Embedding
from conjoin.representations.torch.mlp import MLPFeatures
from conjoin.representations.torch.tap import TapFeatures

if TYPE_CHECKING:
    from conjoin.result.partition import Partition

    Source: TypeAlias = Partition | Embedding | Features

LOSSES = {  # and the family of the target
    "squared": "gaussian",
    "poisson": "poisson",
    "logistic": "logistic",
    "softmax": "logistic",
}


@dataclass(frozen=True, eq=False)
class HeadWeights:
    """Weights of heads, the head of each dataset, and what the outputs are."""

    intercepts: FloatArray
    slopes: FloatArray
    labels: Mapping[str, int]
    limits: tuple[FloatArray, FloatArray]
    loss: str
    classes: Sequence[Label] | None


def head_weights(
    models: "Partition | Mapping[str, Any]", names: Sequence[str | None], *, limit: bool
) -> HeadWeights:
    """Return the weights of models on activations with these names (width,); None is in no model.

    With `limit` activations are kept within the limits of the models.
    """
    if isinstance(models, Mapping):
        fits, labels = [*models.values()], {name: i for i, name in enumerate(models)}
    else:
        fits, labels = [*models.models], dict(models.labels)
    if not fits:
        raise ArgumentError("models is empty; expected at least one model to make a head of.")
    lines = [_lines(fit) for fit in fits]
    position = {name: j for j, name in enumerate(names) if name is not None}
    slopes = np.zeros((len(fits), len(lines[0]), len(names)))
    for i, fit in enumerate(lines):
        for o, line in enumerate(fit):
            slopes[i, o, _positions(line.coef, position)] = list(line.coef.values())
    low, high = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    if limit:  # all models of a result have the same limits
        limits = fits[0].limits
        at = _positions(limits, position)
        low[at], high[at] = ([pair[i] for pair in limits.values()] for i in (0, 1))
    return HeadWeights(
        intercepts=np.array([[line.intercept for line in fit] for fit in lines]),
        slopes=slopes,
        labels=labels,
        limits=(low, high),
        loss=_loss_of(fits[0]),
        classes=getattr(fits[0], "classes", None),
    )


def network_of(source: "Source") -> tuple[list[str | None], Any]:
    """Return the name of each activation in the models (None: in no model), and the network."""
    features: Any = source
    if isinstance(source, Embedding):
        features = source.features
    elif is_result(source):
        representation = source.representation  # type: ignore[union-attr]
        if representation is None:
            raise ArgumentError(
                "The result has no representation, so there is no network to attach heads to; fit "
                "it with representation='mlp1', or pass the embedding it was fitted to."
            )
        features = representation.features
    if not isinstance(features, (MLPFeatures, TapFeatures)):
        raise ArgumentError(
            f"{type(features).__name__} is not a network; expected the features of an MLP or a Tap."
        )
    names: list[str | None] = list(features.names)
    if isinstance(source, Embedding):
        names = [None] * len(names)
        for name, j in zip(source.columns, source.positions):
            names[j] = name
    return names, features.body


def is_result(value: Any) -> bool:
    """Say whether a value is a `conjoin.Partition`, by its attributes."""
    return all(hasattr(value, name) for name in ("models", "labels", "representation"))


def class_labels(loss: str, outputs: int, classes: Sequence[Label] | None) -> tuple[Label, ...]:
    """Return the classes as plain values, by default 0, 1, ...; none for a numeric target."""
    if LOSSES[loss] != "logistic":
        return ()
    count = outputs if loss == "softmax" else 2
    labels = label_array(classes).tolist() if classes else range(count)
    if len(labels) != count:
        raise ArgumentError(
            f"classes={classes!r} has {len(labels)} labels; expected {count}, one for each class "
            "of the outputs."
        )
    return tuple(labels)


def _lines(fit: Any) -> tuple[Any, ...]:
    """Return the linear predictors of a model; a model without `lines` is one itself."""
    return tuple(getattr(fit, "lines", (fit,)))


def _loss_of(fit: Any) -> str:
    """Return the loss for which a model's linear predictors are the outputs."""
    if hasattr(fit, "classes"):
        return "logistic" if len(_lines(fit)) == 1 else "softmax"
    return "poisson" if getattr(fit, "family", "gaussian") == "poisson" else "squared"


def _positions(named: Mapping[str, Any], position: Mapping[str, int]) -> list[int]:
    """Return the positions of the activations with these names."""
    for name in named:
        if name not in position:
            raise DataError(
                f"The models have the feature {name!r}, which is not an activation of the network; "
                "expected models that were fitted to the network's embedding."
            )
    return [position[name] for name in named]
