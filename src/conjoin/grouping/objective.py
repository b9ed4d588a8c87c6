"""Objectives of a partition: costs that add up over clusters and need only additive sums.

A cluster enters through sums over its datasets, so the cost of a union is had from the sum of the
parts' sums, in batches. Lower is better.

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

Sums: TypeAlias = tuple[FloatArray, ...]


class Objective(Protocol):
    """A cost that adds up over clusters."""

    @property
    def sums(self) -> Sums:
        """Additive sums of each dataset, every array (K, ...)."""

    def cost(self, sums: Sums) -> FloatArray:
        """Return the cost of each cluster of a batch, (B,)."""


def take(sums: Sums, index: IntArray | slice) -> Sums:
    """Select clusters."""
    return tuple(array[index] for array in sums)


def add(a: Sums, b: Sums) -> Sums:
    """Return the sums of unions, pair by pair."""
    return tuple(x + y for x, y in zip(a, b))


def subtract(a: Sums, b: Sums) -> Sums:
    """Return the sums of what remains, pair by pair."""
    return tuple(x - y for x, y in zip(a, b))


def sum_by(sums: Sums, labels: IntArray, clusters: int) -> Sums:
    """Add datasets up by cluster label."""
    return tuple(linalg.sum_by(array, labels, clusters) for array in sums)


def _fit(G: FloatArray, h: FloatArray) -> tuple[FloatArray, FloatArray, IntArray]:
    inverse, rank = linalg.inverse_and_rank(G)
    return linalg.matvec(inverse, h), inverse, rank


@dataclass(frozen=True, eq=False)
class RiskObjective:
    """Unbiased out-of-sample error, `criterion.risk` with leverages averaged over a cluster."""

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
        """Return noise + bias + variance on new rows, summed over datasets with their weights."""
        G, h, n, Gw, hw, qw, Gs, Gws, w, noise = sums
        beta, inverse, rank = _fit(G, h)
        misfit = qw + linalg.dot(beta, linalg.matvec(Gw, beta) - 2 * hw)
        spread = np.matmul(inverse, np.matmul(Gs, inverse))
        variance = linalg.trace_product(Gw, spread)
        leverage = np.minimum(linalg.trace_product(Gw, inverse) / w, 0.99)
        bias = misfit - noise + 2 * linalg.trace_product(Gws, inverse) - variance
        # Few rows more than columns make the variance on new rows as large as can be told.
        inflation = n / np.maximum(n - rank - 1, 0.5)
        total: FloatArray = noise + bias / (1 - leverage) ** 2 + variance * inflation
        return total


@dataclass(frozen=True, eq=False)
class EvidenceObjective:
    """Minus the log evidence of clusters with one linear model each.

    Coefficients of a cluster are N(mu, T) around a common centre, T = diag(spread), and rows of
    dataset k have noise s2_k. With G, h, q of residuals from mu, divided by s2_k, and
    R = T^1/2 G T^1/2, the evidence is -1/2 [q - h'T^1/2 (I + R)^-1 T^1/2 h + log det(I + R)]. The
    prior of partitions is that of the Chinese restaurant process with concentration one: a cluster
    of m datasets has weight (m - 1)!, so that where data say nothing, few large clusters win.
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
        """Return minus the log evidence, up to a constant that does not depend on the partition."""
        R, h, q, count = sums
        # q >= h'(I + R)^-1 h: the misfit of a fit with its penalty.
        misfit, logdet = linalg.definite_quadratic(R + np.eye(R.shape[-1]), h, q + 1.0)
        cost: FloatArray = 0.5 * (misfit - 1.0 + logdet) - gammaln(count)
        return cost


@dataclass(frozen=True, eq=False)
class ValidatedObjective:
    """Cross-validated error from fold moments: each fold predicted by the cluster's other folds."""

    sums: Sums

    @classmethod
    def of(cls, folds: Moments, weights: FloatArray) -> "ValidatedObjective":
        """Take fold moments (K, F) and dataset weights (K,)."""
        omega = weights / folds.w.sum(axis=1)
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
        """Return the weighted error on left-out folds."""
        G, h, Gw, hw, qw = sums
        train_G, train_h = G.sum(axis=1, keepdims=True) - G, h.sum(axis=1, keepdims=True) - h
        beta, _, _ = _fit(train_G, train_h)
        errors = qw + linalg.dot(beta, linalg.matvec(Gw, beta) - 2 * hw)
        cost: FloatArray = np.sum(np.maximum(errors, 0.0), axis=1)
        return cost
