"""A network of Linear and ReLU layers whose gradient is written by hand.

Weights, rows and settings enter; trained weights and the losses by epoch leave.

    a_0 = x,  z_i = [a_i, 1] W_i,  a_(i+1) = max(z_i, 0),  output = z_last

==========  ======================================================  ========================
symbol      meaning                                                 shape
==========  ======================================================  ========================
a           activations of a batch, with a column of ones           (batch, inputs + 1)
z           outputs of a layer before ReLU                          (batch, outputs)
W           slopes of a layer, with the intercepts in the last row  (inputs + 1, outputs)
delta       derivative of the mean loss of the batch by z           (batch, outputs)
gradient    derivative of the mean loss by W: a' delta              as W
==========  ======================================================  ========================

In layers this small, automatic differentiation spends more time on bookkeeping than on arithmetic.
A step here is about twenty calls on arrays that exist already. All parameters are views of one
vector, so gradient descent updates them in one call.
"""

from collections.abc import Sequence

import numpy as np

from conjoin._typing import AnyArray, FloatArray, IntArray, Progress
from conjoin.execution import one_thread
from conjoin.representations.training import LossHistory, Training, run_epochs


def train_perceptron(
    layers: Sequence[FloatArray],
    X: FloatArray,
    t: FloatArray,
    weights: FloatArray,
    training: Training,
    rng: np.random.Generator,
    *,
    classes: bool = False,
    progress: Progress | None = None,
) -> tuple[list[FloatArray], LossHistory]:
    """Return the layers W after training, and the losses by epoch.

    `layers` are the first weights, X (n, inputs) the rows and `weights` (n,) theirs. The loss is
    the squared error to t (n,) or, with `classes`, the cross entropy, where t are class numbers.
    """
    network = Perceptron(layers, X, t, weights, training, classes=classes)
    # One thread whatever the width: the order of sums, and so every digit, is the same everywhere.
    with one_thread(), np.errstate(over="ignore", invalid="ignore"):
        history = run_epochs(network, len(X), training, rng, progress)
    return network.layers, history


class Perceptron:
    """A network and its rows, as the training loop takes them (`Learner`)."""

    def __init__(
        self,
        layers: Sequence[FloatArray],
        X: FloatArray,
        t: FloatArray,
        weights: FloatArray,
        training: Training,
        *,
        classes: bool,
    ) -> None:
        self.theta = np.concatenate([W.ravel() for W in layers])
        self.gradient, self.velocity = np.zeros_like(self.theta), np.zeros_like(self.theta)
        self.layers = _views(self.theta, layers)
        self.slopes = [W[:-1].T for W in self.layers]
        self.gradients = _views(self.gradient, layers)
        self.X = np.ones((len(X), X.shape[1] + 1))
        self.X[:, :-1] = X
        self.t: AnyArray = t.astype(np.int64) if classes else t
        self.weights, self.training = weights, training
        self.loss = _cross_entropy if classes else _squared
        self.batches: dict[int, _Batch] = {}

    def step(self, rows: IntArray) -> tuple[float, float]:
        """Take one step on these rows; return their weighted sum of losses and of weights."""
        batch, loss, size = self._forward(rows)
        if size:
            self._backward(batch)
            self._move()
        return loss, size

    def losses(self, rows: IntArray) -> tuple[float, float]:
        """Return the same two sums without a step."""
        _, loss, size = self._forward(rows)
        return loss, size

    def parameters(self) -> FloatArray:
        """Return a copy of the parameters."""
        return self.theta.copy()

    def restore(self, parameters: FloatArray) -> None:
        """Set the parameters to such a copy."""
        self.theta[:] = parameters

    def _forward(self, rows: IntArray) -> tuple["_Batch", float, float]:
        """Compute the activations of a batch; its last z becomes delta of the output."""
        batch = self.batches.get(len(rows))
        if batch is None:
            batch = self.batches[len(rows)] = _Batch(len(rows), self.layers)
        # Rows are in range. In mode "clip" numpy writes to the output without a buffer.
        self.X.take(rows, 0, batch.a[0], "clip")
        for a, W, z, after in zip(batch.a, self.layers, batch.z, batch.after):
            np.dot(a, W, out=z)
            np.maximum(z, 0.0, out=after)
        np.dot(batch.a[-1], self.layers[-1], out=batch.z[-1])
        w = self.weights.take(rows)
        size = float(w.sum())
        return batch, self.loss(batch.z[-1], self.t.take(rows), w, size), size

    def _backward(self, batch: "_Batch") -> None:
        """Compute the gradient from delta of the output; every z becomes its delta."""
        delta = batch.z[-1]
        for i in range(len(self.layers) - 1, 0, -1):
            np.dot(batch.a[i].T, delta, out=self.gradients[i])
            z, alive = batch.z[i - 1], batch.alive[i - 1]
            np.greater(z, 0.0, out=alive)
            np.dot(delta, self.slopes[i], out=z)
            delta = np.multiply(z, alive, out=z)
        np.dot(batch.a[0].T, delta, out=self.gradients[0])

    def _move(self) -> None:
        """Take a step of gradient descent with momentum."""
        if self.training.weight_decay:
            self.gradient += self.training.weight_decay * self.theta
        self.velocity *= self.training.momentum
        self.velocity += self.gradient
        self.theta -= self.training.rate * self.velocity


class _Batch:
    """Arrays for the values of a batch, allocated once for each size."""

    def __init__(self, size: int, layers: Sequence[FloatArray]) -> None:
        self.a = [np.ones((size, len(W))) for W in layers]
        self.after = [a[:, :-1] for a in self.a[1:]]
        self.z = [np.empty((size, W.shape[1])) for W in layers]
        self.alive = [np.empty(z.shape, dtype=bool) for z in self.z[:-1]]


def _views(vector: FloatArray, layers: Sequence[FloatArray]) -> list[FloatArray]:
    """Return views of a vector in the shapes of the layers."""
    ends = np.cumsum([W.size for W in layers])
    return [part.reshape(W.shape) for part, W in zip(np.split(vector, ends[:-1]), layers)]


def _squared(z: FloatArray, t: FloatArray, w: FloatArray, size: float) -> float:
    """Return the weighted sum of squared errors; z (n, 1) becomes delta."""
    error = z[:, 0]
    error -= t
    weighted = w * error
    loss = float(weighted @ error)
    np.multiply(weighted, 2.0 / (size or 1.0), out=error)
    return loss


def _cross_entropy(z: FloatArray, t: IntArray, w: FloatArray, size: float) -> float:
    """Return the weighted sum of cross entropies; z (n, classes) becomes delta."""
    lines = np.arange(len(t))
    z -= z.max(axis=1, keepdims=True)
    own = z[lines, t]
    np.exp(z, out=z)
    total = z.sum(axis=1)
    loss = float(w @ (np.log(total) - own))
    z /= total[:, None]
    z[lines, t] -= 1.0
    z *= (w / (size or 1.0))[:, None]
    return loss
