import numpy as np
import pytest

from conjoin.models.noise import noise_variances, shrink
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


def test_many_degrees_of_freedom_speak_for_themselves():
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
