from pathlib import Path

import numpy as np
import pytest

from benchmarks.arena.data import ArenaSet, shared_data


@pytest.fixture
def data_root() -> Path:
    try:
        return shared_data()
    except FileNotFoundError as error:
        pytest.skip(f"the arena's data are not here: {error}")


@pytest.fixture
def made() -> ArenaSet:
    """Three groups of 1, 9 and 50 rows; the column "rare" has a single one."""
    generator = np.random.default_rng(0)
    X = np.column_stack([generator.normal(5, 3, 60), np.arange(60.0), np.eye(60)[0]])
    groups = np.array(["one"] + ["two"] * 9 + ["three"] * 50, dtype=object)
    return ArenaSet("made", X, generator.normal(size=60), groups, ("a", "b", "rare"))


@pytest.fixture
def made_classes() -> ArenaSet:
    """Three groups, three classes; the class "c" is missing in the group "two"."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(240, 2))
    groups = np.array(["one", "two", "three"] * 80, dtype=object)
    scores = X @ np.array([[1.0, -1.0, 0.0], [0.5, 0.5, -1.0]]) + generator.gumbel(size=(240, 3))
    scores[groups == "two", 2] = -np.inf
    y = np.array(["a", "b", "c"], dtype=object)[scores.argmax(axis=1)]
    return ArenaSet("made", X, y, groups, ("x0", "x1"))
