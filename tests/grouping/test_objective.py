import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin.criterion.risk import cluster_errors
from conjoin.grouping.objective import (
    EvidenceObjective,
    RiskObjective,
    ValidatedObjective,
    add,
    subtract,
    sum_by,
    take,
)
from conjoin.models.noise import noise_variances
from conjoin.moments import Moments
from tests.collections_ import make
from tests.grouping.objectives import NAMES, objectives


def test_evidence_is_the_normal_density_written_out():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((2, 6, 3)), rng.standard_normal((2, 6))
    mu, spread, noise = rng.standard_normal(3), np.array([0.5, 1.0, 2.0]), np.array([0.7, 1.5])
    objective = EvidenceObjective.of(Moments.from_rows(X, y), noise, mu, spread)

    def density(rows, values, variances):
        covariance = rows @ np.diag(spread) @ rows.T + np.diag(variances)
        residual = values - rows @ mu
        _, logdet = np.linalg.slogdet(covariance)
        return 0.5 * (residual @ np.linalg.solve(covariance, residual) + logdet)

    separate = [density(X[k], y[k], np.full(6, noise[k])) for k in (0, 1)]
    joint = density(np.vstack(X), y.ravel(), np.repeat(noise, 6))
    costs = objective.cost(objective.sums)
    union = objective.cost(sum_by(objective.sums, np.zeros(2, dtype=int), 1))[0]
    assert union - costs.sum() == pytest.approx(joint - sum(separate))


def test_validated_cost_equals_a_plain_cross_validation():
    truth = make("clusters", K=3, n=20, p=2, clusters=1)
    objective = ValidatedObjective.of(truth.folds, np.full(3, 1 / 3))
    cost = objective.cost(sum_by(objective.sums, np.zeros(3, dtype=int), 1))[0]
    total = 0.0
    for f in range(10):
        rest = (truth.moments - truth.folds[:, f]).union()
        beta = np.linalg.solve(rest.G, rest.h)
        total += np.sum(truth.folds[:, f].sse(beta) / 20) / 3
    assert cost == pytest.approx(total)


def test_risk_of_single_datasets_is_the_exact_formula():
    truth = make("clusters", K=4, n=25, p=3)
    noise = noise_variances(truth.moments)
    objective = RiskObjective.of(truth.moments, noise, np.full(4, 0.25))
    rss = truth.moments.q - np.sum(
        truth.moments.h * np.linalg.solve(truth.moments.G, truth.moments.h[..., None])[..., 0], 1
    )
    h, v = 4 / 25, noise * 4 / 25
    bias = rss / 25 - noise * (1 - 2 * h) - v
    expected = 0.25 * (noise + bias / (1 - h) ** 2 + v * 25 / 20)
    assert_allclose(objective.cost(objective.sums), expected, rtol=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_costs_of_unions_come_from_added_sums(name):
    objective = objectives(make("clusters", K=6, n=12, p=3))[name]
    pair = add(take(objective.sums, np.array([0])), take(objective.sums, np.array([3])))
    labels = np.array([0, 1, 2, 0, 3, 4])
    whole = objective.cost(sum_by(objective.sums, labels, 5))
    assert_allclose(objective.cost(pair)[0], whole[0])


def test_risk_of_a_cluster_with_equal_leverages_is_the_unbiased_risk():
    """Datasets with the same Gram matrix: one leverage for the cluster loses nothing."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 3))
    moments = Moments.stack([Moments.from_rows(X, rng.standard_normal(20)) for _ in range(4)])
    noise, weights = noise_variances(moments), np.full(4, 0.25)
    objective = RiskObjective.of(moments, noise, weights)
    cost = objective.cost(sum_by(objective.sums, np.zeros(4, dtype=int), 1))[0]
    assert cost == pytest.approx(weights @ cluster_errors(moments, noise))


@pytest.mark.parametrize("n", [1, 4, 5, 6, 7])
def test_risk_is_finite_with_few_rows(n):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n, 5)), rng.standard_normal(n)
    moments = Moments.stack([Moments.from_rows(X, y)])
    objective = RiskObjective.of(moments, np.ones(1), np.ones(1))
    assert np.isfinite(objective.cost(objective.sums)).all()


def test_taking_out_undoes_adding():
    sums = objectives(make("clusters", K=4, n=12, p=3))["risk"].sums
    one, two = take(sums, np.array([0])), take(sums, np.array([1]))
    for back, before in zip(subtract(add(one, two), two), one):
        assert_allclose(back, before, atol=1e-12)
