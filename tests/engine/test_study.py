import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin.api.request import Request
from conjoin.datasets import make_class_clusters, make_clusters, make_count_clusters
from conjoin.engine.study import DatasetFacts, dataset_weights, make_study
from conjoin.models.likelihood import Likelihood
from conjoin.models.problem import LeastSquares
from conjoin.tables import collect

UNEQUAL = make_clusters(sizes=(1, 1), n=(20, 60), p=2).tables()


def test_numbers_become_moments_and_classes_keep_their_rows():
    numbers = make_study(collect(UNEQUAL, target="y"), Request(target="y"))
    assert isinstance(numbers.given, LeastSquares)
    assert numbers.given.folds.shape == (2, 10)
    assert_allclose(numbers.given.moments.n, [20, 60])
    classes = make_class_clusters(sizes=(2,), n=50, p=2).tables()
    study = make_study(collect(classes, target="y"), Request(target="y"))
    assert isinstance(study.given, Likelihood)
    assert study.gain_scale == 0.5


def test_datasets_or_rows_count_the_same():
    every = np.array([True, True])
    assert_allclose(dataset_weights(np.array([20.0, 60.0]), "datasets", every), [0.5, 0.5])
    assert_allclose(dataset_weights(np.array([20.0, 60.0]), "rows", every), [0.25, 0.75])


def test_counts_have_a_dispersion():
    tables = make_count_clusters(sizes=(2,), n=200, p=2).tables()
    request = Request(target="y", family="poisson")
    study = make_study(collect(tables, target="y", family="poisson"), request)
    assert 0.7 < study.dispersion < 1.5
    assert study.gain_scale == study.dispersion / 2


@pytest.mark.parametrize(("folds", "used"), [(10, 5), (12, 6), (3, 3)])
def test_many_datasets_of_classes_use_fewer_folds(monkeypatch, folds, used):
    monkeypatch.setattr("conjoin.engine.ordering.MANY_DATASETS", 2)
    tables = make_class_clusters(sizes=(3,), n=40, p=2).tables()
    study = make_study(collect(tables, target="y"), Request(target="y", folds=folds))
    assert study.given.folds.shape == (3, used)


def test_models_come_back_in_the_units_of_the_data():
    tables = {k: {**t, "y": 1000 * t["y"] + 5} for k, t in UNEQUAL.items()}
    collection = collect(tables, target="y")
    study = make_study(collection, Request(target="y"))
    m = study.given.moments.union()
    beta = np.linalg.solve(m.G, m.h)
    model = DatasetFacts.of(collection).model(study.basis, beta, 80, 0.5)
    X = np.stack([collection.X[:, 0], collection.X[:, 1], np.ones(80)], axis=1)
    slopes = np.linalg.lstsq(X, collection.y, rcond=None)[0]
    assert_allclose([*model.coef.values(), model.intercept], slopes)
    assert model.error == 0.5 * study.basis.target_scale**2
