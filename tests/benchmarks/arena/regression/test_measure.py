from pathlib import Path

import numpy as np
import pytest

from benchmarks.arena.data import ArenaSet, Split, read_table
from benchmarks.arena.regression.measure import load, shape, split_error
from benchmarks.arena.regression.sets import SETS


@pytest.fixture(params=["sleepstudy", "radon"])
def small(request: pytest.FixtureRequest, data_root: Path) -> ArenaSet:
    return load(request.param, data_root)


def test_loaded_sets_are_finite_numbers(small: ArenaSet) -> None:
    assert small.X.shape == (len(small.y), len(small.columns))
    assert np.isfinite(small.X).all() and np.isfinite(small.y).all()
    assert (np.ptp(small.X, axis=0) > 0).all()
    assert not set(SETS[small.name].by) & set(small.columns)


def test_loading_twice_gives_the_same(small: ArenaSet) -> None:
    again = load(small.name)
    np.testing.assert_array_equal(again.X, small.X)
    np.testing.assert_array_equal(again.groups, small.groups)


def test_unknown_set_lists_the_known_ones() -> None:
    with pytest.raises(KeyError, match="sleepstudy"):
        load("nonsense")


def test_the_logarithm_is_predicted_where_the_table_says_so(data_root: Path) -> None:
    spec = SETS["ames"]
    assert spec.log
    price = read_table(spec, data_root)[spec.target].to_numpy()
    np.testing.assert_allclose(np.exp(load("ames", data_root).y), price)


def test_the_error_is_the_mean_over_groups_of_the_mse() -> None:
    groups = np.array(["a", "a", "a", "b"], dtype=object)
    data = ArenaSet("made", np.zeros((4, 1)), np.zeros(4), groups, ("x",))
    split = Split(np.array([0]), np.array([1, 2, 3]))
    assert shape(data, split) == (3,)
    assert split_error(data, split, np.array([1.0, 1.0, 2.0])) == (2.5, "")
