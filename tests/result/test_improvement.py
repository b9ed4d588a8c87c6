"""Comparisons with separate models and one model for all, as users get them."""

import pytest

import conjoin
from conjoin.datasets import make_clusters
from conjoin.errors import ArgumentError


@pytest.fixture(scope="module")
def result():
    return conjoin.partition(make_clusters(sizes=(5, 4), n=40, distance=1.0).tables(), target="y")


def test_changes_are_those_of_the_errors(result):
    for name in result.errors:
        found = result.improvements(name)
        for over, one in found.over.items():
            ratio = result.errors[name].error / result.errors[over].error
            assert one.change == pytest.approx(ratio - 1)
            assert one.interval[0] <= one.change <= one.interval[1]
    assert result.improvements() == result.improvements("auto")


def test_a_strategy_is_no_better_than_itself(result):
    found = result.improvements("separate")
    assert found.over["separate"].change == 0
    assert found.over["separate"].interval == (0, 0)
    assert (found.lower, found.higher, found.winner) == (0, 0, None)


def test_unknown_strategies_are_refused(result):
    with pytest.raises(ArgumentError, match="strategy='best' is unknown"):
        result.improvements("best")
