"""Engines from the command line give the answer of rows in memory; each is really started."""

import json
import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import conjoin
from conjoin.cli.main import app
from conjoin.datasets import make_clusters
from conjoin.errors import ArgumentError, ReadError
from conjoin.sources.engines import Engine, engine_of, open_with

pytestmark = pytest.mark.filterwarnings("ignore::conjoin.errors.ConjoinWarning")


@pytest.fixture(scope="module")
def table():
    tables = make_clusters(sizes=(2, 1), n=60, p=2, distance=1.0).tables()
    return pd.concat([pd.DataFrame(one).assign(store=name) for name, one in tables.items()])


@pytest.fixture(scope="module")
def files(table, tmp_path_factory):
    """The table as a folder of Parquet files and as CSV."""
    folder = tmp_path_factory.mktemp("lake")
    (folder / "parts").mkdir()
    for k in range(4):
        table.iloc[k::4].to_parquet(folder / "parts" / f"{k}.parquet", index=False)
    table.to_csv(folder / "all.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def expected(table):
    return conjoin.partition(table, target="y", by="store", learner="linear", folds=4)


def assert_answer(expected, path, *options):
    asked = f"partition {path} --target y --by store --learner linear --folds 4 --json".split()
    found = CliRunner().invoke(app, [*asked, *options])
    assert found.exit_code == 0, found.output
    facts = json.loads(found.stdout)
    assert [one["datasets"] for one in facts["clusters"]] == expected.clusters
    errors = {name: one["error"] for name, one in facts["strategies"].items()}
    for name, error in errors.items():
        assert error == pytest.approx(expected.errors[name].error, rel=1e-8)


def test_duckdb_within_a_memory(files, expected):
    assert_answer(expected, files / "parts", "--engine", "duckdb", "--memory", "500MB")


def test_dask_with_a_worker_that_is_killed(files, table, expected):
    asked = {"target": "big", "by": "store", "learner": "linear", "folds": 4}
    classes = table.assign(big=np.where(table["y"] > 0, "yes", "no")).drop(columns="y")
    classes.to_parquet(files / "classes.parquet", index=False, row_group_size=50)
    here = conjoin.partition(classes, **asked)
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as cluster:
        victims = [worker.pid for worker in cluster.workers.values()][:1]

        def kill():
            time.sleep(0.5)
            os.kill(victims[0], signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        place = ["--engine", "dask", "--scheduler", cluster.scheduler_address]
        assert_answer(expected, files / "parts", *place)
        killer.join()
        assert victims[0] not in [worker.pid for worker in cluster.workers.values()]
        there = conjoin.partition(
            str(files / "classes.parquet"),
            engine="dask",
            scheduler=cluster.scheduler_address,
            **asked,
        )
        assert there.clusters == here.clusters
        for name, one in here.coefficients.items():
            own = there.coefficients[name].lines[0].coef
            assert own == pytest.approx(dict(one.lines[0].coef), abs=1e-8)
        for name, one in here.errors.items():
            assert there.errors[name].error == pytest.approx(one.error, rel=1e-8)
        verdicts = [(one.left, one.right, one.verdict) for one in here.ledger()]
        assert [(one.left, one.right, one.verdict) for one in there.ledger()] == verdicts


@pytest.mark.slow
def test_spark(files, expected, spark):
    assert_answer(expected, files / "all.csv", "--engine", "spark", "--master", "local[2]")
    assert spark.range(1).count() == 1  # a session that was there before stays


def test_options_that_do_not_fit_are_refused(files):
    with pytest.raises(ArgumentError, match="master='local' goes with engine='spark'"):
        engine_of("dask", master="local")
    with pytest.raises(ArgumentError, match="memory='much' is no size"):
        engine_of("duckdb", memory="much")
    assert engine_of(None) is None
    for sources, words in (
        (["a.csv", "b.parquet"], "name files of one kind"),
        (["shop.duckdb::sales"], "is a database"),
        ([str(files / "none.parquet")], "cannot be read by Dask"),
    ):
        with (
            pytest.raises((ReadError, ArgumentError), match=words),
            open_with(Engine("dask"), sources, None),
        ):
            pass
    with pytest.raises(ArgumentError, match="engine='dask' is for files"):
        conjoin.partition({"x": np.arange(3)}, target="x", engine="dask")
