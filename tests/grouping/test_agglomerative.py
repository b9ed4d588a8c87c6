import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from conjoin.grouping import agglomerative as ag
from conjoin.grouping.objective import add, take
from conjoin.grouping.search import evidence
from conjoin.models.partial import SLOPES, fit_variances
from tests.collections_ import make
from tests.grouping.objectives import NAMES, objectives, same_partition


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
@given(st.integers(0, 10_000), st.sampled_from(NAMES))
def test_order_of_datasets_does_not_matter(seed, name):
    truth = make("clusters", K=10, n=15, p=3, clusters=3, seed=seed)
    order = np.random.default_rng(seed).permutation(10)
    shuffled = make("clusters", K=10, n=15, p=3, clusters=3, seed=seed)
    shuffled.moments, shuffled.folds = truth.moments[order], truth.folds[order]
    one = ag.prune(ag.grow(objectives(truth)[name]))
    two = ag.prune(ag.grow(objectives(shuffled)[name]))
    assert same_partition(one[order], two)


def test_batches_of_pairs_grow_the_same_tree(monkeypatch):
    objective = objectives(make("clusters", K=12, n=20, p=3))["evidence"]
    whole = ag.grow(objective)
    monkeypatch.setattr(ag, "PAIRS", 5)
    np.testing.assert_array_equal(ag.grow(objective).children, whole.children)


def test_moves_to_the_nearest_clusters_give_the_same_partition(monkeypatch):
    truth = make("clusters", K=20, n=40, p=4, clusters=4)
    near, objective = evidence(truth.moments, fit_variances(truth.moments, SLOPES))
    spoilt = truth.labels.copy()
    spoilt[[0, 1, 6]] = [1, 2, 3]
    monkeypatch.setattr(ag, "MOST_MOVES", 1)
    monkeypatch.setattr(ag, "NEIGHBOURS", 2)
    assert same_partition(ag.improve(objective, spoilt, near), truth.labels)


def test_a_score_replaces_the_rise_of_the_cost():
    """The opposite score joins the pair that raises the cost most."""
    objective = objectives(make("clusters", K=6, n=20, p=3))["risk"]
    plain, opposite = ag.grow(objective), ag.grow(objective, score=lambda rise, *_: -rise)
    assert opposite.links[0] == -max(_rises(objective, 6))
    assert plain.links[0] == min(_rises(objective, 6))


def _rises(objective, K):
    """The rise of the cost of every pair of datasets."""
    left, right = np.triu_indices(K, 1)
    one, two = take(objective.sums, left), take(objective.sums, right)
    return objective.cost(add(one, two)) - objective.cost(one) - objective.cost(two)


def test_a_restricted_objective_grows_a_tree_of_some_datasets():
    truth = make("clusters", K=9, n=40, p=4, clusters=3)
    objective = objectives(truth)["evidence"]
    some = np.array([0, 3, 4, 7])
    tree = ag.grow(ag.Restricted(objective, take(objective.sums, some)))
    assert same_partition(ag.prune(tree), truth.labels[some])
