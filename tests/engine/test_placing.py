import numpy as np
from numpy.testing import assert_allclose

import conjoin
from conjoin.datasets import make_clusters


def test_clusters_are_distributions_around_their_coefficients():
    tables = make_clusters(sizes=(2, 2), n=300, p=2, distance=3.0).tables()
    result = conjoin.partition(tables, target="y")
    placement = result.analysis.placement
    assert placement.centre.shape == (3, 3)  # two clusters, and a dataset in none
    assert placement.datasets.tolist() == [2, 2, 1]
    for centre, model in zip(placement.centre, result.models):
        slopes = placement.basis.to_original(centre)[1]
        assert_allclose(slopes, list(model.coef.values()), rtol=1e-3)
    assert (np.linalg.eigvalsh(placement.covariance) > 0).all()


def test_mean_features_of_tiny_clusters_are_not_stored():
    sizes = (100, 100, 4)
    tables = make_clusters(sizes=(2, 1), n=sizes, p=1, distance=50.0, sigma=0.1).tables()
    result = conjoin.partition(tables, target="y")
    means = result.analysis.placement.means
    assert len(result.clusters) == 2
    assert np.isfinite(means[0]).all()
    assert np.isnan(means[1]).all()


def test_without_an_intercept_there_are_no_means():
    tables = make_clusters(sizes=(2,), n=50, p=2).tables()
    result = conjoin.partition(tables, target="y", intercept=False)
    assert np.isnan(result.analysis.placement.means).all()
