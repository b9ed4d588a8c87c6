import numpy as np
import pytest

from conjoin.errors import ArgumentError
from conjoin.moments import Moments
from conjoin.paper import bifactor
from conjoin.paper.bifactor import LEVEL_ROWS, Slopes, fit_bifactor, noise_ridge
from tests.collections_ import make


def objective_on_rows(truth, fit):
    """The cost of the rows with covariances at their best (tests/reference/paper_bifactor.py)."""
    Z, t = truth.basis.design(truth.X), truth.basis.response(truth.y)
    K = len(truth.beta)
    residual = t.reshape(K, -1) - np.einsum("knp,kp->kn", Z.reshape(K, -1, Z.shape[1]), fit.beta)
    cost = np.sum(residual**2) + LEVEL_ROWS * np.sum(fit.levels**2)
    kind, power = ("nuc", fit.F.shape[1]) if fit.covariances == "learned" else ("fro", 1)
    factors = np.linalg.norm(fit.F, kind) ** 2 + np.linalg.norm(fit.T, kind) ** 2
    return cost + fit.ridge * factors / power


@pytest.mark.parametrize("covariances", ["learned", "identity"])
@pytest.mark.parametrize("rank", [1, 3, 6])
@pytest.mark.parametrize("share", [1e-3, 0.1, 2.0])
def test_the_objective_never_rises_and_is_that_of_the_rows(rank, share, covariances):
    truth = make("clusters", K=12, n=15, p=6, seed=3)
    ridge = share * noise_ridge(truth.moments)
    fit = fit_bifactor(truth.moments, rank, ridge, covariances=covariances)
    steps = np.diff(fit.objective)
    assert np.all(steps <= 1e-10 * fit.objective[0])
    assert fit.objective[-1] == pytest.approx(objective_on_rows(truth, fit), rel=1e-10)


@pytest.mark.parametrize("covariances", ["learned", "identity"])
@pytest.mark.parametrize("which", ["F", "T", "levels"])
def test_no_small_step_lowers_the_cost_of_the_rows(which, covariances):
    truth = make("continuum", K=8, n=20, p=4, seed=5)
    ridge = 0.2 * noise_ridge(truth.moments)
    fit = fit_bifactor(truth.moments, 2, ridge, covariances=covariances)
    rng = np.random.default_rng(0)
    here = objective_on_rows(truth, fit)
    for _ in range(5):
        array = getattr(fit, which)
        step = 1e-3 * np.abs(array).max() * rng.standard_normal(array.shape)
        for sign in (1, -1):
            moved = bifactor.BiFactor(
                **{**vars(fit), which: array + sign * step}  # the other two stay
            )
            assert objective_on_rows(truth, moved) > here - 1e-7 * here


def test_with_full_rank_and_the_identity_it_is_trace_norm_regression():
    # Optimality of sum of squares + 2 ridge |W|_*: the gradient is a subgradient of the norm.
    truth = make("clusters", K=20, n=20, p=5, seed=2)
    ridge = 0.3 * noise_ridge(truth.moments)
    fit = fit_bifactor(truth.moments, 99, ridge, covariances="identity")
    data, W = Slopes.of(truth.moments, intercept=True), fit.slopes
    score = data.h - np.einsum("kij,kj->ki", data.H, W)
    assert fit.F.shape == (5, 5)
    assert np.linalg.norm(score, 2) == pytest.approx(fit.ridge, rel=1e-3)
    assert np.sum(score * W) == pytest.approx(fit.ridge * np.linalg.norm(W, "nuc"), rel=1e-3)
    again = fit_bifactor(truth.moments, 99, fit.ridge, covariances="identity", restarts=2)
    np.testing.assert_allclose(again.slopes, W, atol=2e-3)


def test_with_rank_one_learned_covariances_change_nothing():
    truth = make("clusters", K=12, n=20, p=5, seed=2)
    ridge = 0.1 * noise_ridge(truth.moments)
    learned, identity = (
        fit_bifactor(truth.moments, 1, ridge, covariances=kind) for kind in ("learned", "identity")
    )
    np.testing.assert_allclose(learned.beta, identity.beta, atol=1e-4)


def test_learned_covariances_remove_what_the_identity_only_shrinks():
    truth = make("clusters", K=20, n=30, p=5, clusters=2, seed=2)
    ridge = 0.3 * noise_ridge(truth.moments)
    learned, identity = (
        np.linalg.svd(
            fit_bifactor(truth.moments, 5, ridge, covariances=kind).slopes, compute_uv=False
        )
        for kind in ("learned", "identity")
    )
    assert learned[0] > identity[0]  # what is large is shrunk less
    assert np.sum(learned > 1e-3 * learned[0]) < np.sum(identity > 1e-3 * identity[0])


def test_unknown_covariances_are_refused():
    truth = make("clusters", K=4, n=10, p=2, seed=0)
    with pytest.raises(ArgumentError, match="covariances='wishart' is unknown; expected 'learned'"):
        fit_bifactor(truth.moments, 1, 0.1, covariances="wishart")


def test_factors_are_balanced_and_signs_settled():
    truth = make("clusters", K=20, n=20, p=5, seed=2)
    fit = fit_bifactor(truth.moments, 3, 0.1 * noise_ridge(truth.moments))
    np.testing.assert_allclose(fit.F.T @ fit.F, fit.T.T @ fit.T, atol=1e-8)
    lengths = np.linalg.norm(fit.F, axis=0)
    assert np.all(np.diff(lengths) <= 0)
    assert np.all(fit.F[np.argmax(np.abs(fit.F), axis=0), np.arange(3)] > 0)


def test_restarts_are_the_same_in_every_call_and_never_hurt():
    truth = make("continuum", K=10, n=10, p=6, seed=4)
    ridge = 0.1 * noise_ridge(truth.moments)
    one, two = (fit_bifactor(truth.moments, 2, ridge, restarts=3) for _ in range(2))
    np.testing.assert_array_equal(one.beta, two.beta)
    assert one.objective[-1] <= fit_bifactor(truth.moments, 2, ridge).objective[-1]


def test_the_order_of_datasets_does_not_matter():
    truth = make("clusters", K=12, n=20, p=4, seed=6)
    order = np.random.default_rng(0).permutation(12)
    ridge = 0.1 * noise_ridge(truth.moments)
    one = fit_bifactor(truth.moments, 3, ridge)
    two = fit_bifactor(truth.moments[order], 3, ridge)
    np.testing.assert_allclose(two.beta, one.beta[order], atol=1e-6)


def test_conjugate_gradients_take_the_same_way(monkeypatch):
    truth = make("clusters", K=15, n=30, p=8, seed=1)
    ridge = 0.1 * noise_ridge(truth.moments)
    direct = fit_bifactor(truth.moments, 3, ridge)
    monkeypatch.setattr(bifactor, "MOST_UNKNOWNS", 0)
    descended = fit_bifactor(truth.moments, 3, ridge)
    np.testing.assert_allclose(descended.beta, direct.beta, atol=1e-6)
    assert np.all(np.diff(descended.objective) <= 1e-10 * descended.objective[0])


def test_a_tiny_ridge_gives_least_squares_and_a_huge_one_nothing():
    truth = make("continuum", K=6, n=40, p=3, seed=0)
    unit = noise_ridge(truth.moments)
    free = fit_bifactor(truth.moments, 3, 1e-9 * unit)
    levelled = truth.moments.G.copy()
    levelled[:, 0, 0] += LEVEL_ROWS
    expected = np.linalg.solve(levelled, truth.moments.h[..., None])[..., 0]
    np.testing.assert_allclose(free.beta, expected, atol=1e-4)
    assert np.abs(fit_bifactor(truth.moments, 3, 100 * unit).slopes).max() < 1e-6


def test_without_intercept_all_columns_are_slopes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5, 30, 3))
    beta = rng.standard_normal(3)
    y = X @ beta + 0.1 * rng.standard_normal((5, 30))
    fit = fit_bifactor(Moments.from_rows(X, y), 1, 1e-3, intercept=False)
    np.testing.assert_allclose(fit.beta, np.tile(beta, (5, 1)), atol=0.1)
    assert fit.beta.shape == (5, 3)
