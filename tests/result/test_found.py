"""Improvements, stability and changes of joins to a model file and back."""

import json

import numpy as np
import pytest

import conjoin
from conjoin.datasets import make_clusters
from conjoin.result.found import (
    changes_from_plain,
    changes_to_plain,
    errors_from_plain,
    improvements_from_plain,
    improvements_to_plain,
    sides_shown,
    stability_from_plain,
    stability_to_plain,
)
from conjoin.strategies import SEARCHED


@pytest.fixture(scope="module")
def result():
    return conjoin.partition(make_clusters(sizes=(3, 2), n=40, distance=1.0).tables(), target="y")


def through_json(values):
    return json.loads(json.dumps(values, allow_nan=False))


def test_improvements_come_back(result):
    found = improvements_from_plain(through_json(improvements_to_plain(result)))
    assert set(found) == {"auto", "clusters", SEARCHED}
    assert repr(found["auto"]) == repr(result.improvements())


def test_stability_comes_back(result):
    plain = through_json(stability_to_plain(result.stability()))
    found = stability_from_plain(plain, list(result.labels))
    assert np.array_equal(found.labels, result.stability().labels)
    assert found.agreement == result.stability().agreement
    assert stability_from_plain(None, []) is stability_to_plain(None) is None


def test_changes_of_joins_come_back(result):
    found = changes_from_plain(
        through_json(changes_to_plain(result, result.analysis.details)), list(result.labels)
    )
    assert list(found) == sides_shown(result, result.analysis.details)
    for (left, right), change in found.items():
        assert change == result.analysis.join_change(left, right)


def test_the_error_of_clusters_in_older_files_is_the_fair_one():
    older = {
        "errors": {"auto": [1.0, 0.0, 0.0], "clusters": [2.0, 1.0, 0.1]},
        "grouping": "agglomerative", "method": "auto", "labels": [0, 1],
    }  # fmt: skip
    found = errors_from_plain(older, np.array([1.0, 2.0]))
    assert found[SEARCHED].error == 2.0 and found["clusters"].error == 1.5
    assert "clusters" not in errors_from_plain(older, None)
    paper = errors_from_plain({**older, "method": "validated"}, None)
    assert SEARCHED not in paper and paper["clusters"].error == 2.0
