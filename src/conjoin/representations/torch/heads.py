"""Linear models of clusters put back on the network: one body, one Linear layer a cluster (nn).

    x -> body -> e -> kept within the limits of the models -> Linear of the row's cluster

Coefficients are in the units of the activations e and of the target, so a head gives what the
linear model gives on e: the value of its line, or lines. These are the target itself, the logarithm
of a count, the log-odds of the second of two classes, or a score for each class; `Heads.predict`
makes targets of them.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

from conjoin._typing import AnyArray, FloatArray, IntArray, Progress
from conjoin.errors import ArgumentError, DataError
from conjoin.families import Label, Response, expected, label_array, most_likely, softmax
from conjoin.moments.resample import canonical_order, stream
from conjoin.representations.base import Features, check_choice, check_inputs
from conjoin.representations.embedding import Embedding
from conjoin.representations.torch.files import read_weights, write_weights
from conjoin.representations.torch.mlp import MLPFeatures, describe_body, read_body
from conjoin.representations.torch.tap import Body, TapFeatures, evaluating
from conjoin.representations.torch.tools import (
    Limit,
    Module,
    linear,
    require_torch,
    train,
)
from conjoin.representations.training import Course, Training
from conjoin.result.partition import Partition
from conjoin.tables.frame import in_memory, is_table, to_frame
from conjoin.tables.names import dataset_names
from conjoin.tables.schema import Schema

torch = require_torch()

ROWS_AT_ONCE = 8192
KIND = "heads"
LOSSES = {  # and what the target is
    "squared": "gaussian",
    "poisson": "poisson",
    "logistic": "logistic",
    "softmax": "logistic",
}


class Heads(Module):  # type: ignore[misc]
    """A network with a linear head for each cluster of datasets.

    Parameters
    ----------
    body : torch module
        From rows to activations (n, width).
    intercepts, slopes : arrays (heads, outputs), (heads, outputs, width)
    labels : mapping of dataset name to int
        The head of each dataset.
    limits : (array, array), optional
        Lowest and highest activations (width,) that a head is given.
    loss : "squared", "poisson", "logistic" or "softmax"
        What outputs are: the target, the logarithm of a count, the log-odds of the second of two
        classes, a score for each class.
    classes : sequence of labels, optional
        Of "logistic" and "softmax"; by default 0, 1 and so on.
    schema : Schema, optional
        How columns of a table become the rows that the body takes; without one it takes arrays.

    Attributes
    ----------
    response : Response
        What the target is.
    course : Course, optional
        Losses by epoch, of heads that were trained on (`finetune`).

    Examples
    --------
    >>> import conjoin
    >>> from conjoin.datasets import make_clusters
    >>> stores = make_clusters(sizes=(2, 2), n=100, p=4, distance=2.0).tables()
    >>> result = conjoin.partition(stores, target="y", representation="mlp1", strategy="clusters")
    >>> heads = Heads.of(result)
    >>> bool(np.allclose(heads.predict(stores["d1"], "d1"), result.predict(stores["d1"], "d1")))
    True
    """

    def __init__(
        self,
        body: Any,
        intercepts: FloatArray,
        slopes: FloatArray,
        labels: Mapping[str, int],
        limits: tuple[FloatArray, FloatArray] | None = None,
        loss: str = "squared",
        classes: Sequence[Label] | None = None,
        schema: Schema | None = None,
    ) -> None:
        super().__init__()
        check_choice("loss", loss, tuple(LOSSES))
        _, outputs, width = slopes.shape
        self.loss = loss
        self.response = Response(LOSSES[loss], _labels_of(loss, outputs, classes))
        low, high = (np.full(width, -np.inf), np.full(width, np.inf)) if limits is None else limits
        self.body = body
        self.limit = Limit(low, high)
        self.heads = torch.nn.ModuleList([linear(a, b) for a, b in zip(intercepts, slopes)])
        self.labels = {str(name): int(label) for name, label in labels.items()}
        self.outputs = outputs
        self.schema = schema
        self.course: Course | None = None

    @classmethod
    def of(
        cls, source: Partition | Embedding | Features, models: Any = None, *, limit: bool = True
    ) -> "Heads":
        """Put models back on the network whose activations they were fitted to.

        Parameters
        ----------
        source : Partition, Embedding or Features
            A result with a representation, or what it was fitted to; of a network, `MLP` or `Tap`.
        models : Partition, or mapping of dataset name to model, optional
            Of a result, the models of its clusters, one head each; of a mapping, such as
            `result.coefficients`, one head for each model. Activations that a model does not know
            get the coefficient 0. By default those of the source, if that is a result.
        limit : bool
            Whether activations are kept within the limits of the models, as by their `predict`.
        """
        models = source if models is None else models
        if not isinstance(models, (Partition, Mapping)):
            raise ArgumentError(
                "models is missing: pass the result that was fitted to the embedding, or a mapping "
                "of dataset name to model."
            )
        names, body = _network(source)
        if isinstance(models, Partition):
            fits, labels = [*models.models], models.labels
        else:
            fits, labels = [*models.values()], {name: i for i, name in enumerate(models)}
        if not fits:
            raise ArgumentError("models is empty; there is no head to put on the network.")
        lines = [_lines(fit) for fit in fits]
        position = {name: j for j, name in enumerate(names) if name is not None}
        slopes = np.zeros((len(fits), len(lines[0]), len(names)))
        for i, fit in enumerate(lines):
            for o, line in enumerate(fit):
                slopes[i, o, _positions(line.coef, position)] = list(line.coef.values())
        low, high = np.full(len(names), -np.inf), np.full(len(names), np.inf)
        if limit:  # all models of a result share their limits
            some = fits[0].limits
            at = _positions(some, position)
            low[at], high[at] = ([pair[i] for pair in some.values()] for i in (0, 1))
        intercepts = np.array([[line.intercept for line in fit] for fit in lines])
        classes = getattr(fits[0], "classes", None)
        loss = _loss_of(fits[0])
        schema = None if isinstance(source, Features) else source.schema
        return cls(deepcopy(body), intercepts, slopes, labels, (low, high), loss, classes, schema)

    def forward(self, x: Any, heads: Any) -> Any:
        """Return outputs (n, outputs) of rows x; `heads` is one number, or one a row (n,)."""
        e = self.limit(self.body(x))
        if isinstance(heads, int):
            return self.heads[heads](e)
        weight = torch.stack([head.weight for head in self.heads])[heads]
        bias = torch.stack([head.bias for head in self.heads])[heads]
        return torch.einsum("now,nw->no", weight, e) + bias

    def network(self, dataset: str) -> Any:
        """Return the network of one dataset, from rows to outputs, as one torch module."""
        return torch.nn.Sequential(self.body, self.limit, self.heads[self._label(dataset)])

    def predict(self, X: Any, dataset: Any = None) -> AnyArray:
        """Return the expected targets, or the most likely classes, of rows X.

        Parameters
        ----------
        X : table or array (n, ...)
            A table with the columns of fitting, or rows as the network takes them.
        dataset : name, or one a row, optional
            By default what the column of fitting says.
        """
        lines = self.lines(X, dataset)
        if self.response.classes:
            return most_likely(softmax(lines), self.response.classes)
        return expected(lines, self.response)

    def predict_proba(self, X: Any, dataset: Any = None) -> FloatArray:
        """Return the probability of each class (n, classes); arguments as in `predict`."""
        if not self.response.classes:
            raise ArgumentError(
                "The target of these heads has no classes, so there are no probabilities; use "
                "predict."
            )
        return softmax(self.lines(X, dataset))

    def lines(self, X: Any, dataset: Any = None) -> FloatArray:
        """Return the outputs of heads themselves (n, outputs); arguments as in `predict`."""
        rows, labels = self._read(X, dataset)
        values = np.empty((len(rows), self.outputs))
        with torch.no_grad(), evaluating(self):
            for label in np.unique(labels):
                mine = np.nonzero(labels == label)[0]
                for some in np.array_split(mine, len(mine) // ROWS_AT_ONCE + 1):
                    out = self(torch.tensor(rows[some]), int(label))
                    values[some] = out.cpu().numpy()
        return values

    def finetune(
        self,
        X: Any,
        y: Any,
        dataset: Any = None,
        *,
        body: bool = False,
        training: Training | None = None,
        random_state: int = 0,
        progress: Progress | None = None,
    ) -> "Heads":
        """Return a copy trained on, from these heads, with the heads of all clusters at once.

        Parameters
        ----------
        X, y, dataset : rows, array (n,), names
            X and dataset as in `predict`; y is the target: numbers, or labels of classes. The
            squared error is taken in units of the target's spread.
        body : bool
            Whether the body is trained as well, or the heads alone.
        training : Training, optional
            By default that of the paper's networks, whose steps are small: a larger `rate` or
            more `epochs` move heads further.
        """
        rows, labels = self._read(X, dataset)
        target = self._target(y, len(rows))
        order = canonical_order(np.column_stack([rows.reshape(len(rows), -1), labels]), target)
        tuned = deepcopy(self)
        center, scale = 0.0, 1.0
        if self.loss == "squared":
            center, scale = float(target[order].mean()), float(target[order].std()) or 1.0
        tuned._rescale(-center, 1 / scale)
        tuned.requires_grad_(True)
        tuned.body.requires_grad_(body)
        t = torch.tensor((target[order] - center) / scale)
        data = (
            torch.tensor(rows[order]),
            torch.as_tensor(labels[order]),
            t.long() if self.loss == "softmax" else t,
        )
        chosen = Training() if training is None else training
        rng = stream(random_state, "heads", "rows")
        with evaluating(tuned):
            parameters = [p for p in tuned.parameters() if p.requires_grad]
            weights = torch.ones(len(rows), dtype=torch.float64)
            tuned.course = train(parameters, tuned._losses, data, weights, chosen, rng, progress)
        tuned.requires_grad_(False)
        tuned._rescale(center / scale, scale)
        return tuned

    def _target(self, y: Any, n: int) -> FloatArray:
        """Return the target as numbers, of classes their codes."""
        if self.response.classes:
            target: FloatArray = self.response.codes(y)
        else:
            try:
                target = np.asarray(y, dtype=np.float64)
            except (TypeError, ValueError):
                raise DataError(
                    "y is not numeric, but the target of these heads is a number."
                ) from None
        if target.shape != (n,):
            raise DataError(f"y has shape {target.shape}, but X has {n} rows.")
        if not np.isfinite(target).all():
            raise DataError("y has values that are missing or infinite; drop these rows first.")
        return target

    def _read(self, X: Any, dataset: Any) -> tuple[FloatArray, IntArray]:
        """Return rows as the body takes them, and the head of each."""
        if not is_table(X):
            rows = check_inputs(X)
        elif self.schema is None:
            raise ArgumentError(
                "X is a table, but these heads know no columns: pass an array of rows as the "
                "network takes them, or make heads of a result, Heads.of(result)."
            )
        else:
            by = self.schema.roles.by if dataset is None else ()
            frame = in_memory(to_frame(X, "X", wanted={*self.schema.columns, *by}))
            rows = self.schema.encode_inputs(frame)
            dataset = dataset_names(frame, by) if dataset is None else dataset
        if dataset is None:
            raise DataError(
                "X does not say which dataset a row belongs to; pass dataset=... (a name, or one "
                "for each row)."
            )
        labels = self._labels(dataset, len(rows))
        try:
            with torch.no_grad(), evaluating(self):
                self.body(torch.tensor(rows[:1]))
        except RuntimeError as error:
            raise DataError(
                f"The network does not take rows of shape {rows.shape[1:]}: {error}."
            ) from None
        return rows, labels

    def _losses(self, x: Any, labels: Any, t: Any) -> Any:
        out = self(x, labels)
        kinds = torch.nn.functional
        if self.loss == "softmax":
            return kinds.cross_entropy(out, t, reduction="none")
        if self.loss == "logistic":
            return kinds.binary_cross_entropy_with_logits(out[:, 0], t, reduction="none")
        if self.loss == "poisson":
            return kinds.poisson_nll_loss(out[:, 0], t, reduction="none")
        return (out[:, 0] - t) ** 2

    def _rescale(self, shift: float, factor: float) -> None:
        """Turn outputs f into (f + shift) * factor."""
        with torch.no_grad():
            for head in self.heads:
                head.weight.mul_(factor)
                head.bias.add_(shift).mul_(factor)

    def save(self, path: str | Path) -> None:
        """Write weights to a file without code in it.

        Of a network of one's own the file holds the weights, not the layers.
        """
        content: dict[str, Any] = {"labels": self.labels, "loss": self.loss}
        content["classes"] = list(self.response.classes)
        content["schema"] = None if self.schema is None else self.schema.to_plain()
        if isinstance(self.body, Body):
            content |= {"layer": self.body.layer, "shape": self.body.shape}
            content["body"] = self.body.module.state_dict()
        else:
            content |= describe_body(self.body)
        content |= {
            "limits": [self.limit.low, self.limit.high],
            "slopes": torch.stack([head.weight for head in self.heads]).detach(),
            "intercepts": torch.stack([head.bias for head in self.heads]).detach(),
        }
        write_weights(path, KIND, content)

    @classmethod
    def load(cls, path: str | Path, module: Any = None) -> "Heads":
        """Read what `save` has written.

        Heads on a network of one's own need a `module` with the same layers; it gets the weights.
        """
        content = read_weights(path, KIND)
        if "layer" in content:
            if module is None:
                raise ArgumentError(
                    "These heads sit on a network that the file does not describe; pass "
                    "module=... with the same layers."
                )
            module.load_state_dict(content["body"])
            shape = content["shape"]
            body = Body(module, content["layer"], None if shape is None else tuple(shape))
        else:
            body = read_body(content).requires_grad_(False)
        low, high = content["limits"]
        columns = content.get("schema")
        return cls(
            body,
            content["intercepts"].numpy(),
            content["slopes"].numpy(),
            content["labels"],
            (low.numpy(), high.numpy()),
            content["loss"],
            content.get("classes"),
            None if columns is None else Schema.from_plain(columns),
        )

    def _label(self, dataset: Any) -> int:
        if str(dataset) not in self.labels:
            raise DataError(f"Dataset {dataset!r} has no head; known are {[*self.labels]}.")
        return self.labels[str(dataset)]

    def _labels(self, dataset: Any, n: int) -> IntArray:
        if np.ndim(dataset) == 0:
            return np.full(n, self._label(dataset))
        if len(dataset) != n:
            raise DataError(f"dataset has {len(dataset)} names, but X has {n} rows.")
        return np.array([self._label(name) for name in dataset], dtype=np.int64)


def _lines(fit: Any) -> tuple[Any, ...]:
    """Return the lines of a model; a model without the word is one itself."""
    return tuple(getattr(fit, "lines", (fit,)))


def _labels_of(loss: str, outputs: int, classes: Sequence[Label] | None) -> tuple[Label, ...]:
    """Return the classes in plain values; none if the target is a number."""
    if LOSSES[loss] != "logistic":
        return ()
    count = outputs if loss == "softmax" else 2
    labels = label_array(classes).tolist() if classes else range(count)
    if len(labels) != count:
        raise ArgumentError(f"classes={classes!r} are {len(labels)}, but outputs are of {count}.")
    return tuple(labels)


def _loss_of(fit: Any) -> str:
    if hasattr(fit, "classes"):
        return "logistic" if len(_lines(fit)) == 1 else "softmax"
    return "poisson" if getattr(fit, "family", "gaussian") == "poisson" else "squared"


def _positions(named: Mapping[str, Any], position: Mapping[str, int]) -> list[int]:
    """Return where the activations are that a model knows by name."""
    for name in named:
        if name not in position:
            raise DataError(
                f"The models have feature {name!r}, which is no activation of the network; they "
                "must be fitted to its embedding."
            )
    return [position[name] for name in named]


def _network(source: Partition | Embedding | Features) -> tuple[list[str | None], Any]:
    """Return the name of each activation in the models (None: in none of them), and the body."""
    features: Any = source.features if isinstance(source, Embedding) else source
    if isinstance(source, Partition):
        if source.representation is None:
            raise ArgumentError(
                "The result has no representation, so there is no network to put heads on; fit it "
                "with representation='mlp1', say, or pass the embedding it was fitted to."
            )
        features = source.representation.features
    if not isinstance(features, (MLPFeatures, TapFeatures)):
        raise ArgumentError(
            f"{type(features).__name__} is no network; heads go on an MLP or a tapped module."
        )
    names: list[str | None] = list(features.names)
    if isinstance(source, Embedding):
        names = [None] * len(names)
        for name, j in zip(source.columns, source.positions):
            names[j] = name
    return names, features.body
