"""Collections of moments with known truth, for tests of models and groupings."""

from dataclasses import dataclass

import numpy as np

from conjoin.moments import Basis, Moments
from conjoin.moments.folds import deal, fold_moments


@dataclass
class Truth:
    basis: Basis
    moments: Moments
    folds: Moments
    beta: np.ndarray
    labels: np.ndarray
    X: np.ndarray
    y: np.ndarray

    def error(self, coef):
        """Excess error over the noise of one, features N(0, I)."""
        intercept, slopes = self.basis.to_original(coef)
        return float(np.mean(np.sum((slopes - self.beta) ** 2, axis=1) + intercept**2))


def make(kind, K=30, n=30, p=6, clusters=3, spread=0.5, seed=0, sizes=None):
    rng = np.random.default_rng(seed)
    labels = np.arange(K) % clusters
    if kind == "clusters":
        beta = rng.standard_normal((clusters, p))[labels]
    else:
        beta = rng.standard_normal(p) + spread * rng.standard_normal((K, p))
    counts = np.full(K, n) if sizes is None else np.asarray(sizes)
    starts = np.concatenate([[0], np.cumsum(counts)])
    X = rng.standard_normal((starts[-1], p))
    y = np.sum(X * np.repeat(beta, counts, axis=0), axis=1) + rng.standard_normal(len(X))
    basis = Basis.from_rows(X, y)
    Z, t = basis.design(X), basis.response(y)
    fold = deal(X, y, starts, 10, 0)
    folds = fold_moments(Z, t, np.ones(len(t)), starts, fold, 10)
    return Truth(basis, folds.union(1), folds, beta, labels, X, y)
