"""A collection in working coordinates: what is fitted to it, weights of datasets."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from conjoin._typing import FloatArray, IntArray, Progress
from conjoin.criterion.judge import Judge, Pair
from conjoin.families import Response
from conjoin.models.glm import BERNOULLI, POISSON, GlmFamily, multinomial
from conjoin.models.likelihood import Joins, LeastSquares, Likelihood, Problem
from conjoin.models.partial import Hyper
from conjoin.moments import Basis, Moments
from conjoin.moments.folds import deal, fold_moments
from conjoin.strategies import core as strategies
from conjoin.tables import DatasetCollection

# The rows of a likelihood are gone over for every fold; the errors of very many datasets are known
# well enough from fewer.
FEWEST_FOLDS = 5


@dataclass(frozen=True, eq=False)
class Study:
    """What strategies and partitions are found from.

    Parameters
    ----------
    basis : Basis
        Coordinates of the moments.
    given : Problem
        Datasets and folds.
    response : Response
        What the target is.
    weights : array (K,)
        How much the error of each dataset counts; in sum 1.
    seed : int
    progress : callable, optional
        Told the steps done so far and in all while strategies are fitted.
    """

    basis: Basis
    given: Problem
    response: Response
    weights: FloatArray
    seed: int
    progress: Progress | None = None

    @cached_property
    def outcome(self) -> strategies.Outcome:
        """The strategies, fitted and validated; hard clusters can do without."""
        return strategies.run(
            self.problem,
            self.weights,
            self.hyper,
            intercept=self.basis.intercept,
            progress=self.progress,
        )

    @cached_property
    def _start_values(self) -> tuple[Problem, Hyper]:
        return strategies.start_values(self.given)

    @property
    def hyper(self) -> Hyper:
        """Variances of partial pooling with one variance for slopes."""
        return self._start_values[1]

    @property
    def problem(self) -> Problem:
        """The problem with moments near partially pooled coefficients."""
        return self.given if self.given.exact else self._start_values[0]

    @property
    def moments(self) -> Moments:
        """Of all rows of each dataset (K,)."""
        return self.problem.moments

    @cached_property
    def judge(self) -> Judge:
        """Verdicts on groups of datasets; of a likelihood near the datasets' own fits."""
        problem = self.problem
        if isinstance(problem, Likelihood):
            moments, backing = problem.own()
            return Judge.of(moments, backing, Joins(problem.rows, moments), self._validated_gain)
        return Judge.of(problem.moments)

    def _validated_gain(self, pair: Pair) -> float:
        """Return the fall of the loss on left-out rows when two groups of datasets are joined.

        Every dataset counts the same; in units of the moments.
        """
        left, right = sorted(tuple(sorted(group)) for group in pair)
        if (left, right) not in self._gains:
            self._gains[left, right] = self._find_gain(left, right)
        return self._gains[left, right]

    def _find_gain(self, left: tuple[int, ...], right: tuple[int, ...]) -> float:
        assert isinstance(self.problem, Likelihood)
        side = np.repeat([0, 1], [len(left), len(right)])
        problem = self.problem.of_datasets([*left, *right])
        apart, joined = (
            strategies.validate(refit, problem).sum(axis=0) / problem.moments.w
            for refit in (
                strategies.separate_clusters(side),
                strategies.clusters(np.zeros_like(side), self.hyper),
            )
        )
        return float(np.mean(apart - joined)) / self.gain_scale

    def cluster_fit(self, labels: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return coefficients (K, p) and losses (F, K) of clusters with one model each."""
        key = labels.tobytes()
        if key not in self._hard:
            refit = strategies.clusters(labels, self.hyper)
            self._hard[key] = strategies.fit_and_validate(refit, self.problem)
        return self._hard[key]

    @cached_property
    def _hard(self) -> dict[bytes, tuple[FloatArray, FloatArray]]:
        return {}

    @cached_property
    def _gains(self) -> dict[tuple[tuple[int, ...], tuple[int, ...]], float]:
        return {}

    @property
    def dispersion(self) -> float:
        """Of counts: their variance over that of a Poisson law; 1 else."""
        return self.given.rows.phi if isinstance(self.given, Likelihood) else 1.0

    @property
    def gain_scale(self) -> float:
        """What a unit of squared error of the moments is worth in the errors that users see."""
        return self.basis.target_scale**2 if self.given.exact else self.dispersion / 2

    @property
    def folds(self) -> Moments:
        """Of its folds (K, F)."""
        return self.problem.folds

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
    ) -> "Study":
        """Form moments of a collection."""
        X, y, w, starts = collection.X, collection.y, collection.weights, collection.starts
        basis = Basis.from_rows(X, y, w, intercept=intercept)
        family = family_of(collection.response)
        if family is not None and len(starts) - 1 > strategies.MANY_DATASETS:
            folds = min(folds, max(folds // 2, FEWEST_FOLDS))
        fold = deal(X, y, starts, collection.features, folds, seed)
        if family is None:
            Z, t = basis.design(X), basis.response(y)
            by_fold = fold_moments(Z, t, w, starts, fold, folds)
            return cls.of_folds(basis, by_fold, seed=seed, count=count, progress=progress)
        basis = replace(basis, target_center=0.0, target_scale=1.0)
        given = Likelihood.of(basis.design(X), y, w, starts, fold, folds, family)
        shares = _shares(given.rows.w.sum(axis=1), count)
        return cls(basis, given, collection.response, shares, seed, progress)

    @classmethod
    def of_folds(
        cls,
        basis: Basis,
        folds: Moments,
        *,
        seed: int,
        count: str,
        progress: Progress | None = None,
    ) -> "Study":
        """Take moments of folds (K, F) that were formed elsewhere."""
        given = LeastSquares(folds)
        return cls(basis, given, Response(), _shares(given.moments.w, count), seed, progress)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be formed again."""
        kept = {name: self.__dict__[name] for name in self.__dataclass_fields__}
        return {**kept, "progress": None}


def family_of(response: Response) -> GlmFamily | None:
    """Return the distribution of a target; None for numbers fitted by least squares."""
    if response.family == "gaussian":
        return None
    if response.family == "poisson":
        return POISSON
    return BERNOULLI if len(response.classes) == 2 else multinomial(len(response.classes))


def _shares(rows: FloatArray, count: str) -> FloatArray:
    """Return how much each dataset counts."""
    share = np.ones(len(rows)) if count == "datasets" else rows
    return share / share.sum()
