"""Whether differential privacy holds: an attacker who knows all rows but one looks for that one."""

import numpy as np
import pytest
from scipy.stats import beta

from conjoin.sites.privacy import Bounds, Budget, private_products

TRIALS = 150
BUDGET = Budget(1.0, 1e-6)


def bounds():
    ends = np.array([0.0, 0.0, 0.0]), np.array([1.0, 1.0, 1.0])
    return Bounds.of(("a", "b"), ("a", "b"), "y", *ends)


def advantage(table, row, trials, noise=None):
    """Return true minus false positive rate of the best test, and an upper confidence limit.

    The attacker knows the table, the row, the mechanism and its noise. The likelihood ratio of
    Gaussian noise grows with the projection onto the row's contribution, so this test is the best.
    """
    b = bounds()
    Z = b.scaled(row[None, :-1], row[None, -1])
    i, j = b.released()
    direction = (Z.T @ Z)[i, j]
    with_row = np.vstack([table, row])
    extra = {} if noise is None else {"noise": noise}

    def score(rows):
        sums, _ = private_products(rows[:, :-1], rows[:, -1], b, BUDGET, **extra)
        return float(sums[i, j] @ direction)

    middle = 0.5 * sum(
        float((b.scaled(r[:, :-1], r[:, -1]).T @ b.scaled(r[:, :-1], r[:, -1]))[i, j] @ direction)
        for r in (table, with_row)
    )
    hits = sum(score(with_row) > middle for _ in range(trials))
    false = sum(score(table) > middle for _ in range(trials))
    return (hits - false) / trials, (hits, false)


# The largest advantage of any test: (exp(epsilon) - 1 + 2 delta) / (exp(epsilon) + 1).
BOUND = (np.exp(BUDGET.epsilon) - 1 + 2 * BUDGET.delta) / (np.exp(BUDGET.epsilon) + 1)


def test_membership_of_the_most_unusual_row_is_hidden_within_the_bound():
    rng = np.random.default_rng(0)
    table = rng.uniform(0.4, 0.6, size=(60, 3))
    row = np.ones(3)  # a corner of the bounds: no row changes the sums more
    found, (hits, false) = advantage(table, row, TRIALS)
    # A lower confidence limit of the advantage (99 %) must lie below the bound.
    low = beta.ppf(0.005, hits, TRIALS - hits + 1) - beta.ppf(0.995, false + 1, TRIALS - false)
    assert low <= BOUND
    assert found <= BOUND  # the Gaussian mechanism stays well below: about 0.09 at epsilon 1


def test_the_attack_succeeds_without_noise():
    """A check that can fail: with a tenth of the noise the advantage is beyond the bound."""
    rng = np.random.default_rng(1)
    draw = np.random.default_rng(2)
    table = rng.uniform(0.4, 0.6, size=(60, 3))
    found, _ = advantage(
        table,
        np.ones(3),
        100,
        lambda values, scale: values + draw.normal(0, scale / 10, len(values)),
    )
    assert found > BOUND


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_best_test_stays_within_the_bound_for_every_threshold(epsilon):
    """The exact rates of the Gaussian mechanism keep the inequality of differential privacy."""
    from scipy.stats import norm

    from conjoin.sites.privacy import noise_scale

    budget = Budget(epsilon, 1e-6)
    D = bounds().sensitivity()
    threshold = np.linspace(-10, 10, 2001)
    sigma = noise_scale(D, budget) / D
    false, true = norm.sf(threshold), norm.sf(threshold - 1 / sigma)
    assert np.all(true <= np.exp(epsilon) * false + budget.delta + 1e-12)
    assert np.all(1 - false <= np.exp(epsilon) * (1 - true) + budget.delta + 1e-12)
