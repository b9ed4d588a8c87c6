import numpy as np
import pytest

import conjoin
from conjoin.errors import ArgumentError


def test_the_learner_in_use_has_a_name(learned):
    assert learned.learner == "boosting"
    assert learned.linear.learner == "linear"
    lines = learned.linear
    assert lines.linear is lines


def test_lines_win_where_nothing_bends():
    rng = np.random.default_rng(0)
    tables = {}
    for k in range(4):
        X = rng.normal(size=(80, 2))
        tables[f"d{k}"] = {"a": X[:, 0], "b": X[:, 1], "y": X @ [1.0, k] + rng.normal(size=80)}
    result = conjoin.partition(tables, target="y", learner="boosting")
    assert result.learner == "linear"
    assert result.clusters == conjoin.partition(tables, target="y", learner="linear").clusters
    assert result.errors["auto"].error < 1.02 * result.errors["linear"].error


def test_the_common_model_holds_for_datasets_that_share_their_bends(learned):
    reach = learned.reach()
    assert set(reach) == set(learned.labels)
    for one in reach.values():
        assert one.interval[0] < one.value < one.interval[1]
    assert 0.7 < np.mean([one.value for one in reach.values()]) < 1.3
    with pytest.raises(ArgumentError, match=r"reach\(\) is about"):
        learned.linear.reach()
