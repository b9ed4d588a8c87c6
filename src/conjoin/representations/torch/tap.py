"""Activations of any layer of any torch network (needs the extra `nn`).

A trained torch module and the name of a layer enter; a representation leaves. Its features are the
output of that layer.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from conjoin._typing import AnyArray, FloatArray, Progress
from conjoin.errors import ArgumentError, DataError
from conjoin.representations.base import (
    Features,
    InputError,
    Representation,
    Rows,
    check_whole,
    unit_names,
)
from conjoin.representations.torch.tools import Module, require_torch

torch = require_torch()


class Body(Module):  # type: ignore[misc]
    """A network up to one of its layers.

    Parameters
    ----------
    module : torch module
        The whole network.
    layer : str
        Name in `module.named_modules()`; "" is the module itself.
    shape : tuple of int or None
        Shape of one row as the module takes it; None leaves rows as they are.
    """

    def __init__(self, module: Any, layer: str, shape: tuple[int, ...] | None) -> None:
        super().__init__()
        self.module, self.layer, self.shape = module, layer, shape

    def forward(self, x: Any) -> Any:
        """Return the output of the layer (n, width) for rows x (n, ...)."""
        example = next(self.module.parameters(), x)
        kind = example.dtype if example.is_floating_point() else torch.get_default_dtype()
        x = x.to(device=example.device, dtype=kind)
        if self.shape is not None:
            x = x.reshape(len(x), *self.shape)
        seen: list[Any] = []

        def note(_module: Any, _inputs: Any, output: Any) -> None:
            # A copy, since a later layer may change its input.
            seen.append(output.clone() if isinstance(output, torch.Tensor) else output)

        hook = self.module.get_submodule(self.layer).register_forward_hook(note)
        try:
            self.module(x)
        finally:
            hook.remove()
        if not seen:
            raise DataError(
                f"layer={self.layer!r} is not used when the network runs; choose a layer that is."
            )
        output = seen[-1]
        if not isinstance(output, torch.Tensor) or output.ndim == 0 or len(output) != len(x):
            raise DataError(
                f"layer={self.layer!r} does not return one tensor with a line for each row; choose "
                "another layer."
            )
        return output.reshape(len(x), -1)


@dataclass(frozen=True, eq=False)
class Tap(Representation):
    """The output of one layer of a network that you have trained already.

    Parameters
    ----------
    module : torch module
        The network. It is neither trained nor copied, and runs in evaluation mode.
    layer : str
        Name of the layer in `module.named_modules()`; "" is the output of the network. Outputs of
        more than one dimension are flattened.
    shape : tuple of int, optional
        Shape of one row for the network, such as (channels, height, width); by default rows stay
        as they are.
    batch : int, default 1024
        Rows that go through the network at once; more need more memory.

    Raises
    ------
    ArgumentError
        If `module` is not a torch module or has no such layer.

    Notes
    -----
    A `Tap` does not learn, so all rows are used for the models. If the network was trained on the
    target of the same rows, errors are too low, and conjoin cannot know it.

    Examples
    --------
    >>> network = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
    >>> X = np.random.default_rng(0).standard_normal((10, 4))
    >>> Tap(network, layer="1").fit(X, X[:, 0]).transform(X).shape
    (10, 3)
    """

    module: Any
    layer: str
    shape: tuple[int, ...] | None = None
    batch: int = 1024

    def __post_init__(self) -> None:
        check_whole("batch", self.batch, least=1)
        if not isinstance(self.module, Module):
            raise ArgumentError(
                f"module={self.module!r} is not a torch module; expected a network, such as "
                "torch.nn.Sequential(...). Pass functions and transformers without Tap."
            )
        names = [name for name, _ in self.module.named_modules()]
        if self.layer not in names:
            raise ArgumentError(
                f"layer={self.layer!r} is not a layer of the network; expected one of "
                f"{', '.join(repr(name) for name in names if name)}."
            )

    @property
    def learns_from_target(self) -> bool:
        """False: the network is not trained."""
        return False

    def describe(self) -> str:
        """Return the name of the layer and the class of the network."""
        where = f"layer {self.layer!r} of" if self.layer else "output of"
        return f"{where} {type(self.module).__name__}"

    def _fit(self, rows: Rows, progress: Progress | None) -> Features:
        """Run the network on two rows to learn how wide the layer is."""
        if self.shape is not None and prod(self.shape) != prod(rows.X.shape[1:]):
            raise InputError(
                f"shape={self.shape!r} has {prod(self.shape)} values, but a row has "
                f"{prod(rows.X.shape[1:])}."
            )
        body = Body(self.module, self.layer, self.shape)
        try:
            width = _run(body, rows.X[:2], self.batch).shape[1]
        except (RuntimeError, ValueError, IndexError) as error:
            columns = " x ".join(map(str, rows.X.shape[1:]))
            raise InputError(
                f"The network cannot take rows of {columns} columns "
                f"({str(error).splitlines()[0].rstrip('.')}); check its input."
            ) from error
        if progress is not None:
            progress(1, 1)
        return TapFeatures(unit_names(width), body, self.batch)


@dataclass(frozen=True, eq=False)
class TapFeatures(Features):
    """The map of a layer."""

    names: tuple[str, ...]
    body: Any = field(repr=False)
    batch: int = 1024

    def _map(self, X: FloatArray) -> AnyArray:
        return _run(self.body, X, self.batch) if len(X) else np.empty((0, len(self.names)))


def _run(body: Body, X: FloatArray, batch: int) -> AnyArray:
    """Return the output (n, width) of a layer for rows X (n, ...), batch by batch."""
    with torch.no_grad(), evaluating(body):
        parts = [body(part).cpu().double() for part in torch.tensor(X).split(batch)]
        values: AnyArray = torch.cat(parts).numpy()
        return values


@contextmanager
def evaluating(module: Any) -> Iterator[None]:
    """Put all parts of a network into evaluation mode, and restore their modes afterwards."""
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, mode in modes:
            part.training = mode
