import numpy as np
import pytest

from conjoin.grouping import agglomerative
from conjoin.grouping import neighbours as nb
from conjoin.grouping.search import evidence
from conjoin.models.partial import SLOPES, fit_variances
from tests.collections_ import make
from tests.grouping.objectives import same_partition


def points(K, columns, clusters=8):
    rng = np.random.default_rng(0)
    truth = np.arange(K) % clusters
    return rng.normal(size=(clusters, columns))[truth] + 0.1 * rng.normal(size=(K, columns)), truth


def test_few_points_have_their_exact_neighbours():
    X, _ = points(60, 3)
    distance = np.sum((X[:, None] - X) ** 2, axis=2)
    expected = np.sort(np.argsort(distance, axis=1)[:, :5], axis=1)
    np.testing.assert_array_equal(np.sort(nb.neighbours(X, 5), axis=1), expected)


@pytest.mark.parametrize("columns", [3, 30])
def test_approximate_neighbours_are_of_the_same_cluster(monkeypatch, columns):
    monkeypatch.setattr(nb, "MOST_EXACT", 10)
    X, truth = points(400, columns)
    found = nb.neighbours(X, 6)
    assert found.shape == (400, 6)
    assert (truth[found] == truth[:, None]).all()


def test_faiss_and_the_tree_find_the_same_clusters(monkeypatch):
    """The search by each: neighbours only say which pairs are tried."""
    pytest.importorskip("faiss")
    monkeypatch.setattr(nb, "MOST_EXACT", 10)
    monkeypatch.setattr(agglomerative, "MOST_ONE_BY_ONE", 20)
    truth = make("clusters", K=200, n=60, p=24, clusters=5)
    near, objective = evidence(truth.moments, fit_variances(truth.moments, SLOPES))
    found = []
    for there in (True, False):
        monkeypatch.setattr(nb, "has_faiss", lambda there=there: there)
        found.append(agglomerative.prune(agglomerative.grow(objective, near)))
    assert same_partition(found[0], truth.labels)
    assert same_partition(found[0], found[1])


def test_pairs_are_there_once_and_no_point_is_its_own_partner():
    X, _ = points(40, 2)
    pairs = nb.neighbour_pairs(X, 4)
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert len({tuple(pair) for pair in pairs.tolist()}) == len(pairs)
    assert set(pairs.ravel().tolist()) == set(range(40))


def test_fewer_points_than_neighbours_have_all_pairs():
    assert len(nb.neighbour_pairs(np.arange(4.0)[:, None], 12)) == 6


def test_equal_points_have_partners():
    """A point may not find itself among many equal ones."""
    pairs = nb.neighbour_pairs(np.zeros((30, 2)), 3)
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert len(pairs) > 0
