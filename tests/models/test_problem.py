import numpy as np
from numpy.testing import assert_allclose

from conjoin.models.problem import LeastSquares
from conjoin.moments import Moments


def test_moments_of_least_squares_give_the_loss_of_any_coefficients():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((4, 3, 20, 2)), rng.standard_normal((4, 3, 20))
    problem = LeastSquares(Moments.from_rows(X, y))
    beta = rng.standard_normal((3, 4, 2))
    residual = y - np.einsum("kfnp,fkp->kfn", X, beta)
    assert_allclose(problem.loss(beta), np.sum(residual**2, axis=2).T)
    assert problem.near(beta[0]) is problem


def test_moments_of_a_dataset_are_those_of_all_its_folds():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((4, 3, 20, 2)), rng.standard_normal((4, 3, 20))
    whole = Moments.from_rows(X.reshape(4, 60, 2), y.reshape(4, 60))
    moments = LeastSquares(Moments.from_rows(X, y)).moments
    for name in ("G", "h", "q", "n", "w"):
        assert_allclose(getattr(moments, name), getattr(whole, name))
