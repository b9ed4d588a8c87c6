"""Which resampling tells how stable a partition is? Random halves against bootstraps.

    python -m scripts.resampling          # seed 0, under a minute

Draws collections with planted clusters. The truth is how often two datasets are together when the
search sees fresh samples of the same size. Three ways estimate it from one sample: random halves of
the folds (what `Partition.stability` does), a Bayesian bootstrap of the folds, and a bootstrap of
the rows. Prints the mean adjusted Rand index between resamples, and how far the frequencies are
from the truth on average.
"""

import sys
from collections.abc import Callable

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.grouping.search import evidence_partition
from conjoin.grouping.stability import half_weights, mean_agreement
from conjoin.models.partial import SLOPES, fit_variances
from conjoin.moments import Moments

FOLDS = 10  # as `conjoin.partition` deals rows by default
FRESH, RESAMPLES, SAMPLES = 30, 25, 4  # fresh samples, resamples of one, samples that are resampled
# Datasets, clusters, columns, rows of a dataset, and the spread of the clusters' coefficients.
SETTINGS = (
    (12, 3, 4, 60, 1.0), (12, 3, 4, 60, 0.5), (12, 3, 4, 60, 0.3), (12, 12, 4, 60, 0.3),
    (12, 1, 4, 60, 0.0), (20, 4, 8, 100, 0.3), (20, 4, 8, 40, 0.5), (10, 2, 3, 30, 0.7),
)  # fmt: skip


def draw(beta: FloatArray, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return rows (K, n, p) with an intercept, and targets (K, n) with noise of one."""
    X = rng.standard_normal((len(beta), n, beta.shape[1]))
    X[..., 0] = 1.0
    return X, np.einsum("knp,kp->kn", X, beta) + rng.standard_normal((len(beta), n))


def search(moments: Moments) -> IntArray:
    """Return the partition of best evidence."""
    return evidence_partition(moments, fit_variances(moments, SLOPES))


def by_weights(X: FloatArray, y: FloatArray, weights: FloatArray) -> IntArray:
    """Search in moments with weights (K, n) of rows."""
    return search(Moments.from_rows(X * np.sqrt(weights)[..., None], y * np.sqrt(weights)))


def ways(K: int, n: int, rng: np.random.Generator) -> dict[str, Callable[[], FloatArray]]:
    """Return functions that draw row weights (K, n), by the name of the way."""
    fold = np.arange(n) % FOLDS
    names = [str(k) for k in range(K)]

    def bayesian() -> FloatArray:
        drawn = rng.exponential(size=(K, FOLDS))
        return np.asarray((drawn / drawn.mean(axis=1, keepdims=True))[:, fold])

    def halves() -> FloatArray:
        seed = int(rng.integers(2**31))
        return half_weights(np.ones((K, FOLDS)), names, 1, seed)[0][:, fold]

    def rows() -> FloatArray:
        return rng.multinomial(n, np.full(n, 1 / n), size=K).astype(np.float64)

    return {"halves": halves, "bootstrap of folds": bayesian, "bootstrap of rows": rows}


def halved(X: FloatArray, y: FloatArray, weights: FloatArray) -> IntArray:
    """Search in the rows of weight one; the same number in every dataset."""
    kept = weights > 0
    K, n, p = X.shape
    return search(Moments.from_rows(X[kept].reshape(K, -1, p), y[kept].reshape(K, -1)))


def frequencies(labels: IntArray) -> FloatArray:
    """Return how often every two datasets are together, as a list of pairs."""
    same = np.mean([one[:, None] == one for one in labels], axis=0)
    return np.asarray(same[np.triu_indices(labels.shape[1], 1)])


def main(seed: int = 0) -> None:
    """Print one line for each setting."""
    rng = np.random.default_rng(seed)
    print("K, C, p, n, spread: Rand index of fresh samples; of each way (distance to the truth)")
    for K, C, p, n, spread in SETTINGS:
        beta = (spread * rng.standard_normal((C, p)))[np.arange(K) % C]
        fresh = np.stack([search(Moments.from_rows(*draw(beta, n, rng))) for _ in range(FRESH)])
        found: dict[str, list[tuple[float, float]]] = {}
        for _ in range(SAMPLES):
            X, y = draw(beta, n, rng)
            for name, weights in ways(K, n, rng).items():
                find = halved if name == "halves" else by_weights
                labels = np.stack([find(X, y, weights()) for _ in range(RESAMPLES)])
                far = float(np.abs(frequencies(labels) - frequencies(fresh)).mean())
                found.setdefault(name, []).append((mean_agreement(labels), far))
        texts = [
            f"{name} {np.mean([a for a, _ in lines]):.2f} ({np.mean([d for _, d in lines]):.3f})"
            for name, lines in found.items()
        ]
        print(
            f"{(K, C, p, n, spread)}: {mean_agreement(fresh):.2f}; {', '.join(texts)}", flush=True
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
