"""Representations: features made from the raw columns, on which the same engine joins datasets.

`conjoin.partition(..., representation=...)` does everything at once and keeps errors honest. By
hand, `embed` turns tables, and `embed_arrays` arrays, into tables of features. `MLP`, `Tap`,
`Transformer` and `Function` say how features are made. `Heads` makes the linear models of the
clusters the last layers of the network. Names are imported when they are first used, so torch is
loaded only by those that need it.
"""

from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conjoin.representations.base import Features, Representation
    from conjoin.representations.embedding import (
        Embedding,
        as_representation,
        embed,
        embed_arrays,
    )
    from conjoin.representations.learned import Learned
    from conjoin.representations.networks import Layers, Network
    from conjoin.representations.plain import Function, Transformer
    from conjoin.representations.torch.heads import Heads
    from conjoin.representations.torch.mlp import MLP, MLPFeatures
    from conjoin.representations.torch.tap import Tap
    from conjoin.representations.training import Training

__all__ = [
    "MLP",
    "Embedding",
    "Features",
    "Function",
    "Heads",
    "Layers",
    "Learned",
    "MLPFeatures",
    "Network",
    "Representation",
    "Tap",
    "Training",
    "Transformer",
    "as_representation",
    "embed",
    "embed_arrays",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(_home(name), name)
    globals()[name] = value
    return value


def _home(name: str) -> ModuleType:
    """Import and return the module of a public name."""
    home: ModuleType
    match name:
        case "Features" | "Representation":
            from conjoin.representations import base as home
        case "Layers" | "Network":
            from conjoin.representations import networks as home
        case "Function" | "Transformer":
            from conjoin.representations import plain as home
        case "Learned":
            from conjoin.representations import learned as home
        case "Training":
            from conjoin.representations import training as home
        case "MLP" | "MLPFeatures":
            from conjoin.representations.torch import mlp as home
        case "Tap":
            from conjoin.representations.torch import tap as home
        case "Heads":
            from conjoin.representations.torch import heads as home
        case _:
            from conjoin.representations import embedding as home
    return home


def __dir__() -> list[str]:
    return sorted(__all__)
