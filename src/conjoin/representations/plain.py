"""Representations without a network of ours: scikit-learn transformers and plain functions."""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from conjoin._typing import AnyArray, FloatArray, Progress
from conjoin.errors import DataError
from conjoin.representations.base import Features, Representation, Rows, unit_names

LONGEST = 100  # letters of an estimator in words


@dataclass(frozen=True, eq=False)
class Transformer(Representation):
    """A scikit-learn transformer, or a pipeline of such, fitted to the rows of all datasets.

    Parameters
    ----------
    estimator : transformer
        With `fit` and `transform`; it is cloned, not changed. Weights of rows are not passed on.
    random_state : int
        Seed for every `random_state` of it that is None.
    target : bool, optional
        Whether it is given the target; by default if it cannot be fitted without: scikit-learn's
        tags of it or of a part of it say so, or the signature of its `fit`.

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
    target: bool | None = None

    @property
    def learns_from_target(self) -> bool:
        """Whether the estimator, or a part of it, is given the target."""
        if self.target is not None:
            return self.target
        parts = [self.estimator, *self.estimator.get_params().values()]
        return any(_needs_target(part) for part in parts)

    def describe(self) -> str:
        """Return the estimator as scikit-learn prints it, in one line."""
        text = " ".join(repr(self.estimator).split())
        return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."

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
        if self.learns_from_target:
            estimator.fit(rows.X, rows.y)
        else:
            self._fit_without_target(estimator, rows.X)
        if progress is not None:
            progress(1, 1)
        width = np.shape(estimator.transform(rows.X[:1]))[1]
        return TransformerFeatures(estimator, unit_names(width))

    def _fit_without_target(self, estimator: Any, X: FloatArray) -> None:
        try:
            estimator.fit(X)
        except (TypeError, ValueError) as error:
            raise DataError(
                f"representation={self.describe()} cannot be fitted without the target: "
                f"{str(error).splitlines()[0].rstrip('.')}. If it needs the target, pass "
                "conjoin.representations.Transformer(..., target=True)."
            ) from None


def _needs_target(part: Any) -> bool:
    """Say whether a part of an estimator cannot be fitted without a target."""
    if isinstance(part, type) or not hasattr(part, "fit"):
        return False
    if hasattr(part, "__sklearn_tags__") and get_tags(part).target_tags.required:
        return True
    y = signature(part.fit).parameters.get("y")
    return y is not None and y.default is Parameter.empty


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

    @property
    def learns_from_target(self) -> bool:
        """It does not learn at all."""
        return False

    def describe(self) -> str:
        """Return the function's name."""
        return f"function {getattr(self.function, '__name__', type(self.function).__name__)}"

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
