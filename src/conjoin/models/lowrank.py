"""Partial pooling whose deviations lie near a low-dimensional subspace, by EM on moments.

    b_k = mu + U z_k + e_k,   z_k ~ N(0, I_r),   e_k ~ N(0, diag(psi))

Enters: moments of datasets (K,) and the variances of a diagonal fit. Leaves: a `Hyper` whose
covariance of deviations is T = U U' + diag(psi), or None where no such subspace shows. Where many
columns move together, because datasets differ in one or two hidden ways, a diagonal T misses it,
and a full one has too many entries to be estimated. Duan and Wang (2023), "Adaptive and robust
multi-task learning", give models of this kind.

==========  ==============================================================  ===========
symbol      meaning                                                         shape
==========  ==============================================================  ===========
U           directions in which datasets differ, r of them                  (p, r)
psi         variances of the rest                                           (p,)
S           expected second moment of the deviations, given the rows        (p, p)
==========  ==============================================================  ===========

A step of EM computes S as `fit_full` does, then improves U and psi by a few steps of EM for factor
analysis (Rubin and Thayer 1982). The rank is that of the best evidence, less log(K) / 2 for each
entry of U (Schwarz's criterion): U is fitted and not integrated out, so evidence alone would rise
with every rank.
"""

from dataclasses import dataclass, replace

import numpy as np

from conjoin import linalg
from conjoin._typing import BoolArray, FloatArray
from conjoin.models.effort import is_small
from conjoin.models.full import EVIDENCE_CLOSE, fit_full, improved_noise, second_moment
from conjoin.models.partial import Hyper, posterior
from conjoin.models.variance_priors import SPREAD_BOUNDS
from conjoin.moments import Moments

MOST_RANKS = 3  # more hidden ways to differ are what a full covariance is for
# Datasets for each direction at least: a direction is seen through one number of each dataset, and
# ten observations for each parameter are the usual rule.
FEWEST_DATASETS = 10
# Every column must be known from as many datasets, or from this share of them. A column with large
# values in a few datasets only (heavy rain) would have its coefficient in all others from their
# other columns, and there no held-out row shows how wrong that is. On 7 real tables with such a
# column low rank raised the error by 0.6 %, on the one without it lowered it by 0.2 % (other splits
# than the arena's).
LEAST_SHARE = 0.5
TINY = 1e-12  # rows of a dataset that has none left
# Steps of EM at most; it stops before where the evidence rises no more. Large collections get
# fewer, since a step is a pass over all datasets. Set by time, not by error.
STEPS, LARGE_STEPS = 30, 8
# Steps of factor analysis in each. S stays fixed meanwhile, so more would fit what the next S
# corrects.
FACTOR_STEPS = 10
# Variances psi are drawn towards a tenth of those of the diagonal fit, like by one dataset. Without
# it EM for factor analysis can drive one of them to zero (a Heywood case).
REST_SHARE, REST_DATASETS = 0.1, 1.0
# How far the criterion of a subspace may exceed the evidence of the full covariance, for each
# dataset: the full covariance has a prior and few steps of EM. On 12 real tables it was at most 1,
# on planted subspaces at most 2.4.
AHEAD = 3.0
# Least length of a starting direction, in units of the diagonal fit: EM never leaves zero.
LEAST_LEAD = 0.1


@dataclass(frozen=True, eq=False)
class LowRank:
    """A fit of one rank: its variances and what the rank is chosen by."""

    hyper: Hyper
    rank: int
    criterion: float


def fit_low_rank(
    moments: Moments, start: Hyper, full: Hyper | None = None, least: float = -np.inf
) -> LowRank | None:
    """Return the fit of the best rank; None if it is no better than the diagonal one, `start`.

    `full` is the fit of a full covariance, if it is known. `least` is another value that the
    criterion must exceed. No rank is tried where the full covariance is far below it: a subspace
    is a special case of a full covariance.
    """
    p, K = moments.p, moments.shape[0]
    if K < FEWEST_DATASETS or not columns_in_many(moments).all():
        return None
    full = fit_full(moments, start) if full is None else full
    if least > -np.inf and posterior(moments, full).log_evidence < least - AHEAD * K:
        return None
    best = LowRank(start, 0, posterior(moments, start).log_evidence)
    for rank in range(1, MOST_RANKS + 1):
        # With more directions, U and psi would not be determined by T.
        if (p - rank) ** 2 < p + rank or FEWEST_DATASETS * rank > K:
            break
        found = fit_rank(moments, start, full, rank, STEPS if is_small(moments) else LARGE_STEPS)
        if found.criterion <= best.criterion:
            break
        best = found
    return best if best.rank and best.criterion > least else None


def columns_in_many(moments: Moments) -> BoolArray:
    """Say which columns (p,) have their squares in many datasets.

    The number of datasets is (sum of s_k)^2 / sum of s_k^2, where s_k is the mean square of the
    column in dataset k.
    """
    squares = np.einsum("kii->ki", moments.G) / np.maximum(moments.w, TINY)[:, None]
    fourth = np.sum(squares**2, axis=0)
    number = np.sum(squares, axis=0) ** 2 / np.where(fourth > 0, fourth, 1.0)
    many: BoolArray = number >= min(FEWEST_DATASETS, LEAST_SHARE * moments.shape[0])
    return many


def fit_rank(moments: Moments, start: Hyper, full: Hyper, rank: int, steps: int = STEPS) -> LowRank:
    """Fit one rank by EM, started from the leading directions of the full covariance `full`."""
    p, K = moments.p, moments.shape[0]
    diagonal = np.sum(start.L**2, axis=1) + SPREAD_BOUNDS[0]
    U, psi = _leading(full.L @ full.L.T, diagonal, rank)
    hyper, evidence = _with_covariance(full, U, psi), -np.inf
    for _ in range(steps):
        post = posterior(moments, hyper)
        if post.log_evidence < evidence + EVIDENCE_CLOSE * K:
            break
        evidence = post.log_evidence
        kept = hyper
        S = second_moment(post, hyper) / K
        for _ in range(FACTOR_STEPS):
            U, psi = _factor_step(S, U, psi)
            psi = (K * psi + REST_DATASETS * REST_SHARE * diagonal) / (K + REST_DATASETS)
        noise = improved_noise(moments, hyper, post)
        hyper = replace(_with_covariance(hyper, U, psi), noise=noise)
    entries = p * rank - rank * (rank - 1) // 2  # U is known up to a rotation
    return LowRank(kept, rank, evidence - 0.5 * entries * float(np.log(K)))


def _leading(T: FloatArray, diagonal: FloatArray, rank: int) -> tuple[FloatArray, FloatArray]:
    """Return U and psi from the leading directions of a covariance, columns scaled to one."""
    root = np.sqrt(diagonal)
    values, directions = np.linalg.eigh(T / np.outer(root, root))
    lead = np.maximum(values[-rank:] - values[:-rank].mean(), LEAST_LEAD)
    U = root[:, None] * directions[:, -rank:] * np.sqrt(lead)
    psi = np.maximum(np.diagonal(T) - np.sum(U**2, axis=1), REST_SHARE * diagonal)
    return U, psi


def _factor_step(S: FloatArray, U: FloatArray, psi: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return U and psi after one step of EM for factor analysis of the second moment S."""
    scaled = U / psi[:, None]
    M = np.linalg.inv(np.eye(U.shape[1]) + U.T @ scaled)
    to_factors = M @ scaled.T
    seen = S @ to_factors.T
    moved: FloatArray = seen @ np.linalg.inv(M + to_factors @ seen)
    rest = np.diagonal(S) - np.sum(moved * seen, axis=1)
    return moved, np.clip(rest, *SPREAD_BOUNDS)


def _with_covariance(hyper: Hyper, U: FloatArray, psi: FloatArray) -> Hyper:
    T = linalg.symmetrise(U @ U.T) + np.diag(psi)
    return replace(hyper, L=np.linalg.cholesky(T))
