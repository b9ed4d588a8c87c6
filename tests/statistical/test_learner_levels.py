"""Verdicts of learners: wrong ones are rare where the truth turns, and clear ones are found.

A small form of `python -m benchmarks.levels.learners`, which stores all learners up to 2,000 rows.
"""

import csv

import numpy as np
import pytest

from benchmarks.levels.learners import DELTA, LEARNERS, OUTPUT, Law, verdicts

pytestmark = pytest.mark.slow

# Distance at which the true gain of five nearest neighbours with 50 rows of each dataset is zero,
# from `benchmarks/levels/learners.csv`.
TURN = 0.57
PAIRS = 40


def shares(name, n, distance, *, kind="numbers", pairs=PAIRS, repeats=1):
    found = verdicts(LEARNERS[name], Law(kind), n, distance, pairs, 11, repeats)
    join, apart = (np.mean([v.verdict == word for v in found]) for word in ("join", "apart"))
    print(f"{name}, {n} rows, distance {distance}: join {join:.2f}, apart {apart:.2f}")
    return join, apart


@pytest.mark.parametrize("kind", ["numbers", "skewed"])
def test_wrong_verdicts_are_rare_where_the_truth_turns(kind):
    join, apart = shares("neighbours", 50, TURN, kind=kind)
    most = DELTA + 2 * np.sqrt(DELTA * (1 - DELTA) / PAIRS)
    assert max(join, apart) <= most


@pytest.mark.parametrize(("kind", "turn"), [("classes", 1.09), ("counts", 0.5)])
def test_wrong_verdicts_on_classes_and_counts_are_rare_where_the_truth_turns(kind, turn):
    join, apart = shares(kind, 50, turn, kind=kind, pairs=20)
    assert max(join, apart) <= DELTA + 2 * np.sqrt(DELTA * (1 - DELTA) / 20)


@pytest.mark.parametrize("name", ["neighbours", "boosting"])
def test_the_same_law_is_rarely_called_apart_and_other_laws_often(name):
    join, apart = shares(name, 100, 0.0, pairs=20)
    assert apart <= 0.1 and join >= 0.1
    join, apart = shares(name, 100, 3.0, pairs=20)
    assert join == 0 and apart >= 0.6


def test_stored_levels_hold():
    with OUTPUT.open() as file:
        lines = list(csv.DictReader(file))
    assert {line["learner"] for line in lines} == set(LEARNERS)
    for line in lines:
        assert float(line["wrong"]) <= float(line["limit"]), line
