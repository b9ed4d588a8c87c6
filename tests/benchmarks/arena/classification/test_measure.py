from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

from benchmarks.arena.classification.measure import (
    SMALLEST,
    classes_of,
    load,
    log_losses,
    split_error,
)
from benchmarks.arena.classification.sets import SETS, Cuts, OneOf, Reached, Values
from benchmarks.arena.data import ArenaSet, Split


@pytest.fixture(params=["contraception", "radon_action", "ppge_reached", "school_band"])
def small(request: pytest.FixtureRequest, data_root: Path) -> ArenaSet:
    return load(request.param, data_root)


def test_loaded_sets_are_finite_numbers_and_classes(small: ArenaSet) -> None:
    assert small.X.shape == (len(small.y), len(small.columns))
    assert np.isfinite(small.X).all() and (np.ptp(small.X, axis=0) > 0).all()
    assert all(isinstance(name, str) for name in small.y)
    spec = SETS[small.name].table
    assert not {spec.target, *spec.by, *spec.left_out} & set(small.columns)
    assert len(set(small.y)) == (3 if small.name == "school_band" else 2)


def test_loading_twice_gives_the_same(small: ArenaSet) -> None:
    again = load(small.name)
    np.testing.assert_array_equal(again.X, small.X)
    np.testing.assert_array_equal(again.y, small.y)


def test_rules_of_classes() -> None:
    table = pd.DataFrame({"t": [1.0, 2.0, 3.0], "goal": [1.0, 3.0, None], "u": [1, 0, 1]})
    known, y = classes_of(table, "t", Cuts((2.0, 3.0), ("low", "middle", "high")))
    assert known.all() and y.tolist() == ["low", "middle", "high"]
    known, y = classes_of(table, "t", Reached("goal"))
    assert known.tolist() == [True, True, False] and y[:2].tolist() == ["yes", "no"]
    both = table.assign(v=[0, 0, 1])
    known, y = classes_of(both, "u", OneOf(("u", "v"), ("first", "second")))
    assert known.tolist() == [True, False, False] and y[0] == "first"
    assert classes_of(table, "u", Values())[1].tolist() == ["1", "0", "1"]


def test_log_loss_is_that_of_scikit_learn() -> None:
    generator = np.random.default_rng(1)
    p = generator.dirichlet(np.ones(3), size=50)
    classes = np.array(["a", "b", "c"], dtype=object)
    y = classes[generator.integers(0, 3, 50)]
    ours = log_losses(y, p, classes)
    np.testing.assert_allclose(ours.mean(), log_loss(y, p, labels=classes.tolist()))


def test_a_certain_mistake_costs_the_clip() -> None:
    classes = np.array(["a", "b"], dtype=object)
    loss = log_losses(np.array(["b"], dtype=object), np.array([[1.0, 0.0]]), classes)
    np.testing.assert_allclose(loss, -np.log(SMALLEST), rtol=1e-6)


def test_error_counts_groups_the_same_and_leaves_unseen_classes_out() -> None:
    groups = np.array(["one"] * 4 + ["two"] * 2, dtype=object)
    y = np.array(["a", "b", "a", "new", "b", "b"], dtype=object)
    data = ArenaSet("made", np.zeros((6, 1)), y, groups, ("x0",))
    split = Split(np.array([0, 1]), np.array([2, 3, 4, 5]))
    p = np.array([[0.5, 0.5], [0.1, 0.9], [0.75, 0.25], [0.75, 0.25]])
    error, remark = split_error(data, split, p)
    np.testing.assert_allclose(error, (np.log(2) + np.log(4)) / 2)
    assert remark == "1 test rows of classes unseen in training left out"


def test_unknown_set_lists_the_known_ones() -> None:
    with pytest.raises(KeyError, match="landmine"):
        load("nonsense")
