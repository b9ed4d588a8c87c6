import pickle

import numpy as np
import pytest

from conjoin.moments import Basis, Moments, made
from conjoin.moments.made import MadeRows, beside, made_rows, slices

X = np.random.default_rng(0).standard_normal((50, 3)) + 1000.0
MORE = np.arange(50.0)[:, None]


@pytest.fixture
def in_parts(monkeypatch):
    """Few rows are many, and are made in parts of seven."""
    monkeypatch.setattr(made, "MOST_AT_ONCE", 10)
    monkeypatch.setattr(made, "PART_ROWS", 7)


def test_numbers_of_many_rows_take_half_the_memory(in_parts):
    assert made.narrow(np.arange(10)).dtype == np.int64
    assert made.narrow(np.arange(11)).dtype == np.int32


def test_few_rows_are_made_at_once():
    found = beside(X, MORE)
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found, np.column_stack([X, MORE]))


def test_many_rows_are_made_when_asked_for(in_parts):
    asked = []

    def make(rows):
        asked.append(rows)
        return X[rows]

    found = made_rows(make, 50, 3)
    assert isinstance(found, MadeRows) and not asked
    assert found.shape == (50, 3) and len(found) == 50 and found.ndim == 2
    np.testing.assert_array_equal(found[3:5], X[3:5])
    assert asked == [slice(3, 5)]


@pytest.mark.parametrize(
    "index", [slice(2, 30), np.array([4, 1, 1]), np.arange(50) % 2 == 0, (slice(None), 1)]
)
def test_parts_are_those_of_the_matrix(in_parts, index):
    whole = np.column_stack([X, MORE])
    found = pickle.loads(pickle.dumps(beside(X, MORE)))
    np.testing.assert_array_equal(found[index], whole[index])


def test_all_rows_and_ends(in_parts):
    whole, found = np.column_stack([X, MORE]), beside(X, MORE)
    np.testing.assert_array_equal(np.asarray(found), whole)
    np.testing.assert_array_equal(found.copy(), whole)
    np.testing.assert_array_equal(found.min(axis=0), whole.min(axis=0))
    np.testing.assert_array_equal(found.max(axis=0), whole.max(axis=0))
    np.testing.assert_allclose(np.ones(50) @ found, whole.sum(axis=0))


def test_slices_cover_all_rows(in_parts):
    assert [part.stop - part.start for part in slices(50)] == [7] * 7 + [1]
    assert slices(0) == [slice(0, 0)]


def test_a_basis_of_many_rows_is_that_of_all_at_once(in_parts, monkeypatch):
    w, y = np.linspace(0.5, 2, 50), X @ [1.0, 2.0, 3.0]
    parts = Basis.from_rows(beside(X, MORE), y, w)
    monkeypatch.undo()
    whole = Basis.from_rows(np.column_stack([X, MORE]), y, w)
    for name in ("center", "scale", "target_center", "target_scale"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-13)


def test_moments_that_come_one_after_the_other():
    starts = np.array([0, 10, 20, 50])
    one = Moments.by_dataset(X, X[:, 0], starts)
    found = Moments.filled(3, (one[k : k + 1] for k in range(3)))
    for name in ("G", "h", "q", "n", "w"):
        np.testing.assert_array_equal(getattr(found, name), getattr(one, name))
