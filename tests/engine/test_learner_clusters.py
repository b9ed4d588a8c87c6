import numpy as np

from conjoin.engine.learner_clusters import MOST_CLUSTERS, _distinct


def test_a_single_cluster_and_no_joins_are_no_proposals():
    several = np.array([0, 0, 1])
    found = _distinct([np.zeros(3, int), np.arange(3), several, several.copy()], 100)
    assert len(found) == 1
    assert found[0] is not None


def test_large_tables_are_not_searched():
    assert _distinct([np.array([0, 0, 1])], 10**6) == []
    many = np.append(np.arange(MOST_CLUSTERS + 1), 0)
    assert _distinct([many], 100) == []


def test_one_model_that_knows_the_name_is_one_cluster(learned):
    assert learned.clusters == [[f"d{k}" for k in range(6)]]
    assert "learner clusters" not in learned.errors
