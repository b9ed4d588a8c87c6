"""A collection in working coordinates: moments of all rows and of folds, weights of datasets."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from conjoin._typing import FloatArray
from conjoin.criterion.checks import check_count
from conjoin.errors import ArgumentError
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
    """

    basis: Basis
    moments: Moments
    folds: Moments
    weights: FloatArray
    seed: int

    @cached_property
    def hyper(self) -> Hyper:
        """Variances of partial pooling with one variance for slopes."""
        return fit_variances(self.moments, SLOPES)

    @classmethod
    def of(
        cls, collection: DatasetCollection, *, intercept: bool, folds: int, seed: int, count: str
    ) -> "Working":
        """Form moments of a collection."""
        check_count("folds", folds, least=2)
        if count not in ("datasets", "rows"):
            raise ArgumentError(f"count={count!r} is unknown; expected 'datasets' or 'rows'.")
        X, y, w, starts = collection.X, collection.y, collection.weights, collection.starts
        basis = Basis.from_rows(X, y, w, intercept=intercept)
        Z, t = basis.design(X), basis.response(y)
        fold = deal(X, y, starts, collection.features, folds, seed)
        by_fold = fold_moments(Z, t, w, starts, fold, folds)
        moments = by_fold.union(1)
        share = np.ones(len(collection.names)) if count == "datasets" else moments.w
        return cls(basis, moments, by_fold, share / share.sum(), seed)
