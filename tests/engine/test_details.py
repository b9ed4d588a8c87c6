import numpy as np
import pytest
from numpy.testing import assert_allclose

import conjoin
from conjoin.datasets import make_clusters

TABLES = make_clusters(sizes=(3, 3), n=80, p=2, distance=2.0).tables()


@pytest.fixture(scope="module")
def result():
    return conjoin.partition(
        make_clusters(sizes=(3, 3), n=80, p=2, distance=2.0).tables(), target="y"
    )


def test_own_fits_are_least_squares_with_their_standard_errors(result):
    table = TABLES["d2"]
    details = result.analysis.details
    X = np.stack([np.ones(80), table["x1"], table["x2"]], axis=1)
    beta, rss, *_ = np.linalg.lstsq(X, table["y"], rcond=None)
    noise = float(rss[0]) / 77
    spread = np.sqrt(noise * np.diag(np.linalg.inv(X.T @ X)))
    assert_allclose(details.own[1, 1:], beta[1:])
    assert_allclose(details.own_spread[1, 1:], spread[1:])
    assert_allclose(details.noise[1], noise)


def test_errors_are_those_of_the_models_that_are_shown(result):
    errors = result.analysis.details.errors
    for cluster, model in zip(result.clusters, result.models):
        index = [list(result.labels).index(name) for name in cluster]
        assert model.error == pytest.approx(errors["cluster"][index].mean())
    assert result.pooled.error == pytest.approx(errors["all"].mean())
    own = result.analysis.chosen.own.losses.sum(axis=0)
    rows = result.analysis.start.problem.moments.w
    scale = result.analysis.study.basis.target_scale**2
    assert_allclose(errors["own"], own / rows * scale)


def test_a_far_value_and_a_sum_of_columns_are_noticed():
    tables = make_clusters(sizes=(2, 2), n=80, p=2).tables()
    for table in tables.values():
        table["sum"] = table["x1"] + table["x2"]
    tables["d1"]["x1"][3] = 1e6
    tables["d1"]["sum"] = tables["d1"]["x1"] + tables["d1"]["x2"]
    details = conjoin.partition(tables, target="y", drop_outliers=False).analysis.details
    assert details.dependent == 1
    assert details.far[0] > 10
