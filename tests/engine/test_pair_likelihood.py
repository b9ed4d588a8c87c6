import pytest

import conjoin
from conjoin.datasets import make_class_clusters, make_count_clusters


def test_errors_of_classes_are_those_on_held_out_rows():
    outcomes = make_class_clusters(sizes=(1, 1), n=200, p=2, distance=3.0)
    a, b = outcomes.tables().values()
    found = conjoin.compare(a, b, target="y")
    assert found.score == pytest.approx(found.error_separate - found.error_joined)
    assert found.method == "risk"
    assert not found.join


def test_counts_are_compared_by_half_their_deviance():
    shops = make_count_clusters(sizes=(1, 1), n=200, p=2, distance=2.0, random_state=2)
    found = conjoin.compare(*shops.tables().values(), target="y", family="poisson")
    assert found.verdict == "apart"
    assert found.fit_joined.family == "poisson"
    assert found.error_joined > found.error_separate


def test_too_few_rows_of_a_class_leave_it_open():
    shops = make_class_clusters(sizes=(1, 1), n=15, p=3)
    found = conjoin.compare(*shops.tables().values(), target="y")
    assert found.verdict == "undecided"
    assert found.rows_to_settle is None or found.rows_to_settle > 1
