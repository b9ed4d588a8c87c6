import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from benchmarks.arena.data import ArenaSet, Task, splits, task_of
from benchmarks.arena.learners import NAMES as LEARNERS
from benchmarks.arena.regression.contestants import CONTESTANTS
from benchmarks.arena.regression.rivals import PooledLeastSquares, SeparateLeastSquares


@pytest.fixture
def task() -> Task:
    """Two groups with opposite slopes and no noise."""
    X = np.random.default_rng(0).normal(size=(40, 1))
    groups = np.array(["a", "b"] * 20, dtype=object)
    y = np.where(groups == "a", 1.0, -1.0) * X[:, 0]
    return Task(X[:20], y[:20], groups[:20], X[20:], groups[20:])


def test_separate_models_fit_every_group(task: Task) -> None:
    expected = np.where(task.groups_test == "a", 1.0, -1.0) * task.X_test[:, 0]
    np.testing.assert_allclose(SeparateLeastSquares().fit_predict(task), expected, atol=1e-12)


def test_the_pooled_model_is_least_squares_of_all_rows(task: Task) -> None:
    A, B = (np.column_stack([np.ones(len(X)), X]) for X in (task.X_train, task.X_test))
    beta = np.linalg.lstsq(A, task.y_train, rcond=None)[0]
    np.testing.assert_allclose(PooledLeastSquares().fit_predict(task), B @ beta)


def test_settings_of_scikit_lego(monkeypatch: pytest.MonkeyPatch, made: ArenaSet) -> None:
    """scikit-lego is not a test requirement: a stand-in records its arguments."""
    seen: dict[str, Any] = {}

    class FakeGrouped:
        def __init__(self, estimator: Any, **options: Any) -> None:
            seen.update(options)

        def fit(self, X: Any, y: Any) -> None:
            seen["columns"] = list(X.columns)

        def predict(self, X: Any) -> Any:
            return np.zeros((len(X), 1))

    meta = ModuleType("sklego.meta")
    meta.GroupedRegressor = FakeGrouped  # type: ignore[attr-defined]
    package = ModuleType("sklego")
    package.meta = meta  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sklego", package)
    monkeypatch.setitem(sys.modules, "sklego.meta", meta)
    task = task_of(made, splits(made, 0.1, 0))
    kinds: dict[str, dict[str, float] | None] = {}
    for name, factory in CONTESTANTS.items():
        if name.startswith("sklego") and name not in LEARNERS:
            contestant: Any = factory()
            assert contestant.name == name
            assert contestant.fit_predict(task).shape == (len(task.X_test),)
            assert seen["columns"][-1] == "group"
            kinds[name] = seen["shrinkage_kwargs"]
    rows, columns = task.X_train.shape
    assert kinds["sklego"] is None and kinds["sklego-constant-0.25"] == {"alpha": 0.25}
    assert kinds["sklego-min_n_obs-30"] == {"min_n_obs": min(30, rows)}
    assert kinds["sklego-min_n_obs-2p"] == {"min_n_obs": min(2 * (columns + 1), rows)}
