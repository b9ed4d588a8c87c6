"""What all torch networks here share: torch itself, layers, training by automatic differentiation.

Arrays enter and torch modules leave; `train` changes parameters in place and returns the losses.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np

from conjoin._typing import FloatArray, IntArray, Progress
from conjoin.errors import ConjoinError
from conjoin.representations.training import LossHistory, Training, run_epochs


class MissingTorchError(ConjoinError, ImportError):
    """torch is not installed."""


def require_torch() -> Any:
    """Return torch; raise an error with the install command if it is missing."""
    try:
        return import_module("torch")
    except ImportError:
        raise MissingTorchError(
            "Neural networks need torch, which is not installed; run pip install 'conjoin[nn]'."
        ) from None


torch = require_torch()
Module: Any = torch.nn.Module


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep torch on one thread: every digit is the same everywhere, and small layers are faster."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


class Standardise(Module):  # type: ignore[misc]
    """(x - center) / scale; both are saved with the weights."""

    def __init__(self, center: FloatArray, scale: FloatArray) -> None:
        super().__init__()
        self.register_buffer("center", torch.tensor(center, dtype=torch.float64))
        self.register_buffer("scale", torch.tensor(scale, dtype=torch.float64))

    def forward(self, x: Any) -> Any:
        """Return x (n, columns) standardised."""
        return (x - self.center) / self.scale


class Limit(Module):  # type: ignore[misc]
    """Clip each column to a range, in double precision."""

    def __init__(self, low: FloatArray, high: FloatArray) -> None:
        super().__init__()
        self.register_buffer("low", torch.tensor(low, dtype=torch.float64))
        self.register_buffer("high", torch.tensor(high, dtype=torch.float64))

    def forward(self, x: Any) -> Any:
        """Return x (n, columns) clipped to the limits."""
        return torch.clamp(x.to(self.low.dtype), self.low, self.high)


def linear(intercept: FloatArray, slopes: FloatArray) -> Any:
    """Return a Linear layer in double precision with given intercepts (out,), slopes (out, in)."""
    outputs, inputs = slopes.shape
    layer = torch.nn.utils.skip_init(torch.nn.Linear, inputs, outputs, dtype=torch.float64)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(slopes, dtype=torch.float64))
        layer.bias.copy_(torch.tensor(intercept, dtype=torch.float64))
    return layer


def train(
    parameters: Sequence[Any],
    losses: Callable[..., Any],
    data: tuple[Any, ...],
    weights: Any,
    training: Training,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> LossHistory:
    """Train parameters in place on the CPU; return the losses by epoch.

    `losses(*batch)` returns the loss of each row in a batch of `data`, a tuple of tensors with n
    rows. Means are weighted by `weights` (n,). `rng` draws held-out rows and shuffles.
    """
    with one_thread():
        learner = _Autograd([*parameters], losses, data, weights, training)
        return run_epochs(learner, len(weights), training, rng, progress)


class _Autograd:
    """Parameters and their losses, as the training loop takes them (`Learner`)."""

    def __init__(
        self,
        parameters: list[Any],
        losses: Callable[..., Any],
        data: tuple[Any, ...],
        weights: Any,
        training: Training,
    ) -> None:
        self.tensors, self.row_losses, self.data, self.weights = parameters, losses, data, weights
        self.optimizer = torch.optim.SGD(
            parameters,
            lr=training.rate,
            momentum=training.momentum,
            weight_decay=training.weight_decay,
        )

    def step(self, rows: IntArray) -> tuple[float, float]:
        loss, size = self._sums(rows)
        if size:
            self.optimizer.zero_grad(set_to_none=True)
            (loss / size).backward()
            self.optimizer.step()
        return float(loss.detach()), size

    def losses(self, rows: IntArray) -> tuple[float, float]:
        with torch.no_grad():
            loss, size = self._sums(rows)
        return float(loss), size

    def parameters(self) -> list[Any]:
        return [tensor.detach().clone() for tensor in self.tensors]

    def restore(self, parameters: list[Any]) -> None:
        with torch.no_grad():
            for tensor, value in zip(self.tensors, parameters):
                tensor.copy_(value)

    def _sums(self, rows: IntArray) -> tuple[Any, float]:
        index = torch.as_tensor(rows)
        w = self.weights[index]
        return (w * self.row_losses(*(part[index] for part in self.data))).sum(), float(w.sum())
