"""GPBoost is not a test requirement: a stand-in records how it is called."""

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from benchmarks.arena.classification.rivals import BoostRandomEffectsBinary
from benchmarks.arena.data import ArenaSet, splits, task_of
from benchmarks.arena.regression.rivals import BoostRandomEffects

CALLS: list[dict[str, Any]] = []


class FakeModel:
    def __init__(self, **options: Any) -> None:
        CALLS.append(options)

    def fit(self, **options: Any) -> None:
        CALLS.append(options)

    def predict(self, **options: Any) -> dict[str, Any]:
        CALLS.append(options)
        return {"mu": np.full(len(options["X_pred"]), 0.25)}


@pytest.fixture(autouse=True)
def fake_gpboost(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("gpboost")
    module.GPModel = FakeModel  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "gpboost", module)
    CALLS.clear()


@pytest.mark.parametrize("slopes", [False, True])
def test_regression_fits_a_gaussian_model(made: ArenaSet, slopes: bool) -> None:
    task = task_of(made, splits(made, 0.5, 0))
    contestant = BoostRandomEffects(slopes)
    np.testing.assert_array_equal(contestant.fit_predict(task), np.full(len(task.X_test), 0.25))
    model, fit, predict = CALLS
    assert contestant.name == ("gpboost-slopes" if slopes else "gpboost-intercept")
    assert model["likelihood"] == "gaussian" and ("group_rand_coef_data" in model) == slopes
    assert fit["X"].shape == (len(task.X_train), task.X_train.shape[1] + 1)
    assert fit["params"] == {"max_num_restarts_lbfgs": 5}
    assert ("group_rand_coef_data_pred" in predict) == slopes and contestant.note == ""


def test_dependent_fixed_effects_are_left_out(made: ArenaSet) -> None:
    twice = ArenaSet("made", made.X[:, [0, 1, 1]], made.y, made.groups, ("a", "b", "b again"))
    task = task_of(twice, splits(twice, 0.5, 0))
    contestant = BoostRandomEffects(slopes=False)
    contestant.fit_predict(task)
    assert contestant.note == "1 dependent fixed effects left out"
    assert CALLS[1]["X"].shape[1] == CALLS[2]["X_pred"].shape[1] == 3


def test_two_classes_become_probabilities(made_classes: ArenaSet) -> None:
    task = task_of(made_classes, splits(made_classes, 0.5, 0))
    two = task._replace(y_train=np.where(task.y_train == "a", "a", "b").astype(object))
    answer = BoostRandomEffectsBinary(slopes=False).fit_predict(two)
    np.testing.assert_allclose(answer[0], [0.75, 0.25])
    assert CALLS[0]["likelihood"] == "bernoulli_logit" and CALLS[2]["predict_response"]
    assert set(CALLS[1]["y"]) == {0.0, 1.0}
    with pytest.raises(NotImplementedError, match="two classes only"):
        BoostRandomEffectsBinary(slopes=False).fit_predict(task)
