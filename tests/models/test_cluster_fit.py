import numpy as np
from numpy.testing import assert_allclose

from conjoin.models.cluster_fit import centre, fit_clusters, union_noise
from conjoin.models.partial import SLOPES, coefficients, fit_variances, posterior
from tests.collections_ import make


def test_the_centre_is_that_of_partial_pooling():
    moments = make("continuum", K=7, n=20, p=4).moments
    hyper = fit_variances(moments, SLOPES, relative=np.linspace(0.1, 2, 7))
    assert_allclose(centre(moments, hyper), posterior(moments, hyper).mu, rtol=1e-9)


def test_a_cluster_of_one_dataset_is_its_partially_pooled_model():
    moments = make("continuum", K=7, n=20, p=4).moments
    hyper = fit_variances(moments, SLOPES, relative=np.linspace(0.1, 2, 7))
    noise = union_noise(moments, hyper, np.arange(7))
    assert_allclose(noise, hyper.noise * hyper.relative)
    found = fit_clusters(moments.G, moments.h, noise, centre(moments, hyper), hyper)
    assert_allclose(found, coefficients(moments, hyper), rtol=1e-8)


def test_many_rows_leave_nothing_to_the_prior():
    moments = make("clusters", K=6, n=5000, p=3, clusters=2).moments
    hyper = fit_variances(moments, SLOPES)
    labels = np.arange(6) % 2
    unions = moments.sum_by(labels)
    noise = union_noise(moments, hyper, labels)
    found = fit_clusters(unions.G, unions.h, noise, centre(moments, hyper), hyper)
    least_squares = np.linalg.solve(unions.G, unions.h[..., None])[..., 0]
    assert_allclose(found, least_squares, atol=2e-3)
