"""Networks by name, and trained networks as plain numbers; torch is imported only where needed.

`Network` is what `representation="mlp2"` means: rows enter, a trained network leaves. `Layers` is a
trained network as arrays: it maps rows to features and is written to a file and read without torch.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from conjoin._typing import AnyArray, FloatArray, IntArray, Progress
from conjoin.checks import check_choice
from conjoin.errors import DataError
from conjoin.representations.base import (
    TASKS,
    Features,
    Representation,
    Rows,
    check_whole,
    unit_names,
)

NAMES = {"mlp1": 1, "mlp2": 2}  # hidden layers of each network that has a name

# The settings of `Network` were chosen on synthetic data.
LEAST_WIDTH = 16  # units of a hidden layer: a network as wide as two columns can bend in two places
# Learning rates, tried in this order: the next one is for data on which training diverges. The last
# one is the paper's.
RATES = (0.01, 0.001, 1e-4)
BATCH = 64  # rows in a step, as in the paper
# Batches where rows are few: half as many rows in a step give twice the steps in an epoch.
SMALL_BATCH, SMALL_BATCH_BELOW = 32, 2_000
STEPS = 10_000  # steps of training that set the number of epochs, within EPOCHS
# Fewest and most epochs, if early stopping does not end training before: many rows still get 20
# passes, and training on few rows ends.
EPOCHS = (20, 300)
HOLD_OUT = 0.1  # share of rows held out for early stopping
LEAST_HELD_OUT = 5  # rows; a mean loss of fewer is mostly noise, so there is no early stopping then
EPOCHS_WITHOUT_STOPPING = 30  # a fixed number, since nothing ends training before
# Epochs without a fall of the held-out loss: a tenth of all, at least five, since the loss of
# a tenth of the rows goes up and down from one epoch to the next.
PATIENCE_SHARE, LEAST_PATIENCE = 10, 5

# Rows mapped at once. It limits memory: activations of 8,192 rows and 16 units take 1 MB, however
# many rows there are. The result does not depend on it.
ROWS_AT_ONCE = 8192
NUMBERS = {1: "one hidden layer", 2: "two hidden layers", 3: "three hidden layers"}


@dataclass(frozen=True)
class Network(Representation):
    """The network behind the names "mlp1" and "mlp2": the paper's layers, trained for longer.

    Parameters
    ----------
    hidden : int, default 2
        Hidden layers: 1 for "mlp1", 2 for "mlp2".
    task : "regression" or "classification", default "regression"
        Whether the target is a number or a class.
    random_state : int, default 0
        Random seed of the first weights, the shuffles and the held-out rows.

    Raises
    ------
    ArgumentError
        If a setting is not one of these values.

    Notes
    -----
    The network has fully connected layers as wide as the input, ReLU, batches of 64 rows, gradient
    descent with momentum 0.9, and standardised columns and target, like the paper's (`MLP`). The
    paper's ten epochs at a learning rate of 1e-4 hardly change the first weights where rows are
    few, so these settings differ:

    - Layers have at least 16 units: two columns alone would give two units.
    - The learning rate is 0.01. If training diverges, it starts again at 0.001, then at 1e-4.
    - Batches have 32 rows if there are fewer than 2,000 rows.
    - There are 20 to 300 epochs, more for fewer rows.
    - A tenth of the rows is held out. Training ends when their loss has not fallen for a tenth of
      the epochs, at least five, and the best weights are kept. With fewer than 50 rows no rows are
      held out, and there are 30 epochs.

    `MLP(hidden=2)` has the paper's own settings.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 3))
    >>> features = Network(hidden=1).fit(X, np.abs(X[:, 0]))
    >>> features.transform(X).shape
    (200, 16)
    """

    hidden: int = 2
    task: str = "regression"
    random_state: int = 0

    def __post_init__(self) -> None:
        check_whole("hidden", self.hidden, least=1)
        check_choice("task", self.task, TASKS)
        check_whole("random_state", self.random_state, least=0)

    def settings(self, rows: int, columns: int, rate: float = RATES[0]) -> Any:
        """Return the `MLP` that is trained on a number of rows and columns.

        Parameters
        ----------
        rows, columns : int
            Size of the training data.
        rate : float, default 0.01
            Learning rate.

        Returns
        -------
        MLP

        Examples
        --------
        >>> Network(hidden=1).settings(rows=400, columns=3).epochs
        300
        """
        batch = SMALL_BATCH if rows < SMALL_BATCH_BELOW else BATCH
        stops_early = HOLD_OUT * rows >= LEAST_HELD_OUT
        epochs = (
            int(np.clip(STEPS * batch // rows, *EPOCHS)) if stops_early else EPOCHS_WITHOUT_STOPPING
        )
        return _torch_mlp().MLP(
            hidden=self.hidden,
            width=max(columns, LEAST_WIDTH),
            task=self.task,
            epochs=epochs,
            batch=batch,
            rate=rate,
            hold_out=HOLD_OUT if stops_early else 0.0,
            patience=max(LEAST_PATIENCE, epochs // PATIENCE_SHARE),
            random_state=self.random_state,
        )

    def _fit(self, rows: Rows, progress: Progress | None) -> Features:
        """Train at the first learning rate at which training does not diverge."""
        for rate in RATES[:-1]:
            try:
                return self._train(rows, rate, progress)
            except DataError:  # training diverged
                continue
        return self._train(rows, RATES[-1], progress)

    def _train(self, rows: Rows, rate: float, progress: Progress | None) -> Features:
        """Train at one learning rate."""
        settings = self.settings(len(rows.y), rows.X.shape[-1], rate)
        features: Features = settings._fit(rows, progress)
        return features


@dataclass(frozen=True, eq=False)
class Layers(Features):
    """A trained network as plain numbers, which maps rows to features without torch.

    Parameters
    ----------
    names : tuple of str
        Names of the features, the activations of the last hidden layer.
    center, scale : arrays (columns,)
        Mean and scale with which columns are standardised.
    layers : tuple of (slopes, intercepts)
        Arrays (units, inputs) and (units,) of every hidden layer.
    head : (slopes, intercepts)
        Arrays from activations to the prediction, in units of the standardised target.
    target : (float, float)
        Mean and scale of the target.
    settings : mapping of str to plain values
        Settings of the `MLP`.
    losses, held_out : tuple of float
        Mean loss after each epoch, of the training rows and of the held-out rows.
    classes : list, optional
        The classes by number; None for a numeric target.

    Examples
    --------
    >>> one = np.ones((1, 1)), np.zeros(1)
    >>> layers = Layers(("unit1",), np.zeros(1), np.ones(1), (one,), one, (0.0, 1.0), {}, (), ())
    >>> layers.transform([[-2.0], [3.0]]).tolist()
    [[0.0], [3.0]]
    """

    names: tuple[str, ...]
    center: FloatArray = field(repr=False)
    scale: FloatArray = field(repr=False)
    layers: tuple[tuple[FloatArray, FloatArray], ...] = field(repr=False)
    head: tuple[FloatArray, FloatArray] = field(repr=False)
    target: tuple[float, float] = field(repr=False)
    settings: Mapping[str, Any]
    losses: tuple[float, ...] = field(repr=False)
    held_out: tuple[float, ...] = field(repr=False)
    classes: list[Any] | None = None

    @classmethod
    def of(cls, features: Any) -> "Layers":
        """Return the numbers of a trained torch network, an `MLPFeatures`."""
        standardise, *rest = features.body
        return cls(
            names=features.names,
            center=_numbers(standardise.center),
            scale=_numbers(standardise.scale),
            layers=tuple((_numbers(part.weight), _numbers(part.bias)) for part in rest[::2]),
            head=(_numbers(features.head.weight), _numbers(features.head.bias)),
            target=(features.basis.target_center, features.basis.target_scale),
            settings=asdict(features.settings),
            losses=features.loss_history.train,
            held_out=features.loss_history.held_out,
            classes=features.classes,
        )

    def network(self) -> Features:
        """Return the torch network, an `MLPFeatures`, to which `Heads` can be attached."""
        return _torch_mlp().from_layers(self)

    def describe(self) -> str:
        """Return the architecture as a short text."""
        hidden, units = len(self.layers), len(self.layers[0][1])
        layers = NUMBERS.get(hidden, f"{hidden} hidden layers")
        return f"MLP{hidden} ({layers} of {units:,} units)"

    def training(self) -> str:
        """Return as a short text how it was trained."""
        epochs = len(self.losses)
        words = f"{epochs:,} epoch{'s' if epochs != 1 else ''}"
        if self.held_out:
            words += f" (the weights of epoch {1 + int(np.argmin(self.held_out)):,})"
        if not self.settings["standardise"]:
            return f"{words}, nothing standardised"
        return f"{words}, columns {'' if self.classes else 'and target '}standardised"

    def to_plain(self, write: Callable[[AnyArray], Any]) -> dict[str, Any]:
        """Return plain values for a file; `write` turns an array into a plain value."""
        return {
            "center": write(self.center),
            "scale": write(self.scale),
            "layers": [[write(part) for part in layer] for layer in self.layers],
            "head": [write(part) for part in self.head],
            "target": list(self.target),
            "settings": dict(self.settings),
            "losses": list(self.losses),
            "held_out": list(self.held_out),
            "classes": self.classes,
        }

    @classmethod
    def from_plain(cls, values: Mapping[str, Any], read: Callable[[Any], FloatArray]) -> "Layers":
        """Return the network of plain values from `to_plain`; `read` restores an array."""
        layers = tuple((read(slopes), read(intercepts)) for slopes, intercepts in values["layers"])
        head, (center, scale) = values["head"], values["target"]
        return cls(
            names=unit_names(len(layers[-1][1])),
            center=read(values["center"]),
            scale=read(values["scale"]),
            layers=layers,
            head=(read(head[0]), read(head[1])),
            target=(center, scale),
            settings=values["settings"],
            losses=tuple(values["losses"]),
            held_out=tuple(values["held_out"]),
            classes=values["classes"],
        )

    @cached_property
    def _order(self) -> IntArray:
        """An order of the columns that does not depend on theirs: sums over them have its bits."""
        first: FloatArray = self.layers[0][0]
        return np.lexsort((*first[::-1], self.scale, self.center))

    def with_columns(self, order: IntArray) -> "Layers":
        """Return the network for rows of which it has seen the columns in this `order`."""
        back = np.argsort(order)
        (slopes, intercepts), *others = self.layers
        return replace(
            self,
            center=self.center[back],
            scale=self.scale[back],
            layers=((slopes[:, back], intercepts), *others),
        )

    def _map(self, X: FloatArray) -> AnyArray:
        """Return the activations (n, units) of the last hidden layer."""
        p = len(self.center)
        if X.ndim != 2 or X.shape[1] != p:
            raise DataError(
                f"X has shape {X.shape}; the network was trained on {p} columns, expected (rows, "
                f"{p})."
            )
        order = self._order
        (slopes, intercepts), *others = self.layers
        layers = [(slopes.take(order, axis=1), intercepts), *others]
        values = np.empty((len(X), len(self.names)))
        for start in range(0, len(X), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            activations = (X[part] - self.center) / self.scale
            activations = activations.take(order, axis=1)
            for slopes, intercepts in layers:
                activations = np.maximum(activations @ slopes.T + intercepts, 0.0)
            values[part] = activations
        return values


def is_network(features: Features) -> bool:
    """Say whether features are those of a trained `MLP`; without torch loaded they cannot be."""
    return "torch" in sys.modules and isinstance(features, _torch_mlp().MLPFeatures)


def trains_network(representation: Representation) -> bool:
    """Say whether a representation is a `Network` or an `MLP`, which learn from the rows."""
    if isinstance(representation, Network):
        return True
    return "torch" in sys.modules and isinstance(representation, _torch_mlp().MLP)


def _torch_mlp() -> Any:
    """Return the module with the torch networks; raises a clear error if torch is missing."""
    from conjoin.representations.torch import mlp

    return mlp


def _numbers(tensor: Any) -> FloatArray:
    """Return a torch tensor as a numpy array in double precision."""
    return np.array(tensor.detach().cpu().numpy(), dtype=np.float64)
