"""Synthetic datasets of classes and counts: known errors, frequencies and dispersion."""

from dataclasses import replace

import numpy as np
import pytest

from conjoin.datasets import make_class_clusters, make_class_pair, make_count_clusters
from conjoin.errors import ArgumentError

CLASSES = [2, (0.95, 0.05), 3, (0.6, 0.3, 0.1)]


@pytest.mark.parametrize("classes", CLASSES, ids=str)
def test_the_population_log_loss_is_the_mean_on_new_rows(classes):
    pair = make_class_pair(p=3, n=200_000, distance=1.5, classes=classes, shift=0.5)
    for name, other in ("ab", "ba"):
        X, labels = pair.X[name], pair.response.classes
        seen = np.searchsorted(labels, pair.y[name])
        for of in (name, other):  # the true model, and one that is not
            model = replace(
                pair, slopes={name: pair.slopes[of]}, intercept={name: pair.intercept[of]}
            )
            drawn = -np.log(model.mean(name, X)[np.arange(len(X)), seen]).mean()
            exact = pair.population_error(name, pair.slopes[of], pair.intercept[of])
            assert exact == pytest.approx(drawn, rel=0.02)


def test_the_population_error_of_counts_is_the_mean_on_new_rows():
    calls = make_count_clusters(sizes=(1, 1), n=300_000, p=3, distance=0.6, rate=2.0)
    for name, other in (("d1", "d2"), ("d2", "d1")):
        for of in (name, other):
            line = calls.X[name] @ calls.slopes[of][0] + calls.intercept[of][0]
            drawn = np.mean(np.exp(line) - calls.y[name] * line)
            exact = calls.population_error(name, calls.slopes[of], calls.intercept[of])
            assert exact == pytest.approx(drawn, rel=0.02, abs=0.02)


@pytest.mark.parametrize("classes", CLASSES, ids=str)
def test_classes_have_the_given_frequencies(classes):
    pair = make_class_pair(p=4, n=50_000, distance=2.0, classes=classes)
    wanted = np.ones(classes) / classes if isinstance(classes, int) else np.array(classes)
    for name in pair.names:
        found = [np.mean(pair.y[name] == label) for label in pair.response.classes]
        assert found == pytest.approx(wanted, abs=0.01)
    apart = pair.slopes["b"] - pair.slopes["a"]
    assert np.linalg.norm(apart) == pytest.approx(2.0)
    assert np.linalg.norm(pair.slopes["a"]) == pytest.approx(1.0)
    assert len(pair.slopes["a"]) == 1 or np.abs(pair.slopes["a"].sum(axis=0)).max() < 1e-12


def test_datasets_of_one_cluster_share_a_model():
    for make in (make_class_clusters, make_count_clusters):
        shops = make(sizes=(2, 1), n=(5, 6, 7), p=3)
        assert [len(shops.y[name]) for name in shops.names] == [5, 6, 7]
        assert (shops.slopes["d1"] == shops.slopes["d2"]).all()
        assert (shops.slopes["d1"] != shops.slopes["d3"]).all()
        assert dict(shops.labels) == {"d1": 0, "d2": 0, "d3": 1}
        again = make(sizes=(2, 2), n=5, p=3)
        assert (again.y["d1"] == shops.y["d1"]).all()


def test_counts_have_the_given_dispersion():
    calls = make_count_clusters(sizes=(1,), n=100_000, p=2, rate=3.0, dispersion=4.0)
    mean = calls.mean("d1", calls.X["d1"])
    dispersion = np.mean((calls.y["d1"] - mean) ** 2 / mean)
    assert calls.y["d1"].mean() == pytest.approx(3.0, rel=0.02)
    assert dispersion == pytest.approx(4.0, rel=0.05)


@pytest.mark.parametrize(
    "make, options, message",
    [
        (make_class_clusters, {"classes": 1}, "classes=1 cannot be used; .*at least 2"),
        (make_class_clusters, {"classes": (0.5, 0.0)}, "classes=.* positive frequencies"),
        (make_class_clusters, {"sizes": ()}, "sizes=.* gives no clusters"),
        (make_count_clusters, {"rate": 0.0}, "rate=0.0 is not a mean count"),
        (make_count_clusters, {"dispersion": 0.5}, "dispersion=0.5 is below 1"),
    ],
)
def test_unusable_arguments_are_refused(make, options, message):
    with pytest.raises(ArgumentError, match=message):
        make(**options)
