"""Costs of clusters that add up to the cost of a partition; lower is better.

Moments of datasets enter; an objective leaves that gives the cost of any batch of clusters. A
cluster is described by sums over its datasets, so the cost of a union needs only the sum of two
sums.

==========  ====================================================================
symbol      meaning (sums over the datasets k of a cluster)
==========  ====================================================================
G, h, q, n  moments
w_k         weight of dataset k in the objective
Gw, hw, qw  moments weighted by w_k / n_k: errors in which dataset k counts w_k
Gs          sum of s2_k G_k, with s2_k the noise of dataset k
Gws         sum of (w_k / n_k) s2_k G_k
==========  ====================================================================
"""

from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from scipy.special import gammaln

from conjoin import linalg
from conjoin._typing import FloatArray, IntArray
from conjoin.moments import Moments

# Largest leverage in (1 - leverage)^2: a cluster whose fit follows nearly every row would otherwise
# divide by zero. At 0.99 its bias already counts 10,000 times.
MOST_LEVERAGE = 0.99
# Least number of rows beyond rank + 1 in the variance on new rows, where the exact factor would be
# infinite. The search needs a finite cost. With one half, a cluster without spare rows has twice
# the variance of one with a single spare row.
LEAST_SPARE_ROWS = 0.5

Sums: TypeAlias = tuple[FloatArray, ...]


class Objective(Protocol):
    """A cost of clusters; the cost of a partition is the sum over its clusters."""

    @property
    def sums(self) -> Sums:
        """Additive sums of each dataset, every array (K, ...)."""

    def cost(self, sums: Sums) -> FloatArray:
        """Return the cost of each cluster of a batch, (B,)."""


def take(sums: Sums, index: IntArray | slice) -> Sums:
    """Return the sums of some clusters."""
    return tuple(array[index] for array in sums)


def add(a: Sums, b: Sums) -> Sums:
    """Return the sums of unions, pair by pair."""
    return tuple(x + y for x, y in zip(a, b))


def subtract(a: Sums, b: Sums) -> Sums:
    """Return the sums of what remains of `a` without `b`, pair by pair."""
    return tuple(x - y for x, y in zip(a, b))


def sum_by(sums: Sums, labels: IntArray, clusters: int) -> Sums:
    """Return the sums (clusters, ...) of datasets (K, ...) with the same label."""
    return tuple(linalg.sum_by(array, labels, clusters) for array in sums)


def _fit(G: FloatArray, h: FloatArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return coefficients (B, p), inverses (B, p, p) and ranks (B,) of least-squares fits."""
    inverse, rank = linalg.inverse_and_rank(G)
    return linalg.matvec(inverse, h), inverse, rank


@dataclass(frozen=True, eq=False)
class RiskObjective:
    """Unbiased estimate of the out-of-sample error of clusters.

    This is the formula of `criterion.risk` with one leverage for all datasets of a cluster, their
    weighted mean. With a leverage for each dataset the cost would not be a function of sums.
    """

    sums: Sums

    @classmethod
    def of(cls, moments: Moments, noise: FloatArray, weights: FloatArray) -> "RiskObjective":
        """Take moments (K,), noise variances (K,) and dataset weights (K,) that sum to one."""
        omega = weights / moments.n
        G = moments.G
        return cls(
            (
                G,
                moments.h,
                moments.n,
                omega[:, None, None] * G,
                omega[:, None] * moments.h,
                omega * moments.q,
                noise[:, None, None] * G,
                (omega * noise)[:, None, None] * G,
                weights,
                weights * noise,
            )
        )

    def cost(self, sums: Sums) -> FloatArray:
        """Return noise + bias + variance on new rows (B,), weighted sums over datasets."""
        G, h, n, Gw, hw, qw, Gs, Gws, w, noise = sums
        beta, inverse, rank = _fit(G, h)
        misfit = qw + linalg.dot(beta, linalg.matvec(Gw, beta) - 2 * hw)
        spread = np.matmul(inverse, np.matmul(Gs, inverse))
        variance = linalg.trace_product(Gw, spread)
        # A dataset without held-out rows may have weight zero: then the leverage is zero as well.
        shares = np.where(w > 0, w, 1.0)
        leverage = np.minimum(linalg.trace_product(Gw, inverse) / shares, MOST_LEVERAGE)
        bias = misfit - noise + 2 * linalg.trace_product(Gws, inverse) - variance
        inflation = n / np.maximum(n - rank - 1, LEAST_SPARE_ROWS)
        total: FloatArray = noise + bias / (1 - leverage) ** 2 + variance * inflation
        return total


@dataclass(frozen=True, eq=False)
class EvidenceObjective:
    """Minus the log evidence (marginal likelihood) of clusters with one linear model each.

    Coefficients of a cluster are N(mu, T) around a common centre, T = diag(spread), and rows of
    dataset k have noise s2_k. With G, h, q of residuals from mu, divided by s2_k, and
    R = T^1/2 G T^1/2, the log evidence is -1/2 [q - h'T^1/2 (I + R)^-1 T^1/2 h + log det(I + R)].

    The prior of partitions is the Chinese restaurant process with concentration one: a cluster of m
    datasets has weight (m - 1)!. Where the data carry no information, few large clusters win.
    """

    sums: Sums

    @classmethod
    def of(
        cls, moments: Moments, noise: FloatArray, mu: FloatArray, spread: FloatArray
    ) -> "EvidenceObjective":
        """Take moments (K,), noise variances (K,), the centre (p,) and its spread (p,)."""
        scale, root = 1 / noise, np.sqrt(spread)
        Gmu = linalg.matvec(moments.G, mu)
        h, q = moments.h - Gmu, moments.q - linalg.dot(2 * moments.h - Gmu, mu)
        return cls(
            (
                moments.G * scale[:, None, None] * np.outer(root, root),
                h * scale[:, None] * root,
                q * scale,
                np.ones_like(q),
            )
        )

    def cost(self, sums: Sums) -> FloatArray:
        """Return minus the log evidence (B,), up to a constant common to all partitions."""
        R, h, q, count = sums
        # q >= h'(I + R)^-1 h, since the difference is a penalised sum of squares. It may be zero:
        # one is added before the factorisation and subtracted afterwards.
        misfit, logdet = linalg.definite_quadratic(R + np.eye(R.shape[-1]), h, q + 1.0)
        cost: FloatArray = 0.5 * (misfit - 1.0 + logdet) - gammaln(count)
        return cost


@dataclass(frozen=True, eq=False)
class ValidatedObjective:
    """Cross-validated error from fold moments: the cluster's other folds predict each fold."""

    sums: Sums

    @classmethod
    def of(cls, folds: Moments, weights: FloatArray) -> "ValidatedObjective":
        """Take fold moments (K, F) and dataset weights (K,)."""
        # A dataset that ends before the first fold in time has no held-out rows.
        held_out = folds.w.sum(axis=1)
        omega = np.divide(weights, held_out, out=np.zeros_like(held_out), where=held_out > 0)
        return cls(
            (
                folds.G,
                folds.h,
                omega[:, None, None, None] * folds.G,
                omega[:, None, None] * folds.h,
                omega[:, None] * folds.q,
            )
        )

    def cost(self, sums: Sums) -> FloatArray:
        """Return the weighted error (B,) on held-out folds."""
        G, h, Gw, hw, qw = sums
        train_G, train_h = G.sum(axis=1, keepdims=True) - G, h.sum(axis=1, keepdims=True) - h
        beta, _, _ = _fit(train_G, train_h)
        errors = qw + linalg.dot(beta, linalg.matvec(Gw, beta) - 2 * hw)
        cost: FloatArray = np.sum(np.maximum(errors, 0.0), axis=1)
        return cost
