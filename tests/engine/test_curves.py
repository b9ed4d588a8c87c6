"""Lines with a smooth curve for each dataset."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import conjoin
from conjoin.api.request import Request
from conjoin.engine import curves, entries
from conjoin.engine.learning import CURVE_GROUPS, groups_and_past
from conjoin.engine.study import make_study
from conjoin.learners.boosting import Boosting
from conjoin.learners.columns import LearnerColumns
from conjoin.learners.forward import forward_groups
from conjoin.learners.rows import Past
from conjoin.models.partial import fit_variances
from conjoin.moments import folds
from conjoin.moments.forward import plan_forward
from conjoin.tables import collect

QUICK = Boosting(rounds=20, leaves=8)


@pytest.fixture(scope="module")
def walks():
    """Sixty datasets over 25 years; each follows a random walk of its own."""
    rng = np.random.default_rng(0)
    K, T = 60, 25
    walk = np.cumsum(rng.normal(size=(K, T)), axis=1)
    frame = pd.DataFrame(
        {
            "year": np.tile(np.arange(T), K),
            "other": rng.normal(size=K * T),
            "y": (walk + 0.3 * rng.normal(size=(K, T))).ravel(),
            "name": np.repeat([f"d{k}" for k in range(K)], T),
        }
    )
    new = rng.random(len(frame)) < 0.2
    return frame[~new], frame[new]


@pytest.fixture(scope="module")
def found(walks):
    return conjoin.partition(walks[0], target="y", by="name", learner=QUICK)


def test_curves_follow_what_neighbours_have_in_common(found, walks):
    errors = {name: one.error for name, one in found.errors.items()}
    assert errors["curves"] < 0.5 * min(errors["linear"], errors["learner named"])
    came_out = float(np.mean((found.using("curves").predict(walks[1]) - walks[1]["y"]) ** 2))
    assert came_out == pytest.approx(errors["curves"], rel=0.3)
    assert found.weights["curves"] > 0.5
    settings = found.schema.predictions.settings["curves"]
    assert settings["column"] == "year"


def test_curves_are_saved_and_read(found, walks, tmp_path):
    found.save(tmp_path / "m.json")
    again = conjoin.load(tmp_path / "m.json")
    assert_allclose(again.predict(walks[1]), found.predict(walks[1]))


def test_there_are_none_where_lines_hold():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": X[:, 0] + rng.normal(size=300)})
    table["name"] = np.repeat(list("abcdef"), 50)
    found = conjoin.partition(table, target="y", by="name", learner=QUICK)
    assert "curves" not in found.errors


def test_many_rows_are_worked_on_in_parts(found, walks, monkeypatch):
    """Moments of parts of the datasets stand for rows, and give the same curves."""
    monkeypatch.setattr(curves, "FEW_ROWS", 0)
    monkeypatch.setattr(curves, "moments_are_small", lambda rows, design: True)
    monkeypatch.setattr(folds, "MOST_AT_ONCE", 0)
    monkeypatch.setattr(folds, "PART_ROWS", 100)
    monkeypatch.setattr(entries, "PART_ROWS", 100)
    again = conjoin.partition(walks[0], target="y", by="name", learner=QUICK)
    assert_allclose(again.predict(walks[1]), found.predict(walks[1]), rtol=1e-6)
    assert again.errors["curves"].error == pytest.approx(found.errors["curves"].error)


def test_very_many_rows_are_gone_through_twice(found, walks, monkeypatch):
    """Centres from sums over parts, then the datasets of each part: the same curves."""
    monkeypatch.setattr(curves, "FEW_ROWS", 0)
    monkeypatch.setattr(curves, "LARGE", 0)
    monkeypatch.setattr(curves, "moments_are_small", lambda rows, design: True)
    monkeypatch.setattr(folds, "MOST_AT_ONCE", 0)
    monkeypatch.setattr(folds, "PART_ROWS", 100)
    again = conjoin.partition(walks[0], target="y", by="name", learner=QUICK)
    assert_allclose(again.predict(walks[1]), found.predict(walks[1]), rtol=1e-6)
    assert again.errors["curves"].error == pytest.approx(found.errors["curves"].error)


def test_curves_are_judged_on_the_folds_of_lines(walks):
    table = collect(walks[0], target="y", by="name")
    study = make_study(table, Request(target="y", by="name"))
    group, past = groups_and_past(study, CURVE_GROUPS)
    assert past is None
    assert np.array_equal(group, study.dealt.fold)


@pytest.mark.parametrize("fit", [curves._fit_rows, curves._fit_moments, curves._fit_in_passes])
def test_ordered_in_time_no_curve_has_seen_what_comes_later(walks, fit):
    """Later targets change, and predictions of earlier rows by given variances stay."""
    table = collect(walks[0], target="y", by="name")
    study = make_study(table, Request(target="y", by="name"))
    year = table.X[:, list(table.features).index("year")]
    plan = plan_forward(year, 3)
    group, past = forward_groups(plan, study.dealt.rank, 3)
    columns = LearnerColumns.of(table.schema)
    design = curves._Design.of(year, columns.names.index("year"))

    def held_out(y, seen):
        rows = curves._Rows(replace(table, y=y), study, columns, group, seen)
        return fit(rows, hyper, design)[0]

    rows = curves._Rows(table, study, columns, group, past)
    family = curves._family(rows.p, len(design.knots), each=False)
    hyper = fit_variances(curves._all_rows(rows.of(np.arange(60), design)), family, steps=3)
    last = plan.latest == len(plan.origins) - 1
    later = np.where(last, table.y + 9, table.y)
    assert_allclose(held_out(later, past), held_out(table.y, past), rtol=1e-9)
    moved = held_out(later, all_others(group)) - held_out(table.y, all_others(group))
    assert np.any(np.abs(moved[~last]) > 1)


def all_others(group):
    groups = int(group.max()) + 1
    return Past(group, ~np.eye(groups, dtype=bool), groups)
