"""What the steps return."""

import numpy as np

from conjoin.api.request import Request
from conjoin.datasets import make_clusters
from conjoin.engine.steps import Task, find
from conjoin.engine.study import make_study
from conjoin.tables import collect


def test_other_labels_give_other_clusters_and_the_same_labels_nothing_new():
    table = collect(make_clusters(sizes=(2, 2), distance=2.0).tables(), target="y")
    request = Request(target="y")
    found = find(Task(request, None, None, {}, False), table, make_study(table, request))
    assert found.with_labels(found.analysis.chosen.labels) is found
    other = found.with_labels(np.array([0, 0, 0, 1]))
    assert other.analysis.chosen.labels.tolist() == [0, 0, 0, 1]
    assert other.analysis.origin.grouping == "learner"
