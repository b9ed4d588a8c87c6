"""The layers of a network with heads: one body, limits of its activations, one head per cluster.

    x -> body -> e -> clipped to the limits of the models -> Linear layer of the row's cluster

A body and the weights of heads enter; a torch module leaves. `heads` adds tables, files and
training to it. It needs the extra `nn`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.checks import check_choice
from conjoin.errors import DataError
from conjoin.families import Label, Response
from conjoin.representations.torch.from_models import LOSSES, class_labels
from conjoin.representations.torch.tools import Limit, Module, linear, require_torch
from conjoin.representations.training import LossHistory
from conjoin.tables.schema import Schema
from conjoin.text import quoted

torch = require_torch()


class HeadLayers(Module):  # type: ignore[misc]
    """The torch module behind `Heads`, which describes the parameters."""

    def __init__(
        self,
        body: Any,
        weights: tuple[FloatArray, FloatArray],
        labels: Mapping[str, int],
        limits: tuple[FloatArray, FloatArray] | None = None,
        loss: str = "squared",
        classes: Sequence[Label] | None = None,
        schema: Schema | None = None,
    ) -> None:
        super().__init__()
        check_choice("loss", loss, tuple(LOSSES))
        intercepts, slopes = weights
        _, outputs, width = slopes.shape
        self.loss = loss
        self.response = Response(LOSSES[loss], class_labels(loss, outputs, classes))
        low, high = (np.full(width, -np.inf), np.full(width, np.inf)) if limits is None else limits
        self.body = body
        self.limit = Limit(low, high)
        self.heads = torch.nn.ModuleList([linear(a, b) for a, b in zip(intercepts, slopes)])
        self.labels = {str(name): int(label) for name, label in labels.items()}
        self.schema = schema
        self.loss_history: LossHistory | None = None

    def forward(self, x: Any, heads: Any) -> Any:
        """Return the outputs (n, outputs) of rows x.

        Parameters
        ----------
        x : tensor (n, ...)
            Rows as the network takes them.
        heads : int or tensor (n,)
            The head of all rows, or of each row.

        Returns
        -------
        tensor (n, outputs)

        Examples
        --------
        >>> weights = np.zeros((1, 1)), np.ones((1, 1, 2))
        >>> heads = HeadLayers(torch.nn.Identity(), weights, {"a": 0})
        >>> heads(torch.tensor([[1.0, 2.0]]), 0).tolist()
        [[3.0]]
        """
        e = self.limit(self.body(x))
        if isinstance(heads, int):
            return self.heads[heads](e)
        weight = torch.stack([head.weight for head in self.heads])[heads]
        bias = torch.stack([head.bias for head in self.heads])[heads]
        return torch.einsum("now,nw->no", weight, e) + bias

    def network(self, dataset: str) -> Any:
        """Return the network of one dataset as one torch module, from rows to outputs.

        Parameters
        ----------
        dataset : str
            Name of the dataset.

        Returns
        -------
        torch.nn.Sequential
            It shares its weights with these heads.

        Raises
        ------
        DataError
            If the dataset has no head.

        Examples
        --------
        >>> weights = np.zeros((1, 1)), np.ones((1, 1, 2))
        >>> heads = HeadLayers(torch.nn.Identity(), weights, {"a": 0})
        >>> heads.network("a")(torch.tensor([[1.0, 2.0]])).tolist()
        [[3.0]]
        """
        return torch.nn.Sequential(self.body, self.limit, self.heads[self.label_of(dataset)])

    def label_of(self, dataset: Any) -> int:
        """Return the head of a dataset."""
        if str(dataset) not in self.labels:
            raise DataError(
                f"Dataset {dataset!r} has no head; expected one of {quoted([*self.labels])}."
            )
        return self.labels[str(dataset)]

    def labels_of(self, dataset: Any, n: int) -> IntArray:
        """Return the head of each row (n,)."""
        if np.ndim(dataset) == 0:
            return np.full(n, self.label_of(dataset))
        if len(dataset) != n:
            raise DataError(
                f"dataset has {len(dataset)} names, but X has {n} rows; expected one name, or one "
                "for each row."
            )
        return np.array([self.label_of(name) for name in dataset], dtype=np.int64)

    def row_losses(self, x: Any, labels: Any, t: Any) -> Any:
        """Return the loss (n,) of each row."""
        out = self(x, labels)
        kinds = torch.nn.functional
        if self.loss == "softmax":
            return kinds.cross_entropy(out, t, reduction="none")
        if self.loss == "logistic":
            return kinds.binary_cross_entropy_with_logits(out[:, 0], t, reduction="none")
        if self.loss == "poisson":
            return kinds.poisson_nll_loss(out[:, 0], t, reduction="none")
        return (out[:, 0] - t) ** 2

    def rescale(self, shift: float, factor: float) -> None:
        """Turn outputs f into (f + shift) * factor."""
        with torch.no_grad():
            for head in self.heads:
                head.weight.mul_(factor)
                head.bias.add_(shift).mul_(factor)
