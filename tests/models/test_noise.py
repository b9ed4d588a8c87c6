import numpy as np
import pytest

from conjoin.models.noise import (
    FEW_PRIOR_DF,
    noise_prior,
    noise_variances,
    pair_noise,
    shrink,
)
from conjoin.models.ols import fit_ols
from conjoin.moments import Moments
from tests.helpers import random_rows


def test_equal_variances_are_pooled_and_unequal_ones_kept():
    rng = np.random.default_rng(0)
    df = np.full(200, 8.0)
    equal = rng.chisquare(8, 200)
    assert np.std(np.log(shrink(equal, df))) < 0.1
    truth = 30 / rng.chisquare(30 / 4, 200)
    shrunk = shrink(equal * truth, df)
    raw = equal * truth / df
    assert np.mean(np.log(shrunk / truth) ** 2) < np.mean(np.log(raw / truth) ** 2)


def test_variances_with_many_degrees_of_freedom_are_hardly_shrunk():
    rng = np.random.default_rng(0)
    parts = [Moments.from_rows(*random_rows(rng, 2000, 2, noise=s)) for s in (1.0, 3.0, 0.5, 1.0)]
    found = noise_variances(Moments.stack(parts))
    np.testing.assert_allclose(found, [1, 9, 0.25, 1], rtol=0.15)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_no_degrees_of_freedom_anywhere(n):
    rng = np.random.default_rng(0)
    parts = [Moments.from_rows(*random_rows(rng, n, 4)) for _ in range(3)]
    found = noise_variances(Moments.stack(parts))
    assert np.isfinite(found).all()
    assert (found > 0).all()


def test_noise_of_pairs_is_that_of_each_pair_alone():
    rng = np.random.default_rng(0)
    sizes = (1, 2, 4, 5, 6, 30)  # up to four rows leave no degrees of freedom
    moments = Moments.stack([Moments.from_rows(*random_rows(rng, n, 4)) for n in sizes])
    fit = fit_ols(moments)
    both = np.stack(np.triu_indices(6, 1))
    found = pair_noise(
        fit.rss[both], (moments.n - fit.rank)[both], moments.q[both], moments.n[both]
    )
    alone = [noise_variances(moments[list(pair)]) for pair in both.T]
    np.testing.assert_allclose(found, np.transpose(alone), rtol=1e-12)


def test_two_variances_lean_on_the_pooled_one():
    rss, df = np.array([2.0, 40.0]), np.array([2.0, 10.0])
    pooled = 42 / 12
    expected = (rss + FEW_PRIOR_DF * pooled) / (df + FEW_PRIOR_DF)
    np.testing.assert_allclose(shrink(rss, df), expected)


def test_an_exact_fit_has_noise_above_zero():
    X = np.random.default_rng(0).standard_normal((4, 10, 2))
    found = noise_variances(Moments.from_rows(X, X.sum(axis=2)))
    assert (found > 0).all() and (found < 1e-10).all()


def test_the_prior_is_that_towards_which_variances_are_shrunk():
    rng = np.random.default_rng(1)
    df, rss = rng.integers(5, 40, 50).astype(float), rng.uniform(1, 9, 50)
    rss *= df
    df0, centre = noise_prior(rss, df)
    np.testing.assert_allclose(shrink(rss, df), (rss + df0 * centre) / (df + df0))
