import multiprocessing
import os
import time

import numpy as np
import pytest

from benchmarks.arena.contest import (
    Contestant,
    compete,
    compete_guarded,
    independent_columns,
    make_and_compete,
    with_group,
)
from benchmarks.arena.data import ArenaSet, FloatArray, Task, splits, task_of

needs_fork = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="needs forked processes"
)


class Mean:
    name, note = "mean", "a remark"

    def fit_predict(self, task: Task) -> FloatArray:
        os.write(1, b"a printed line\n")
        return np.full(len(task.X_test), np.mean(task.y_train))


class Broken:
    name = "broken"

    def fit_predict(self, task: Task) -> FloatArray:
        raise ValueError("no")


class Slow:
    name = "slow"

    def fit_predict(self, task: Task) -> FloatArray:
        time.sleep(60)
        return np.zeros(len(task.X_test))


@pytest.fixture
def task(made: ArenaSet) -> Task:
    return task_of(made, splits(made, 0.5, 0))


def test_a_contestant_has_a_name_and_fit_predict() -> None:
    assert isinstance(Mean(), Contestant)
    assert not isinstance(object(), Contestant)


def test_predictions_and_note_come_back(task: Task) -> None:
    outcome = compete(Mean(), task)
    np.testing.assert_allclose(outcome.predictions, np.mean(task.y_train))
    assert outcome.note == "a remark" and outcome.seconds > 0


@needs_fork
def test_what_a_contestant_prints_goes_into_the_note(task: Task) -> None:
    outcome = compete_guarded(Mean(), task, 60.0)
    np.testing.assert_allclose(outcome.predictions, np.mean(task.y_train))
    assert outcome.note == "a remark; a printed line"


def test_an_error_is_a_note(task: Task) -> None:
    outcome = make_and_compete(Broken, task, 60.0)
    assert outcome.predictions is None and outcome.note == "ValueError: no"


@needs_fork
def test_the_time_limit_ends_a_fit(task: Task) -> None:
    start = time.perf_counter()
    outcome = compete_guarded(Slow(), task, 0.2)
    assert outcome.predictions is None and outcome.note == "stopped at the time limit of 0.2 s"
    assert time.perf_counter() - start < 30


def test_a_missing_package_is_a_note(task: Task) -> None:
    def factory() -> Contestant:
        raise ImportError("No module named 'absent'")

    outcome = make_and_compete(factory, task, 60.0)
    assert outcome.predictions is None and outcome.note == "ImportError: No module named 'absent'"


def test_dependent_columns_are_dropped_and_the_intercept_stays() -> None:
    x = np.array([1.0, -1.0, 2.0, -2.0])
    kept = independent_columns(np.column_stack([np.ones(4), x, 2 * x, x**2 - 2.5]))
    assert 0 in kept and 3 in kept and len(kept) == 3


def test_frame_with_group_column() -> None:
    frame = with_group(np.zeros((2, 2)), np.array(["a", "b"], dtype=object))
    assert list(frame.columns) == ["x0", "x1", "group"] and frame["group"].tolist() == ["a", "b"]
