import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin.models.partial import SLOPES, fit_variances
from conjoin.moments import Moments
from conjoin.strategies import refits
from tests.collections_ import make


def test_separate_borrows_strength_where_a_dataset_has_no_information():
    truth = make("continuum", K=6, n=30, p=3)
    rng = np.random.default_rng(0)
    Z = np.concatenate([np.ones((30, 1)), rng.standard_normal((30, 3))], axis=1)
    Z[:, 3] = 0.5  # constant inside this dataset
    t = Z[:, 1] + 0.1 * rng.standard_normal(30)
    moments = Moments.concatenate([Moments.stack([Moments.from_rows(Z, t)]), truth.moments])
    beta = refits.separate(moments)[0]
    union = moments.union()
    pooled = np.linalg.solve(union.G, union.h)
    fitted = np.linalg.lstsq(Z, t, rcond=None)[0]
    assert_allclose(Z @ beta, Z @ fitted, atol=1e-8)
    null = np.array([0.5, 0.0, 0.0, -1.0])  # Z @ null = 0
    assert beta @ null == pytest.approx(pooled @ null)


def test_datasets_of_a_cluster_share_their_coefficients():
    truth = make("clusters", K=6, n=30, p=3, clusters=2)
    hyper = fit_variances(truth.moments, SLOPES)
    beta = refits.clusters(truth.labels, hyper)(truth.moments)
    assert_allclose(beta[truth.labels == 0], beta[:1].repeat(3, axis=0))
    assert np.abs(beta[0] - beta[1]).max() > 0.1


def test_variances_are_estimated_once_for_the_same_moments():
    truth = make("continuum", K=6, n=30, p=3)
    hyper = fit_variances(truth.moments, SLOPES)
    find = refits.variances_outside(SLOPES, hyper)
    rest = truth.moments - truth.folds[:, 0]
    assert find(rest) is find(rest)
    assert find(rest) is not find(truth.moments - truth.folds[:, 1])
