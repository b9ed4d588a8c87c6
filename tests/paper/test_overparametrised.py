import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin.models.ols import fit_ols
from conjoin.moments import Moments
from conjoin.paper.overparametrised import moore_penrose_error
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
