import numpy as np
from numpy.testing import assert_allclose

from conjoin.criterion.side import Side, residual_variance
from conjoin.moments import Moments
from tests.helpers import random_rows


def test_a_dataset_is_its_least_squares_fit():
    X, y = random_rows(np.random.default_rng(0), 30, 4)
    side = Side.dataset(Moments.from_rows(X, y), 0.3)
    beta, rss, rank, _ = np.linalg.lstsq(X, y, rcond=None)
    assert_allclose(side.beta, beta)
    assert_allclose(side.s2, rss / 26)
    assert (side.rank, side.n, side.nu) == (rank, 30, 26)
    assert_allclose(side.A, 0.3 * X.T @ X / 30)


def test_growing_repeats_rows_and_keeps_fit_and_noise():
    X, y = random_rows(np.random.default_rng(0), 30, 4)
    side = Side.dataset(Moments.from_rows(X, y))
    grown = side.grown(np.array([1.0, 3.0]))
    tripled = Side.dataset(Moments.from_rows(np.vstack([X] * 3), np.concatenate([y] * 3)))
    assert_allclose(grown.G[0], side.G)
    for name in ("G", "inverse", "beta", "rank", "n", "A", "nu"):
        assert_allclose(getattr(grown, name)[1], getattr(tripled, name), atol=1e-12)
    assert_allclose(grown.s2, side.s2)


def test_residual_variance_is_at_least_rounding_and_one_without_residuals():
    rss, q, nu = np.array([8.0, 0.0, 0.0]), np.array([10.0, 10.0, 10.0]), np.array([4.0, 4.0, 0.0])
    found = residual_variance(rss, q, nu)
    assert found[0] == 2.0
    assert 0 < found[1] < 1e-12
    assert found[2] == 1.0
    assert residual_variance(np.zeros(1), np.zeros(1), np.ones(1)) > 0
