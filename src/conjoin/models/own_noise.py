"""A noise variance for each dataset, or one for all: decided once, on held-out rows.

A problem (moments of datasets and folds) and the variances of partial pooling with one noise for
all enter. A `NoiseRule` leaves, with variances that hold the ratio of every dataset's noise to the
common one (`Hyper.relative`):

==========  ====================================================================
rule        noise of a dataset
==========  ====================================================================
"common"    one noise for all
"some"      its own for datasets where that predicts clearly better; all other
            variances, the centre and all other datasets are those of "common"
"own"       its own for every dataset; all other variances are estimated with it
==========  ====================================================================

A dataset's own noise comes from the residuals of its own fit, shrunk towards that of the others
(`models.noise`): with few rows beyond its columns it is about theirs. "own" is right where
coefficients vary as much in quiet datasets as in noisy ones. Often they vary less in quiet ones,
since all numbers are small there (sales of a small shop). Then "own" takes the small spread of
quiet datasets for that of all, and shrinks the noisy datasets too much.
"""

from dataclasses import dataclass, replace

import numpy as np

from conjoin import linalg
from conjoin._typing import BoolArray, FloatArray
from conjoin.models.full import fit_full
from conjoin.models.noise import noise_variances
from conjoin.models.optima import Optima
from conjoin.models.partial import (
    SLOPES,
    Family,
    Hyper,
    coefficients,
    fit_variances,
)
from conjoin.models.problem import Problem
from conjoin.models.variance_priors import NOISE_BOUNDS
from conjoin.moments import Moments

# Logarithms of noise variances that differ by less than this count as equal: a prior variance that
# is off by a hundredth changes no coefficient visibly.
EQUAL = 0.01
# Share by which a dataset's own noise must lower its held-out squared error, beside its standard
# error. Smaller changes are invisible in a report, and not worth another model.
CLEAR = 0.1
# Standard errors by which "own" must be better than the other rules: two, the usual 95 %, since it
# moves the variances of all datasets.
SURE = 2.0
# Residual degrees of freedom from which a dataset may have its own noise: the standard deviation of
# a variance from 20 of them is a third of it. The rule is chosen from all rows, and with fewer it
# would know the rows on which it is validated.
LEAST_DF = 20
# Steps of the optimiser from the variances with one noise for all, which are near.
STEPS = 25
# Datasets from which errors are paired by dataset. Fewer give no usable standard error, so cells of
# dataset x fold are taken instead, as for the weights of strategies.
FEWEST_DATASETS = 8


@dataclass(frozen=True, eq=False)
class NoiseRule:
    """How variances are estimated from moments; see the module's table.

    Parameters
    ----------
    name : str
        "common", "some" or "own".
    own : array (K,), optional
        With "some": the datasets that have their own noise.
    """

    name: str = "common"
    own: BoolArray | None = None

    def fit(
        self,
        moments: Moments,
        family: Family,
        simpler: Hyper | None = None,
        start: Hyper | None = None,
        steps: int = 100,
        optima: Optima | None = None,
    ) -> Hyper:
        """Return what `fit_variances` returns, with the noise of each dataset."""
        relative = relative_noise(moments) if self.name == "own" else None
        found = fit_variances(moments, family, simpler, start, steps, relative, optima)
        return self.apply(found, moments)

    def fit_full(self, moments: Moments, start: Hyper) -> Hyper:
        """Return a full covariance of deviations, with the noise of each dataset."""
        return self.apply(fit_full(moments, self.before(start)), moments)

    def before(self, hyper: Hyper) -> Hyper:
        """Return variances from which others are estimated; one noise for all unless "own"."""
        if self.name == "own":
            return hyper
        return replace(hyper, relative=np.ones_like(hyper.relative), one_centre=False)

    def apply(self, hyper: Hyper, moments: Moments) -> Hyper:
        """Return variances with the noise of those datasets that have their own."""
        if self.own is None:
            return hyper
        ratios = np.clip(noise_variances(moments), *NOISE_BOUNDS) / hyper.noise
        own = np.where(self.own, ratios, 1.0)
        return replace(hyper, relative=own, one_centre=True)


COMMON, OWN = NoiseRule("common"), NoiseRule("own")


def relative_noise(moments: Moments) -> FloatArray:
    """Return the ratio (K,) of each dataset's shrunk noise variance to the geometric mean of all.

    Moments of a likelihood have unit noise, so all ratios are one there.
    """
    if moments.unit_noise:
        return np.ones(moments.shape)
    logs = np.log(np.clip(noise_variances(moments), *NOISE_BOUNDS))
    if np.ptp(logs) < EQUAL:
        return np.ones(moments.shape)
    ratios: FloatArray = np.exp(logs - logs.mean())
    return ratios


def choose_noise(
    problem: Problem, common: Hyper, optima: Optima | None = None
) -> tuple[NoiseRule, Hyper]:
    """Return the rule that held-out rows prefer, and the variances under it.

    `common` has one noise for all. A dataset gets its own noise if that lowers its error on
    held-out rows by more than a tenth and by more than the standard error of the fall. If some
    dataset does, "own" is tried as well. `optima` are those of `fit_variances`.
    """
    moments = problem.moments
    if np.all(relative_noise(moments) == 1):
        return COMMON, common
    every = NoiseRule("some", np.ones(moments.shape, dtype=bool))
    before, after = _outside(problem, COMMON, common), _outside(problem, every, common)
    clear = _clearly_better(problem, before, after)
    clear &= moments.n - moments.p >= LEAST_DF
    if not clear.any():
        return COMMON, common
    some = NoiseRule("some", clear)
    own = OWN.fit(moments, SLOPES, start=common, steps=STEPS, optima=optima)
    rise = _errors(problem, _outside(problem, OWN, own))
    rise = rise - _errors(problem, _outside(problem, some, common))
    if moments.shape[0] >= FEWEST_DATASETS:
        rise = rise.sum(axis=0)
    if rise.sum() < -SURE * np.sqrt(rise.size) * rise.std():
        return OWN, own
    return some, some.apply(common, moments)


def _clearly_better(problem: Problem, before: FloatArray, after: FloatArray) -> BoolArray:
    """Say for which datasets (K,) the error falls clearly with coefficients `after` (F, K, p).

    The standard error of the fall is that over folds. It is no less than half of what the noise of
    the held-out rows gives (twice that standard error), since few folds hold rows of a small one.
    """
    old = _errors(problem, before)
    change = _errors(problem, after) - old
    moments, fall = problem.moments, -change.sum(axis=0)
    G = np.swapaxes(problem.folds.G, 0, 1)
    moved = linalg.quadratic(after - before, G).sum(axis=0)
    by_noise = 2 * np.sqrt(noise_variances(moments) * moved) / moments.w
    by_fold = np.sqrt(len(change)) * change.std(axis=0)
    better = fall > np.maximum(CLEAR * old.sum(axis=0), np.maximum(by_fold, SURE * by_noise))
    return np.asarray(better)


def _outside(problem: Problem, rule: NoiseRule, hyper: Hyper) -> FloatArray:
    """Return coefficients of partial pooling (F, K, p) outside every fold."""
    rest = [problem.left_out(np.array([f]))[0] for f in range(problem.folds.shape[1])]
    return np.stack([coefficients(one, rule.apply(hyper, one)) for one in rest])


def _errors(problem: Problem, beta: FloatArray) -> FloatArray:
    """Return the errors (F, K) on held-out rows; they add up over folds."""
    errors: FloatArray = problem.loss(beta) / problem.moments.w
    return errors
