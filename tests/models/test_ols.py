import numpy as np
from numpy.testing import assert_allclose

from conjoin.models.ols import fit_ols
from conjoin.moments import Moments
from tests.helpers import random_rows
from tests.reference import paper_rows


def test_least_squares():
    X, y = random_rows(np.random.default_rng(0), 30, 4)
    fit = fit_ols(Moments.from_rows(X, y))
    expected, rss, rank, _ = np.linalg.lstsq(X, y, rcond=None)
    assert_allclose(fit.beta, expected, rtol=1e-10)
    assert_allclose(fit.rss, rss[0], rtol=1e-10)
    assert fit.rank == rank
    assert_allclose(fit.noise, rss[0] / 26)


def test_minimum_norm_where_rows_are_few():
    X, y = random_rows(np.random.default_rng(0), 5, 9)
    fit = fit_ols(Moments.from_rows(X, y))
    assert_allclose(fit.beta, paper_rows.moore_penrose(X, y), rtol=1e-6, atol=1e-9)
    assert_allclose(X @ fit.beta, y, atol=1e-8)
    assert np.isnan(fit.noise)
