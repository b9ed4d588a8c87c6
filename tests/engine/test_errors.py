"""Errors of strategies with intervals, and comparisons between them."""

import numpy as np
import pytest

import conjoin
from conjoin.datasets import make_clusters
from conjoin.engine.errors import estimate_errors, find_improvements
from conjoin.report.facts import facts
from conjoin.strategies import SEARCHED
from conjoin.strategies.improvement import HeldOut


def held(losses):
    return HeldOut(losses, np.zeros(losses.shape[1]))


@pytest.fixture(scope="module")
def losses():
    rng = np.random.default_rng(0)
    base = rng.chisquare(5, (10, 9))
    found = {"separate": 1.3 * base, "pooled": 1.5 * base, "auto": base}
    return {**found, "clusters": 0.8 * base, SEARCHED: 1.1 * base}


def test_the_kept_partition_is_never_the_best(losses):
    w, weights = np.full(9, 50.0), np.full(9, 1 / 9)
    found = estimate_errors({name: held(x) for name, x in losses.items()}, w, weights, 4.0)
    assert list(found) == list(losses)
    assert found["auto"].behind == 0
    assert found["clusters"].behind < 0
    for name, one in found.items():
        assert one.error == pytest.approx(4 * np.mean(losses[name].sum(axis=0) / w))
        assert one.interval[0] < one.error < one.interval[1]


def test_without_a_fair_error_the_kept_one_counts(losses):
    w, weights = np.full(9, 50.0), np.full(9, 1 / 9)
    kept = {name: held(x) for name, x in losses.items() if name != SEARCHED}
    assert estimate_errors(kept, w, weights, 1.0)["clusters"].behind == 0


def test_winners_and_losers_are_those_of_the_losses():
    own = np.ones((10, 6))
    ours = own * [0.5, 0.9, 1.0, 1.2, 0.8, 0.95]
    found = find_improvements(
        held(ours), {"separate": held(own), "pooled": held(2 * own)}, np.full(6, 10.0),
        np.full(6, 1 / 6), list("abcdef"),
    )  # fmt: skip
    assert (found.lower, found.higher) == (4, 1)
    assert found.winner == ("a", pytest.approx(-0.5))
    assert found.loser == ("d", pytest.approx(0.2))
    assert found.over["separate"].change == pytest.approx(ours.sum() / own.sum() - 1)
    assert found.over["pooled"].change == pytest.approx(ours.sum() / own.sum() / 2 - 1)
    assert found.over["pooled"].carriers == ()


def test_one_small_dataset_that_carries_the_separate_error_is_named():
    """A dataset with hardly more rows than columns: its own model is wild."""
    sizes = (60,) * 9 + (9,)
    tables = make_clusters(sizes=(10,), n=sizes, p=6, random_state=3).tables()
    rng = np.random.default_rng(0)
    tables["d10"]["x1"] = tables["d10"]["x1"] * 1e-3 + rng.standard_normal(9) * 1e-6
    result = conjoin.partition(tables, target="y")
    one = result.improvements().over["separate"]
    assert one.carriers == ("d10",)
    assert one.share > 0.5
    assert one.change < -0.3 < one.change_without
    low, high = one.interval
    assert high - low > 0.8  # the mean says little
    text = facts(result)["verdict"]
    assert "Dataset 'd10' carries" in text
