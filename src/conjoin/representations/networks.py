"""Networks by name, and trained networks as plain numbers; torch is loaded where it is needed only.

`Network` is what `representation="mlp2"` means; `Layers` a trained network that maps rows, is
written to a file and read again without torch.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from conjoin._typing import AnyArray, FloatArray, Progress
from conjoin.errors import DataError
from conjoin.representations.base import (
    TASKS,
    Features,
    Representation,
    Rows,
    check_choice,
    check_whole,
    unit_names,
)

NAMES = {"mlp1": 1, "mlp2": 2}
NARROWEST = 16  # units of a hidden layer
RATES = (0.01, 0.001, 1e-4)  # the next one where training diverges
BATCH, SMALL_BATCH = 64, 32
SMALL = 2_000  # rows below which batches are small
STEPS = 10_000  # at most, where rows are few
EPOCHS = (20, 300)  # fewest and most, if training does not end before
HOLD_OUT = 0.1
FEWEST_HELD = 5  # rows; with fewer there is no early stopping
SHORT = 30  # epochs then
ROWS_AT_ONCE = 8192
NUMBERS = {1: "one hidden layer", 2: "two hidden layers", 3: "three hidden layers"}


@dataclass(frozen=True)
class Network(Representation):
    """The network that a name stands for: the paper's, trained until it is of use.

    Parameters
    ----------
    hidden : int
        Hidden layers: 1 for "mlp1", 2 for "mlp2".
    task : "regression" or "classification"
    random_state : int

    Notes
    -----
    Like the paper's (`MLP`): fully connected layers as wide as the input, ReLU, batches of 64,
    descent with momentum 0.9, columns and target standardised. Other than the paper's, whose ten
    epochs with steps of 1e-4 hardly move the first weights where rows are few:

    - layers have at least 16 units, since two columns make two units of little use;
    - steps are 0.01 (a tenth of that, and again, should training diverge), batches of 32 below
      2,000 rows, and there are 20 to 300 epochs, the more the fewer rows;
    - a tenth of the rows is held out: training ends when their loss has not fallen for a tenth of
      the epochs (at least five), and the best weights are kept. With fewer than 50 rows there are
      30 epochs and none are held out.

    `MLP(hidden=2)` is the paper's own.
    """

    hidden: int = 2
    task: str = "regression"
    random_state: int = 0

    def __post_init__(self) -> None:
        check_whole("hidden", self.hidden, least=1)
        check_choice("task", self.task, TASKS)
        check_whole("random_state", self.random_state, least=0)

    def settings(self, rows: int, columns: int, rate: float = RATES[0]) -> Any:
        """Return the `MLP` for so many rows and columns."""
        batch = SMALL_BATCH if rows < SMALL else BATCH
        watched = HOLD_OUT * rows >= FEWEST_HELD
        epochs = int(np.clip(STEPS * batch // rows, *EPOCHS)) if watched else SHORT
        return _torch_mlp().MLP(
            hidden=self.hidden,
            width=max(columns, NARROWEST),
            task=self.task,
            epochs=epochs,
            batch=batch,
            rate=rate,
            hold_out=HOLD_OUT if watched else 0.0,
            patience=max(5, epochs // 10),
            random_state=self.random_state,
        )

    def _fit(self, rows: Rows, progress: Progress | None) -> Features:
        for rate in RATES[:-1]:
            try:
                return self._train(rows, rate, progress)
            except DataError:  # it diverged
                continue
        return self._train(rows, RATES[-1], progress)

    def _train(self, rows: Rows, rate: float, progress: Progress | None) -> Features:
        settings = self.settings(len(rows.y), rows.X.shape[-1], rate)
        features: Features = settings._fit(rows, progress)
        return features


@dataclass(frozen=True, eq=False)
class Layers(Features):
    """A trained network as plain numbers.

    Parameters
    ----------
    names : tuple of str
        Of the last activations.
    center, scale : arrays (columns,)
        By which columns are standardised.
    layers : tuple of (slopes, intercepts)
        Of every hidden layer, (units, inputs) and (units,).
    head : (slopes, intercepts)
        From activations to the prediction, in units of the standardised target.
    target : (float, float)
        Centre and scale of the target.
    settings : mapping of str to plain values
        Of the `MLP`.
    losses, held_out : tuple of float
        Mean loss after each epoch, of the rows in training and of those held out.
    classes : list, optional
        By number.
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
        """Take the numbers of `MLPFeatures`."""
        standardise, *rest = features.body
        return cls(
            names=features.names,
            center=_numbers(standardise.center),
            scale=_numbers(standardise.scale),
            layers=tuple((_numbers(part.weight), _numbers(part.bias)) for part in rest[::2]),
            head=(_numbers(features.head.weight), _numbers(features.head.bias)),
            target=(features.basis.target_center, features.basis.target_scale),
            settings=asdict(features.settings),
            losses=features.course.trained,
            held_out=features.course.held_out,
            classes=features.classes,
        )

    def network(self) -> Features:
        """Return the network of torch: `MLPFeatures`, on which `Heads` can be put."""
        home, tools = _torch_mlp(), import_module("conjoin.representations.torch.tools")
        nn = tools.torch.nn
        parts = [
            part
            for slopes, intercepts in self.layers
            for part in (tools.linear(intercepts, slopes), nn.ReLU())
        ]
        body = nn.Sequential(tools.Standardise(self.center, self.scale), *parts)
        slopes, intercepts = self.head
        features: Features = home.MLPFeatures(
            names=self.names,
            body=body.requires_grad_(False),
            head=tools.linear(intercepts, slopes).requires_grad_(False),
            basis=home.Basis(self.center, self.scale, *self.target, True),
            settings=home.MLP(**self.settings),
            course=home.Course(self.losses, self.held_out),
            classes=self.classes,
        )
        return features

    def describe(self) -> str:
        """Return the architecture in words."""
        hidden, units = len(self.layers), len(self.layers[0][1])
        layers = NUMBERS.get(hidden, f"{hidden} hidden layers")
        return f"MLP{hidden} ({layers} of {units:,} units)"

    def training(self) -> str:
        """Return in words how it was trained."""
        epochs = len(self.losses)
        words = f"{epochs:,} epoch{'s' if epochs != 1 else ''}"
        if self.held_out:
            words += f" (the weights of epoch {1 + int(np.argmin(self.held_out)):,})"
        if not self.settings["standardise"]:
            return f"{words}, nothing standardised"
        return f"{words}, columns {'' if self.classes else 'and target '}standardised"

    def to_plain(self, write: Callable[[AnyArray], Any]) -> dict[str, Any]:
        """Return plain values, arrays as `write` writes them."""
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
        """Read what `to_plain` has written."""
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

    def _map(self, X: FloatArray) -> AnyArray:
        p = len(self.center)
        if X.ndim != 2 or X.shape[1] != p:
            raise DataError(f"X has shape {X.shape}; the network was trained on {p} columns.")
        values = np.empty((len(X), len(self.names)))
        for start in range(0, len(X), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            activations = (X[part] - self.center) / self.scale
            for slopes, intercepts in self.layers:
                activations = np.maximum(activations @ slopes.T + intercepts, 0.0)
            values[part] = activations
        return values


def is_network(features: Features) -> bool:
    """Say whether features are those of a trained `MLP`; torch is there then already."""
    return "torch" in sys.modules and isinstance(features, _torch_mlp().MLPFeatures)


def _torch_mlp() -> Any:
    return import_module("conjoin.representations.torch.mlp")


def _numbers(tensor: Any) -> FloatArray:
    return np.array(tensor.detach().cpu().numpy(), dtype=np.float64)
