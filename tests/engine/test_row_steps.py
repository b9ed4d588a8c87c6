"""Datasets with fewer rows than columns: one cluster, the same models, and plain words."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import conjoin
from conjoin.learners.boosting import Boosting
from conjoin.models import effort


@pytest.fixture(scope="module")
def table():
    """Sixty datasets of 2 to 4 rows with twelve columns, which differ in level."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(2, 5, 60)
    X = rng.normal(size=(sizes.sum(), 12))
    name = np.repeat(np.arange(60), sizes)
    y = X[:, 0] - X[:, 1] + 2 * rng.normal(size=60)[name] + rng.normal(size=len(X))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(12)])
    return frame.assign(y=y, name=[f"d{k}" for k in name])


@pytest.fixture(scope="module")
def by_rows(table):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(effort, "MANY_OPERATIONS", 0)
        return conjoin.partition(table, target="y", by="name")


def test_models_are_those_of_systems_of_columns(table, by_rows):
    usual = conjoin.partition(table, target="y", by="name")
    for name in ("pooled", "slopes", "separate"):
        assert by_rows.errors[name].error == pytest.approx(usual.errors[name].error, rel=1e-2)
    one, two = (found.using("slopes").predict(table) for found in (by_rows, usual))
    assert_allclose(one, two, atol=1e-3)


def test_all_datasets_are_one_cluster_and_the_verdict_says_why(by_rows):
    assert len(by_rows.clusters) == 1
    assert by_rows.grouping == "none"
    assert by_rows.ledger() == ()
    facts = by_rows.to_dict() if hasattr(by_rows, "to_dict") else None
    words = str(by_rows) if facts is None else str(by_rows) + facts["verdict"]
    assert "too few to tell them apart" in words
    assert by_rows.errors["intercept"].error < 0.8 * by_rows.errors["pooled"].error


def test_the_result_predicts_saves_places_and_draws(table, by_rows, tmp_path):
    by_rows.save(tmp_path / "m.json")
    again = conjoin.load(tmp_path / "m.json")
    assert_allclose(again.predict(table), by_rows.predict(table))
    by_rows.report(tmp_path / "m.html")
    assert "too few to tell them apart" in (tmp_path / "m.html").read_text()
    new = table[table["name"] == "d3"]
    assert by_rows.assign(new.drop(columns=["y", "name"]), new["y"]).probability_new > 0


def test_a_learner_goes_on_from_rows(table):
    rng = np.random.default_rng(1)
    many = pd.concat([table.assign(name=table["name"] + str(i)) for i in range(3)])
    many = many.assign(y=many["y"] + 2 * np.abs(many["x2"]) + 0.1 * rng.normal(size=len(many)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(effort, "MANY_OPERATIONS", 0)
        learner = Boosting(rounds=20, leaves=8)
        found = conjoin.partition(many, target="y", by="name", learner=learner)
    errors = {name: one.error for name, one in found.errors.items()}
    assert errors["auto"] < 1.02 * min(errors["linear"], errors["corrected"])
    assert np.isfinite(found.predict(many)).all()
