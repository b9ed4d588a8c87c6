"""Where a new dataset belongs, and its model, from some rows with known target.

Rows of the new dataset enter; the probability of each cluster, a model for the new dataset and its
errors on held-out rows leave. `engine.placing` makes a `Placement` from the moments of the known
datasets.

Two questions, two kinds of prior (`models.newcomer`):

- *Which cluster is it like?* One component a cluster, with the posterior of its coefficients, and
  one for a dataset that belongs to none.
- *What is its model?* The prior that each strategy learned from the known datasets. The models are
  averaged. The weight of a strategy is that in "auto" times the square root of the density that
  its prior gives the new rows.
"""

from dataclasses import dataclass

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.errors import DataError
from conjoin.families import Response
from conjoin.models.glm_families import GlmFamily
from conjoin.models.newcomer import Prior, average_coefficients, held_out_losses, place
from conjoin.moments import Basis
from conjoin.moments.folds import deal
from conjoin.result.fits import lines_of

Lines = tuple[FloatArray, FloatArray]

# Spreads of a column beyond which a value of a new row counts as lying there. A square of it still
# holds a one beside it, so that the intercept is not rounded away.
FARTHEST = 1e8
# Spreads beyond which a value is brought nearer before anything is done with it. Spreads are at
# most 1e145, so that their product is a double.
OUTSIDE = 1e150
# Rows of the new dataset are held out one by one, with more rows than this in so many folds: the
# model is then fitted to 95 % of them, so its error is that of nearly all rows.
MOST_FOLDS = 20
# Weight of a strategy for a new dataset at least. Weights in "auto" say which strategy is best for
# the known datasets. A new dataset may be unlike them; 1 % lets its rows say so, since densities of
# even ten rows differ by far more than a factor of 100 where a strategy is wrong for them.
LEAST_WEIGHT = 0.01


@dataclass(frozen=True, eq=False)
class StrategyPrior:
    """What a strategy learned of datasets in general, and its weight in "auto"."""

    name: str
    weight: float
    prior: Prior


@dataclass(frozen=True, eq=False)
class Placement:
    """What is needed to place a new dataset, in working coordinates.

    Parameters
    ----------
    basis : Basis
        The coordinates.
    noise : float
        Common noise variance; for counts the dispersion.
    centre : array (C + 1, p)
        Expected coefficients of each cluster, then of a dataset that belongs to none.
    covariance : array (C + 1, p, p)
        Covariance of the coefficients around `centre`.
    datasets : array (C + 1,)
        Prior weights: the number of datasets in each cluster, then 1.
    means : array (C, features)
        Mean features of each cluster; nan for clusters of very few rows.
    priors : tuple of StrategyPrior
        Empty for a single dataset, and in model files of versions before 0.3.
    columns : array, optional
        Positions of the features it knows among those of the models, by default all. Models with
        a learner have its predictions as further features.
    """

    basis: Basis
    noise: float
    centre: FloatArray
    covariance: FloatArray
    datasets: FloatArray
    means: FloatArray
    priors: tuple[StrategyPrior, ...] = ()
    columns: IntArray | None = None

    def place(
        self, X: FloatArray, y: FloatArray, family: GlmFamily | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return the probability of each cluster and of none (C + 1,), and the average model (p,).

        X (rows, features) and y (rows,) are in the units of the data.
        """
        placed = place(self._cluster_prior, *self._working(X, y, family), family)
        return placed.probability, placed.beta

    def fit(
        self, X: FloatArray, y: FloatArray, strategy: str, family: GlmFamily | None = None
    ) -> FloatArray:
        """Return the coefficients (p,) of a new dataset under a strategy."""
        priors, weights = self._used(strategy)
        return average_coefficients(priors, weights, *self._working(X, y, family), family)

    def losses(
        self,
        X: FloatArray,
        y: FloatArray,
        strategy: str,
        family: GlmFamily | None = None,
    ) -> FloatArray:
        """Return losses of rows (n,) held out of `fit` in turn.

        Squared errors are in the units of the data.
        """
        n, (priors, weights) = len(y), self._used(strategy)
        whole = np.array([0, n])
        fold = np.arange(n) if n <= MOST_FOLDS else deal(X, y, whole, MOST_FOLDS, seed=0)
        Z, t = self._working(X, y, family)
        losses = held_out_losses(priors, weights, Z, t, fold, family)
        return losses if family is not None else losses * self.basis.target_scale**2

    @property
    def _cluster_prior(self) -> Prior:
        return Prior(self.noise, self.centre, self.covariance, self.datasets)

    def _used(self, strategy: str) -> tuple[list[Prior], FloatArray]:
        """Return the priors of a strategy with their weights.

        "clusters" are the clusters themselves. "separate" learns nothing of datasets in general,
        so it has the priors of "auto".
        """
        if strategy == "clusters" or not self.priors:
            return [self._cluster_prior], np.ones(1)
        named = [one.prior for one in self.priors if one.name == strategy]
        if named:
            return named, np.ones(1)
        weights = np.array([max(one.weight, LEAST_WEIGHT) for one in self.priors])
        return [one.prior for one in self.priors], weights / weights.sum()

    def _working(
        self, X: FloatArray, y: FloatArray, family: GlmFamily | None
    ) -> tuple[FloatArray, FloatArray]:
        """Return rows and target in working coordinates; classes and counts as they are."""
        Z = _bounded(self.basis.design(self._near(self._own(X))))
        return Z, _bounded(self.basis.response(y)) if family is None else y

    def _own(self, X: FloatArray) -> FloatArray:
        """Return the features (n, own) that it knows."""
        return X if self.columns is None else X[:, self.columns]

    def _near(self, X: FloatArray) -> FloatArray:
        """Return features (n, own), those beyond `OUTSIDE` spreads at it: no step overflows."""
        reach = OUTSIDE * self.basis.scale
        return np.clip(X, self.basis.center - reach, self.basis.center + reach)

    def lines(self, beta: FloatArray, response: Response, features: int) -> Lines:
        """Return intercepts (lines,) and slopes (lines, features) of coefficients (p,).

        They are in the units of the data; slopes of features that it does not know are zero.
        """
        intercept, slopes = lines_of(beta, self.basis, response)
        if self.columns is None:
            return intercept, slopes
        found = np.zeros((len(slopes), features))
        found[:, self.columns] = slopes
        return intercept, found

    def nearest(self, X: FloatArray) -> int:
        """Return the cluster whose mean features are nearest to those of rows (n, features).

        Raises
        ------
        DataError
            If no cluster has known mean features.
        """
        mean = np.mean(_bounded(self.basis.features(self._near(self._own(X)))), axis=0)
        distance = np.sum((self.means - mean) ** 2, axis=1)
        if np.isnan(distance).all():
            raise DataError(
                "on_unseen='nearest' needs an intercept and a cluster of at least five rows to say "
                "which cluster is nearest; choose on_unseen='pooled'."
            )
        return int(np.nanargmin(distance))


def _bounded(values: FloatArray) -> FloatArray:
    """Return values in working coordinates, those beyond `FARTHEST` at it."""
    return np.clip(values, -FARTHEST, FARTHEST)
