import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from conjoin.grouping import agglomerative as ag
from conjoin.grouping.baselines import bic, chow, kmeans
from conjoin.grouping.ledger import ledger
from conjoin.grouping.objective import (
    EvidenceObjective,
    RiskObjective,
    ValidatedObjective,
    add,
    sum_by,
    take,
)
from conjoin.models.noise import noise_variances
from conjoin.models.partial import SLOPES, fit_variances, posterior
from conjoin.moments import Moments
from conjoin.strategies.core import evidence, evidence_partition
from tests.collections_ import make


def same_partition(a, b):
    return (ag.relabel(np.asarray(a)) == ag.relabel(np.asarray(b))).all()


def objectives(truth):
    K = len(truth.beta)
    w = np.full(K, 1 / K)
    return {
        "risk": RiskObjective.of(truth.moments, noise_variances(truth.moments), w),
        "evidence": evidence(truth.moments, fit_variances(truth.moments, SLOPES))[1],
        "validated": ValidatedObjective.of(truth.folds, w),
    }


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


@pytest.mark.parametrize("name", ["risk", "evidence", "validated"])
def test_costs_of_unions_come_from_added_sums(name):
    objective = objectives(make("clusters", K=6, n=12, p=3))[name]
    pair = add(take(objective.sums, np.array([0])), take(objective.sums, np.array([3])))
    labels = np.array([0, 1, 2, 0, 3, 4])
    whole = objective.cost(sum_by(objective.sums, labels, 5))
    assert_allclose(objective.cost(pair)[0], whole[0])


def test_tree_prune_and_cut():
    truth = make("clusters", K=12, n=40, p=4, clusters=3)
    objective = objectives(truth)["evidence"]
    tree = ag.grow(objective)
    assert same_partition(ag.prune(tree), truth.labels)
    assert same_partition(ag.cut_into(tree, 3), truth.labels)
    assert ag.cut_into(tree, 1).max() == 0
    assert ag.cut_into(tree, 12).max() == 11
    assert tree.members(22) == list(range(12))
    # Of all cuts of the tree, the pruned one is the cheapest.
    best = ag.total_cost(objective, ag.prune(tree))
    assert all(best <= ag.total_cost(objective, ag.cut_into(tree, c)) + 1e-9 for c in range(1, 13))


def test_candidate_pairs_lead_to_the_same_clusters(monkeypatch):
    truth = make("clusters", K=40, n=40, p=4, clusters=3)
    near, objective = evidence(truth.moments, fit_variances(truth.moments, SLOPES))
    full = ag.prune(ag.grow(objective, near))
    monkeypatch.setattr(ag, "MOST_FULL", 10)
    assert same_partition(ag.prune(ag.grow(objective, near)), full)


def test_improvement_repairs_a_spoilt_partition():
    truth = make("clusters", K=15, n=40, p=4, clusters=3)
    objective = objectives(truth)["evidence"]
    spoilt = truth.labels.copy()
    spoilt[[0, 1, 5]] = [1, 2, 0]
    assert same_partition(ag.improve(objective, spoilt), truth.labels)
    lumped = np.where(truth.labels == 2, 1, truth.labels)
    assert same_partition(ag.improve(objective, lumped), truth.labels)
    scattered = np.where(np.arange(15) < 8, truth.labels, truth.labels + 3)
    assert same_partition(ag.improve(objective, scattered), truth.labels)


@settings(max_examples=10)
@given(st.integers(0, 10_000), st.sampled_from(["risk", "evidence", "validated"]))
def test_order_of_datasets_does_not_matter(seed, name):
    truth = make("clusters", K=10, n=15, p=3, clusters=3, seed=seed)
    order = np.random.default_rng(seed).permutation(10)
    shuffled = make("clusters", K=10, n=15, p=3, clusters=3, seed=seed)
    shuffled.moments, shuffled.folds = truth.moments[order], truth.folds[order]
    one = ag.prune(ag.grow(objectives(truth)[name]))
    two = ag.prune(ag.grow(objectives(shuffled)[name]))
    assert same_partition(one[order], two)


def by_evidence(moments):
    return evidence_partition(moments, fit_variances(moments, SLOPES))


@pytest.mark.parametrize("find", [chow, bic, kmeans, by_evidence])
def test_plain_partitions_find_clear_clusters(find):
    truth = make("clusters", K=12, n=300, p=3, clusters=3, seed=1)
    found = find(truth.moments)
    mixed = [set(found[truth.labels == c]) for c in range(3)]
    assert not (mixed[0] & mixed[1] or mixed[0] & mixed[2] or mixed[1] & mixed[2])
    assert sum(map(len, mixed)) <= (12 if find is kmeans else 4)


@pytest.mark.parametrize("find", [chow, bic, kmeans, by_evidence])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_few_rows_do_not_break_them(find, n):
    truth = make("continuum", K=6, n=n, p=5)
    assert len(find(truth.moments)) == 6


def test_ledger_tells_every_join_and_the_best_refusals():
    truth = make("clusters", K=9, n=40, p=4, clusters=3)
    objective = objectives(truth)["evidence"]
    steps = ledger(objective, truth.labels)
    joins = [step for step in steps if step.joined]
    refused = [step for step in steps if not step.joined]
    assert len(joins) == 6
    assert all(step.saved > 0 for step in joins)
    assert refused
    assert all(step.saved < 0 for step in refused)
    for cluster in range(3):
        members = set(np.nonzero(truth.labels == cluster)[0])
        assert any(set(s.left + s.right) == members for s in joins)


def test_partially_pooled_coefficients_are_near_where_datasets_are_alike():
    truth = make("clusters", K=9, n=40, p=4, clusters=3)
    hyper = fit_variances(truth.moments, SLOPES)
    near = posterior(truth.moments, hyper).beta
    distance = np.linalg.norm(near[:, None] - near, axis=-1) + 1e9 * np.eye(9)
    assert (truth.labels[distance.argmin(axis=1)] == truth.labels).all()
