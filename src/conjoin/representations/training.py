"""The training loop of all networks here: epochs, batches, held-out rows, early stopping.

A network with its rows (`Learner`), settings (`Training`) and a random generator enter; the network
is trained in place, and the losses by epoch (`LossHistory`) leave.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from conjoin._typing import IntArray, Progress
from conjoin.checks import check_count
from conjoin.errors import ArgumentError, DataError


@dataclass(frozen=True)
class Training:
    """Settings of stochastic gradient descent with momentum; the defaults are the paper's.

    Parameters
    ----------
    epochs : int, default 10
        Passes over the rows.
    batch : int, default 64
        Rows in one step.
    rate : float, default 1e-4
        Learning rate.
    momentum : float, default 0.9
        Share of the last step that is added to the next one.
    weight_decay : float, default 0.0
        Penalty on the squared weights.
    hold_out : float, default 0.0
        Share of rows held out for early stopping; 0 means no early stopping. Training ends when
        their loss has not fallen for `patience` epochs, and the best weights are restored.
    patience : int, default 3
        Epochs without a fall of the held-out loss after which training ends.

    Raises
    ------
    ArgumentError
        If a setting is out of range.

    Examples
    --------
    >>> Training(epochs=50, rate=0.01).batch
    64
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
            raise ArgumentError(
                f"rate={self.rate!r} is not a learning rate; expected a number above 0."
            )
        for name in ("momentum", "hold_out"):
            if not 0 <= getattr(self, name) < 1:
                raise ArgumentError(
                    f"{name}={getattr(self, name)!r} is out of range; expected 0 <= {name} < 1."
                )
        if self.weight_decay < 0:
            raise ArgumentError(f"weight_decay={self.weight_decay!r} is negative; expected >= 0.")


@dataclass(frozen=True)
class LossHistory:
    """Mean loss after each epoch, of the training rows and of the held-out rows (empty if none)."""

    train: tuple[float, ...]
    held_out: tuple[float, ...]


class Learner(Protocol):
    """A network and its rows, as the training loop sees them."""

    def step(self, rows: IntArray) -> tuple[float, float]:
        """Take one step on these rows; return their weighted sum of losses and of weights."""

    def losses(self, rows: IntArray) -> tuple[float, float]:
        """Return the same two sums without a step."""

    def parameters(self) -> Any:
        """Return a copy of the parameters."""

    def restore(self, parameters: Any) -> None:
        """Set the parameters to such a copy."""


def run_epochs(
    learner: Learner,
    n: int,
    training: Training,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> LossHistory:
    """Train a network in place on its n rows; `rng` draws the held-out rows and all shuffles."""
    order = rng.permutation(n)
    held = order[: round(training.hold_out * n)] if training.hold_out else order[:0]
    kept = order[len(held) :]
    if training.hold_out and (not len(held) or not len(kept)):
        raise DataError(
            f"hold_out={training.hold_out!r} of {n} rows leaves no rows to train on or none to "
            "hold out; choose another share, or hold_out=0."
        )
    stopping = _EarlyStopping(learner, training.patience)
    train: list[float] = []
    for epoch in range(training.epochs):
        shuffled = kept[rng.permutation(len(kept))]
        train.append(_mean_loss(learner.step, shuffled, training.batch))
        if not np.isfinite(train[-1]):
            raise DataError(
                f"Training of the network diverged in epoch {epoch + 1}; choose a smaller rate."
            )
        if progress is not None:
            progress(epoch + 1, training.epochs)
        if len(held) and stopping.is_due(_mean_loss(learner.losses, held, training.batch)):
            break
    stopping.restore_best()
    return LossHistory(tuple(train), tuple(stopping.losses))


def _mean_loss(
    losses: Callable[[IntArray], tuple[float, float]], rows: IntArray, batch: int
) -> float:
    """Call `losses` on rows batch by batch; return the mean loss, 0 if all weights are 0."""
    total = size = 0.0
    for start in range(0, len(rows), batch):
        loss, weight = losses(rows[start : start + batch])
        total += loss
        size += weight
    return total / size if size else 0.0


class _EarlyStopping:
    """Keeps the parameters with the lowest loss on held-out rows."""

    def __init__(self, learner: Learner, patience: int) -> None:
        self.learner, self.patience = learner, patience
        self.losses: list[float] = []
        self.best: Any = None

    def is_due(self, loss: float) -> bool:
        """Record a loss; say whether the lowest one is `patience` epochs old."""
        if not self.losses or loss < min(self.losses):
            self.best = self.learner.parameters()
        self.losses.append(loss)
        return len(self.losses) - 1 - int(np.argmin(self.losses)) >= self.patience

    def restore_best(self) -> None:
        """Restore the best parameters, if a loss was recorded."""
        if self.losses:
            self.learner.restore(self.best)
