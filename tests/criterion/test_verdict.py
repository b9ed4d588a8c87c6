"""Verdicts on pairs of datasets: invariance, hard data, rows needed to settle."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin.criterion.judge import Judge
from conjoin.criterion.pair_tests import decide
from conjoin.criterion.side import Side
from conjoin.criterion.verdict import rows_to_settle
from conjoin.moments import Moments
from tests.criterion.pairs import pair, rows_pair, same
from tests.helpers import random_rows
from tests.reference.pair_verdict import judge


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("equal_noise", [False, True])
def test_swapping_the_two_changes_nothing(seed, equal_noise):
    one, two = pair(seed, d=0.1 * seed)
    options = {"equal_noise": equal_noise}
    same(
        judge(one, two, weights=(0.3, 0.7), **options),
        judge(two, one, weights=(0.7, 0.3), **options),
    )


@pytest.mark.parametrize("seed", range(8))
def test_change_of_features_and_of_the_target_scale(seed):
    rng = np.random.default_rng(seed)
    data = rows_pair(seed, (12, 30), d=0.15 * seed, sigma=(1.0, 2.0))
    A = rng.standard_normal((4, 4)) + 3 * np.eye(4)
    plain = judge(*(Moments.from_rows(X, y) for X, y in data))
    same(plain, judge(*(Moments.from_rows(X @ A, y) for X, y in data)))
    scaled = judge(*(Moments.from_rows(X, 7 * y) for X, y in data))
    assert scaled.verdict == plain.verdict
    assert_allclose(scaled.gain, 49 * plain.gain, rtol=1e-8)
    assert_allclose(scaled.interval, 49 * np.array(plain.interval), rtol=1e-4)


def test_equal_weights_of_all_rows_change_nothing():
    """A weight is a relative precision: the same weight for every row carries no information."""
    (X1, y1), (X2, y2) = rows_pair(2)
    plain = judge(*(Moments.from_rows(X, y) for X, y in ((X1, y1), (X2, y2))))
    weighted = judge(
        *(Moments.from_rows(X, y, np.full(len(y), 4.0)) for X, y in ((X1, y1), (X2, y2)))
    )
    same(plain, weighted)


def test_many_columns_join_when_alike_and_part_when_opposite():
    (X1, y1), (X2, y2) = rows_pair(0, (300, 400), p=30, d=0.0)
    one = Moments.from_rows(X1, y1)
    assert judge(one, Moments.from_rows(X2, y2)).verdict == "join"
    assert judge(one, one).verdict == "join"
    opposite = judge(one, Moments.from_rows(X2, -y2))
    assert opposite.verdict == "apart"
    assert opposite.gain < 0
    assert opposite.interval[0] < opposite.gain < opposite.interval[1] < 0


# --- hard data ------------------------------------------------------------------------------------


def hard_pairs():
    rng = np.random.default_rng(0)
    X, y = random_rows(rng, 40, 5)
    few, single = slice(0, 4), slice(0, 1)
    constant = X.copy()
    constant[:, 2] = 0.0
    ones = np.column_stack([np.ones(40), X[:, :3], np.full(40, 3.0)])
    left, right = X.copy(), X.copy()
    left[:, 2:] = 0.0
    right[:, :2] = 0.0
    exact = X @ np.arange(5.0)
    return {
        "fewer rows than columns": ((X[few], y[few]), (X, y + 0.3 * X[:, 0]), {"undecided"}),
        "both with fewer rows": ((X[few], y[few]), (X[4:8], y[4:8]), {"undecided"}),
        "as many rows as columns": ((X[:5], y[:5]), (X, y), {"undecided"}),
        "one spare row": ((X[:6], y[:6]), (X, y), {"undecided", "join"}),
        "single row": ((X[single], y[single]), (X, y), {"undecided"}),
        "single rows": ((X[single], y[single]), (X[1:2], y[1:2]), {"undecided"}),
        "zero column in one": ((constant, y + 0.6 * X[:, 0]), (X, y), {"undecided"}),
        "constant beside an intercept": ((ones, y + 0.3 * X[:, 0]), (X, y), {"undecided", "apart"}),
        "no shared direction": ((left, y), (right, y), {"undecided"}),
        "all zero": ((0 * X, y), (X, y), {"undecided"}),
        "no noise, one truth": ((X[:20], exact[:20]), (X[20:], exact[20:]), {"join", "undecided"}),
        "no noise, two truths": ((X[:20], exact[:20]), (X[20:], -exact[20:]), {"apart"}),
        "no noise in one": ((X[:20], exact[:20]), (X[20:], y[20:]), {"undecided", "apart"}),
        "target of zeros": ((X[:20], 0 * y[:20]), (X[20:], 0 * y[20:]), {"join", "undecided"}),
    }


@pytest.mark.parametrize("name", list(hard_pairs()))
@pytest.mark.parametrize("equal_noise", [False, True])
def test_hard_data_get_an_answer_without_warnings(name, equal_noise):
    one, two, allowed = hard_pairs()[name]
    moments = [Moments.from_rows(*rows) for rows in (one, two)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = judge(*moments, equal_noise=equal_noise)
        swapped = judge(*moments[::-1], equal_noise=equal_noise)
        rows_to_settle(*moments, equal_noise=equal_noise)
        many = Judge.of(Moments.stack(moments))
        many.gains([((0,), (1,))])
        answers, _ = many.verdicts([((0,), (1,))], delta=0.1, interval=True)
    assert found.verdict == swapped.verdict
    if not equal_noise:
        assert found.verdict in allowed
        assert answers == [found.verdict]
    low, high = found.interval
    assert low <= high
    assert (low >= 0) == (found.verdict == "join")
    assert (high <= 0) == (found.verdict == "apart")


def test_a_dataset_with_too_few_rows_is_never_kept_apart():
    """Its own error is infinite in expectation, so any partner is a gain."""
    (X1, y1), (X2, y2) = rows_pair(0, (5, 400), p=4, d=50.0)
    found = judge(*(Moments.from_rows(X, y) for X, y in ((X1, y1), (X2, y2))), equal_noise=True)
    assert found.verdict == "undecided"
    assert found.gain == found.interval[1] == np.inf


# --- rows to settle -------------------------------------------------------------------------------


def test_rows_to_settle_is_where_the_verdict_turns():
    for seed in range(20):
        one, two = pair(seed, d=0.25)
        factor = rows_to_settle(one, two)
        if judge(one, two, interval=False).verdict != "undecided":
            assert factor == 1
            continue
        if factor is None:
            continue
        sides = [Side.dataset(m) for m in (one, two)]
        at = np.array([0.995, 1.001]) * factor
        join, apart = decide(*(side.grown(at) for side in sides))
        assert (join | apart).tolist() == [False, True]


def test_rows_to_settle_is_none_without_residuals():
    (X1, y1), (X2, y2) = rows_pair(0, (3, 400), p=4)
    assert rows_to_settle(Moments.from_rows(X1, y1), Moments.from_rows(X2, y2)) is None
