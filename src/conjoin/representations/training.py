"""The training loop of all networks here: epochs, batches, rows held out, early stopping."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from conjoin._typing import IntArray, Progress
from conjoin.checks import check_count
from conjoin.errors import ArgumentError, DataError


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


class Learner(Protocol):
    """A network and its rows, as the loop sees them."""

    def step(self, rows: IntArray) -> tuple[float, float]:
        """Take one step on these rows; return their weighted sum of losses and of weights."""

    def losses(self, rows: IntArray) -> tuple[float, float]:
        """Return the same two sums and learn nothing."""

    def parameters(self) -> Any:
        """Return a copy of what is learned."""

    def restore(self, parameters: Any) -> None:
        """Put such a copy back."""


def descend(
    learner: Learner,
    n: int,
    training: Training,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Course:
    """Train on n rows. All draws are `rng`'s."""
    order = rng.permutation(n)
    held = order[: round(training.hold_out * n)] if training.hold_out else order[:0]
    kept = order[len(held) :]
    if training.hold_out and (not len(held) or not len(kept)):
        raise DataError(f"hold_out={training.hold_out!r} leaves no rows of {n} on one side.")
    watch = _Watch(learner, training.patience)
    trained: list[float] = []
    for epoch in range(training.epochs):
        shuffled = kept[rng.permutation(len(kept))]
        trained.append(_mean(learner.step, shuffled, training.batch))
        if not np.isfinite(trained[-1]):
            raise DataError(
                f"Training of the network diverged in epoch {epoch + 1}; choose a smaller rate."
            )
        if progress is not None:
            progress(epoch + 1, training.epochs)
        if len(held) and watch.tired(_mean(learner.losses, held, training.batch)):
            break
    watch.restore()
    return Course(tuple(trained), tuple(watch.losses))


def _mean(losses: Callable[[IntArray], tuple[float, float]], rows: IntArray, batch: int) -> float:
    """Go through rows in batches; return their mean loss, 0 if none of them has weight."""
    total = size = 0.0
    for start in range(0, len(rows), batch):
        loss, weight = losses(rows[start : start + batch])
        total += loss
        size += weight
    return total / size if size else 0.0


class _Watch:
    """Keeps the best parameters by the loss on held-out rows."""

    def __init__(self, learner: Learner, patience: int) -> None:
        self.learner, self.patience = learner, patience
        self.losses: list[float] = []
        self.best: Any = None

    def tired(self, loss: float) -> bool:
        """Note a loss; say whether it has not fallen for too long."""
        if not self.losses or loss < min(self.losses):
            self.best = self.learner.parameters()
        self.losses.append(loss)
        return len(self.losses) - 1 - int(np.argmin(self.losses)) >= self.patience

    def restore(self) -> None:
        """Put the best parameters back, if any were noted."""
        if self.losses:
            self.learner.restore(self.best)
