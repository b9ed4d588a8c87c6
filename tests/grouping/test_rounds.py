from dataclasses import replace

import numpy as np
import pytest

from conjoin.grouping import agglomerative as ag
from conjoin.grouping import rounds
from conjoin.grouping.objective import RiskObjective
from conjoin.grouping.search import evidence
from conjoin.models.noise import noise_variances
from conjoin.models.partial import SLOPES, fit_variances
from tests.collections_ import make
from tests.grouping.objectives import same_partition


def setting(kind, K, **options):
    truth = make(kind, K=K, n=40, p=4, **options)
    near, objective = evidence(truth.moments, fit_variances(truth.moments, SLOPES))
    return truth, near, objective


@pytest.fixture
def in_rounds(monkeypatch):
    """Join in rounds down to five clusters."""
    monkeypatch.setattr(ag, "MOST_ONE_BY_ONE", 5)


def test_rounds_find_clear_clusters_and_a_whole_tree(in_rounds):
    truth, near, objective = setting("clusters", 90, clusters=6)
    tree = ag.grow(objective, near)
    assert tree.children.shape == (89, 2)
    assert sorted(tree.children.ravel().tolist()) == list(range(178))  # each node joins once
    assert (tree.children < 90 + np.arange(89)[:, None]).all()  # after it was made
    assert tree.members(178) == list(range(90))
    assert same_partition(ag.prune(tree), truth.labels)


def test_costs_of_nodes_are_those_of_their_datasets(in_rounds):
    _, near, objective = setting("continuum", 40)
    tree = ag.grow(objective, near)
    for node in range(40, 79):
        sums = tuple(a[tree.members(node)].sum(axis=0, keepdims=True) for a in objective.sums)
        assert tree.costs[node] == pytest.approx(objective.cost(sums)[0], rel=1e-9)
        children = tree.costs[tree.children[node - 40]].sum()
        assert tree.links[node - 40] == pytest.approx(tree.costs[node] - children, abs=1e-7)


@pytest.mark.parametrize("kind", ["clusters", "continuum"])
def test_the_risk_is_within_one_percent_of_that_of_all_pairs(kind, monkeypatch):
    truth, near, objective = setting(kind, 400, clusters=12)
    K = len(near)
    risk = RiskObjective.of(truth.moments, noise_variances(truth.moments), np.full(K, 1 / K))
    monkeypatch.setattr(ag, "MOST_FULL", K)
    full = ag.improve(objective, ag.prune(ag.grow(objective, near)), near)
    monkeypatch.setattr(ag, "MOST_ONE_BY_ONE", 20)
    fast = ag.improve(objective, ag.prune(ag.grow(objective, near)), near)
    assert ag.total_cost(risk, fast) <= 1.01 * ag.total_cost(risk, full)


def test_few_large_clusters_do_not_make_many_rounds(monkeypatch):
    """Datasets of a large cluster all want to join it; they join each other in the same round."""
    _, near, objective = setting("clusters", 200, clusters=2)
    calls = []
    plain = rounds.neighbour_pairs
    monkeypatch.setattr(rounds, "neighbour_pairs", lambda *a: calls.append(1) or plain(*a))
    monkeypatch.setattr(rounds, "FEW_MUTUAL", 0.9)  # siblings join in every round
    found = rounds.join_in_rounds(objective, near, 4, 12)
    assert len(found.nodes) <= 4
    assert len(calls) <= 12


def test_blocks_of_pairs_change_nothing(in_rounds, monkeypatch):
    _, near, objective = setting("clusters", 60, clusters=3)
    whole = ag.grow(objective, near)
    monkeypatch.setattr(rounds, "PAIRS", 7)
    again = ag.grow(objective, near)
    np.testing.assert_array_equal(again.children, whole.children)


def test_the_order_of_datasets_does_not_matter(in_rounds):
    truth, near, objective = setting("continuum", 60)
    order = np.random.default_rng(1).permutation(60)
    shuffled = replace(objective, sums=tuple(a[order] for a in objective.sums))
    one = ag.prune(ag.grow(objective, near))
    two = ag.prune(ag.grow(shuffled, near[order]))
    assert same_partition(one[order], two)


def test_clusters_with_one_best_partner_are_siblings():
    pairs = np.array([[0, 4], [1, 4], [2, 4], [3, 4]])
    best = rounds._best_edges(pairs, np.array([-1.0, -4.0, -2.0, -3.0]), 5)
    assert best.tolist() == [0, 1, 2, 3, 1]
    free = np.array([True, False, True, True, False])
    assert rounds._siblings(pairs, best, free).tolist() == [[0, 2]]
