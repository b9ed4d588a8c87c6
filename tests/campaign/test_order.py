"""The same bits for any order of rows and datasets, any number of threads and any hash seed."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

import conjoin


def tables(scale=1.0, offset=0.0, wild=False):
    rng = np.random.default_rng(5)
    found = {}
    for k in range(4):
        x = rng.standard_normal((30, 2))
        y = x @ [1.0, -1.0 if k % 2 else 1.0] + 0.3 * rng.standard_normal(30)
        if wild and k == 0:
            x[3, 0] = 1e140
        found[f"d{k}"] = {"a": scale * x[:, 0] + offset, "b": x[:, 1], "y": y / scale}
    return found


def shuffled(given):
    rng = np.random.default_rng(9)
    found = {}
    for name in reversed(given):
        order = rng.permutation(len(given[name]["y"]))
        found[name] = {head: column[order] for head, column in given[name].items()}
    return found


SCALES = {
    "plain": {},
    "offset": {"offset": 1e9},
    "large": {"scale": 1e60},
    "small": {"scale": 1e-60},
    "largest": {"scale": 1e70},  # the target is 1e140 times smaller than a column
    "smallest": {"scale": 1e-70},
    "wild": {"wild": True},
}


@pytest.mark.filterwarnings("ignore::conjoin.errors.ConjoinWarning")
@pytest.mark.parametrize("kind", SCALES)
def test_the_order_of_rows_and_datasets_changes_nothing(kind):
    given = tables(**SCALES[kind])
    one, two = (
        conjoin.partition(data, target="y", learner="linear", folds=3)
        for data in (given, shuffled(given))
    )
    assert one.clusters == two.clusters
    for name, estimate in one.errors.items():
        assert two.errors[name].error == estimate.error
    for name, table in given.items():
        assert (one.predict(table, name) == two.predict(table, name)).all()


PROGRAM = """
import sys, numpy as np, conjoin
rng = np.random.default_rng(1)
columns = int(sys.argv[1])
tables = {}
for k in range(3):
    X = rng.standard_normal((120, columns))
    tables[f"d{k}"] = {f"x{j}": X[:, j] for j in range(columns)} | {
        "y": X[:, 0] + rng.standard_normal(120)
    }
result = conjoin.partition(tables, target="y", learner="linear", method="risk", folds=2)
for name, table in tables.items():
    sys.stdout.buffer.write(result.predict(table, name).tobytes())
"""


def digest(columns, threads, seed):
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), str(threads))
    environment = {**os.environ, **threads, "PYTHONHASHSEED": str(seed)}
    program = [sys.executable, "-c", PROGRAM, str(columns)]
    found = subprocess.run(program, env=environment, capture_output=True, check=True)
    return hashlib.sha256(found.stdout).hexdigest()


@pytest.mark.parametrize("columns", [80])  # above 64 libraries would use threads
def test_threads_and_hash_seeds_change_no_bit(columns):
    assert digest(columns, 1, 0) == digest(columns, 2, 17)
