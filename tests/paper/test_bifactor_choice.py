import numpy as np
import pytest

from conjoin.models.ols import fit_ols
from conjoin.paper.bifactor import fit_bifactor, noise_ridge
from conjoin.paper.bifactor_choice import (
    cluster_coefficients,
    task_clusters,
    validate_bifactor,
    validated_clusters,
)
from tests.collections_ import make


def test_datasets_of_one_row_are_served():
    truth = make("clusters", K=9, p=4, sizes=[1, 1, 2, 40, 40, 40, 40, 40, 40], seed=1)
    found = validate_bifactor(truth.folds)
    assert np.all(np.isfinite(found.fit.beta))
    assert np.abs(found.fit.beta).max() < 5


@pytest.mark.parametrize("seed", range(3))
def test_low_rank_slopes_are_found_better_than_by_each_dataset_alone(seed):
    truth = make("clusters", K=30, n=20, p=8, clusters=3, seed=seed)
    found = validate_bifactor(truth.folds)
    assert truth.error(found.fit.beta) < 0.6 * truth.error(fit_ols(truth.moments).beta)
    assert found.fit.F.shape[1] in (2, 3, 5)
    assert found.errors.shape == (len(found.settings),)
    assert np.argmin(found.errors) == found.settings.index((found.fit.F.shape[1], found.fit.ridge))


def test_planted_clusters_are_read_off_the_task_factor():
    truth = make("clusters", K=18, n=30, p=6, clusters=3, seed=1)
    fit = fit_bifactor(truth.moments, 3, 0.1 * noise_ridge(truth.moments))
    np.testing.assert_array_equal(task_clusters(fit, 3), truth.labels)
    found = validated_clusters(truth.folds, fit)
    np.testing.assert_array_equal(found.labels, truth.labels)
    assert np.argmin(found.errors) == 2
    coef = cluster_coefficients(truth.moments, found.labels)
    assert truth.error(coef) < 0.5 * truth.error(fit.beta)


def test_clusters_at_the_ends():
    truth = make("continuum", K=4, n=20, p=3, seed=1)
    fit = fit_bifactor(truth.moments, 2, 0.1 * noise_ridge(truth.moments))
    np.testing.assert_array_equal(task_clusters(fit, 1), np.zeros(4))
    np.testing.assert_array_equal(task_clusters(fit, 9), np.arange(4))
    one = fit_bifactor(truth.moments[:1], 2, 0.1)
    np.testing.assert_array_equal(task_clusters(one, 1), [0])
