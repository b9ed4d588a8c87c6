"""Synthetic datasets with a numeric target: known errors, shared slopes, stable rows."""

import numpy as np
import pytest

from conjoin.datasets import make_clusters, make_continuum, make_pair
from conjoin.errors import ArgumentError


def test_population_error_is_the_mean_error_on_new_rows():
    pair = make_pair(p=4, n=20, d=0.5, shift=1.0, sigma=0.8)
    slopes, intercept = np.array([1.0, 0.0, -1.0, 0.3]), 0.7
    rng = np.random.default_rng(0)
    for name in "ab":
        X = pair.design[name].draw((400_000,), rng)
        y = X @ pair.beta[name] + 0.8 * rng.standard_normal(len(X))
        simulated = np.mean((y - intercept - X @ slopes) ** 2)
        assert pair.population_error(name, slopes, intercept) == pytest.approx(simulated, rel=0.01)
    assert pair.population_error("a", pair.beta["a"]) == pytest.approx(0.64)


def test_datasets_of_one_cluster_share_slopes():
    stores = make_clusters(sizes=(2, 1), n=(5, 6, 7), p=3)
    assert stores.names == ("d1", "d2", "d3")
    assert [len(stores.y[name]) for name in stores.names] == [5, 6, 7]
    assert (stores.beta["d1"] == stores.beta["d2"]).all()
    assert (stores.beta["d1"] != stores.beta["d3"]).all()
    assert dict(stores.labels) == {"d1": 0, "d2": 0, "d3": 1}


def test_datasets_of_a_continuum_all_differ():
    shops = make_continuum(datasets=200, n=2, p=4, spread=0.5)
    slopes = np.array([shops.beta[name] for name in shops.names])
    assert len({tuple(line) for line in slopes}) == 200
    assert slopes.std(axis=0) == pytest.approx(0.5, rel=0.2)


def test_a_seed_gives_the_same_rows_and_more_datasets_do_not_change_the_first():
    one, two = make_clusters(sizes=(2,), n=5), make_clusters(sizes=(2,), n=5)
    assert (one.X["d1"] == two.X["d1"]).all()
    assert (make_clusters(sizes=(3,), n=5).X["d1"] == one.X["d1"]).all()
    assert (make_clusters(sizes=(2,), n=5, random_state=1).X["d1"] != one.X["d1"]).any()


@pytest.mark.parametrize(
    "options, message",
    [
        ({"sizes": ()}, r"sizes=\(\) gives no clusters"),
        ({"sizes": (2, 0)}, r"sizes=\(2, 0\) gives no clusters"),
        ({"sizes": (2,), "n": (3,)}, r"n has 1 entries, but sizes=\(2,\) gives 2 datasets"),
    ],
)
def test_unusable_arguments_are_refused(options, message):
    with pytest.raises(ArgumentError, match=message):
        make_clusters(**options)
