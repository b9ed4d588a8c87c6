"""Ratios of errors with intervals, and the datasets that carry them."""

import numpy as np
import pytest

from conjoin.strategies.improvement import (
    HeldOut,
    carriers,
    compare_errors,
    error_interval,
    ratio_of_sums,
    typical_ratio,
)


def held(losses, shift=0.0):
    return HeldOut(losses, np.full(losses.shape[1], shift))


def test_the_ratio_is_that_of_the_errors_as_they_are_shown():
    rng = np.random.default_rng(0)
    one, other = rng.chisquare(8, (2, 10, 12))
    w, weights = np.full(12, 10.0), rng.dirichlet(np.ones(12))
    found = compare_errors(held(one), held(other, -3.0), w, weights)
    errors = [(losses / w * weights).sum() for losses in (one, other)]
    assert found.value == pytest.approx(errors[0] / errors[1])
    assert found.low <= found.value <= found.high
    # Fewer rows outside folds cost the second model more, which its interval allows for.
    assert found.high > compare_errors(held(one), held(other), w, weights).high


def test_one_dataset_that_carries_everything_makes_the_interval_wide():
    other = np.ones(30)
    one = 0.99 * other
    narrow = ratio_of_sums(one, other)
    other = np.append(other, 200.0)
    wide = ratio_of_sums(np.append(one, 1.0), other)
    assert narrow.high - narrow.low < 1e-6
    assert wide.value < 0.2 and wide.high > 1.0


def test_what_cannot_be_known_is_not_claimed():
    assert np.isnan(ratio_of_sums(np.zeros(4), np.ones(4)).value)
    assert np.isnan(ratio_of_sums(np.ones(1), np.ones(1)).value)
    alone = ratio_of_sums(np.array([1.0, 0.0]), np.array([1.0, 1.0]))
    assert alone.value == 0.5 and (alone.low, alone.high) == (0.0, np.inf)
    assert np.isnan(error_interval(np.zeros((10, 2)), np.ones(2), np.ones(2) / 2)).all()


@pytest.mark.parametrize("datasets", [4, 20])
def test_intervals_hold_for_a_check_on_three_new_rows_for_every_seven(datasets):
    """Normal residuals with different noise in every dataset; a tenth of the intervals may miss."""
    rng = np.random.default_rng(datasets)
    inside = {"ratio": 0, "error": 0}
    w, weights = np.full(datasets, 70.0), np.full(datasets, 1 / datasets)
    spread = rng.uniform(0.5, 2.0, datasets)
    for _ in range(300):
        rows = spread[:, None] * rng.standard_normal((datasets, 100))
        extra = 0.3 * rng.standard_normal((datasets, 100))
        one, other = rows**2, (rows + extra) ** 2
        folds = [x[:, :70].reshape(datasets, 10, 7).sum(axis=2).T for x in (one, other)]
        new = [x[:, 70:].mean(axis=1) @ weights for x in (one, other)]
        found = compare_errors(held(folds[0]), held(folds[1]), w, weights)
        inside["ratio"] += found.low <= new[0] / new[1] <= found.high
        low, high = error_interval(folds[0], w, weights)
        inside["error"] += low <= new[0] <= high
    # 300 trials: 0.9 with a standard error of 0.017.
    assert 0.85 < inside["ratio"] / 300 < 0.99
    assert 0.85 < inside["error"] / 300 < 0.99


def test_carriers():
    even = np.ones(10)
    assert carriers(0.9 * even, even).tolist() == []
    two = even.copy()
    two[[3, 7]] = 5.0, 6.0
    assert carriers(0.9 * two, two).tolist() == [7, 3]
    fall = even.copy()
    fall[4] = 0.2  # makes all of the difference
    assert carriers(fall, even).tolist() == [4]
    assert carriers(even[:4], two[:4]).tolist() == []  # two of four carry half anyway
    few = np.array([2.0, 2.0, 1.0, 1.0, 1.0])
    assert carriers(0.9 * few, few).tolist() == []  # two of five carry a little more
    assert carriers(np.full(10, np.nan), even).tolist() == []


def test_the_typical_ratio_is_not_moved_by_a_few_large_losses():
    ours, theirs = np.full((10, 8), 0.8), np.ones((10, 8))
    theirs[0] *= 1e6  # one fold in which models extrapolate
    assert typical_ratio(held(ours), held(theirs)) == pytest.approx(0.8)
    assert np.isnan(typical_ratio(held(np.zeros((2, 2))), held(np.ones((2, 2)))))
