import numpy as np

from conjoin.grouping.merge import find_steps, in_order
from tests.collections_ import make
from tests.grouping.objectives import objectives


def test_steps_are_every_join_and_the_best_refused_joins():
    truth = make("clusters", K=9, n=40, p=4, clusters=3)
    objective = objectives(truth)["evidence"]
    steps = find_steps(objective, truth.labels)
    joins = [step for step in steps if step.joined]
    refused = [step for step in steps if not step.joined]
    assert len(joins) == 6
    assert all(step.score.score > 0 for step in joins)
    assert refused
    assert all(step.score.score < 0 for step in refused)
    for cluster in range(3):
        members = set(np.nonzero(truth.labels == cluster)[0])
        assert any(set(s.left + s.right) == members for s in joins)


def test_one_cluster_refuses_nothing():
    truth = make("clusters", K=4, n=40, p=3, clusters=1)
    steps = find_steps(objectives(truth)["evidence"], np.zeros(4, dtype=int))
    assert len(steps) == 3
    assert all(step.joined for step in steps)


def test_clusters_come_in_the_order_of_the_datasets():
    names = ["b", "a", "d", "c"]
    assert in_order([("c", "a"), ("d", "b")], names) == (("b", "d"), ("a", "c"))
