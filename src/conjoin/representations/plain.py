"""Representations without torch: scikit-learn transformers and functions.

An estimator or a function enters; a `Representation` leaves, which fits it to rows.
"""

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

METHODS = ("fit", "transform", "get_params")  # get_params is needed to clone and to set seeds
LONGEST = 100  # characters of an estimator in a report; pipelines can print over many lines
FRAME = "The frame that the function returns"
TARGET = re.compile(r"\b[Yy]\b|\btarget\b")  # in scikit-learn's message about a missing target


@dataclass(frozen=True, eq=False)
class Transformer(Representation):
    """A scikit-learn transformer or pipeline, fitted to the rows of all datasets.

    Parameters
    ----------
    estimator : transformer
        An object with `fit` and `transform`. It is cloned and stays unchanged. Weights of rows are
        not passed on.
    random_state : int, default 0
        Random seed for every parameter `random_state` of the estimator that is None.
    target : bool, optional
        Whether the estimator gets the target. By default it does if it needs it: scikit-learn's
        tags or the signature of `fit`, of the estimator or one of its parts, say so.

    Raises
    ------
    ArgumentError
        If the estimator is a class or has no `fit`, `transform` or `get_params`.

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
                f"estimator={self.estimator!r} is not a transformer: it has no {lacking[0]}; "
                "expected one of scikit-learn, such as PCA(), or a class of your own derived from "
                "sklearn.base.BaseEstimator and TransformerMixin."
            )

    @property
    def learns_from_target(self) -> bool:
        """Whether the estimator gets the target."""
        if self.target is not None:
            return self.target
        parts = [self.estimator, *self.estimator.get_params().values()]
        return any(_needs_target(part) for part in parts)

    def describe(self) -> str:
        """Return the estimator as scikit-learn prints it, in one line, cut if it is long."""
        text = " ".join(repr(self.estimator).split())
        return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."

    def _fit(self, rows: Rows, progress: Progress | None) -> Features:
        """Fit a clone of the estimator, with the random seed where it has none."""
        estimator = clone(self.estimator)
        parameters = estimator.get_params()
        seeds = [
            name
            for name, value in parameters.items()
            if name.split("__")[-1] == "random_state" and value is None
        ]
        if seeds:
            estimator.set_params(**dict.fromkeys(seeds, self.random_state))
        try:  # with copies, since the estimator may change its input
            if self.learns_from_target:
                estimator.fit(rows.X.copy(), rows.y)
            else:
                estimator.fit(rows.X.copy())
            width = np.shape(estimator.transform(rows.X[:1].copy()))[1]
        except Exception as error:
            raise DataError(self._fit_error(error)) from error
        if progress is not None:
            progress(1, 1)
        return TransformerFeatures(estimator, unit_names(width))

    def _fit_error(self, error: Exception) -> str:
        """Return why fitting failed, and what to do if the estimator lacks the target."""
        reason = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
        text = f"representation={self.describe()} cannot be fitted: {reason}."
        if self.learns_from_target or not TARGET.search(reason):
            return text
        return (
            f"{text} It did not get the target; if it needs it, pass "
            "conjoin.representations.Transformer(..., target=True)."
        )


def check_instance(name: str, value: Any) -> None:
    """Refuse a class where an instance is expected."""
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
    """The map of a fitted transformer."""

    estimator: Any
    names: tuple[str, ...]

    def named(self, inputs: Sequence[str], taken: Collection[str]) -> Self:
        """Return the same map with the feature names of the transformer, if it has names."""
        try:
            given = self.estimator.get_feature_names_out(np.array(inputs, dtype=object))
        except (AttributeError, NotImplementedError, TypeError, ValueError):
            return self  # the transformer has no names
        names = free_names([str(name) for name in given], taken)
        return replace(self, names=names) if _are_names(names, len(self.names)) else self

    def _map(self, X: FloatArray) -> Any:
        return self.estimator.transform(X.copy())


def _are_names(names: Sequence[str], count: int) -> bool:
    """Say whether there are `count` different names."""
    return len(names) == len(set(names)) == count


@dataclass(frozen=True, eq=False)
class Function(Representation):
    """A function from rows to features.

    Parameters
    ----------
    function : callable
        It takes an array (n, columns) and returns an array or a frame (n, features). It must treat
        each row by itself.

    Raises
    ------
    ArgumentError
        If `function` is not callable.

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
                f"function={self.function!r} is not a function; expected one that takes an array "
                "of rows and returns an array of features."
            )

    @property
    def learns_from_target(self) -> bool:
        """False: a function does not learn."""
        return False

    def describe(self) -> str:
        """Return the name of the function."""
        return f"function {getattr(self.function, '__name__', type(self.function).__name__)}"

    def _fit(self, rows: Rows, progress: Progress | None) -> Features:
        """Call the function on one row to learn how many features it returns, and their names."""
        found = self.function(rows.X[:1].copy())  # a copy, since it may change its input
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
    """The map of a function."""

    function: Callable[[FloatArray], Any]
    names: tuple[str, ...]

    def named(self, inputs: Sequence[str], taken: Collection[str]) -> Self:
        """Return the same map with names that are not taken."""
        names = free_names(self.names, taken)
        return replace(self, names=names) if _are_names(names, len(names)) else self

    def _map(self, X: FloatArray) -> Any:
        return self.function(X.copy())
