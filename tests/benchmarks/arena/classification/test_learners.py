"""Boosters are no test requirements: their tests are skipped where a package is missing."""

from typing import Any

import numpy as np
import pytest

from benchmarks.arena.classification.contestants import CONTESTANTS
from benchmarks.arena.classification.learners import BoostingOfAllClasses, Forest
from benchmarks.arena.classification.logistic import class_shares
from benchmarks.arena.classification.side import CLASSIFICATION
from benchmarks.arena.contest import compete
from benchmarks.arena.data import ArenaSet, splits, task_of
from benchmarks.arena.learners import NAMES, SETTINGS
from benchmarks.arena.run import judge


def contestant(name: str) -> Any:
    package = SETTINGS[name].booster if name in SETTINGS else name.split("-")[0]
    if package in ("lightgbm", "catboost", "xgboost", "sklego", "gpboost"):
        pytest.importorskip(package, reason=f"{package} is not installed", exc_type=ImportError)
    return CONTESTANTS[name]()


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("merf", "gpboost-boosting")])
def test_learners_give_probabilities(made_classes: ArenaSet, name: str) -> None:
    split = splits(made_classes, 0.5, 0)
    one = contestant(name)
    assert one.name == name
    outcome = compete(one, task_of(made_classes, split))
    assert outcome.predictions is not None, outcome.note
    np.testing.assert_allclose(outcome.predictions.sum(axis=1), 1.0, rtol=1e-6)
    assert (outcome.predictions > 0).all()
    error, _ = judge(CLASSIFICATION, made_classes, split, outcome)
    assert 0 < float(error) < 2 * np.log(3)


def test_gpboost_takes_two_classes_only(made_classes: ArenaSet) -> None:
    task = task_of(made_classes, splits(made_classes, 0.5, 0))
    one = contestant("gpboost-boosting")
    with pytest.raises(NotImplementedError, match="two classes only"):
        one.fit_predict(task)
    two = task._replace(y_train=np.where(task.y_train == "a", "a", "b").astype(object))
    answer = one.fit_predict(two)
    np.testing.assert_allclose(answer.sum(axis=1), 1.0)
    assert answer.min() > 0 and np.std(answer) > 0.05


@pytest.mark.parametrize("booster", ["lightgbm", "catboost", "xgboost"])
def test_a_group_of_one_class_has_its_shares(made_classes: ArenaSet, booster: str) -> None:
    task = task_of(made_classes, splits(made_classes, 0.5, 0))
    y = np.where(task.groups_train == "two", "a", task.y_train).astype(object)
    one = contestant(f"{booster}-separate")
    p = one.fit_predict(task._replace(y_train=y))
    rows, shares = np.sum(task.groups_train == "two"), class_shares(y)
    np.testing.assert_allclose(p[task.groups_test == "two", 2], shares["c"] / (rows + 1))
    assert one.note == "1 groups not fitted, the first one: its rows have a single class"


def test_early_stopping_takes_a_class_of_one_row(made_classes: ArenaSet) -> None:
    task = task_of(made_classes, splits(made_classes, 0.5, 0))
    for row in range(10):
        y = task.y_train.copy()
        y[row] = "z"
        assert (
            contestant("lightgbm-named-early").fit_predict(task._replace(y_train=y)).shape[1] == 4
        )


def test_boosting_of_all_classes_takes_rows_of_one_class() -> None:
    shares = {"a": 0.5, "b": 0.5}
    model = BoostingOfAllClasses(shares).fit(np.zeros((3, 1)), np.array(["b"] * 3))
    np.testing.assert_allclose(model.predict_proba(np.zeros((1, 1))), [[0.125, 0.875]])


def test_a_forest_counts_one_tree_of_the_shares(made_classes: ArenaSet) -> None:
    task = task_of(made_classes, splits(made_classes, 0.5, 0))
    shares = class_shares(task.y_train)
    assert Forest().fit_predict(task).min() >= min(shares.values()) / 101
