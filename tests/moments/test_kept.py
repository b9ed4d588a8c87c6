"""Kept moments are those of rows, in any coordinates, whenever the rows were added."""

import numpy as np
import pytest

from conjoin.moments import Basis
from conjoin.moments.folds import fold_moments
from conjoin.moments.kept import Batch, KeptMoments


@pytest.fixture(scope="module")
def rows():
    """Three datasets far from zero, with weights and folds."""
    rng = np.random.default_rng(0)
    X = rng.normal([1e6, 2020.0], [1.0, 3.0], (90, 2))
    y = rng.normal(1e4, 5.0, 90)
    return X, y, rng.uniform(0.5, 2, 90), rng.integers(0, 4, 90)


def kept(rows, parts):
    """Return the kept moments of some rows of datasets a, b and c."""
    X, y, w, fold = rows
    names = [name for name, part in zip("abc", parts) if len(part)]
    index = np.concatenate(parts)
    starts = np.cumsum([0, *(len(part) for part in parts if len(part))])
    return KeptMoments.of_rows(names, X[index], y[index], w[index], starts, fold[index], 4)


def test_moments_are_those_of_rows(rows):
    X, y, w, fold = rows
    found = kept(rows, np.arange(90).reshape(3, 30))
    starts = np.array([0, 30, 60, 90])
    basis = Basis.from_rows(X, y, w)
    moments = found.moments(basis)
    usual = fold_moments(basis.design(X), basis.response(y), w / w.mean(), starts, fold, 4)
    for name in ("G", "h", "q", "n", "w"):
        assert np.allclose(getattr(moments, name), getattr(usual, name), atol=1e-9)
    own = found.basis(intercept=True)
    assert np.allclose(own.center, basis.center) and np.allclose(own.scale, basis.scale)


@pytest.mark.parametrize("intercept", [True, False])
def test_rows_that_come_later_count_the_same(rows, intercept):
    whole = kept(rows, np.arange(90).reshape(3, 30))
    first = kept(rows, [np.arange(10), np.arange(30, 60), np.arange(0)])
    second = kept(rows, [np.arange(10, 30), np.arange(0), np.arange(60, 90)])
    both = first.adding(second, ["a", "b", "c"])
    assert both.names == whole.names and both.sizes == whole.sizes
    basis, other = whole.basis(intercept=intercept), both.basis(intercept=intercept)
    assert np.allclose(basis.scale, other.scale, rtol=1e-12)
    one, two = whole.moments(basis), both.moments(basis)
    assert np.allclose(one.G, two.G, rtol=1e-9, atol=1e-9) and np.array_equal(one.n, two.n)


def test_the_same_rows_are_recognised():
    one = Batch({"a": 3, "b": 2}, {"a": 17, "b": 5})
    assert one.shared(Batch({"a": 3, "c": 2}, {"a": 17, "c": 5})) == ["a"]
    assert one.shared(Batch({"a": 3}, {"a": 18})) == []
