"""The scatter of rows in time."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin.models.scatter import Scatter
from conjoin.models.serial import correlation, serial_scatter


def series(rho, n, seed=0):
    rng = np.random.default_rng(seed)
    e = rng.standard_normal(n)
    for i in range(1, n):
        e[i] = rho * e[i - 1] + np.sqrt(1 - rho**2) * e[i]
    return e


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_the_variance_of_a_mean_is_that_of_dependent_noise(rho):
    n, many = 400, 60
    Z = np.ones((n * many, 1))
    t = np.concatenate([series(rho, n, s) for s in range(many)])
    starts = np.arange(0, n * many + 1, n)
    time = np.tile(np.arange(n, dtype=float), many)
    found = serial_scatter(Z, t, np.ones(len(t)), starts, time)
    true = n * (1 + rho) / (1 - rho)
    assert 0.6 < found.unbiased.mean() / true < 1.2
    assert 0.8 < found.cautious.mean() / true < 2.0
    plain = Scatter.of_rows(Z, t, np.ones(len(t)), starts).cautious.mean() / true
    assert rho == 0 or plain < 0.5


def test_the_correlation_is_corrected_for_the_fit():
    assert_allclose(np.mean([correlation(series(0.7, 80, s) , 1)[0] for s in range(200)]), 0.7,
                    atol=0.06)  # fmt: skip
    assert correlation(np.ones(2), 1) == (0.0, 0.0)


def test_neither_the_order_of_rows_nor_a_shift_of_time_matters():
    rng = np.random.default_rng(0)
    Z, t = np.column_stack([np.ones(60), rng.standard_normal(60)]), series(0.6, 60)
    time, order, starts = np.arange(60) // 2.0, rng.permutation(60), np.array([0, 60])
    one = serial_scatter(Z, t, np.ones(60), starts, time)
    two = serial_scatter(Z[order], t[order], np.ones(60), starts, 5 + 3 * time[order])
    assert_allclose(one.cautious, two.cautious, rtol=1e-9)
