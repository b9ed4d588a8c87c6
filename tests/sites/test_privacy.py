import numpy as np
import pytest

from conjoin.errors import ArgumentError
from conjoin.sites.privacy import Bounds, Budget, add_noise, noise_scale, private_products

NAMES = ("age", "ward=B", "ward=C", "smoker")
SOURCES = ("age", "ward", "ward", "smoker")


def bounds():
    low, high = np.array([0.0, 0, 0, 0, -10]), np.array([100.0, 1, 1, 1, 30])
    return Bounds.of(NAMES, SOURCES, "cost", low, high)


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    ward = rng.integers(3, size=n)
    X = np.column_stack([rng.uniform(-20, 130, n), ward == 1, ward == 2, rng.integers(2, size=n)])
    return X.astype(float), rng.uniform(-20, 40, n)


def test_no_row_changes_the_sums_by_more_than_the_sensitivity():
    b = bounds()
    i, j = b.released()
    X, y = rows(5000)
    X = np.vstack([X, [[100, 1, 1, 1], [1e9, 1, 0, 1], [-5, 0, 0.5, 0]]])  # impossible rows as well
    Z = b.scaled(X, np.append(y, [1e9, -1e9, 0.0]))
    norms = np.sqrt(np.sum((Z[:, i] * Z[:, j]) ** 2, axis=1))
    # ones, age, ward, smoker, cost: s = 5, one category.
    assert b.sensitivity() == pytest.approx(np.sqrt(5 * 6 / 2 - 1))
    assert norms.max() == pytest.approx(b.sensitivity())


def test_released_numbers_give_all_sums():
    b = bounds()
    X, y = rows(200)
    sums, _ = private_products(X, y, b, Budget(1.0), noise=lambda values, scale: values)
    Z = b.scaled(X, y)
    assert np.allclose(sums, Z.T @ Z)
    assert len(b.released()[0]) == 21 - 3  # two squares and one product of two levels are known


def test_scaled_values_return_to_units():
    b = bounds()
    X, y = rows(50)
    X[:, 0], y = np.clip(X[:, 0], 0, 100), np.clip(y, -10, 30)
    Z = b.scaled(X, y)
    assert np.allclose(Z[:, 1:] * b.scale + b.center, np.column_stack([X, y]))
    assert np.abs(Z).max() <= 1


def gaussian_delta(sigma, sensitivity, epsilon):
    """Return the exact delta of Gaussian noise (Balle and Wang 2018, Theorem 8)."""
    from scipy.stats import norm

    a, b = sensitivity / (2 * sigma), epsilon * sigma / sensitivity
    return norm.cdf(a - b) - np.exp(epsilon) * norm.cdf(-a - b)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_the_noise_is_as_large_as_the_promise_asks(epsilon):
    sigma = noise_scale(3.0, Budget(epsilon))
    exact = gaussian_delta(sigma, 3.0, epsilon)
    assert exact <= 1e-6
    assert gaussian_delta(0.85 * sigma, 3.0, epsilon) > 1e-6  # and not much larger


def test_the_noise_has_its_standard_deviation():
    drawn = add_noise(np.zeros(300), 7.0)
    assert np.std(drawn) == pytest.approx(7.0, rel=0.2)
    assert abs(drawn.mean()) < 4 * 7 / np.sqrt(300)
    assert not np.array_equal(drawn, add_noise(np.zeros(300), 7.0))


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        ([0, 0, 0, 0, -np.inf], [1, 1, 1, 1, 5], "needs bounds for 'cost'.*--bound cost=LOW:HIGH"),
        ([5, 0, 0, 0, 0], [5, 1, 1, 1, 5], "bounds of 'age' must have LOW below HIGH"),
    ],
)
def test_bounds_must_be_there_and_in_order(low, high, words):
    with pytest.raises(ArgumentError, match=words):
        Bounds.of(NAMES, SOURCES, "cost", np.array(low, float), np.array(high, float))


@pytest.mark.parametrize("wrong", [(0.0, 1e-6), (-1, 1e-6), (50, 1e-6), (1, 0.0), (1, 0.1)])
def test_budgets_that_protect_nobody_are_refused(wrong):
    with pytest.raises(ArgumentError, match="must be above 0 and at most"):
        Budget(*wrong)


def test_the_promise_is_said_in_words():
    assert "2.72 times as probable" in Budget(1.0).describe()
