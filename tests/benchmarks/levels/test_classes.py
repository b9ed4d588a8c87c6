import csv

import numpy as np
import pytest

import conjoin
from benchmarks.levels.classes import DELTA, OUTPUT, TABLES, log_loss, measure


def population(rows=4000):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, 2))
    y = rng.random(rows) < 1 / (1 + np.exp(-X[:, 0]))
    return {"a": X[:, 0], "b": X[:, 1], "y": np.where(y, "yes", "no")}


def test_two_samples_of_one_table_are_not_apart():
    line = measure(population(), 200, pairs=8)
    assert line["apart"] == 0.0
    assert line["cover"] >= 0.75  # at 8 pairs
    assert 0 < float(line["true_gain"]) < 0.02
    assert line["open"] == 0.0


def test_the_log_loss_is_that_of_the_probabilities_of_the_true_classes():
    columns = population()
    line = conjoin.LinearFit(0.0, {"a": 1.0, "b": 0.0}, rows=50, error=0.5)
    fit = conjoin.LogisticFit(("no", "yes"), (line,), rows=50, error=0.5)
    p = 1 / (1 + np.exp(-columns["a"]))
    p = np.where(columns["y"] == "yes", p, 1 - p)
    assert log_loss(fit, columns) == pytest.approx(-np.log(p).mean())


def test_stored_levels_hold():
    with OUTPUT.open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert {line["table"] for line in lines} == set(TABLES)
    for line in lines:
        error = np.sqrt(DELTA * (1 - DELTA) / int(line["pairs"]))
        assert float(line["apart"]) <= DELTA + 2 * error
        assert float(line["cover"]) >= 1 - 2 * DELTA
