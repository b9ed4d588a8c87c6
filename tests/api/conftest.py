"""Fitted class targets, which several test modules use."""

import pytest

from conjoin.datasets import make_class_clusters
from tests.api.outcomes import fit, frame_of


@pytest.fixture(scope="session")
def shops():
    return make_class_clusters(sizes=(3, 3), n=150, p=3, distance=3.0)


@pytest.fixture(scope="session")
def result(shops):
    return fit(frame_of(shops))


@pytest.fixture(scope="session")
def three():
    return make_class_clusters(sizes=(2, 2), n=120, p=3, distance=4.0, classes=3)


@pytest.fixture(scope="session")
def of_three(three):
    return fit(frame_of(three))


@pytest.fixture(scope="session")
def small():
    return frame_of(make_class_clusters(sizes=(2, 1), n=50, p=3, distance=3.0))


@pytest.fixture(params=["result", "of_three"])
def fitted(request):
    """Result, frame and truth, for two and for three classes."""
    outcomes = request.getfixturevalue({"result": "shops", "of_three": "three"}[request.param])
    return request.getfixturevalue(request.param), frame_of(outcomes), outcomes
