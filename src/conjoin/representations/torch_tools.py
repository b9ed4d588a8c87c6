"""What all networks here share: torch itself, a training loop, layers."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from conjoin._typing import FloatArray, IntArray, Progress
from conjoin.criterion.checks import check_count
from conjoin.errors import ArgumentError, ConjoinError, DataError


class MissingTorchError(ConjoinError, ImportError):
    """torch is not installed."""


def require_torch() -> Any:
    """Return torch, or say how to get it."""
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
    """Keep torch on one thread: sums come out the same everywhere, and small layers faster."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


class Standardise(Module):  # type: ignore[misc]
    """(x - center) / scale, remembered with the weights."""

    def __init__(self, center: FloatArray, scale: FloatArray) -> None:
        super().__init__()
        self.register_buffer("center", torch.tensor(center, dtype=torch.float64))
        self.register_buffer("scale", torch.tensor(scale, dtype=torch.float64))

    def forward(self, x: Any) -> Any:
        """Return x in its own units of length."""
        return (x - self.center) / self.scale


class Limit(Module):  # type: ignore[misc]
    """Double precision, kept between a low and a high value for each column."""

    def __init__(self, low: FloatArray, high: FloatArray) -> None:
        super().__init__()
        self.register_buffer("low", torch.tensor(low, dtype=torch.float64))
        self.register_buffer("high", torch.tensor(high, dtype=torch.float64))

    def forward(self, x: Any) -> Any:
        """Return x within the limits."""
        return torch.clamp(x.to(self.low.dtype), self.low, self.high)


def linear(intercept: FloatArray, slopes: FloatArray) -> Any:
    """Return a Linear layer in double precision with given intercepts (out,), slopes (out, in)."""
    outputs, inputs = slopes.shape
    layer = torch.nn.utils.skip_init(torch.nn.Linear, inputs, outputs, dtype=torch.float64)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(slopes, dtype=torch.float64))
        layer.bias.copy_(torch.tensor(intercept, dtype=torch.float64))
    return layer


@dataclass(frozen=True)
class Training:
    """How a network is trained: stochastic gradient descent with momentum.

    Parameters
    ----------
    epochs, batch, rate, momentum, weight_decay
        As everywhere.
    hold_out : float
        Share of rows on which, if it is not 0, the loss is watched: training ends when it has not
        fallen for `patience` epochs, and the weights go back to the best ones.
    patience : int
    """

    epochs: int = 10
    batch: int = 64
    rate: float = 1e-4
    momentum: float = 0.9
    weight_decay: float = 0.0
    hold_out: float = 0.0
    patience: int = 3

    def __post_init__(self) -> None:
        check_count("epochs", self.epochs, least=0)
        check_count("batch", self.batch)
        check_count("patience", self.patience)
        if not self.rate > 0:
            raise ArgumentError(f"rate={self.rate!r} is no step; expected a number above 0.")
        for name in ("momentum", "hold_out"):
            if not 0 <= getattr(self, name) < 1:
                raise ArgumentError(
                    f"{name}={getattr(self, name)!r} is out of range; expected 0 <= {name} < 1."
                )
        if self.weight_decay < 0:
            raise ArgumentError(f"weight_decay={self.weight_decay!r} is negative; expected >= 0.")


@dataclass(frozen=True)
class Course:
    """Mean loss after each epoch: while training, and on the rows held out (empty if none are)."""

    trained: tuple[float, ...]
    held_out: tuple[float, ...]


def train(
    parameters: Sequence[Any],
    losses: Callable[..., Any],
    data: tuple[Any, ...],
    weights: Any,
    training: Training,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Course:
    """Train parameters in place on the CPU.

    `losses(*batch)` returns the loss of each row of a batch of `data`, tensors of as many rows;
    means are taken with the `weights` of rows. All draws are `rng`'s.
    """
    n = len(weights)
    order = rng.permutation(n)
    held = order[: round(training.hold_out * n)] if training.hold_out else order[:0]
    kept = order[len(held) :]
    if training.hold_out and (not len(held) or not len(kept)):
        raise DataError(f"hold_out={training.hold_out!r} leaves no rows of {n} on one side.")
    optimizer = torch.optim.SGD(
        parameters,
        lr=training.rate,
        momentum=training.momentum,
        weight_decay=training.weight_decay,
    )
    watch = _Watch(parameters, training.patience)
    trained: list[float] = []
    with one_thread():
        for epoch in range(training.epochs):
            shuffled = torch.as_tensor(kept[rng.permutation(len(kept))])
            trained.append(
                _epoch(optimizer, losses, data, weights, shuffled, training.batch, epoch)
            )
            if progress is not None:
                progress(epoch + 1, training.epochs)
            if len(held) and watch.tired(_mean_loss(losses, data, weights, held)):
                break
    watch.restore()
    return Course(tuple(trained), tuple(watch.losses))


def _epoch(
    optimizer: Any,
    losses: Callable[..., Any],
    data: tuple[Any, ...],
    weights: Any,
    rows: Any,
    batch: int,
    epoch: int,
) -> float:
    """Go once through the rows in the order given; return their mean loss on the way."""
    parts = [part[rows] for part in (*data, weights)]
    total, count = torch.zeros((), dtype=torch.float64), torch.zeros((), dtype=torch.float64)
    for start in range(0, len(rows), batch):
        *some, w = (part[start : start + batch] for part in parts)
        size = w.sum()
        if size == 0:
            continue
        loss = (w * losses(*some)).sum()
        optimizer.zero_grad(set_to_none=True)
        (loss / size).backward()
        optimizer.step()
        total += loss.detach()
        count += size
    mean = float(total / count)
    if not np.isfinite(mean):
        raise DataError(
            f"Training of the network diverged in epoch {epoch + 1}; choose a smaller rate."
        )
    return mean


def _mean_loss(
    losses: Callable[..., Any], data: tuple[Any, ...], weights: Any, rows: IntArray
) -> float:
    index = torch.as_tensor(rows)
    with torch.no_grad():
        w = weights[index]
        size = w.sum()
        # Rows without weight say nothing.
        return float((w * losses(*(part[index] for part in data))).sum() / size) if size else 0.0


class _Watch:
    """Keeps the best parameters by the loss on held-out rows."""

    def __init__(self, parameters: Sequence[Any], patience: int) -> None:
        self.parameters, self.patience = list(parameters), patience
        self.losses: list[float] = []
        self.best: list[Any] = []

    def tired(self, loss: float) -> bool:
        """Note a loss; say whether it has not fallen for too long."""
        if not self.losses or loss < min(self.losses):
            self.best = [parameter.detach().clone() for parameter in self.parameters]
        self.losses.append(loss)
        return len(self.losses) - 1 - int(np.argmin(self.losses)) >= self.patience

    def restore(self) -> None:
        """Put the best parameters back, if any were noted."""
        with torch.no_grad():
            for parameter, best in zip(self.parameters, self.best):
                parameter.copy_(best)
