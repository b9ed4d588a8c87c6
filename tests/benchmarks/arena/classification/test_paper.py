import numpy as np
import pytest

from benchmarks.arena.classification.paper import PaperClusters
from benchmarks.arena.classification.rivals import PooledLogistic
from benchmarks.arena.contest import MOST_GROUPS_OF_THE_PAPER
from benchmarks.arena.data import Task


def test_the_paper_joins_opposite_groups_as_one_cluster_equal_to_pooled() -> None:
    generator = np.random.default_rng(3)
    X = generator.normal(size=(200, 2))
    groups = np.array(["one", "two"] * 100, dtype=object)
    sign = np.where(groups == "one", 1, -1)
    y = np.where(sign * X[:, 0] + generator.logistic(size=200) > 0, "yes", "no").astype(object)
    task = Task(X[:100], y[:100], groups[:100], X[100:], groups[100:])
    paper = PaperClusters("corrected")
    np.testing.assert_array_equal(paper.fit_predict(task), PooledLogistic().fit_predict(task))
    assert paper.note == "1 clusters of 2 groups"


def test_more_groups_than_the_limit_are_not_run() -> None:
    n = MOST_GROUPS_OF_THE_PAPER + 1
    groups = np.array([f"g{k}" for k in range(n)], dtype=object)
    X, y = np.zeros((n, 1)), np.array(["a"] * n, dtype=object)
    with pytest.raises(NotImplementedError, match="more than 24 groups"):
        PaperClusters("printed").fit_predict(Task(X, y, groups, X, groups))
