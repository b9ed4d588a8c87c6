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
from conjoin._typing import FloatArray
from conjoin.models.effort import is_small
from conjoin.models.partial import (
    EVIDENCE_CLOSE,
    SPREAD_BOUNDS,
    Hyper,
    fit_full,
    improved_noise,
    posterior,
    second_moment,
)
from conjoin.moments import Moments

MOST_RANKS = 3  # more hidden ways to differ are what a full covariance is for
# Datasets for each direction at least: a direction is seen through one number of each dataset, and
# ten observations for each parameter are the usual rule.
FEWEST_DATASETS = 10
# Steps of EM at most; it stops before where the evidence rises no more. Large collections get
# fewer, since a step is a pass over all datasets. Set by time, not by error.
STEPS, LARGE_STEPS = 30, 8
# Steps of factor analysis in each. S stays fixed meanwhile, so more would fit what the next S
# corrects.
FACTOR_STEPS = 10
# Variances psi are drawn towards a tenth of those of the diagonal fit, like by one dataset. Without
# it EM for factor analysis can drive one of them to zero (a Heywood case).
REST_SHARE, REST_DATASETS = 0.1, 1.0
# Least length of a starting direction, in units of the diagonal fit: EM never leaves zero.
LEAST_LEAD = 0.1


@dataclass(frozen=True, eq=False)
class LowRank:
    """A fit of one rank: its variances and what the rank is chosen by."""

    hyper: Hyper
    rank: int
    criterion: float


def fit_low_rank(moments: Moments, start: Hyper) -> LowRank | None:
    """Return the fit of the best rank; None if the diagonal one, `start`, is no worse."""
    p, K = moments.p, moments.shape[0]
    if K < FEWEST_DATASETS:
        return None
    best = LowRank(start, 0, posterior(moments, start).log_evidence)
    full = fit_full(moments, start)
    for rank in range(1, MOST_RANKS + 1):
        # With more directions, U and psi would not be determined by T.
        if (p - rank) ** 2 < p + rank or FEWEST_DATASETS * rank > K:
            break
        found = fit_rank(moments, start, full, rank, STEPS if is_small(moments) else LARGE_STEPS)
        if found.criterion <= best.criterion:
            break
        best = found
    return best if best.rank else None


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
