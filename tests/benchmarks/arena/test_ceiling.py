from dataclasses import replace

import numpy as np
import pytest

from benchmarks.arena.ceiling import hindsight
from benchmarks.arena.data import ArenaSet
from benchmarks.arena.ours import run_set
from benchmarks.arena.sides import SIDES


@pytest.mark.parametrize("name", list(SIDES))
def test_weights_in_hindsight_are_at_least_as_good_as_every_strategy(
    made_classes: ArenaSet, name: str
) -> None:
    data = made_classes
    if name == "regression":
        y = data.X[:, 0] + np.random.default_rng(0).normal(size=len(data.X))
        data = replace(data, y=y)
    side = replace(SIDES[name], load=lambda name: data)
    done = frozenset(("made", 0.5, 0, method) for method in side.own.methods)
    rows = run_set(side, "made", ((0.5, 0),), done)
    strategies = min(float(row.error) for row in rows if row.error)
    assert hindsight(side, "made", 0.5, 0) <= strategies * (1 + 1e-6)
