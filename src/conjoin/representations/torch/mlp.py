"""The paper's networks MLP1 and MLP2, trained on all datasets together (needs the extra `nn`).

Rows with a target enter; a trained network (`MLPFeatures`) leaves, which maps rows to features,
predicts, and is saved to a file.

    x  -> (x - center) / scale -> Linear -> ReLU [-> Linear -> ReLU] -> e -> Linear -> prediction

Hidden layers are as wide as the input. The features are e, the activations after the last ReLU.

==========  ====================================================  ============
symbol      meaning                                               shape
==========  ====================================================  ============
x           columns of the data                                   (n, p)
e           penultimate activations                               (n, width)
t           target, centred and scaled; or the number of a class  (n,)
==========  ====================================================  ============

The random seed determines the first weights and all shuffles, on rows in canonical order. Sums are
taken in double precision and on one thread. `perceptron` trains; the result is a torch module.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from conjoin._typing import AnyArray, FloatArray, Progress
from conjoin.checks import check_choice
from conjoin.errors import ArgumentError, DataError
from conjoin.moments import Basis
from conjoin.moments.resample import stream
from conjoin.representations.base import (
    TASKS,
    Features,
    Representation,
    Rows,
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
from conjoin.representations.training import LossHistory, Training

if TYPE_CHECKING:
    from conjoin.representations.networks import Layers

torch = require_torch()

ROWS_AT_ONCE = 8192  # rows mapped at once, to limit memory: 1 MB of activations for 16 units
KIND = "mlp"  # what a file of weights says it holds


@dataclass(frozen=True)
class MLP(Representation):
    """A network with hidden layers as wide as the input; the defaults are the paper's settings.

    Parameters
    ----------
    hidden : int, default 1
        Hidden layers: 1 is the paper's MLP1, 2 its MLP2.
    width : int, optional
        Units of each hidden layer; by default the number of columns.
    task : "regression" or "classification", default "regression"
        The loss: squared error, or cross entropy of softmax.
    epochs : int, default 10
        Passes over the rows.
    batch : int, default 64
        Rows in one step.
    rate : float, default 1e-4
        Learning rate of stochastic gradient descent.
    momentum : float, default 0.9
        Momentum. The paper's text says "weight decay 0.9", its scripts have momentum 0.9.
    weight_decay : float, default 0.0
        Penalty on the squared weights.
    standardise : bool, default True
        Whether columns, and the target of a regression, are standardised first.
    hold_out : float, default 0.0
        Share of rows held out for early stopping; 0 means no early stopping.
    patience : int, default 3
        Epochs without a fall of the held-out loss after which training ends; the best weights are
        kept.
    random_state : int, default 0
        Random seed.

    Raises
    ------
    ArgumentError
        If a setting is out of range.

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
                raise ArgumentError(
                    f"{name}={getattr(self, name)!r} is not a number; expected a number."
                )
        check_choice("task", self.task, TASKS)
        check_whole("random_state", self.random_state, least=0)
        self._training  # noqa: B018 - `Training` checks the ranges

    @property
    def _training(self) -> Training:
        """The settings of the training loop."""
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
        """Standardise, train and return the network as torch modules."""
        if rows.X.ndim != 2:
            raise DataError(
                f"X has shape {rows.X.shape}; an MLP takes rows and columns, expected (rows, "
                "columns)."
            )
        p = rows.X.shape[1]
        basis = Basis.raw(p)
        if self.standardise:
            basis = Basis.from_rows(rows.X, rows.y, rows.weights)
        if rows.classes is not None:
            basis = replace(basis, target_center=0.0, target_scale=1.0)
        widths = (p, *[self.width or p] * self.hidden)
        outputs = 1 if rows.classes is None else len(rows.classes)
        layers, history = train_perceptron(
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
        return MLPFeatures(unit_names(widths[-1]), body, head, basis, self, history, rows.classes)


@dataclass(frozen=True, eq=False)
class MLPFeatures(Features):
    """A trained network; its features are the activations of the last hidden layer.

    Parameters
    ----------
    names : tuple of str
        Names of the features.
    body : torch module
        From columns, in the units of the data, to features.
    head : torch module
        From features to the prediction, in the units of `basis`.
    basis : Basis
        How columns and target were standardised.
    settings : MLP
        Settings of the training.
    loss_history : LossHistory
        Losses by epoch.
    classes : list, optional
        The classes by number; None for a numeric target.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> features = MLP(epochs=2).fit(X, X[:, 0])
    >>> features.names, len(features.loss_history.train)
    (('unit1', 'unit2', 'unit3'), 2)
    """

    names: tuple[str, ...]
    body: Any = field(repr=False)
    head: Any = field(repr=False)
    basis: Basis = field(repr=False)
    settings: MLP
    loss_history: LossHistory = field(repr=False)
    classes: list[Any] | None = None

    def predict(self, X: Any) -> FloatArray:
        """Return what the network itself predicts.

        Parameters
        ----------
        X : array (n, columns)
            Rows.

        Returns
        -------
        array
            Targets (n,), or probabilities of the classes (n, classes).

        Examples
        --------
        >>> X = np.random.default_rng(0).standard_normal((100, 3))
        >>> MLP().fit(X, X[:, 0]).predict(X[:5]).shape
        (5,)
        """
        with torch.no_grad(), one_thread():
            out = self.head(torch.tensor(self.transform(X)))
            if self.classes is not None:
                probabilities: FloatArray = torch.softmax(out, dim=1).numpy()
                return probabilities
            values: FloatArray = out[:, 0].numpy()
            return values * self.basis.target_scale + self.basis.target_center

    def _map(self, X: FloatArray) -> AnyArray:
        """Return the activations (n, units) of the last hidden layer."""
        p = len(self.basis.center)
        if X.ndim != 2 or X.shape[1] != p:
            raise DataError(
                f"X has shape {X.shape}; the network was trained on {p} columns, expected (rows, "
                f"{p})."
            )
        values = np.empty((len(X), len(self.names)))
        with torch.no_grad(), one_thread():
            for start in range(0, len(X), ROWS_AT_ONCE):
                part = slice(start, start + ROWS_AT_ONCE)
                values[part] = self.body(torch.tensor(X[part])).numpy()
        return values

    def save(self, path: str | Path) -> None:
        """Write weights and settings to a file that contains no code.

        Parameters
        ----------
        path : str or Path
            The file.

        Examples
        --------
        >>> import tempfile
        >>> X = np.random.default_rng(0).standard_normal((100, 3))
        >>> features = MLP().fit(X, X[:, 0])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     features.save(f"{folder}/network.pt")
        ...     loaded = MLPFeatures.load(f"{folder}/network.pt")
        >>> bool((loaded.predict(X) == features.predict(X)).all())
        True
        """
        content = {
            "settings": asdict(self.settings),
            "course": {
                "trained": self.loss_history.train,
                "held_out": self.loss_history.held_out,
            },
            "classes": self.classes,
            "target": [self.basis.target_center, self.basis.target_scale],
            "head": self.head.state_dict(),
            **describe_body(self.body),
        }
        write_weights(path, KIND, content)

    @classmethod
    def load(cls, path: str | Path) -> "MLPFeatures":
        """Return the network of a file that `save` has written.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        MLPFeatures

        Raises
        ------
        ReadError
            If the file is missing, holds something else, or is of a newer version.

        Examples
        --------
        See `save`.
        """
        content = read_weights(path, KIND)
        body = read_body(content)
        head = content["head"]
        standardise = body[0]
        center, scale = content["target"]
        history = content["course"]
        return cls(
            names=unit_names(head["weight"].shape[1]),
            body=body,
            head=linear(head["bias"].numpy(), head["weight"].numpy()).requires_grad_(False),
            basis=Basis(standardise.center.numpy(), standardise.scale.numpy(), center, scale, True),
            settings=MLP(**content["settings"]),
            loss_history=LossHistory(tuple(history["trained"]), tuple(history["held_out"])),
            classes=content["classes"],
        )


def from_layers(layers: "Layers") -> MLPFeatures:
    """Return the torch network of plain numbers."""
    basis = Basis(layers.center, layers.scale, *layers.target, True)
    stacked = [np.vstack([slopes.T, intercepts]) for slopes, intercepts in layers.layers]
    slopes, intercepts = layers.head
    return MLPFeatures(
        names=layers.names,
        body=make_body(basis, stacked),
        head=linear(intercepts, slopes).requires_grad_(False),
        basis=basis,
        settings=MLP(**layers.settings),
        loss_history=LossHistory(layers.losses, layers.held_out),
        classes=layers.classes,
    )


def first_layers(widths: tuple[int, ...], rng: np.random.Generator) -> list[FloatArray]:
    """Draw the first weights of layers (inputs + 1, outputs), uniform within +-1/sqrt(inputs)."""
    layers: list[FloatArray] = []
    for inputs, outputs in zip(widths, widths[1:]):
        limit = 1 / np.sqrt(inputs)
        slopes = rng.uniform(-limit, limit, (outputs, inputs))
        layers.append(np.vstack([slopes.T, rng.uniform(-limit, limit, outputs)]))
    return layers


def as_linear(layer: FloatArray) -> Any:
    """Return a layer (inputs + 1, outputs), intercepts in the last row, as a torch module."""
    return linear(layer[-1], layer[:-1].T).requires_grad_(False)


def make_body(basis: Basis, layers: Sequence[FloatArray]) -> Any:
    """Return the torch modules from columns to the last activations."""
    parts = [part for layer in layers for part in (as_linear(layer), torch.nn.ReLU())]
    return torch.nn.Sequential(Standardise(basis.center, basis.scale), *parts)


def describe_body(body: Any) -> dict[str, Any]:
    """Return widths and weights, from which `read_body` builds the layers."""
    widths = [len(body[0].center), *(len(layer.bias) for layer in body[1::2])]
    return {"widths": widths, "body": body.state_dict()}


def read_body(content: dict[str, Any]) -> Any:
    """Return the layers that `describe_body` has described."""
    widths = content["widths"]
    layers = [np.zeros((i + 1, o)) for i, o in zip(widths, widths[1:])]
    body = make_body(Basis.raw(widths[0]), layers)
    body.load_state_dict(content["body"])
    return body
