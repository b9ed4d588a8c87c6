import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin.models.ols import fit_ols
from conjoin.moments import Moments
from conjoin.paper.oracle import Member, expected_excess
from conjoin.paper.overparametrised import (
    joint_moore_penrose_error,
    moore_penrose,
    moore_penrose_error,
)
from tests.reference import paper_rows


@pytest.mark.parametrize("n", [4, 8, 20])
def test_moore_penrose_error_formula_against_simulation(n):
    """The paper's overparametrised error, below and above n = p = 8."""
    rng = np.random.default_rng(n)
    p, sigma, draws = 8, 0.7, 4000
    root = np.diag(np.linspace(0.5, 2, p))
    W, beta = root @ root, rng.standard_normal(p)
    if n == p:  # errors have no mean at n = p: compare given the designs, which is exact
        draws = 200
    X = rng.standard_normal((draws, n, p)) @ root
    G = np.swapaxes(X, -1, -2) @ X
    variance, bias = moore_penrose_error(beta, sigma**2, W, G)
    noise_draws = 400 if n == p else 1
    excess = []
    for _ in range(noise_draws):
        y = X @ beta + sigma * rng.standard_normal((draws, n))
        found = fit_ols(Moments.from_rows(X, y)).beta
        excess.append(np.einsum("bi,ij,bj->b", found - beta, W, found - beta))
    excess = np.array(excess)
    difference = (excess - (variance + bias)) / np.maximum(variance + bias, 1e-12)
    mean = difference.mean()
    assert abs(mean) < 4 * difference.std() / np.sqrt(difference.size) + 1e-3
    if n >= p:
        assert_allclose(bias, 0, atol=1e-6)
    else:
        assert bias.mean() > 0.1
        plain = paper_rows.mp_population_error(beta, sigma**2, W, list(X[:50]))
        assert_allclose(sigma**2 + np.mean((variance + bias)[:50]), plain, rtol=1e-6)


def test_the_estimator_is_the_solution_of_smallest_norm():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((4, 7)), rng.standard_normal(4)
    assert_allclose(moore_penrose(X, y), np.linalg.pinv(X) @ y, rtol=1e-8)
    assert_allclose(moore_penrose(X, y), X.T @ np.linalg.solve(X @ X.T, y), rtol=1e-8)


def test_the_joint_error_holds_in_simulation_and_is_what_the_oracle_uses():
    rng = np.random.default_rng(1)
    p, n, sigma, draws = 6, 2, 0.5, 4000
    betas, W = rng.standard_normal((2, p)), np.array([np.eye(p), np.diag(np.arange(1.0, p + 1))])
    X = [rng.standard_normal((draws, n, p)) @ np.sqrt(w) for w in W]
    G = np.array([np.swapaxes(x, -1, -2) @ x for x in X])
    variance, bias = joint_moore_penrose_error(betas, sigma**2, W, G)
    y = [x @ b + sigma * rng.standard_normal((draws, n)) for x, b in zip(X, betas)]
    found = moore_penrose(np.concatenate(X, axis=1), np.concatenate(y, axis=1))
    for k in (0, 1):
        excess = np.einsum("bi,ij,bj->b", found - betas[k], W[k], found - betas[k])
        difference = excess - variance[k] - bias[k]
        assert abs(difference.mean()) < 4 * difference.std() / np.sqrt(draws)
    members = [Member(g, w, b) for g, w, b in zip(G, W, betas)]
    assert_allclose(
        expected_excess(members, sigma**2), (variance.mean(1).sum(), bias.mean(1).sum())
    )
    alone = moore_penrose_error(betas[0], sigma**2, W[0], G[0])
    assert_allclose(expected_excess(members[:1], sigma**2), (alone[0].mean(), alone[1].mean()))
