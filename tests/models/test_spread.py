"""Quantiles of held-out scores."""

import numpy as np
from numpy.testing import assert_allclose

from conjoin.models.spread import PROBABILITIES, Spread, shrunk_scales

RNG = np.random.default_rng(0)


def test_new_rows_lie_inside_as_often_as_asked():
    scale = np.exp(RNG.normal(0, 0.5, 40))
    dataset = np.repeat(np.arange(40), np.tile([8, 20, 60, 200], 10))
    spread = Spread.of(RNG.standard_t(4, len(dataset)) * scale[dataset], dataset, 40)
    for level in (0.5, 0.8, 0.9, 0.95):
        new = RNG.standard_t(4, (400, 40)) * scale
        low, high = spread.ends(np.arange(40), level)
        assert abs(np.mean((low <= new) & (new <= high)) - level) < 0.025


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
    found = shrunk_scales(scores, dataset, 3)
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
