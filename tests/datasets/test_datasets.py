from dataclasses import replace

import numpy as np
import pytest

from conjoin.datasets import (
    load_seoul_bikes,
    make_class_clusters,
    make_class_pair,
    make_clusters,
    make_count_clusters,
    make_pair,
)
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


def test_clusters_share_slopes():
    stores = make_clusters(sizes=(2, 1), n=(5, 6, 7), p=3)
    assert stores.names == ("d1", "d2", "d3")
    assert [len(stores.y[name]) for name in stores.names] == [5, 6, 7]
    assert (stores.beta["d1"] == stores.beta["d2"]).all()
    assert (stores.beta["d1"] != stores.beta["d3"]).all()
    assert dict(stores.labels) == {"d1": 0, "d2": 0, "d3": 1}


def test_a_seed_gives_the_same_rows_and_more_datasets_do_not_change_the_first():
    one, two = make_clusters(sizes=(2,), n=5), make_clusters(sizes=(2,), n=5)
    assert (one.X["d1"] == two.X["d1"]).all()
    assert (make_clusters(sizes=(3,), n=5).X["d1"] == one.X["d1"]).all()
    assert (make_clusters(sizes=(2,), n=5, random_state=1).X["d1"] != one.X["d1"]).any()


@pytest.mark.parametrize("options", [{"sizes": ()}, {"sizes": (2, 0)}, {"sizes": (2,), "n": (3,)}])
def test_bad_arguments(options):
    with pytest.raises(ArgumentError):
        make_clusters(**options)


def test_bundled_table():
    bikes = load_seoul_bikes()
    assert len(bikes["hour"]) == 8465
    assert len(np.unique(bikes["hour"])) == 24
    assert np.sum(bikes["rented_bikes"]) == 6_172_314


SHARES = [2, (0.95, 0.05), 3, (0.6, 0.3, 0.1)]


@pytest.mark.parametrize("classes", SHARES, ids=str)
def test_log_loss_of_a_population_is_that_of_new_rows(classes):
    pair = make_class_pair(p=3, n=200_000, distance=1.5, classes=classes, shift=0.5)
    for name, other in ("ab", "ba"):
        X, labels = pair.X[name], pair.response.classes
        seen = np.searchsorted(labels, pair.y[name])
        for of in (name, other):  # the true model, and one that is not
            model = replace(
                pair, slopes={name: pair.slopes[of]}, intercept={name: pair.intercept[of]}
            )
            drawn = -np.log(model.mean(name, X)[np.arange(len(X)), seen]).mean()
            told = pair.population_error(name, pair.slopes[of], pair.intercept[of])
            assert told == pytest.approx(drawn, rel=0.02)


def test_error_of_counts_is_that_of_new_rows():
    calls = make_count_clusters(sizes=(1, 1), n=300_000, p=3, distance=0.6, rate=2.0)
    for name, other in (("d1", "d2"), ("d2", "d1")):
        for of in (name, other):
            line = calls.X[name] @ calls.slopes[of][0] + calls.intercept[of][0]
            drawn = np.mean(np.exp(line) - calls.y[name] * line)
            told = calls.population_error(name, calls.slopes[of], calls.intercept[of])
            assert told == pytest.approx(drawn, rel=0.02, abs=0.02)


@pytest.mark.parametrize("classes", SHARES, ids=str)
def test_classes_have_their_shares(classes):
    pair = make_class_pair(p=4, n=50_000, distance=2.0, classes=classes)
    wanted = np.ones(classes) / classes if isinstance(classes, int) else np.array(classes)
    for name in pair.names:
        found = [np.mean(pair.y[name] == label) for label in pair.response.classes]
        assert found == pytest.approx(wanted, abs=0.01)
    apart = pair.slopes["b"] - pair.slopes["a"]
    assert np.linalg.norm(apart) == pytest.approx(2.0)
    assert np.linalg.norm(pair.slopes["a"]) == pytest.approx(1.0)
    assert len(pair.slopes["a"]) == 1 or np.abs(pair.slopes["a"].sum(axis=0)).max() < 1e-12


def test_clusters_of_classes_and_counts_share_lines():
    for make in (make_class_clusters, make_count_clusters):
        shops = make(sizes=(2, 1), n=(5, 6, 7), p=3)
        assert [len(shops.y[name]) for name in shops.names] == [5, 6, 7]
        assert (shops.slopes["d1"] == shops.slopes["d2"]).all()
        assert (shops.slopes["d1"] != shops.slopes["d3"]).all()
        assert dict(shops.labels) == {"d1": 0, "d2": 0, "d3": 1}
        again = make(sizes=(2, 2), n=5, p=3)
        assert (again.y["d1"] == shops.y["d1"]).all()


def test_counts_scatter_as_asked():
    calls = make_count_clusters(sizes=(1,), n=100_000, p=2, rate=3.0, dispersion=4.0)
    mean = calls.mean("d1", calls.X["d1"])
    scatter = np.mean((calls.y["d1"] - mean) ** 2 / mean)
    assert calls.y["d1"].mean() == pytest.approx(3.0, rel=0.02)
    assert scatter == pytest.approx(4.0, rel=0.05)


@pytest.mark.parametrize(
    "make, options",
    [
        (make_class_clusters, {"classes": 1}),
        (make_class_clusters, {"classes": (0.5, 0.0)}),
        (make_class_clusters, {"sizes": ()}),
        (make_count_clusters, {"rate": 0.0}),
        (make_count_clusters, {"dispersion": 0.5}),
    ],
)
def test_bad_arguments_of_classes_and_counts(make, options):
    with pytest.raises(ArgumentError):
        make(**options)
