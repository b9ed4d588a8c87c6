"""No join is shown that does harm: on real tables, with lines and with boosting."""

import numpy as np
import pytest

import conjoin
from benchmarks.arena.data import shared_data
from conjoin.datasets import load_seoul_bikes, load_washington_bikes
from conjoin.report.facts import dataset_facts, facts
from tests.bent import QUICK

BUNDLED = {
    "seoul": (load_seoul_bikes, "rented_bikes", "hour"),
    "washington": (load_washington_bikes, "rentals", "weekday"),
}
SHARED = {
    "sleepstudy": ("bench/sleepstudy/sleepstudy.csv", "Reaction", "Subject"),
    "radon": ("bench/radon-minnesota/radon_minnesota.csv", "log.radon", "county.name"),
    "contraception": (
        "bench/contraception-bangladesh/contraception_bangladesh.csv",
        "use",
        "district",
    ),
}


def assert_no_harm(result):
    """Check every face of the joins that were made."""
    joined = [line for line in result.ledger() if line.joined]
    assert all(line.verdict != "apart" for line in joined)
    assert not any(line.validated_change > line.standard_error * (1 + 1e-9) for line in joined)
    plain = [line for line in facts(result)["ledger"] if line["joined"]]
    for name in result.labels:
        plain += [line for line in dataset_facts(result, name)["alternatives"] if line["own"]]
    assert all(line["verdict"] != "apart" for line in plain)
    changes = [(line["change"], line["change_standard_error"]) for line in plain]
    known = np.array([pair for pair in changes if None not in pair])
    assert (known[:, 0] <= known[:, 1] * (1 + 1e-9)).all() if len(known) else True
    return joined


@pytest.mark.parametrize("name", BUNDLED)
def test_of_bundled_tables(name):
    load, target, by = BUNDLED[name]
    assert assert_no_harm(conjoin.partition(load(), target=target, by=by, learner="linear"))


@pytest.mark.parametrize("name", SHARED)
def test_of_shared_tables(name):
    path, target, by = SHARED[name]
    try:
        file = shared_data() / path
    except FileNotFoundError:
        pytest.skip("the shared data are not here")
    if not file.exists():
        pytest.skip(f"{path} is not among the shared data")
    assert assert_no_harm(conjoin.partition(file, target=target, by=by, learner="linear"))


@pytest.mark.learner
def test_of_boosting_on_datasets_that_need_models_of_their_own():
    """Two of one law and one of another: one model that knows the name is worse by far."""
    rng = np.random.default_rng(0)
    tables = {}
    for k, law in enumerate((0, 0, 1)):
        X = rng.uniform(-2, 2, size=(150, 4))
        bends = X[:, 0] * X[:, 1] + 2 * np.abs(X[:, 2]), -X[:, 0] * X[:, 1] + 2 * np.abs(X[:, 3])
        y = bends[law] + rng.normal(0, 0.3, 150)
        tables[f"d{k}"] = {**{f"x{j}": X[:, j] for j in range(4)}, "y": y}
    result = conjoin.partition(tables, target="y", learner=QUICK)
    assert result.clusters == [["d0", "d1"], ["d2"]]
    assert_no_harm(result)
