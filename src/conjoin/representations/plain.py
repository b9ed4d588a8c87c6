"""Representations without a network of ours: scikit-learn transformers and plain functions."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from inspect import Parameter, signature
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from conjoin._typing import FloatArray, Progress
from conjoin.errors import ArgumentError, DataError
from conjoin.representations.base import (
    Features,
    Representation,
    Rows,
    dense,
    free_names,
    unit_names,
)
from conjoin.tables.frame import is_table, to_frame

METHODS = ("fit", "transform", "get_params")
LONGEST = 100  # letters of an estimator in words
FRAME = "The frame that the function gives"
TARGET = re.compile(r"\b[Yy]\b|\btarget\b")  # in what scikit-learn says of a missing one


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

    def __post_init__(self) -> None:
        check_instance("estimator", self.estimator)
        lacking = [name for name in METHODS if not hasattr(self.estimator, name)]
        if lacking:
            raise ArgumentError(
                f"estimator={self.estimator!r} is no transformer, for it has no {lacking[0]}; "
                "expected one of scikit-learn, such as PCA(), or a class of your own derived from "
                "sklearn.base.BaseEstimator and TransformerMixin."
            )

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
        try:  # with copies: it may work in place
            if self.learns_from_target:
                estimator.fit(rows.X.copy(), rows.y)
            else:
                estimator.fit(rows.X.copy())
            width = np.shape(estimator.transform(rows.X[:1].copy()))[1]
        except Exception as error:
            raise DataError(self._refusal(error)) from error
        if progress is not None:
            progress(1, 1)
        return TransformerFeatures(estimator, unit_names(width))

    def _refusal(self, error: Exception) -> str:
        """Say why it cannot be fitted, and what to do if it is the target that it lacks."""
        reason = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
        text = f"representation={self.describe()} cannot be fitted: {reason}."
        if self.learns_from_target or not TARGET.search(reason):
            return text
        return (
            f"{text} It was not given the target; if it needs it, pass "
            "conjoin.representations.Transformer(..., target=True)."
        )


def check_instance(name: str, value: Any) -> None:
    """Refuse a class where what it makes is meant."""
    if isinstance(value, type):
        kind = value.__name__
        raise ArgumentError(f"{name}={kind} is a class; pass an instance, such as {kind}().")


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

    def named(self, inputs: Sequence[str], taken: Collection[str]) -> Self:
        """Return the same with the names that the transformer gives."""
        try:
            given = self.estimator.get_feature_names_out(np.array(inputs, dtype=object))
        except (AttributeError, NotImplementedError, TypeError, ValueError):
            return self  # it knows none
        names = free_names([str(name) for name in given], taken)
        return replace(self, names=names) if _are_names(names, len(self.names)) else self

    def _map(self, X: FloatArray) -> Any:
        return self.estimator.transform(X.copy())


def _are_names(names: Sequence[str], count: int) -> bool:
    return len(names) == len(set(names)) == count


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

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ArgumentError(
                f"function={self.function!r} is no function; expected one that makes an array of "
                "features of an array of rows."
            )

    @property
    def learns_from_target(self) -> bool:
        """It does not learn at all."""
        return False

    def describe(self) -> str:
        """Return the function's name."""
        return f"function {getattr(self.function, '__name__', type(self.function).__name__)}"

    def _fit(self, rows: Rows, progress: Progress | None) -> Features:
        found = self.function(rows.X[:1].copy())  # it may work in place
        example = dense(found)
        if progress is not None:
            progress(1, 1)
        width = example.shape[-1] if example.ndim else 0
        columns = (
            to_frame(found, FRAME).collect_schema().names() if is_table(found) and width else []
        )
        return FunctionFeatures(
            self.function, tuple(columns) if _are_names(columns, width) else unit_names(width)
        )


@dataclass(frozen=True, eq=False)
class FunctionFeatures(Features):
    """What a function makes of rows."""

    function: Callable[[FloatArray], Any]
    names: tuple[str, ...]

    def named(self, inputs: Sequence[str], taken: Collection[str]) -> Self:
        """Return the same with names that are not taken."""
        names = free_names(self.names, taken)
        return replace(self, names=names) if _are_names(names, len(names)) else self

    def _map(self, X: FloatArray) -> Any:
        return self.function(X.copy())
