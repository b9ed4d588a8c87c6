"""Well-known partitions, for comparison: Chow's test, BIC, k-means on coefficients.

Moments of the datasets (K,) enter; labels (K,) leave.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.cluster.vq import kmeans2
from scipy.special import fdtrc

from conjoin import linalg
from conjoin._typing import FloatArray, IntArray
from conjoin.grouping.agglomerative import cut_into, grow, prune, relabel
from conjoin.grouping.objective import Sums, sum_by
from conjoin.models.ols import fit_ols
from conjoin.moments import Moments

# Most clusters that k-means tries; it bounds the time, since each number takes a run of its own.
MOST_CLUSTERS = 15
# Level of Chow's test: the usual one.
CHOW_LEVEL = 0.05
# Iterations of k-means; scipy stops after that many, converged or not, and its default is 10.
ITERATIONS = 50
# F statistic from which its p-value is zero in any case; a larger one would overflow.
LARGEST_STATISTIC = 1e200


@dataclass(frozen=True, eq=False)
class ResidualObjective:
    """Residual sum of squares, plus a penalty for each coefficient."""

    sums: Sums
    penalty: float = 0.0

    @classmethod
    def of(cls, moments: Moments, penalty: float = 0.0) -> "ResidualObjective":
        """Take moments (K,)."""
        return cls((moments.G, moments.h, moments.q, moments.n), penalty)

    def cost(self, sums: Sums) -> FloatArray:
        """Return residual sums of squares plus penalty times rank."""
        rss, rank = _residuals(sums)
        cost: FloatArray = rss + self.penalty * rank
        return cost


def _residuals(sums: Sums) -> tuple[FloatArray, IntArray]:
    """Return residual sums of squares and ranks (B,) of least-squares fits."""
    G, h, q, _ = sums
    inverse, rank = linalg.inverse_and_rank(G)
    return np.maximum(q - linalg.quadratic(h, inverse), 0.0), rank


def chow(moments: Moments, level: float = CHOW_LEVEL) -> IntArray:
    """Return labels (K,): join pairs by Chow's test, the largest p-value first, down to `level`.

    Pairs without degrees of freedom for the test have a p-value of one.
    """

    def minus_p_value(rise: FloatArray, one: Sums, two: Sums) -> FloatArray:
        (rss1, r1), (rss2, r2) = _residuals(one), _residuals(two)
        joint = _residuals(tuple(a + b for a, b in zip(one, two)))[1]
        df, rest = r1 + r2 - joint, one[3] + two[3] - r1 - r2
        testable = (df > 0) & (rest > 0)
        noise = (rss1 + rss2) / np.maximum(rest, 1)
        effect = np.maximum(rise, 0) / np.maximum(df, 1)
        # Exact fits have no noise: any rise of the residuals then speaks against the pair.
        exact = np.where(effect > 0, LARGEST_STATISTIC, 0.0)
        certain = noise * LARGEST_STATISTIC <= effect
        statistic = np.where(certain, exact, effect / np.where(certain, 1.0, noise))
        p = fdtrc(np.maximum(df, 1), np.maximum(rest, 1), statistic)
        return -np.where(testable, p, 1.0)

    tree = grow(ResidualObjective.of(moments), near=_coefficients(moments), score=minus_p_value)
    refused = np.nonzero(tree.links > -level)[0]
    joins = int(refused[0]) if len(refused) else tree.leaves - 1
    return cut_into(tree, tree.leaves - joins)


def bic(moments: Moments) -> IntArray:
    """Return labels (K,): agglomerate by BIC, with the pooled noise variance of own fits."""
    fit = fit_ols(moments)
    df = float((moments.n - fit.rank).sum())
    if df <= 0:
        return np.zeros(moments.shape[0], dtype=int)
    penalty = float(fit.rss.sum()) / df * float(np.log(moments.n.sum()))
    return prune(grow(ResidualObjective.of(moments, penalty), near=fit.beta))


def kmeans(moments: Moments, seed: int = 0) -> IntArray:
    """Return labels (K,): k-means on standardised coefficients, number of clusters by BIC."""
    points = _coefficients(moments)
    spread = points.std(axis=0)
    points = points / np.where(spread > 0, spread, 1.0)
    n, p = float(moments.n.sum()), moments.p
    best, best_score = np.zeros(len(points), dtype=int), np.inf
    if n <= 0:  # no rows are outside a fold
        return best
    for k in range(1, min(len(points), MOST_CLUSTERS) + 1):
        # Points that are equal leave clusters empty, and distances of zero between centres.
        with np.errstate(invalid="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found = kmeans2(points, k, minit="++", rng=seed, iter=ITERATIONS)[1]
        labels = relabel(found)
        C = int(labels.max()) + 1
        rss = float(
            _residuals(sum_by((moments.G, moments.h, moments.q, moments.n), labels, C))[0].sum()
        )
        score = n * np.log(max(rss / n, np.finfo(float).tiny)) + C * p * np.log(n)
        if score < best_score:
            best, best_score = labels, score
    return best


def _coefficients(moments: Moments) -> FloatArray:
    """Return the least-squares coefficients (K, p) of each dataset."""
    return fit_ols(moments).beta
