"""Rows of datasets under every family, and slow plain twins of what models compute from them."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from conjoin.models.glm_families import BERNOULLI, POISSON, contrasts, multinomial
from conjoin.models.glm_rows import GlmRows
from conjoin.models.likelihood import Likelihood
from conjoin.models.padded_rows import SortedRows

SIZES = np.array([40, 15, 60, 25])
FOLDS = 3
D = 3  # columns, with that of ones
FAMILIES = [BERNOULLI, multinomial(3), multinomial(4), POISSON]
every_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f"{f.name}{f.m + 1}")
FIELDS = ("G", "h", "q", "n", "w")


class Rows:
    """Rows of datasets with folds and weights."""

    def __init__(self, family, sizes=SIZES, seed=0, weighted=False):
        rng = np.random.default_rng(seed)
        self.family, self.starts = family, np.concatenate([[0], np.cumsum(sizes)])
        N = int(self.starts[-1])
        self.Z = np.column_stack([np.ones(N), rng.standard_normal((N, D - 1))])
        self.dataset = np.repeat(np.arange(len(sizes)), sizes)
        own = 0.5 * rng.standard_normal((len(sizes), D, family.m))
        eta = np.einsum("nd,ndm->nm", self.Z, own[self.dataset])
        if family is POISSON:
            self.y = rng.poisson(np.exp(eta[:, 0])).astype(float)
        else:
            noise = rng.gumbel(size=(N, family.m + 1))
            self.y = np.argmax(scores(family, eta) + noise, axis=1).astype(float)
        self.w = rng.uniform(0.5, 2.0, N) if weighted else np.ones(N)
        self.fold = rng.integers(FOLDS, size=N)

    def glm(self, **changes):
        """The rows of the model; `changes` replace attributes."""
        return GlmRows.of(*self._rows(changes), FOLDS, self.family)

    def likelihood(self, **changes):
        return Likelihood.of(*self._rows(changes), FOLDS, self.family)

    def _rows(self, changes):
        at = {**self.__dict__, **changes}
        return SortedRows(*(at[name] for name in ("Z", "y", "w", "starts"))), at["fold"]

    def coefficients(self, seed=1, size=0.4):
        K = len(self.starts) - 1
        return size * np.random.default_rng(seed).standard_normal((K, D * self.family.m))


def scores(family, eta):
    """Scores of all classes (n, C) at linear predictors (n, m)."""
    if family is BERNOULLI:
        return np.column_stack([np.zeros(len(eta)), eta[:, 0]])
    return eta @ contrasts(family.m + 1).T


# --- slow plain twins, one row at a time ----------------------------------------------------------


def twin_row(family, x, y, b):
    """Score (P,), information (P, P) and squared error over variance of one row."""
    eta = x @ b.reshape(D, family.m)
    if family is POISSON:
        mean = np.exp(eta[0])
        return x * (y - mean), np.outer(x, x) * mean, (y - mean) ** 2 / mean
    V = np.array([[0.0], [1.0]]) if family is BERNOULLI else contrasts(family.m + 1)
    share = np.exp(V @ eta) / np.exp(V @ eta).sum()
    seen = np.arange(family.m + 1) == y
    covariance = np.diag(share) - np.outer(share, share)
    score = np.kron(x, V.T @ (seen - share))
    return score, np.kron(np.outer(x, x), V.T @ covariance @ V), 0.0


def twin_moments(rows, b0, phi):
    """G, h, q, n and w of each dataset and fold, as the module defines them."""
    K, P, family = len(b0), b0.shape[1], rows.family
    G, s, pearson = np.zeros((K, FOLDS, P, P)), np.zeros((K, FOLDS, P)), np.zeros((K, FOLDS))
    n, w = np.zeros((K, FOLDS)), np.zeros((K, FOLDS))
    for x, y, weight, k, f in zip(rows.Z, rows.y, rows.w, rows.dataset, rows.fold):
        score, information, square = twin_row(family, x, y, b0[k])
        s[k, f] += weight * score / phi
        G[k, f] += weight * information / phi
        pearson[k, f] += weight * square / phi
        n[k, f] += family.m
        w[k, f] += weight
    q = np.zeros((K, FOLDS))
    for k in range(K):
        whole, score = G[k].sum(axis=0), s[k].sum(axis=0)
        rank = np.linalg.matrix_rank(whole)
        squares = n[k].sum() - rank + score @ np.linalg.pinv(whole) @ score
        for f in range(FOLDS):
            residual = pearson[k, f] if family.free_dispersion else squares * n[k, f] / n[k].sum()
            q[k, f] = b0[k] @ G[k, f] @ b0[k] + 2 * b0[k] @ s[k, f] + residual
    h = np.einsum("kfij,kj->kfi", G, b0) + s
    return G, h, q, n, w


def penalised(rows, phi, labels, L, slope_variance, noise):
    """Minimise losses over noise and phi plus the prior over centre and deviations, by scipy.

    Unknown are mu (P,) and z of each cluster (C, m); coefficients are mu + L z.
    """
    family, P, C = rows.family, D * rows.family.m, int(labels.max()) + 1
    cluster = labels[rows.dataset]

    def objective(theta):
        mu, z = theta[:P], theta[P:].reshape(C, L.shape[1])
        b = (mu + z @ L.T).reshape(C, D, family.m)
        eta = np.einsum("nd,ndm->nm", rows.Z, b[cluster])
        if family is POISSON:
            value = np.exp(eta[:, 0]) - rows.y * eta[:, 0]
            slope = np.exp(eta) - rows.y[:, None]
        else:
            of, seen = scores(family, eta), np.eye(family.m + 1)[rows.y.astype(int)]
            value = logsumexp(of, axis=1) - np.sum(seen * of, axis=1)
            V = np.array([[0.0], [1.0]]) if family is BERNOULLI else contrasts(family.m + 1)
            slope = (np.exp(of - logsumexp(of, axis=1, keepdims=True)) - seen) @ V
        weight = rows.w / (noise * phi)
        by_row = np.einsum("nd,nm->ndm", rows.Z, weight[:, None] * slope).reshape(-1, P)
        by_cluster = np.zeros((C, P))
        np.add.at(by_cluster, cluster, by_row)
        slopes = np.where(np.arange(P) < family.m, 0.0, mu) / slope_variance
        total = weight @ value + 0.5 * np.sum(z**2) + 0.5 * slopes @ mu
        return total, np.concatenate(
            [by_cluster.sum(axis=0) + slopes, (by_cluster @ L + z).ravel()]
        )

    start = np.zeros(P + C * L.shape[1])
    found = minimize(objective, start, jac=True, method="BFGS", options={"gtol": 1e-7})
    mu, z = found.x[:P], found.x[P:].reshape(C, L.shape[1])
    return (mu + z @ L.T)[labels]
