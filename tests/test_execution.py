import os
import sys
import threading
import time
from contextlib import contextmanager
from functools import partial

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_info

import conjoin
from conjoin import execution
from conjoin.datasets import make_clusters
from conjoin.engine import stability
from conjoin.learners.crossfit import predict_column
from conjoin.learners.foreign import Foreign
from conjoin.learners.rows import LearnerRows


@pytest.mark.parametrize("alone", [True, False])
def test_results_come_in_the_order_of_the_items(alone):
    def work(i):
        time.sleep(0.01 * (3 - i))
        return i, threading.current_thread() is threading.main_thread()

    found = list(execution.in_threads(work, range(3), alone=alone))
    assert [i for i, _ in found] == [0, 1, 2]
    if alone or len(os.sched_getaffinity(0)) < 2:
        assert all(main for _, main in found)


@pytest.mark.parametrize("processors", [1, 2])
def test_items_that_come_one_by_one_are_never_many(monkeypatch, processors):
    monkeypatch.setattr(execution, "_processors", lambda: processors)
    given, taken = [], []

    def items():
        for i in range(20):
            given.append(i)
            assert len(given) - len(taken) <= processors + 2
            yield i

    for found in execution.in_threads_as_they_come(lambda i: 2 * i, items()):
        taken.append(found)
    assert taken == [2 * i for i in range(20)]


def test_an_error_reaches_the_caller():
    def work(i):
        raise ValueError(i)

    with pytest.raises(ValueError, match="0"):
        list(execution.in_threads(work, range(3), alone=False))


def test_the_same_answer_for_any_number_of_threads(monkeypatch):
    tables = make_clusters(sizes=(300, 301), n=12, p=9, distance=2.0).tables()
    answers = []
    for workers in (1, 3):
        monkeypatch.setattr(execution, "_processors", lambda workers=workers: workers)
        result = conjoin.partition(tables, target="y")
        answers.append(np.array([fit.intercept for fit in result.coefficients.values()]))
    np.testing.assert_array_equal(*answers)


def test_work_that_has_not_begun_is_cancelled_after_an_error(monkeypatch):
    monkeypatch.setattr(execution, "_processors", lambda: 2)
    begun = []

    def work(i):
        begun.append(i)
        if i == 0:
            raise ValueError("first")
        time.sleep(0.05)

    with pytest.raises(ValueError, match="first"):
        list(execution.in_threads(work, range(1000), alone=False))
    assert len(begun) < 1000


@pytest.mark.parametrize("alone", [True, False])
def test_two_pieces_of_work_give_both_results(alone):
    assert execution.side_by_side(lambda: 1, lambda: "two", alone=alone) == (1, "two")


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_the_linear_algebra_stays_on_one_thread():
    before = blas_threads()
    with execution.one_thread():
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


def test_large_arrays_are_given_back_while_rows_are_many(monkeypatch):
    calls = []
    monkeypatch.setattr(
        execution, "_of_c_library", lambda name: lambda *a: calls.append((name, *a))
    )
    with execution.large_arrays_given_back(10):
        assert calls == []
    with execution.large_arrays_given_back(10**6):
        assert calls == [("mallopt", execution.MMAP_THRESHOLD, execution.LARGE_ARRAY)]
    assert [call[0] for call in calls[1:]] == ["mallopt", "mallopt", "malloc_trim"]
    monkeypatch.setattr(execution, "_of_c_library", lambda name: None)
    with execution.large_arrays_given_back(10**6):  # another C library
        pass


def test_libraries_are_looked_for_once_and_again_after_an_import(monkeypatch):
    found = []
    monkeypatch.setattr(execution, "ThreadpoolController", lambda: found.append(1) or Limits())
    execution._libraries.cache_clear()
    with execution.one_thread(), execution.one_thread():
        pass
    assert len(found) == 1
    monkeypatch.setitem(sys.modules, "a module of its own", sys)
    with execution.one_thread():
        pass
    assert len(found) == 2
    execution._libraries.cache_clear()


class Limits:
    @contextmanager
    def limit(self, limits, user_api):
        yield


def test_figures_on_demand_stay_on_one_thread(monkeypatch):
    result = conjoin.partition(make_clusters(sizes=(2, 1), n=12, p=2).tables(), target="y")
    seen = []
    before = stability.partitions_of_halves

    def watched(*arguments):
        seen.extend(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")
        return before(*arguments)

    monkeypatch.setattr(stability, "partitions_of_halves", watched)
    result.stability()
    assert set(seen) == {1}


def test_workers_of_joblib_are_used_if_the_caller_chose_them():
    def work(i):
        return i, threading.get_ident()

    here = list(execution.in_workers(work, range(3), alone=True))
    assert {ident for _, ident in here} == {threading.get_ident()}
    with joblib.parallel_config("threading", n_jobs=2):
        there = list(execution.in_workers(work, range(3), alone=True))
    assert [i for i, _ in there] == [0, 1, 2]
    assert threading.get_ident() not in {ident for _, ident in there}


def test_dask_trains_models_of_folds_to_the_same_bits():
    from distributed import Client, LocalCluster
    from sklearn.tree import DecisionTreeRegressor

    rng = np.random.default_rng(0)
    X, group = rng.normal(size=(200, 3)), np.arange(200) % 4
    y = np.abs(X[:, 0]) + rng.normal(size=200)
    rows = LearnerRows(X, y, np.ones(200), np.arange(200) % 2, 2, ("a", "b", "c"), ())
    tree = Foreign.of(DecisionTreeRegressor(max_depth=3), 0)
    column = partial(predict_column, tree, rows, group, nested=True)
    here = column()
    with joblib.parallel_config("threading", n_jobs=2):
        answers = [column()]
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=2, dashboard_address=None, silence_logs=50
        ) as cluster,
        Client(cluster) as client,
        joblib.parallel_config("dask"),
    ):
        answers.append(column())
        seen = client.run(lambda dask_worker: dask_worker.state.executed_count)
        assert sum(seen.values()) > 0  # the models were trained there
    for there in answers:
        np.testing.assert_array_equal(there.held_out, here.held_out)
        for one, other in zip(there.nested, here.nested, strict=True):
            np.testing.assert_array_equal(one, other)
