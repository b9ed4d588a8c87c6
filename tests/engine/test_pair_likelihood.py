import numpy as np
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


@pytest.mark.parametrize("seed", [7, 33])
def test_the_interval_holds_a_gain_that_tests_and_held_out_rows_put_lower(seed):
    rng = np.random.default_rng(seed)

    def shop(n):
        x = rng.normal(size=n)
        return {"x": x, "y": np.where(rng.random(n) < 1 / (1 + np.exp(1.5 - 0.5 * x)), "yes", "no")}

    found = conjoin.compare(shop(120), shop(90), target="y", learner="linear")
    low, high = found.interval
    assert low <= found.gain <= high
    assert found.gain * (found.error_separate - found.error_joined) > 0
