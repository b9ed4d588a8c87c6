"""Nearly collinear columns keep their signal, and others keep their coordinates."""

import duckdb
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import conjoin
from conjoin.api.request import Request
from conjoin.engine import remote
from conjoin.engine.study import make_study
from conjoin.tables import collect

SHOPS, ROWS = 4, 80


def shops(columns, y):
    return pd.DataFrame(
        {"shop": np.repeat([f"s{k}" for k in range(SHOPS)], ROWS), **columns, "y": y}
    )


def years(seed=0):
    """A year and its square; the target is a parabola around 2010."""
    rng = np.random.default_rng(seed)
    year = rng.integers(1990, 2031, SHOPS * ROWS).astype(float)
    noise = 0.1 * rng.standard_normal(len(year))
    return shops({"year": year, "year2": year**2}, 3 * ((year - 2010) / 10) ** 2 + noise)


def twins(eps, seed=0):
    """Two columns that differ by `eps`; the target is their difference."""
    rng = np.random.default_rng(seed)
    a, z, noise = rng.standard_normal((3, SHOPS * ROWS))
    b = a + eps * z
    return shops({"a": a, "b": b}, (b - a) / eps + 0.1 * noise)


def errors(data):
    found = conjoin.partition(data, target="y", by="shop")
    return {name: estimate.error for name, estimate in found.errors.items()}


def study_of(table):
    return make_study(collect(table, target="y", by="shop"), Request(target="y", by="shop"))


def test_a_year_and_its_square_keep_a_parabola():
    found = errors(years())
    assert found["separate"] < 0.02
    for name in ("auto", "pooled", "clusters", "mixture"):
        assert found[name] < 1.1 * found["separate"]


@pytest.mark.parametrize("eps", [0.03, 0.008, 1e-3, 1e-5, 1e-7, 1e-9, 1e-11, 1e-13])
def test_the_difference_of_two_columns_is_kept(eps):
    table = twins(eps)
    found = errors(table)
    for name in ("separate", "auto", "pooled", "clusters"):
        assert found[name] < 0.0115  # the noise variance is 0.01
    assert found["auto"] < 1.1 * found["separate"]


@pytest.mark.parametrize("eps", [1e-4, 1e-7])
def test_separate_models_are_those_of_numpy(eps):
    table = twins(eps)
    found = conjoin.partition(table, target="y", by="shop", strategy="separate")
    for name, rows in table.groupby("shop"):
        A = np.column_stack([np.ones(ROWS), rows["a"], rows["b"]])
        expected = A @ np.linalg.lstsq(A, rows["y"], rcond=None)[0]
        assert_allclose(found.predict(rows), expected, atol=1e-6, err_msg=name)


def test_models_survive_a_file_and_place_new_rows(tmp_path):
    table = years()
    found = conjoin.partition(table, target="y", by="shop")
    found.save(tmp_path / "model.json", evidence=True)
    again = conjoin.load(tmp_path / "model.json")
    assert again.analysis.placement.basis.matrix is not None
    rows = table.iloc[:40].drop(columns="shop")
    one, two = found.assign(rows, rows["y"]), again.assign(rows, rows["y"])
    assert_allclose(two.model.intercept, one.model.intercept)
    assert_allclose(two.model.predict(rows[["year", "year2"]].to_numpy()), rows["y"], atol=0.6)


def test_figures_of_the_report_are_in_the_units_of_the_data():
    table = twins(0.01)
    found = conjoin.partition(table, target="y", by="shop")
    details = found.analysis.details
    for k, (_, rows) in enumerate(table.groupby("shop")):
        A = np.column_stack([np.ones(ROWS), rows["a"], rows["b"]])
        beta, rss = np.linalg.lstsq(A, rows["y"], rcond=None)[:2]
        spread = np.sqrt(rss[0] / (ROWS - 3) * np.diag(np.linalg.inv(A.T @ A)))
        assert_allclose(details.own[k, 1:], beta[1:], rtol=1e-6)
        assert_allclose(details.own_spread[k, 1:], spread[1:], rtol=1e-6)
    assert details.dependent == 0 and details.far == {}


def test_ordinary_columns_keep_their_coordinates():
    assert study_of(twins(0.3)).basis.matrix is None
    assert study_of(twins(0.003)).basis.matrix is not None


def test_large_coefficients_need_a_clearly_lower_error():
    # The usual prior loses 1 % here, about one standard error.
    assert study_of(twins(0.01)).basis.matrix is None


def test_a_direction_of_rounding_keeps_the_usual_prior():
    rng = np.random.default_rng(0)
    a, c, noise = rng.standard_normal((3, SHOPS * ROWS))
    y = a + 0.5 * c + noise
    rounded = shops({"a": a, "b": np.round(3 * a, 1), "c": c}, y)
    assert study_of(rounded).basis.matrix is None  # in spite of an eigenvalue of 5e-5


def test_rows_that_stay_in_a_database_are_treated_alike(monkeypatch):
    monkeypatch.setattr(remote, "MOST_VALUES", -1)
    for table in (years(), twins(1e-5)):
        with duckdb.connect() as connection:
            found = errors(connection.from_df(table))
        for name, error in errors(table).items():
            assert found[name] == pytest.approx(error, rel=1e-4)


@pytest.mark.filterwarnings("ignore::conjoin.errors.ConjoinWarning")
def test_classes_see_the_same_signal():
    table = years()
    table["y"] = np.where(table["y"] > 4, "far", "near")
    found = conjoin.partition(table, target="y", by="shop")
    assert found.errors["auto"].error < 0.1
