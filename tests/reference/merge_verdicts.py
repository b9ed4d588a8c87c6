"""The verdict on two clusters, one pair at a time: a slow twin of `conjoin.criterion.judge`."""

import numpy as np

from conjoin import linalg
from conjoin.criterion.pair_tests import PairTests
from conjoin.criterion.risk import joining_gain
from conjoin.criterion.side import Side, residual_variance
from conjoin.models.ols import fit_ols
from tests.reference.pair_verdict import Verdict, single_answer


def cluster_side(moments, weights):
    """Return one cluster of datasets (K,) as a side; noise from residuals within datasets."""
    fit, joint = fit_ols(moments), moments.union()
    inverse, rank = linalg.inverse_and_rank(joint.G)
    df = moments.n - fit.rank
    nu = np.sum(df)
    s2 = residual_variance(np.sum(np.where(df > 0, fit.rss, 0.0)), joint.q, nu)
    A = np.sum(weights[:, None, None] * moments.W, axis=0)
    beta = linalg.matvec(inverse, joint.h)
    return Side(joint.G, inverse, beta, np.asarray(float(rank)), joint.n, A, s2, nu)


def judge_merge(left, right, *, delta=0.1, weights=None, interval=False):
    """Return the verdict on joining clusters (K1,) and (K2,).

    `weights` (K1,) and (K2,) say how much the error of each dataset counts; by default all count
    the same.
    """
    if weights is None:
        K1, K2 = len(left.q), len(right.q)
        weights = (np.full(K1, 1 / (K1 + K2)), np.full(K2, 1 / (K1 + K2)))
    sides = (cluster_side(moments, w) for moments, w in zip((left, right), weights))
    answer, limits = single_answer(PairTests.of(*sides, delta, False), delta, interval)
    return Verdict(answer, joining_gain(left, right, weights), limits, delta)
