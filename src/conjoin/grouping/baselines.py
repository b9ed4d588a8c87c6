"""Plain partitions to compare with: Chow's test, BIC merging, k-means on coefficients.

Each takes the moments of the datasets (K,) and returns labels (K,).
"""

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

MOST_CLUSTERS = 15


@dataclass(frozen=True, eq=False)
class ResidualObjective:
    """Residual sum of squares, plus a price for each coefficient fitted."""

    sums: Sums
    price: float = 0.0

    @classmethod
    def of(cls, moments: Moments, price: float = 0.0) -> "ResidualObjective":
        """Take moments (K,)."""
        return cls((moments.G, moments.h, moments.q, moments.n), price)

    def cost(self, sums: Sums) -> FloatArray:
        """Return residual sums of squares plus price times rank."""
        rss, rank = _residuals(sums)
        cost: FloatArray = rss + self.price * rank
        return cost


def _residuals(sums: Sums) -> tuple[FloatArray, IntArray]:
    G, h, q, _ = sums
    inverse, rank = linalg.inverse_and_rank(G)
    return np.maximum(q - linalg.quadratic(h, inverse), 0.0), rank


def chow(moments: Moments, level: float = 0.05) -> IntArray:
    """Join the pair with the largest p-value of Chow's test as long as it is above the level."""

    def minus_p_value(rise: FloatArray, one: Sums, two: Sums) -> FloatArray:
        (rss1, r1), (rss2, r2) = _residuals(one), _residuals(two)
        joint = _residuals(tuple(a + b for a, b in zip(one, two)))[1]
        df, rest = r1 + r2 - joint, one[3] + two[3] - r1 - r2
        testable = (df > 0) & (rest > 0)
        noise = np.maximum((rss1 + rss2) / np.maximum(rest, 1), np.finfo(float).tiny)
        statistic = np.maximum(rise, 0) / np.maximum(df, 1) / noise
        p = fdtrc(np.maximum(df, 1), np.maximum(rest, 1), statistic)
        return -np.where(testable, p, 1.0)

    tree = grow(ResidualObjective.of(moments), near=_coefficients(moments), score=minus_p_value)
    refused = np.nonzero(tree.links > -level)[0]
    joins = int(refused[0]) if len(refused) else tree.leaves - 1
    return cut_into(tree, tree.leaves - joins)


def bic(moments: Moments) -> IntArray:
    """Agglomerate by BIC with the pooled within-dataset noise."""
    fit = fit_ols(moments)
    df = float((moments.n - fit.rank).sum())
    if df <= 0:
        return np.zeros(moments.shape[0], dtype=int)
    price = float(fit.rss.sum()) / df * float(np.log(moments.n.sum()))
    return prune(grow(ResidualObjective.of(moments, price), near=fit.beta))


def kmeans(moments: Moments, seed: int = 0) -> IntArray:
    """Cluster least-squares coefficients by k-means, the number of clusters by BIC."""
    points = _coefficients(moments)
    spread = points.std(axis=0)
    points = points / np.where(spread > 0, spread, 1.0)
    n, p = float(moments.n.sum()), moments.p
    best, best_score = np.zeros(len(points), dtype=int), np.inf
    for k in range(1, min(len(points), MOST_CLUSTERS) + 1):
        found = kmeans2(points, k, minit="++", rng=seed, iter=50)[1]
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
    return fit_ols(moments).beta
