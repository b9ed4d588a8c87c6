from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose

import conjoin
from conjoin.datasets import make_clusters
from conjoin.engine.placing import MOST_NOISE_DF, noise_of_new
from conjoin.models.partial import Hyper


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


def test_strategies_hand_their_priors_on():
    tables = make_clusters(sizes=(3, 3), n=60, p=2, distance=2.0).tables()
    result = conjoin.partition(tables, target="y")
    priors = {one.name: one for one in result.analysis.placement.priors}
    assert {"pooled", "intercept", "slopes", "partial", "mixture"} <= set(priors)
    assert "separate" not in priors
    for name, one in priors.items():
        assert one.weight == result.weights[name]
        assert (np.linalg.eigvalsh(one.prior.covariance) > -1e-12).all()
        assert one.prior.noise_df == MOST_NOISE_DF  # one noise for all known datasets
    near = np.abs(priors["mixture"].prior.centre[:, None] - result.analysis.placement.centre[:2])
    assert near.max(axis=2).min(axis=0).max() < 0.2  # a centre near each cluster


def test_noise_of_a_new_dataset_is_never_taken_as_known():
    rng = np.random.default_rng(0)
    n, truth = np.full(40, 50.0), rng.uniform(0.2, 3.0, 40)
    squares = truth * rng.chisquare(50, 40)
    hyper = Hyper(1.5, np.eye(2), np.ones(1), np.ones(40))
    assert noise_of_new(hyper, squares, n) == (1.5, MOST_NOISE_DF)
    noise, df = noise_of_new(replace(hyper, relative=truth / 1.5), squares, n)
    assert 0.5 < noise < 3 and 1 < df < 30


def test_a_new_dataset_with_little_noise_follows_its_own_rows():
    """They count for more than as many rows with the noise of the known datasets would."""
    rng = np.random.default_rng(4)
    tables = {}
    for k in range(8):
        x = rng.standard_normal(40)
        tables[f"d{k}"] = {
            "x": x,
            "y": (1 + 0.3 * rng.standard_normal()) * x + rng.normal(0, 1, 40),
        }
    result = conjoin.partition(tables, target="y")
    x = rng.standard_normal(10)
    new = {"x": x, "y": 1.5 * x + rng.normal(0, 0.05, 10)}
    placement = result.analysis.placement
    assert all(one.prior.noise_df == MOST_NOISE_DF for one in placement.priors)
    sure = tuple(
        replace(one, prior=replace(one.prior, noise_df=np.inf)) for one in placement.priors
    )
    X, strategy = x[:, None], result.strategy
    slopes = [
        placement.basis.to_original(one.fit(X, new["y"], strategy))[1][0]
        for one in (placement, replace(placement, priors=sure))
    ]
    own, common = slopes
    assert common + 0.01 < own < 1.5
