"""Quantiles of held-out scores."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin.models.spread import PROBABILITIES, Scales, Spread

RNG = np.random.default_rng(0)


def test_new_rows_lie_inside_as_often_as_asked():
    scale = np.exp(RNG.normal(0, 0.5, 40))
    dataset = np.repeat(np.arange(40), np.tile([8, 20, 60, 200], 10))
    spread = Spread.of(RNG.standard_t(4, len(dataset)) * scale[dataset], dataset, 40)
    for level in (0.5, 0.8, 0.9, 0.95):
        new = RNG.standard_t(4, (400, 40)) * scale
        low, high = spread.ends(np.arange(40), level)
        assert abs(np.mean((low <= new) & (new <= high)) - level) < 0.025


@pytest.mark.parametrize("rows", [1, 3, 6])
def test_small_datasets_are_covered_though_their_scales_are_guessed(rows):
    covered = []
    for _ in range(40):
        scale = np.exp(RNG.normal(0, 0.5, 60))
        dataset = np.repeat(np.arange(60), rows)
        spread = Spread.of(RNG.standard_normal(60 * rows) * scale[dataset], dataset, 60)
        new = RNG.standard_normal((100, 60)) * scale
        low, high = spread.ends(np.arange(60), 0.9)
        covered.append(np.mean((low <= new) & (new <= high)))
    assert abs(np.mean(covered) - 0.9) < 0.02


def test_a_score_is_compared_with_a_scale_from_other_rows():
    dataset = np.repeat(np.arange(30), 4)
    scores = RNG.standard_normal(120) * np.exp(RNG.normal(0, 1, 30))[dataset]
    scales = Scales.of(scores, dataset, 30)
    found, far = scales.of_other_rows(scores, dataset), scores.copy()
    far[0] = 100.0
    moved = replace(scales, squares=np.bincount(dataset, far**2))
    assert_allclose(moved.of_other_rows(far, dataset)[0], found[0])
    assert moved.of_datasets()[0] > 2 * scales.of_datasets()[0]


def test_scores_of_nothing_but_zero_have_a_scale():
    dataset = np.repeat([0, 1], 4)
    scores = np.array([0.0, 0, 0, 5, 1, -1, 2, -2])
    scales = Scales.of(scores, dataset, 3)
    assert np.all(np.isfinite(scales.of_other_rows(scores, dataset)))
    assert np.all(Scales.of(0 * scores, dataset, 3).of_datasets() == 1)


def test_many_rows_have_their_own_quantiles_and_no_rows_those_of_all():
    dataset = np.repeat([0, 1], [5000, 5000])
    scores = RNG.standard_normal(10_000) * np.array([1.0, 3.0])[dataset]
    spread = Spread.of(scores, dataset, 3)
    own = np.quantile(scores[dataset == 1], PROBABILITIES[5:-5])
    assert_allclose(spread.own[1, 5:-5], own, atol=0.15)
    assert spread.own[0, -1] < spread.own[2, -1] < spread.own[1, -1]


def test_scales_of_few_rows_are_shrunk_and_of_many_kept():
    dataset = np.repeat([0, 1, 2], [1000, 1000, 2])
    scores = RNG.standard_normal(2002) * np.array([1.0, 2.0, 30.0])[dataset]
    found = Scales.of(scores, dataset, 3).of_datasets()
    assert_allclose(found[:2], [1, 2], rtol=0.1)
    assert found[2] < 0.7 * np.sqrt(np.mean(scores[-2:] ** 2))


def test_datasets_that_were_not_seen_have_wider_intervals():
    dataset = np.repeat(np.arange(10), 50)
    scores = RNG.standard_normal(500)
    away = scores + RNG.standard_normal(10)[dataset]
    low, high = Spread.of(scores, dataset, 10, away).ends(np.array([0, -1]), 0.9)
    assert high[1] - low[1] > 1.3 * (high[0] - low[0])


def test_without_rows_scores_are_normal():
    spread = Spread.normal(np.array([1.0, np.nan, 3.0]), 5.0)
    low, high = spread.ends(np.array([0, 1, 2, -1]), 0.9)
    assert_allclose(high, 1.645 * np.array([1, 2, 3, 5]), rtol=0.01)
    assert_allclose(low, -high)
    assert_allclose(spread.of_shape(0.95), 1.645, rtol=0.01)


@pytest.mark.parametrize("power", [-120, 120])
def test_scores_whose_fourth_powers_are_no_numbers(power):
    rng = np.random.default_rng(3)
    scores, dataset = rng.standard_normal(60), np.repeat([0, 1, 2], 20)
    plain, far = (Spread.of(scores * unit, dataset, 3) for unit in (1.0, 2.0 ** (4 * power)))
    assert np.array_equal(far.own, plain.own * 2.0 ** (4 * power))
    assert np.array_equal(far.shape, plain.shape)
