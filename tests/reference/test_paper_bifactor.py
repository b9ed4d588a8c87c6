import numpy as np
import pytest

from conjoin.paper.bifactor import LEVEL_ROWS, fit_bifactor, noise_ridge
from tests.collections_ import make
from tests.reference.paper_bifactor import best_covariance, cost, lowest


@pytest.fixture(scope="module")
def truth():
    return make("clusters", K=6, n=15, p=4, clusters=2, seed=3)


def datasets(truth):
    K = len(truth.beta)
    Z = truth.basis.design(truth.X)[:, 1:]  # without the column of ones
    t = truth.basis.response(truth.y)
    return list(zip(Z.reshape(K, -1, Z.shape[1]), t.reshape(K, -1)))


@pytest.mark.parametrize("covariances", ["learned", "identity"])
@pytest.mark.parametrize("rank", [1, 3])
def test_the_objective_is_that_of_the_rows_with_both_matrices_written_out(truth, covariances, rank):
    ridge = 0.1 * noise_ridge(truth.moments)
    fit = fit_bifactor(truth.moments, rank, ridge, covariances=covariances)
    parts = (fit.F, fit.T, fit.levels, fit.ridge, fit.Sigma, fit.Omega)
    assert fit.objective[-1] == pytest.approx(cost(datasets(truth), *parts, LEVEL_ROWS), rel=1e-9)
    if covariances == "learned":
        assert np.trace(fit.Sigma) == pytest.approx(rank)
        assert np.trace(fit.Omega) == pytest.approx(rank)


def test_the_learned_matrices_are_the_best_of_their_trace(truth):
    fit = fit_bifactor(truth.moments, 3, 0.02 * noise_ridge(truth.moments))
    for factor, learned in ((fit.F, fit.Sigma), (fit.T, fit.Omega)):
        best = best_covariance(factor, trace=3)
        own = np.trace(factor.T @ np.linalg.pinv(learned) @ factor)
        searched = np.trace(factor.T @ np.linalg.solve(best, factor))
        assert own == pytest.approx(np.linalg.norm(factor, "nuc") ** 2 / 3)
        assert own <= searched * (1 + 1e-6)
        assert searched == pytest.approx(own, rel=0.02)


@pytest.mark.parametrize(("rank", "share"), [(1, 0.1), (2, 0.03), (2, 0.3), (3, 0.1)])
def test_no_other_start_finds_a_lower_cost(truth, rank, share):
    ridge = share * noise_ridge(truth.moments)
    fit = fit_bifactor(truth.moments, rank, ridge)
    found = lowest(datasets(truth), rank, ridge, LEVEL_ROWS, starts=6, seed=0)
    assert fit.objective[-1] <= found * (1 + 1e-4)
