"""Pairs of datasets for tests of verdicts."""

import numpy as np
from numpy.testing import assert_allclose

from conjoin.moments import Moments
from tests.helpers import random_rows


def rows_pair(seed, n=(40, 60), p=4, d=0.3, sigma=(1.0, 1.0)):
    """Rows of two datasets whose coefficients all differ by `d`."""
    rng = np.random.default_rng(seed)
    beta = rng.standard_normal(p)
    shift = (0.0, d)
    return [random_rows(rng, n[k], p, beta + shift[k], sigma[k]) for k in range(2)]


def pair(*args, **options):
    """The same as moments."""
    return [Moments.from_rows(X, y) for X, y in rows_pair(*args, **options)]


def same(a, b, rtol=1e-5):
    """Two verdicts agree."""
    assert a.verdict == b.verdict
    assert_allclose(a.gain, b.gain, rtol=rtol, atol=1e-9)
    assert_allclose(a.interval, b.interval, rtol=10 * rtol, atol=1e-9)
