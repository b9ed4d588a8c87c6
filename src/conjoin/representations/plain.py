"""Representations without a network of ours: scikit-learn transformers and plain functions."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from conjoin._typing import AnyArray, FloatArray, Progress
from conjoin.representations.base import Features, Representation, Rows, unit_names


@dataclass(frozen=True, eq=False)
class Transformer(Representation):
    """A scikit-learn transformer, or a pipeline of such, fitted to the rows of all datasets.

    Parameters
    ----------
    estimator : transformer
        With `fit` and `transform`; it is cloned, not changed. It is given the target as well and
        may use it. Weights of rows are not passed on.
    random_state : int
        Seed for every `random_state` of it that is None.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 4))
    >>> features, values = Transformer(PCA(2)).fit_transform(X, X[:, 0])
    >>> features.names, values.shape
    (('unit1', 'unit2'), (50, 2))
    """

    estimator: Any
    random_state: int = 0

    def _fit(self, rows: Rows, progress: Progress | None) -> Features:
        estimator = clone(self.estimator)
        parameters = estimator.get_params()
        seeds = [
            name
            for name, value in parameters.items()
            if name.split("__")[-1] == "random_state" and value is None
        ]
        if seeds:
            estimator.set_params(**dict.fromkeys(seeds, self.random_state))
        estimator.fit(rows.X, rows.y)
        if progress is not None:
            progress(1, 1)
        width = np.shape(estimator.transform(rows.X[:1]))[1]
        return TransformerFeatures(estimator, unit_names(width))


@dataclass(frozen=True, eq=False)
class TransformerFeatures(Features):
    """What a fitted transformer makes of rows."""

    estimator: Any
    names: tuple[str, ...]

    def _map(self, X: FloatArray) -> AnyArray:
        values = self.estimator.transform(X)
        return np.asarray(values.todense() if hasattr(values, "todense") else values)


@dataclass(frozen=True, eq=False)
class Function(Representation):
    """A function from rows (n, columns) to features (n, features), each row by itself.

    Examples
    --------
    >>> squares = Function(lambda X: np.hstack([X, X**2]))
    >>> squares.fit(np.ones((5, 2)), np.arange(5.0)).transform([[2.0, 3.0]]).tolist()
    [[2.0, 3.0, 4.0, 9.0]]
    """

    function: Callable[[FloatArray], Any]

    def _fit(self, rows: Rows, progress: Progress | None) -> Features:
        example = np.asarray(self.function(rows.X[:1]))
        if progress is not None:
            progress(1, 1)
        return FunctionFeatures(self.function, unit_names(example.shape[-1] if example.ndim else 0))


@dataclass(frozen=True, eq=False)
class FunctionFeatures(Features):
    """What a function makes of rows."""

    function: Callable[[FloatArray], Any]
    names: tuple[str, ...]

    def _map(self, X: FloatArray) -> AnyArray:
        return np.asarray(self.function(X))
