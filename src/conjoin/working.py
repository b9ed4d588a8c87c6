"""A collection in working coordinates: moments of all rows and of folds, weights of datasets."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from conjoin import strategy as strategies
from conjoin._typing import FloatArray, Progress
from conjoin.models.partial import SLOPES, Hyper, fit_variances
from conjoin.moments import Basis, Moments
from conjoin.moments.folds import deal, fold_moments
from conjoin.tables import DatasetCollection


@dataclass(frozen=True, eq=False)
class Working:
    """What strategies and partitions are found from.

    Parameters
    ----------
    basis : Basis
        Coordinates of the moments.
    moments : Moments (K,)
        Of all rows of each dataset.
    folds : Moments (K, F)
        Of its folds.
    weights : array (K,)
        How much the error of each dataset counts; in sum 1.
    seed : int
    progress : callable, optional
        Told the steps done so far and in all while strategies are fitted.
    """

    basis: Basis
    moments: Moments
    folds: Moments
    weights: FloatArray
    seed: int
    progress: Progress | None = None

    @cached_property
    def outcome(self) -> strategies.Outcome:
        """The strategies, fitted and validated; hard clusters can do without."""
        return strategies.run(
            self.moments,
            self.folds,
            self.weights,
            self.hyper,
            intercept=self.basis.intercept,
            progress=self.progress,
        )

    @cached_property
    def hyper(self) -> Hyper:
        """Variances of partial pooling with one variance for slopes."""
        return fit_variances(self.moments, SLOPES)

    @classmethod
    def of(
        cls,
        collection: DatasetCollection,
        *,
        intercept: bool,
        folds: int,
        seed: int,
        count: str,
        progress: Progress | None = None,
    ) -> "Working":
        """Form moments of a collection."""
        X, y, w, starts = collection.X, collection.y, collection.weights, collection.starts
        basis = Basis.from_rows(X, y, w, intercept=intercept)
        Z, t = basis.design(X), basis.response(y)
        fold = deal(X, y, starts, collection.features, folds, seed)
        by_fold = fold_moments(Z, t, w, starts, fold, folds)
        return cls.of_folds(basis, by_fold, seed=seed, count=count, progress=progress)

    @classmethod
    def of_folds(
        cls,
        basis: Basis,
        folds: Moments,
        *,
        seed: int,
        count: str,
        progress: Progress | None = None,
    ) -> "Working":
        """Take moments of folds (K, F) that were formed elsewhere."""
        moments = folds.union(1)
        share = np.ones(moments.shape[0]) if count == "datasets" else moments.w
        return cls(basis, moments, folds, share / share.sum(), seed, progress)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be formed again."""
        kept = {name: self.__dict__[name] for name in self.__dataclass_fields__}
        return {**kept, "progress": None}
