"""Linear models of clusters on top of the network: one body, one Linear layer per cluster.

    x -> body -> e -> clipped to the limits of the models -> Linear layer of the row's cluster

A result, or weights, enter; a torch module (`Heads`) leaves. It predicts, can be trained further,
and is saved to a file. It needs the extra `nn`. Coefficients are in the units of the activations e
and of the target. So a head returns the linear predictors of its model: the target itself, the
logarithm of a count, the log-odds of the second of two classes, or one score per class.
`Heads.predict` turns them into targets.
"""

from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from conjoin._typing import AnyArray, FloatArray, IntArray, Progress
from conjoin.errors import ArgumentError, DataError
from conjoin.families import expected, most_likely, softmax
from conjoin.moments.resample import canonical_order, stream
from conjoin.representations.base import Features, check_inputs
from conjoin.representations.torch.files import read_weights, write_weights
from conjoin.representations.torch.from_models import head_weights, is_result, network_of
from conjoin.representations.torch.head_layers import HeadLayers
from conjoin.representations.torch.mlp import describe_body, read_body
from conjoin.representations.torch.tap import Body, evaluating
from conjoin.representations.torch.tools import require_torch, train
from conjoin.representations.training import Training
from conjoin.tables.frame import in_memory, is_table, to_frame
from conjoin.tables.names import dataset_names
from conjoin.tables.schema import Schema

if TYPE_CHECKING:
    from conjoin.representations.torch.from_models import Source

torch = require_torch()

ROWS_AT_ONCE = 8192  # rows mapped at once, to limit memory; the result does not depend on it
KIND = "heads"  # what a file of weights says it holds


class Heads(HeadLayers):
    """A network with a linear head for each cluster of datasets.

    `Heads.of(result)` makes it from a result; the parameters below are for weights of your own.

    Parameters
    ----------
    body : torch module
        From rows to activations (n, width).
    weights : (array, array)
        Intercepts (heads, outputs) and slopes (heads, outputs, width).
    labels : mapping of dataset name to int
        The head of each dataset.
    limits : (array, array), optional
        Lowest and highest activations (width,) that reach a head; others are clipped.
    loss : "squared", "poisson", "logistic" or "softmax", default "squared"
        What the outputs are: the target, the logarithm of a count, the log-odds of the second of
        two classes, or one score per class.
    classes : sequence of labels, optional
        The classes for "logistic" and "softmax"; by default 0, 1 and so on.
    schema : Schema, optional
        The encoding of a table's columns into rows of the body; without one it takes arrays.

    Attributes
    ----------
    response : Response
        Family and classes of the target.
    loss_history : LossHistory or None
        Losses by epoch, if `finetune` has trained these heads.

    Raises
    ------
    ArgumentError
        If the loss is unknown or the number of classes does not match the outputs.

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

    @classmethod
    def of(cls, source: "Source", models: Any = None, *, limit: bool = True) -> "Heads":
        """Return the network with linear models as its last layers.

        Parameters
        ----------
        source : Partition, Embedding or Features
            A result with a representation, or the embedding or features that the models were
            fitted to. The representation must be a network: an `MLP` or a `Tap`.
        models : Partition, or mapping of dataset name to model, optional
            A result gives one head for each cluster; a mapping, such as `result.coefficients`, one
            head for each dataset. By default the models of `source`, if that is a result.
        limit : bool, default True
            Whether activations are clipped to the limits of the models, as in their `predict`;
            False allows extrapolation.

        Returns
        -------
        Heads
            A copy: training it does not change the source.

        Raises
        ------
        ArgumentError
            If there are no models or no network.
        DataError
            If the models have features that are not activations of the network.

        Examples
        --------
        See the class.
        """
        models = source if models is None else models
        if not isinstance(models, Mapping) and not is_result(models):
            raise ArgumentError(
                "models is missing: pass the result that was fitted to the embedding, or a mapping "
                "of dataset name to model."
            )
        names, body = network_of(source)
        found = head_weights(models, names, limit=limit)
        return cls(
            deepcopy(body),
            (found.intercepts, found.slopes),
            found.labels,
            found.limits,
            found.loss,
            found.classes,
            None if isinstance(source, Features) else source.schema,
        )

    def predict(self, X: Any, dataset: Any = None) -> AnyArray:
        """Return the expected targets, or the most likely classes, of rows.

        Parameters
        ----------
        X : table or array (n, ...)
            A table with the columns of fitting, or rows as the network takes them.
        dataset : name, or sequence of names (n,), optional
            The dataset of all rows, or of each row. By default the column that named datasets at
            fitting.

        Returns
        -------
        array (n,)

        Raises
        ------
        DataError
            If a dataset has no head, or the rows cannot be used.

        Examples
        --------
        >>> heads = Heads(torch.nn.Identity(), (np.zeros((1, 1)), np.ones((1, 1, 2))), {"a": 0})
        >>> heads.predict([[1.0, 2.0], [3.0, 4.0]], "a").tolist()
        [3.0, 7.0]
        """
        outputs = self.outputs(X, dataset)
        if self.response.classes:
            return most_likely(softmax(outputs), self.response.classes)
        return expected(outputs, self.response)

    def predict_proba(self, X: Any, dataset: Any = None) -> FloatArray:
        """Return the probability of each class.

        Parameters
        ----------
        X, dataset
            As in `predict`.

        Returns
        -------
        array (n, classes)

        Raises
        ------
        ArgumentError
            If the target is a number.
        DataError
            As in `predict`.

        Examples
        --------
        >>> weights = np.zeros((1, 1)), np.zeros((1, 1, 2))
        >>> heads = Heads(torch.nn.Identity(), weights, {"a": 0}, loss="logistic")
        >>> heads.predict_proba([[1.0, 2.0]], "a").tolist()
        [[0.5, 0.5]]
        """
        if not self.response.classes:
            raise ArgumentError(
                "The target of these heads has no classes, so there are no probabilities; use "
                "predict."
            )
        return softmax(self.outputs(X, dataset))

    def outputs(self, X: Any, dataset: Any = None) -> FloatArray:
        """Return the linear predictors of rows, such as log-odds or the logarithm of a count.

        Parameters
        ----------
        X, dataset
            As in `predict`.

        Returns
        -------
        array (n, outputs)

        Raises
        ------
        DataError
            As in `predict`.

        Examples
        --------
        >>> weights = np.zeros((1, 1)), np.ones((1, 1, 2))
        >>> heads = Heads(torch.nn.Identity(), weights, {"a": 0}, loss="logistic")
        >>> heads.outputs([[1.0, 2.0]], "a").tolist()
        [[3.0]]
        """
        rows, labels = self._read(X, dataset)
        values = np.empty((len(rows), self.heads[0].out_features))
        with torch.no_grad(), evaluating(self):
            for label in np.unique(labels):
                own = np.nonzero(labels == label)[0]
                for part in np.array_split(own, len(own) // ROWS_AT_ONCE + 1):
                    out = self(torch.tensor(rows[part]), int(label))
                    values[part] = out.cpu().numpy()
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
        """Return a copy that is trained further, all heads at once.

        Parameters
        ----------
        X, dataset
            As in `predict`.
        y : array (n,)
            Target: numbers or labels of classes. A numeric target is standardised for training.
        body : bool, default False
            Whether the body is trained too, or the heads only.
        training : Training, optional
            By default the paper's settings, whose steps are small; a larger `rate` or more
            `epochs` change the heads more.
        random_state : int, default 0
            Random seed of the shuffles and held-out rows.
        progress : callable, optional
            Called with the number of epochs done and the number of all epochs.

        Returns
        -------
        Heads
            The trained copy, with its `loss_history`.

        Raises
        ------
        DataError
            If the rows or the target cannot be used, or training diverges.

        Examples
        --------
        >>> heads = Heads(torch.nn.Identity(), (np.zeros((1, 1)), np.zeros((1, 1, 2))), {"a": 0})
        >>> X = np.random.default_rng(0).standard_normal((100, 2))
        >>> steps = Training(epochs=200, rate=0.05)
        >>> tuned = heads.finetune(X, X @ [1.0, 2.0] + 5, "a", training=steps)
        >>> tuned.predict([[1.0, 1.0]], "a").round(3).tolist()
        [8.0]
        """
        rows, labels = self._read(X, dataset)
        target = self._target(y, len(rows))
        order = canonical_order(np.column_stack([rows.reshape(len(rows), -1), labels]), target)
        tuned = deepcopy(self)
        center, scale = 0.0, 1.0
        if self.loss == "squared":
            center, scale = float(target[order].mean()), float(target[order].std()) or 1.0
        tuned.rescale(-center, 1 / scale)
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
            tuned.loss_history = train(
                parameters, tuned.row_losses, data, weights, chosen, rng, progress
            )
        tuned.requires_grad_(False)
        tuned.rescale(center / scale, scale)
        return tuned

    def _target(self, y: Any, n: int) -> FloatArray:
        """Return the target (n,) as numbers; for classes the number of the class."""
        if self.response.classes:
            target: FloatArray = self.response.codes(y)
        else:
            try:
                target = np.asarray(y, dtype=np.float64)
            except (TypeError, ValueError):
                raise DataError(
                    "y is not numeric; expected numbers, as in the fit of these heads."
                ) from None
        if target.shape != (n,):
            raise DataError(f"y has shape {target.shape}; expected one value for each of {n} rows.")
        if not np.isfinite(target).all():
            raise DataError("y has values that are missing or infinite; drop these rows first.")
        return target

    def _read(self, X: Any, dataset: Any) -> tuple[FloatArray, IntArray]:
        """Return rows (n, ...) as the body takes them, and the head of each (n,)."""
        if not is_table(X):
            rows = check_inputs(X)
        elif self.schema is None:
            raise ArgumentError(
                "X is a table, but these heads have no column names; pass an array of rows as the "
                "network takes them, or make heads from a result, Heads.of(result)."
            )
        else:
            by = self.schema.roles.by if dataset is None else ()
            frame = in_memory(to_frame(X, "X", wanted={*self.schema.columns, *by}))
            rows = self.schema.encode_inputs(frame)
            dataset = dataset_names(frame, by) if dataset is None else dataset
        if dataset is None:
            raise DataError(
                "X does not say which dataset a row belongs to; pass dataset=..., one name or one "
                "for each row."
            )
        labels = self.labels_of(dataset, len(rows))
        try:
            with torch.no_grad(), evaluating(self):
                self.body(torch.tensor(rows[:1]))
        except RuntimeError as error:
            raise DataError(
                f"The network cannot take rows of shape {rows.shape[1:]}: {error}; check the "
                "columns of X."
            ) from None
        return rows, labels

    def save(self, path: str | Path) -> None:
        """Write the weights to a file that contains no code.

        Parameters
        ----------
        path : str or Path
            The file. If the network came from a `Tap`, the file holds its weights, but not its
            layers.

        Examples
        --------
        >>> import tempfile
        >>> from conjoin.representations import MLP
        >>> X = np.random.default_rng(0).standard_normal((100, 2))
        >>> body = MLP().fit(X, X[:, 0]).body
        >>> heads = Heads(body, (np.zeros((1, 1)), np.ones((1, 1, 2))), {"a": 0})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     heads.save(f"{folder}/heads.pt")
        ...     loaded = Heads.load(f"{folder}/heads.pt")
        >>> bool((loaded.predict(X, "a") == heads.predict(X, "a")).all())
        True
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
        """Return the heads of a file that `save` has written.

        Parameters
        ----------
        path : str or Path
            The file.
        module : torch module, optional
            For heads on a tapped network: a module with the same layers, which gets the weights.

        Returns
        -------
        Heads

        Raises
        ------
        ReadError
            If the file is missing, holds something else, or is of a newer version.
        ArgumentError
            If `module` is missing.

        Examples
        --------
        See `save`.
        """
        content = read_weights(path, KIND)
        if "layer" in content:
            if module is None:
                raise ArgumentError(
                    "module is missing: the file has the weights of a tapped network, but not its "
                    "layers; pass module=... with the same layers."
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
            (content["intercepts"].numpy(), content["slopes"].numpy()),
            content["labels"],
            (low.numpy(), high.numpy()),
            content["loss"],
            content.get("classes"),
            None if columns is None else Schema.from_plain(columns),
        )
