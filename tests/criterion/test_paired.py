"""Verdicts from losses of held-out rows: the interval, copies, weights, few rows that decide."""

import numpy as np
import pytest
from scipy.stats import t

from conjoin.criterion.paired import judge_losses


def judge(falls, dataset=None, weights=None, **options):
    n = len(falls)
    dataset = np.arange(n) % 2 if dataset is None else dataset
    weights = np.ones(n) if weights is None else weights
    return judge_losses(falls, weights, dataset, **{"delta": 0.1, "folds": 5, **options})


def test_every_dataset_counts_the_same():
    falls, dataset = np.array([1.0, 1.0, 1.0, 1.0, 3.0, 3.0]), np.array([0, 0, 0, 0, 1, 1])
    assert judge(falls, dataset).gain == 2.0


def test_the_interval_is_that_of_t_with_the_corrected_variance():
    falls = np.tile([-1.0, -1.0, 1.0, 1.0], 25) + 0.2
    found = judge(falls)
    half = t.ppf(0.9, 98) * np.sqrt(2.25 / 100 * 50 / 35)  # 15 of 50 rows are spent on the models
    np.testing.assert_allclose(found.interval, (0.2 - half, 0.2 + half))
    assert found.degrees == 98


@pytest.mark.parametrize(("shift", "verdict"), [(1, "join"), (-1, "apart"), (0, "undecided")])
def test_the_verdict_is_the_sign_of_the_interval(shift, verdict):
    rng = np.random.default_rng(0)
    noise = rng.standard_normal(200)
    assert judge(noise - noise.mean() + shift).verdict == verdict
    assert judge(np.full(20, float(shift))).verdict == verdict


def test_rows_without_weight_change_nothing():
    rng = np.random.default_rng(1)
    falls, weights = rng.standard_normal(101), np.ones(101)
    falls[100], weights[100] = 1e6, 0.0
    found, expected = judge(falls, weights=weights), judge(falls[:100])
    assert found.gain == pytest.approx(expected.gain)
    np.testing.assert_allclose(found.interval, expected.interval, rtol=0.01)


def test_copies_of_rows_do_not_narrow_the_interval():
    falls = np.random.default_rng(2).standard_normal(60)
    dataset, unit = np.arange(60) % 2, np.arange(60)
    once = judge(falls, dataset)
    twice = judge(np.tile(falls, 2), np.tile(dataset, 2), unit=np.tile(unit, 2))
    np.testing.assert_allclose(twice.interval, once.interval)


def test_few_rows_that_carry_the_difference_widen_the_interval():
    falls = np.random.default_rng(3).standard_normal(400)
    usual = judge(falls)
    falls[0] = 1000.0
    found = judge(falls)
    assert not usual.few_rows_decide and usual.degrees > 100
    assert found.few_rows_decide and found.degrees < 3
    assert found.verdict == "undecided"


def test_the_level_narrows_the_interval():
    falls = np.random.default_rng(4).standard_normal(50)
    low, high = judge(falls, delta=0.01).interval
    near, far = judge(falls, delta=0.2).interval
    assert low < near < far < high
