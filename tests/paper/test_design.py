import numpy as np
import pytest
from numpy.testing import assert_allclose

from conjoin.criterion import Unit
from conjoin.errors import ArgumentError
from conjoin.moments import Basis
from conjoin.paper.design import Gaussian, known_designs, working_second_moment
from tests.helpers import random_rows, raw_unit


def test_drawn_rows_have_the_mean_and_covariance():
    mean, covariance = np.array([1.0, -2.0]), np.array([[2.0, 0.6], [0.6, 0.5]])
    gaussian = Gaussian(mean, covariance)
    rows = gaussian.draw((40_000,), np.random.default_rng(0))
    assert_allclose(rows.mean(axis=0), mean, atol=0.05)
    assert_allclose(np.cov(rows.T), covariance, atol=0.05)
    assert_allclose(gaussian.second_moment, rows.T @ rows / len(rows), atol=0.15)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ArgumentError, match=r"covariance has shape \(1, 1\), but mean has 2"):
        Gaussian([0.0, 1.0], [[1.0]])


@pytest.mark.parametrize("intercept", [True, False])
def test_second_moment_in_the_coordinates_of_the_basis(intercept):
    rng = np.random.default_rng(0)
    X, y = random_rows(rng, 50, 2)
    X = 3 * X + 1
    basis = Basis.from_rows(X, y, np.ones(50), intercept=intercept)
    Z, t = basis.design(X), basis.response(y)
    unit = Unit(("a",), (50,), Z, t, np.ones(50), basis)
    gaussian = Gaussian([1.0, 2.0], [[4.0, 1.0], [1.0, 9.0]])
    drawn = basis.design(gaussian.draw((100_000,), rng))
    assert_allclose(working_second_moment(unit, gaussian), drawn.T @ drawn / 1e5, atol=0.05)


def test_joined_datasets_give_rows_in_proportion_to_their_sizes():
    rng = np.random.default_rng(0)
    one = raw_unit("a", *random_rows(rng, 30, 1))
    two = raw_unit("b", *random_rows(rng, 10, 1))
    known = {"a": Gaussian([10.0], [[1e-12]]), "b": Gaussian([0.0], [[1e-12]])}
    designs = known_designs(one.union(two), known, 40, 5, 0)
    assert_allclose(designs.G, np.full((5, 1, 1), 30 * 100.0), rtol=1e-4)
    assert_allclose(designs.W, [[0.75 * 100.0]], rtol=1e-4)
