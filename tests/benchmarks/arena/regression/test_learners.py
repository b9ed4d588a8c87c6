"""Boosters are no test requirements: their tests are skipped where a package is missing."""

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from benchmarks.arena.contest import compete
from benchmarks.arena.data import FloatArray, Task
from benchmarks.arena.learners import NAMES, SETTINGS
from benchmarks.arena.regression.contestants import CONTESTANTS
from benchmarks.arena.regression.learners import (
    BoostedRandomEffectsRegressor,
    Forest,
    LegoBoosting,
    MixedForest,
)

ROWS = 300


@pytest.fixture
def task() -> Task:
    """Three groups with levels of their own and a bend that all share."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(2 * ROWS, 2))
    groups = np.array(["a", "b", "c"] * (2 * ROWS // 3), dtype=object)
    level = np.select([groups == "a", groups == "b"], [-3.0, 0.0], 3.0)
    y = level + np.abs(X[:, 0]) + 0.1 * generator.normal(size=2 * ROWS)
    return Task(X[:ROWS], y[:ROWS], groups[:ROWS], X[ROWS:], groups[ROWS:])


def truth(task: Task) -> FloatArray:
    level = np.select([task.groups_test == "a", task.groups_test == "b"], [-3.0, 0.0], 3.0)
    return level + np.abs(task.X_test[:, 0])


def contestant(name: str) -> Any:
    package = SETTINGS[name].booster if name in SETTINGS else name.split("-")[0]
    if package in ("lightgbm", "catboost", "xgboost", "sklego", "gpboost"):
        pytest.importorskip(package, reason=f"{package} is not installed", exc_type=ImportError)
    return CONTESTANTS[name]()


@pytest.mark.parametrize("name", NAMES)
def test_learners_find_levels_and_the_bend(task: Task, name: str) -> None:
    one = contestant(name)
    assert one.name == name
    outcome = compete(one, task)
    assert outcome.predictions is not None, outcome.note
    error = np.mean((outcome.predictions - truth(task)) ** 2)
    # Without the name the levels are lost; they have a variance of 6.
    assert (error > 5) if "pooled" in name else (error < 0.2)
    again = compete(contestant(name), task)
    np.testing.assert_array_equal(again.predictions, outcome.predictions)


@pytest.mark.parametrize("booster", ["lightgbm", "catboost", "xgboost"])
def test_a_group_of_one_row_has_its_mean(task: Task, booster: str) -> None:
    kept = np.flatnonzero(task.groups_train != "c")[:200].tolist()
    kept.append(int(np.flatnonzero(task.groups_train == "c")[0]))
    few = task._replace(
        X_train=task.X_train[kept], y_train=task.y_train[kept], groups_train=task.groups_train[kept]
    )
    one = contestant(f"{booster}-separate")
    answer = one.fit_predict(few)
    np.testing.assert_allclose(answer[few.groups_test == "c"], few.y_train[-1], rtol=1e-6)
    assert booster == "xgboost" or one.note.startswith("1 groups not fitted")


def test_early_stopping_says_how_many_rounds_it_took(task: Task) -> None:
    one = contestant("lightgbm-named-early")
    one.fit_predict(task)
    rounds = int(one.note.removesuffix(" rounds"))
    assert 10 < rounds < 2000


def test_a_forest_takes_whole_numbers_for_numbers(task: Task) -> None:
    """TargetEncoder would otherwise take such a target for classes."""
    whole = task._replace(y_train=np.round(task.y_train))
    assert Forest().fit_predict(whole).shape == task.groups_test.shape


def test_mixed_forest_takes_the_steps_of_merf(task: Task) -> None:
    merf = pytest.importorskip("merf", reason="merf is not installed")
    from pandas import Series
    from sklearn.ensemble import RandomForestRegressor

    one = merf.MERF(RandomForestRegressor(random_state=0), max_iterations=20)
    column = np.ones((ROWS, 1))
    one.fit(task.X_train, column, Series(task.groups_train), task.y_train)
    theirs = one.predict(task.X_test, column, Series(task.groups_test))
    ours = MixedForest().fit_predict(task)
    # Splits of equal gain are told apart by rounding: a few trees differ.
    assert np.mean((theirs - ours) ** 2) < 0.01 * np.var(task.y_train)


def test_scikit_lego_is_given_boosted_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """scikit-lego is not a test requirement: a stand-in is enough for what it is given."""
    meta, package = ModuleType("sklego.meta"), ModuleType("sklego")
    package.meta = meta  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sklego", package)
    monkeypatch.setitem(sys.modules, "sklego.meta", meta)
    one = LegoBoosting()
    assert one.name == "sklego-boosting" and one.shrinkage is None
    assert type(one.estimator()).__name__ == "HistGradientBoostingRegressor"


def test_gpboost_is_given_trees_and_random_effects(
    monkeypatch: pytest.MonkeyPatch, task: Task
) -> None:
    """GPBoost is not a test requirement: a stand-in records how it is called."""
    seen: dict[str, Any] = {}

    class FakeBooster:
        def predict(self, **options: Any) -> dict[str, Any]:
            seen["predict"] = options
            return {"response_mean": np.full(len(options["data"]), 0.25)}

    def train(parameters: dict[str, Any], data: Any, **options: Any) -> FakeBooster:
        seen["train"] = parameters | options
        return FakeBooster()

    module = ModuleType("gpboost")
    module.GPModel = lambda **options: options  # type: ignore[attr-defined]
    module.Dataset = lambda X, y: (X, y)  # type: ignore[attr-defined]
    module.train = train  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "gpboost", module)
    answer = BoostedRandomEffectsRegressor().fit_predict(task)
    np.testing.assert_array_equal(answer, np.full(len(task.X_test), 0.25))
    assert seen["train"]["gp_model"]["likelihood"] == "gaussian"
    assert seen["train"]["leaves_newton_update"] and seen["train"]["num_threads"] == 1
    assert seen["predict"]["group_data_pred"].tolist() == task.groups_test.tolist()
