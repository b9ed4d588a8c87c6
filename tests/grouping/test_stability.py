"""Partitions of random halves of the rows."""

import numpy as np
import pytest

from conjoin.grouping.search import evidence_partition
from conjoin.grouping.stability import (
    adjusted_rand,
    half_weights,
    mean_agreement,
    partitions_of_halves,
)
from conjoin.models.partial import SLOPES, fit_variances
from tests.collections_ import make


def test_a_resample_takes_half_of_the_folds_that_have_rows():
    rows = np.array([[3, 3, 3, 3], [1, 0, 0, 0], [2, 0, 1, 1]], dtype=float)
    taken = half_weights(rows, ("a", "b", "c"), 50, seed=0)
    assert taken.shape == (50, 3, 4)
    assert (taken.sum(axis=2) == [2, 1, 2]).all()
    assert (taken[:, rows == 0] == 0).all()
    assert np.unique(taken[:, 0], axis=0).shape[0] == 6  # all halves come up


def test_draws_depend_on_names_and_seed_only():
    rows = np.ones((2, 10))
    one = half_weights(rows, ("a", "b"), 5, seed=1)
    two = half_weights(rows, ("b", "a"), 5, seed=1)
    assert np.array_equal(one[:, 0], two[:, 1])
    assert not np.array_equal(one, half_weights(rows, ("a", "b"), 5, seed=2))


def test_moments_of_halves_are_sums_of_folds():
    truth = make("clusters", K=4, n=40, p=2, clusters=2)
    taken = half_weights(truth.folds.n, tuple("abcd"), 3, seed=0)
    seen = []

    def find(half):
        seen.append(half.union(1))
        return np.zeros(4, dtype=int)

    partitions_of_halves(truth.folds, find, taken)
    chosen = taken[1, 2].astype(bool)
    assert np.allclose(seen[1].G[2], truth.folds.G[2][chosen].sum(axis=0))
    assert seen[1].n[2] == truth.folds.n[2][chosen].sum()


@pytest.mark.parametrize(("spread", "least", "most"), [(3.0, 0.85, 1.0), (0.05, -1.0, 0.7)])
def test_clear_clusters_are_stable_and_a_continuum_is_not(spread, least, most):
    kind = {"clusters": 3} if spread > 1 else {"spread": 0.3}
    truth = make("clusters" if spread > 1 else "continuum", K=12, n=60, p=3, **kind)
    taken = half_weights(truth.folds.n, [str(k) for k in range(12)], 8, seed=0)

    def find(half):
        moments = half.union(1)
        return evidence_partition(moments, fit_variances(moments, SLOPES))

    labels = partitions_of_halves(truth.folds, find, taken)
    assert least <= mean_agreement(labels) <= most


def test_the_adjusted_rand_index_agrees_with_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    for _ in range(50):
        a, b = rng.integers(rng.integers(1, 6), size=(2, 9))
        assert adjusted_rand(a, b) == pytest.approx(metrics.adjusted_rand_score(a, b))
