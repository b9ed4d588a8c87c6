import numpy as np
import pytest

from conjoin.sites.noisy import discounted, error_noise, usable


def sums(n, p=3, seed=0, spread=0.3):
    """Return sums of products of rows between -1 and 1, and their coefficients."""
    rng = np.random.default_rng(seed)
    X = np.clip(rng.normal(scale=spread, size=(n, p)), -1, 1)
    beta = np.array([0.1, *rng.normal(scale=0.3, size=p)])
    Z = np.column_stack([np.ones(n), X])
    A = np.column_stack([Z, Z @ beta + 0.1 * rng.normal(size=n)])
    return A.T @ A, beta


def noisy(P, t, rng):
    E = np.triu(t * rng.normal(size=P.shape))
    return P + E + np.triu(E, 1).T


def test_without_noise_nothing_changes():
    P, _ = sums(500)
    same, n, added = usable(P, 0.0)
    assert np.allclose(same, P) and n == 500 and added == 0
    assert np.allclose(discounted(same, n, 0.0, 0.0), P)


@pytest.mark.parametrize("t", [1.0, 30.0, 1000.0])
def test_sums_are_those_of_possible_rows(t):
    P, _ = sums(300)
    rng = np.random.default_rng(1)
    for _ in range(20):
        found, n, added = usable(noisy(P, t, rng), t)
        assert np.linalg.eigvalsh(found)[0] > 0
        assert found[0, 0] == n
        less = discounted(found, n, t, added)
        assert np.linalg.eigvalsh(less)[0] > -1e-9 * np.trace(less)
        # No direction has more information than before.
        assert np.linalg.eigvalsh(found[:-1, :-1] - less[:-1, :-1])[0] > -1e-6 * np.trace(found)


def test_coefficients_and_noise_variance_stay_the_same():
    P, _ = sums(2000)
    t = 5.0
    found, n, added = usable(noisy(P, t, np.random.default_rng(2)), t)
    less = discounted(found, n, t, added)

    def fit(S):
        b = np.linalg.solve(S[:-1, :-1], S[:-1, -1])
        return b, S[-1, -1] - S[:-1, -1] @ b

    (b, rss), (b2, rss2) = fit(found), fit(less)
    assert np.allclose(b, b2)
    assert rss == pytest.approx(rss2)


def test_the_stated_covariance_covers_the_errors():
    """Errors of coefficients over many draws of noise, in units of their stated covariance."""
    P, beta = sums(3000, spread=0.5)
    t, rng = 25.0, np.random.default_rng(3)
    squares = []
    for _ in range(300):
        found, n, added = usable(noisy(P, t, rng), t)
        less = discounted(found, n, t, added)
        G = less[:-1, :-1]
        b = np.linalg.solve(G, less[:-1, -1])
        v = (less[-1, -1] - less[:-1, -1] @ b) / (n - len(b))
        squares.append((b - beta) @ G @ (b - beta) / v)
    # Chi-squared with four degrees of freedom has mean 4; the exact sums err little beside.
    assert 2.5 < np.mean(squares) < 5.5


def test_the_noise_of_an_error_is_that_of_many_draws():
    rng = np.random.default_rng(3)
    Z = np.column_stack([np.ones(500), rng.uniform(-1, 1, (500, 2))])
    y = Z @ [0.2, 0.5, -0.3] + 0.2 * rng.standard_normal(500)
    P = np.column_stack([Z, y]).T @ np.column_stack([Z, y])
    t = 1.0
    b = np.linalg.solve(P[:-1, :-1], P[:-1, -1])
    c = np.append(-b, 1.0)
    i, j = np.triu_indices(4)
    draws = np.zeros((4000, 4, 4))
    draws[:, i, j] = draws[:, j, i] = t * rng.standard_normal((4000, len(i)))
    rss = c @ P @ c
    assert np.var(c @ draws @ c) / rss**2 == pytest.approx(error_noise(P, t), rel=0.1)
