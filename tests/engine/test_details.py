import numpy as np
import pytest
from numpy.testing import assert_allclose

import conjoin
from conjoin.datasets import make_clusters
from conjoin.report.coefficients import coefficient_facts
from conjoin.report.view import View

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


def test_a_column_constant_in_every_dataset_leaves_the_coefficients_of_the_others():
    rng = np.random.default_rng(3)
    tables = {}
    for k in range(4):
        x = rng.standard_normal(40)
        y = (1 + k % 2) * x + 0.3 * k + 0.1 * rng.standard_normal(40)
        tables[f"d{k}"] = {"region": np.full(40, 0.3 * k), "x": x, "y": y}
    result = conjoin.partition(tables, target="y")
    details, (level, region, slope) = result.analysis.details, range(3)
    x, y = tables["d1"]["x"], tables["d1"]["y"]
    X = np.stack([np.ones(40), x], axis=1)
    beta, rss, *_ = np.linalg.lstsq(X, y, rcond=None)
    assert_allclose(details.own[1, slope], beta[1])
    spread = np.sqrt(float(rss[0]) / 38 * np.linalg.inv(X.T @ X)[1, 1])
    assert_allclose(details.own_spread[1, slope], spread)
    assert np.isnan(details.own[:, [level, region]]).all()
    assert np.isfinite(details.own[:, slope]).all()
    found = coefficient_facts(View(result))
    assert (found["without"], found["partly"]) == (0, 4)
