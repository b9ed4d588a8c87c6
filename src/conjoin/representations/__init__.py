"""Representations: raw columns become features, and the same engine joins datasets on them.

`conjoin.partition(..., representation=...)` does it all at once and keeps errors honest. By hand,
`embed` turns tables, `embed_arrays` arrays into tables of features; `MLP`, `Tap`, `Transformer` and
`Function` say how; `Heads` puts the linear models of the clusters back on the network. Only what
needs torch loads it.
"""

from importlib import import_module
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

_HOMES = {
    "base": ("Features", "Representation"),
    "embedding": ("Embedding", "as_representation", "embed", "embed_arrays"),
    "torch.heads": ("Heads",),
    "learned": ("Learned",),
    "networks": ("Layers", "Network"),
    "plain": ("Function", "Transformer"),
    "torch.mlp": ("MLP", "MLPFeatures"),
    "torch.tap": ("Tap",),
    "training": ("Training",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

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
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
