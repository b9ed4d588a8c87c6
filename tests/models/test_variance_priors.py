"""Priors of variances: inside their bounds, and one for every spread."""

from dataclasses import replace

import numpy as np
import pytest

from conjoin.models.variance_priors import UNIT_NOISE_BOUNDS, noise_bounds, variance_priors
from conjoin.moments import Moments


@pytest.fixture
def moments():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3, 20, 4))
    return Moments.from_rows(X, rng.normal(size=(3, 20)))


@pytest.mark.parametrize("count", [1, 2, 4])
def test_medians_lie_inside_their_bounds(moments, count):
    medians, widths, bounds = variance_priors(moments, count)
    assert len(medians) == len(widths) == len(bounds) == 2 + count
    assert all(low < median < high for median, (low, high) in zip(medians, bounds))
    assert (widths > 0).all()


def test_the_noise_of_classes_is_about_one(moments):
    assert noise_bounds(replace(moments, unit_noise=True)) == UNIT_NOISE_BOUNDS
    medians, _, bounds = variance_priors(replace(moments, unit_noise=True), 1)
    assert medians[0] == 0
    np.testing.assert_allclose(np.exp(bounds[0]), UNIT_NOISE_BOUNDS)
