"""The fold of a row depends on its values and on nothing else."""

import numpy as np
import pytest

from conjoin.moments.value_folds import hash_rows


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e9])
def test_folds_are_balanced_in_any_usual_unit(unit):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (20_000, 2)).astype(float), rng.normal(7, 1, 20_000) * unit
    rows = np.bincount(hash_rows(X, y, ["a", "b"], 0) % 10, minlength=10)
    assert np.all(np.abs(rows - 2000) < 5 * np.sqrt(2000))


def test_other_rows_and_the_order_of_columns_change_nothing():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    h = hash_rows(X, y, ["a", "b"], 0)
    assert np.array_equal(h[20:], hash_rows(X[20:], y[20:], ["a", "b"], 0))
    assert np.array_equal(h, hash_rows(X[:, ::-1], y, ["b", "a"], 0))


def test_seed_and_names_change_folds():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(50, 1)), rng.normal(size=50)
    h = hash_rows(X, y, ["a"], 0)
    assert not np.array_equal(h, hash_rows(X, y, ["a"], 1))
    assert not np.array_equal(h, hash_rows(X, y, ["b"], 0))
