"""The paper's networks MLP1 and MLP2, trained on all datasets together (extra: nn).

    x  -> (x - center) / scale -> Linear -> ReLU [-> Linear -> ReLU] -> e -> Linear -> prediction

Hidden layers are as wide as the input; e, the activations after the last ReLU, are the features.

==========  ====================================================  ============
symbol      meaning                                               shape
==========  ====================================================  ============
x           columns of the data                                   (n, p)
e           penultimate activations                               (n, width)
t           target, centred and scaled; or the number of a class  (n,)
==========  ====================================================  ============

Weights and shuffles are drawn from the seed, on rows in their own order; sums are taken in double
precision and on one thread. Training is `perceptron`'s, what is trained a torch module.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from conjoin._typing import AnyArray, FloatArray, Progress
from conjoin.errors import ArgumentError, DataError
from conjoin.moments import Basis
from conjoin.moments.resample import stream
from conjoin.representations.base import (
    TASKS,
    Features,
    Representation,
    Rows,
    check_choice,
    check_whole,
    unit_names,
)
from conjoin.representations.perceptron import train_perceptron
from conjoin.representations.torch.files import read_weights, write_weights
from conjoin.representations.torch.tools import (
    Standardise,
    linear,
    one_thread,
    require_torch,
)
from conjoin.representations.training import Course, Training

torch = require_torch()

ROWS_AT_ONCE = 8192
KIND = "mlp"


@dataclass(frozen=True)
class MLP(Representation):
    """A network with hidden layers as wide as the input, as the paper trains it.

    Parameters
    ----------
    hidden : int
        Hidden layers: 1 is the paper's MLP1, 2 its MLP2.
    width : int, optional
        Units of each hidden layer; by default the number of columns.
    task : "regression" or "classification"
        Squared error, or softmax with cross entropy.
    epochs, batch, rate, momentum, weight_decay : numbers
        Of stochastic gradient descent. The paper's text says "weight decay 0.9", its scripts have
        momentum 0.9; so here.
    standardise : bool
        Whether columns, and the target of a regression, are centred and scaled first.
    hold_out, patience : float, int
        Share of rows held out for early stopping (0: none), and epochs without a fall of their
        loss after which training ends; the best weights are kept.
    random_state : int

    Examples
    --------
    >>> from conjoin.datasets import make_pair
    >>> pair = make_pair(p=5, n=200)
    >>> features = MLP(hidden=1).fit(pair.X["a"], pair.y["a"])
    >>> features.transform(pair.X["b"]).shape
    (200, 5)
    """

    hidden: int = 1
    width: int | None = None
    task: str = "regression"
    epochs: int = 10
    batch: int = 64
    rate: float = 1e-4
    momentum: float = 0.9
    weight_decay: float = 0.0
    standardise: bool = True
    hold_out: float = 0.0
    patience: int = 3
    random_state: int = 0

    def __post_init__(self) -> None:
        for name in ("hidden", "epochs", "batch", "patience", "width"):
            if name != "width" or self.width is not None:
                check_whole(name, getattr(self, name), least=0 if name == "epochs" else 1)
        for name in ("rate", "momentum", "weight_decay", "hold_out"):
            if not isinstance(getattr(self, name), Real):
                raise ArgumentError(f"{name}={getattr(self, name)!r} is no number; expected one.")
        check_choice("task", self.task, TASKS)
        check_whole("random_state", self.random_state, least=0)
        self._training  # noqa: B018 - checks the rest

    @property
    def _training(self) -> Training:
        return Training(
            self.epochs,
            self.batch,
            self.rate,
            self.momentum,
            self.weight_decay,
            self.hold_out,
            self.patience,
        )

    def _fit(self, rows: Rows, progress: Progress | None) -> Features:
        if rows.X.ndim != 2:
            raise DataError(f"X has shape {rows.X.shape}; an MLP takes rows and columns.")
        p = rows.X.shape[1]
        basis = Basis.raw(p)
        if self.standardise:
            basis = Basis.from_rows(rows.X, rows.y, rows.weights)
        if rows.classes is not None:
            basis = replace(basis, target_center=0.0, target_scale=1.0)
        widths = (p, *[self.width or p] * self.hidden)
        outputs = 1 if rows.classes is None else len(rows.classes)
        layers, course = train_perceptron(
            first_layers((*widths, outputs), stream(self.random_state, "mlp", "weights")),
            (rows.X - basis.center) / basis.scale,
            basis.response(rows.y),
            rows.weights,
            self._training,
            stream(self.random_state, "mlp", "rows"),
            classes=rows.classes is not None,
            progress=progress,
        )
        body = make_body(basis, layers[:-1])
        head = as_linear(layers[-1])
        return MLPFeatures(unit_names(widths[-1]), body, head, basis, self, course, rows.classes)


@dataclass(frozen=True, eq=False)
class MLPFeatures(Features):
    """A trained network and its penultimate activations.

    Parameters
    ----------
    names : tuple of str
    body, head : torch modules
        From columns, in the units of the data, to activations; from these to the prediction, in
        the units of `basis`.
    basis : Basis
        How columns and target were centred and scaled.
    settings : MLP
    course : Course
        Losses by epoch.
    classes : list, optional
        By number.
    """

    names: tuple[str, ...]
    body: Any = field(repr=False)
    head: Any = field(repr=False)
    basis: Basis = field(repr=False)
    settings: MLP
    course: Course = field(repr=False)
    classes: list[Any] | None = None

    def predict(self, X: Any) -> FloatArray:
        """Return what the network itself predicts: the target, or the classes' probabilities."""
        with torch.no_grad(), one_thread():
            out = self.head(torch.tensor(self.transform(X)))
            if self.classes is not None:
                probabilities: FloatArray = torch.softmax(out, dim=1).numpy()
                return probabilities
            values: FloatArray = out[:, 0].numpy()
            return values * self.basis.target_scale + self.basis.target_center

    def _map(self, X: FloatArray) -> AnyArray:
        p = len(self.basis.center)
        if X.ndim != 2 or X.shape[1] != p:
            raise DataError(f"X has shape {X.shape}; the network was trained on {p} columns.")
        values = np.empty((len(X), len(self.names)))
        with torch.no_grad(), one_thread():
            for start in range(0, len(X), ROWS_AT_ONCE):
                some = slice(start, start + ROWS_AT_ONCE)
                values[some] = self.body(torch.tensor(X[some])).numpy()
        return values

    def save(self, path: str | Path) -> None:
        """Write weights and settings to a file without code in it."""
        content = {
            "settings": asdict(self.settings),
            "course": asdict(self.course),
            "classes": self.classes,
            "target": [self.basis.target_center, self.basis.target_scale],
            "head": self.head.state_dict(),
            **describe_body(self.body),
        }
        write_weights(path, KIND, content)

    @classmethod
    def load(cls, path: str | Path) -> "MLPFeatures":
        """Read what `save` has written."""
        content = read_weights(path, KIND)
        body = read_body(content)
        head = content["head"]
        standardise = body[0]
        center, scale = content["target"]
        course = {name: tuple(values) for name, values in content["course"].items()}
        return cls(
            names=unit_names(head["weight"].shape[1]),
            body=body,
            head=linear(head["bias"].numpy(), head["weight"].numpy()).requires_grad_(False),
            basis=Basis(standardise.center.numpy(), standardise.scale.numpy(), center, scale, True),
            settings=MLP(**content["settings"]),
            course=Course(**course),
            classes=content["classes"],
        )


def first_layers(widths: tuple[int, ...], rng: np.random.Generator) -> list[FloatArray]:
    """Draw the first weights: uniform within one over the root of the number of inputs."""
    layers: list[FloatArray] = []
    for inputs, outputs in zip(widths, widths[1:]):
        limit = 1 / np.sqrt(inputs)
        slopes = rng.uniform(-limit, limit, (outputs, inputs))
        layers.append(np.vstack([slopes.T, rng.uniform(-limit, limit, outputs)]))
    return layers


def as_linear(layer: FloatArray) -> Any:
    """Return slopes and, in the last line, intercepts (inputs + 1, outputs) as a torch layer."""
    return linear(layer[-1], layer[:-1].T).requires_grad_(False)


def make_body(basis: Basis, layers: Sequence[FloatArray]) -> Any:
    """Return the torch layers from columns to the last activations."""
    parts = [part for layer in layers for part in (as_linear(layer), torch.nn.ReLU())]
    return torch.nn.Sequential(Standardise(basis.center, basis.scale), *parts)


def describe_body(body: Any) -> dict[str, Any]:
    """Return what `read_body` needs to build the layers again."""
    widths = [len(body[0].center), *(len(layer.bias) for layer in body[1::2])]
    return {"widths": widths, "body": body.state_dict()}


def read_body(content: dict[str, Any]) -> Any:
    """Build the layers that `describe_body` has described."""
    widths = content["widths"]
    layers = [np.zeros((i + 1, o)) for i, o in zip(widths, widths[1:])]
    body = make_body(Basis.raw(widths[0]), layers)
    body.load_state_dict(content["body"])
    return body
