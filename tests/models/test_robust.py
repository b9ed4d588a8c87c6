"""Huber's weights: few rows far out change nothing, and normal rows keep their weight."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin.models.robust import HUBER, huber_weights
from conjoin.moments import Moments


def rows(seed=0, n=200, K=4, p=3):
    rng = np.random.default_rng(seed)
    Z = np.column_stack([np.ones(n * K), rng.normal(size=(n * K, p - 1))])
    beta = rng.normal(size=(K, p))
    t = np.einsum("np,np->n", Z, np.repeat(beta, n, axis=0)) + 0.5 * rng.normal(size=n * K)
    return Z, t, np.arange(0, n * K + 1, n), beta


def fit(Z, t, starts, u):
    m = Moments.by_dataset(Z, t, starts, u)
    return np.linalg.solve(m.G, m.h[..., None])[..., 0]


def test_the_fit_withstands_many_wrong_rows():
    Z, t, starts, beta = rows()
    rng = np.random.default_rng(1)
    wrong = rng.choice(len(t), 40, replace=False)  # 5 %
    bad = t.copy()
    bad[wrong] += 50
    u = huber_weights(Z, bad, np.ones(len(t)), starts, intercept=True)
    assert u[wrong].max() < 0.05
    robust, plain = fit(Z, bad, starts, u), fit(Z, bad, starts, np.ones(len(t)))
    assert np.abs(robust - beta).max() < 0.25
    assert np.abs(plain - beta).max() > 2


def test_normal_rows_keep_most_of_their_weight():
    Z, t, starts, _ = rows()
    u = huber_weights(Z, t, np.ones(len(t)), starts, intercept=True)
    assert np.all((u > 0) & (u <= 1))
    # Of normal values 18 % are beyond 1.345 standard deviations.
    assert_allclose(np.mean(u < 1), 0.18, atol=0.04)
    assert u.mean() > 0.94


def test_weights_solve_the_equation_of_huber():
    """At the end sum over rows of psi(r / s) z is near zero, up to the pull towards all rows."""
    Z, t, starts, _ = rows(n=2000, K=2)
    u = huber_weights(Z, t, np.ones(len(t)), starts, intercept=True)
    beta = fit(Z, t, starts, u)
    r = t - np.einsum("np,np->n", Z, np.repeat(beta, 2000, axis=0))
    s = 1.4826 * np.median(np.abs(r[:2000]))
    psi = np.clip(r[:2000] / s, -HUBER, HUBER)
    assert np.abs(Z[:2000].T @ psi / 2000).max() < 0.01


@pytest.mark.parametrize("intercept", [True, False])
def test_tiny_and_exact_datasets(intercept):
    rng = np.random.default_rng(2)
    Z = np.column_stack([np.ones(30), rng.normal(size=(30, 4))])
    t = rng.normal(size=30)
    starts = np.array([0, 1, 3, 10, 30])
    u = huber_weights(Z, t, np.ones(30), starts, intercept=intercept)
    assert np.isfinite(u).all()
    exact = huber_weights(Z, Z @ np.arange(5.0), np.ones(30), starts, intercept=intercept)
    assert np.isfinite(exact).all()
