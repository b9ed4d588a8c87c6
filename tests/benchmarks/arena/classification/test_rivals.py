from pathlib import Path

import numpy as np
import pytest

from benchmarks.arena.classification.contestants import CONTESTANTS
from benchmarks.arena.classification.logistic import class_shares
from benchmarks.arena.classification.measure import load, split_error
from benchmarks.arena.classification.rivals import PooledLogistic, RidgeByGroup, SeparateLogistic
from benchmarks.arena.classification.side import CLASSIFICATION
from benchmarks.arena.contest import compete
from benchmarks.arena.data import ArenaSet, Task, splits, task_of
from benchmarks.arena.learners import NAMES as LEARNERS
from benchmarks.arena.run import judge

NEED_NO_PACKAGE = [
    name
    for name in CONTESTANTS
    if not name.startswith(("sklego", "gpboost")) and name not in LEARNERS
]


@pytest.mark.parametrize("name", ["contraception", "radon_action", "ppge_reached", "school_band"])
def test_pooled_beats_the_frequencies_of_the_classes(data_root: Path, name: str) -> None:
    small = load(name, data_root)
    split = splits(small, 0.5, 0)
    task = task_of(small, split)
    pooled = split_error(small, split, PooledLogistic().fit_predict(task))[0]
    shares = list(class_shares(task.y_train).values())
    chance = split_error(small, split, np.tile(shares, (len(split.test), 1)))[0]
    assert pooled < chance


@pytest.mark.parametrize("name", NEED_NO_PACKAGE)
def test_contestants_give_probabilities(made_classes: ArenaSet, name: str) -> None:
    split = splits(made_classes, 0.5, 0)
    outcome = compete(CONTESTANTS[name](), task_of(made_classes, split))
    assert outcome.predictions is not None, outcome.note
    assert (
        outcome.predictions.shape
        == CLASSIFICATION.shape(made_classes, split)
        == (len(split.test), 3)
    )
    np.testing.assert_allclose(outcome.predictions.sum(axis=1), 1.0)
    assert (outcome.predictions > 0).all()
    error, _ = judge(CLASSIFICATION, made_classes, split, outcome)
    assert 0 < float(error) < np.log(3)


def test_a_class_that_a_group_lacks_has_the_weight_of_one_row(made_classes: ArenaSet) -> None:
    task = task_of(made_classes, splits(made_classes, 0.5, 0))
    contestant = SeparateLogistic()
    p = contestant.fit_predict(task)
    two = task.groups_test == "two"
    n = np.sum(task.groups_train == "two")
    np.testing.assert_allclose(p[two, 2], np.mean(task.y_train == "c") / (n + 1))
    assert contestant.note == "1 groups lack a class"


def test_ridge_with_slopes_tells_opposite_groups_apart() -> None:
    generator = np.random.default_rng(4)
    X = generator.normal(size=(400, 1))
    groups = np.array(["one", "two"] * 200, dtype=object)
    sign = np.where(groups == "one", 1, -1)
    y = np.where(sign * X[:, 0] > 0, "yes", "no").astype(object)
    p = RidgeByGroup(slopes=True).fit_predict(
        Task(X[:200], y[:200], groups[:200], X[200:], groups[200:])
    )
    assert np.mean((p[:, 1] > 0.5) == (y[200:] == "yes")) > 0.95
